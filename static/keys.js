/* The key registry. A key is written once, on the button it stands for: `data-key="a"` (also "Shift+A", "$mod+Enter", "Escape",
   "/"); `data-key-label` where the button's own words are not enough for the help sheet. From these the keys are bound, the
   <kbd> hints printed and the sheet under `?` filled, so no hint can be stale. A key clicks the button and does nothing else.
   Where two have one key, the later one on the page has it: a panel of the bar comes after the frame.
   Keys rest while a text field, an editable element, a dialog or a popover has the person; Escape and $mod+Enter alone work in
   fields. All can be switched off (WCAG 2.1.4): kept with the person, and in a cookie for pages without one. */
(() => {
  const { parseKeybinding, matchKeyBindingPress } = window.tinykeys;
  const root = document.documentElement;
  const sheet = document.getElementById("keys");
  const NAMES = { Escape: "Esc", Enter: "↵", Shift: "⇧", $mod: /Mac|iP(hone|ad|od)/.test(navigator.platform) ? "⌘" : "Ctrl " };
  const IN_FIELDS = ["Escape", "$mod+Enter"];

  const on = () => !root.classList.contains("keys-off");
  const shown = (key) => key.split("+").map((part) => NAMES[part] ?? part.toUpperCase()).join("");
  /* What lies folded in a closed menu keeps its key as long as the menu itself is there. */
  const usable = (element) => !element.disabled && element.getAttribute("aria-disabled") !== "true"
    && (element.closest("details.pull:not([open])") ?? element).checkVisibility({ visibilityProperty: true });
  const bound = () => [...document.querySelectorAll("[data-key]")].filter(usable);

  const typing = (element) => element !== null && (element.isContentEditable || element.matches("textarea, select")
    || element.matches("input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=reset])"));

  /* The press as a Latin keyboard would have sent it, where this one has no such letter (Cyrillic, Greek, Hebrew), or hides the
     digits behind Shift (French). Never on a Latin layout's letters: there the letter printed on the key counts, not its place. */
  let script = "Latin";
  const byPlace = (event) => {
    const letter = /^Key([A-Z])$/.exec(event.code);
    const digit = /^Digit([0-9])$/.exec(event.code);
    if (/^\p{L}$/u.test(event.key)) script = /\p{Script=Latin}/u.test(event.key) ? "Latin" : "another";
    /* Such a keyboard may have a sign where a letter of ours lies: W of a Hebrew one is an apostrophe. */
    const foreign = event.key.length === 1 && script === "another" && !/[0-9]/.test(event.key);
    const key = letter && foreign ? letter[1] : digit && !event.shiftKey && !/[0-9]/.test(event.key) ? digit[1] : null;
    return key && { key, code: "", getModifierState: (name) => event.getModifierState(name) };
  };

  const matches = (press, key) => {
    const binding = parseKeybinding(key)[0];
    if (matchKeyBindingPress(press, binding)) return true;
    /* Signs such as ? and / may need Shift, depending on the layout, and so may digits; the sign counts, not how it was made. */
    return /^[^A-Za-z]$/.test(key) && matchKeyBindingPress(press, [["Shift"], key]);
  };

  const find = (event, elements) => {
    for (const press of [event, byPlace(event)]) {
      const hit = press && elements.findLast((element) => matches(press, element.dataset.key));
      if (hit) return hit;
    }
    return null;
  };

  /* Typed faster than the panel it is meant for comes: X and at once a digit. Only for a panel of the card in front; after
     anything else the next card would be decided unseen. */
  let held = null;
  let isComing = false;
  const opens = (element) => element.getAttribute("hx-get")?.includes("panel=") ?? false;

  const press = (event) => {
    if (!on() || event.defaultPrevented || event.repeat || event.isComposing || document.querySelector("dialog[open], :popover-open")) return;
    const pull = document.querySelector("details.pull[open]");
    if (event.key === "Escape" && pull) {
      pull.open = false;
      pull.querySelector("summary").focus();
      return;
    }
    if ((isComing || root.dataset.busy === "panel") && /^(Digit|Numpad)\d$/.test(event.code)) {
      held = event;
      return;
    }
    const inField = typing(document.activeElement);
    if (!inField && matches(event, "?")) {
      event.preventDefault();
      open();
      return;
    }
    const target = find(event, bound().filter((element) => !inField || IN_FIELDS.includes(element.dataset.key)));
    if (!target) return;
    event.preventDefault();
    if (target.matches("input, textarea")) target.focus();
    /* While an answer is on its way the card in front is already decided: a second press must not decide the next unseen one. */
    else if (!root.hasAttribute("data-busy")) {
      isComing = opens(target);
      target.click();
    }
  };

  document.addEventListener("keydown", press);
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => setTimeout(() => {
    /* What comes by itself after the card (static/desk.js) is no answer to a key. */
    if (ctx?.quiet) return;
    const event = held;
    held = null;
    isComing = false;
    if (event && !root.hasAttribute("data-busy")) press(event);
  }));

  const print = () => {
    for (const element of document.querySelectorAll("[data-key]")) {
      const hint = (element.closest(".find") ?? element).querySelector("kbd");
      if (hint) hint.textContent = shown(element.dataset.key);
      if (element.dataset.key.length === 1 || !element.dataset.key.includes("$")) element.setAttribute("aria-keyshortcuts", element.dataset.key.toUpperCase());
    }
  };

  const label = (element) => {
    if (element.dataset.keyLabel) return element.dataset.keyLabel;
    const words = element.cloneNode(true);
    words.querySelectorAll("kbd, svg").forEach((part) => part.remove());
    return element.getAttribute("aria-label") ?? words.textContent.trim().replace(/\s+/g, " ");
  };

  const row = (key, words) => {
    const term = document.createElement("dt");
    const hint = term.appendChild(document.createElement("kbd"));
    hint.textContent = shown(key);
    const meaning = document.createElement("dd");
    meaning.textContent = words;
    return [term, meaning];
  };

  const open = () => {
    const meanings = new Map();
    for (const element of bound()) meanings.set(element.dataset.key, label(element));
    meanings.set("?", sheet.dataset.words);
    sheet.querySelector("dl").replaceChildren(...[...meanings].flatMap(([key, words]) => row(key, words)));
    sheet.showModal();
  };

  const name = () => {
    const turner = sheet.querySelector("[data-keys-switch]");
    turner.textContent = on() ? turner.dataset.off : turner.dataset.on;
  };

  const turn = () => {
    const off = root.classList.toggle("keys-off");
    document.cookie = `keys=${off ? "off" : "on"}; path=/; max-age=31536000; samesite=lax`;
    name();
    if (!sheet.dataset.keep) return;
    const headers = JSON.parse(document.body.getAttribute("hx-headers:inherited"));
    /* It must arrive though the person goes on to another page at once. */
    fetch(sheet.dataset.keep, { method: "POST", headers, body: new URLSearchParams({ keys: off ? "off" : "on" }), keepalive: true });
  };

  if (!sheet) return;
  sheet.querySelector("[data-keys-switch]").addEventListener("click", turn);
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-opens=keys]")) open();
  });
  document.addEventListener("htmx:after:swap", print);
  name();
  print();
})();
