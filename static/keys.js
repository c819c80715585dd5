/* The key registry. A key is written once, on the button it stands for: `data-key="a"` (also "Shift+A", "$mod+Enter", "Escape",
   "/"); `data-key-label` where the button's own words are not enough for the help sheet. From these the keys are bound, the
   <kbd> hints printed and the sheet under `?` filled, so no hint can be stale. A key clicks the button and does nothing else.
   Keys rest while a text field, an editable element or a dialog has the person; Escape and $mod+Enter alone work in fields.
   Each can be switched off (WCAG 2.1.4), and the choice is kept in localStorage and in a cookie for the server. */
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

  /* The press as a Latin keyboard would have sent it, where this one has no such letter (Cyrillic, Greek), or hides the digits
     behind Shift (French). Never on a Latin layout's letters: there the letter printed on the key counts, not its place. */
  const byPlace = (event) => {
    const letter = /^Key([A-Z])$/.exec(event.code);
    const digit = /^Digit([0-9])$/.exec(event.code);
    const foreign = event.key.length === 1 && event.key > "\u007f";
    const key = letter && foreign ? letter[1] : digit && !event.shiftKey && !/[0-9]/.test(event.key) ? digit[1] : null;
    return key && { key, code: "", getModifierState: (name) => event.getModifierState(name) };
  };

  const matches = (press, key) => {
    const binding = parseKeybinding(key)[0];
    if (matchKeyBindingPress(press, binding)) return true;
    /* Signs such as ? and / may need Shift, depending on the layout; the sign counts, not how it was made. */
    return /^[^A-Za-z0-9]$/.test(key) && matchKeyBindingPress(press, [["Shift"], key]);
  };

  const find = (event, elements) => {
    for (const press of [event, byPlace(event)]) {
      const hit = press && elements.find((element) => matches(press, element.dataset.key));
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
    if (!on() || event.defaultPrevented || event.repeat || event.isComposing || document.querySelector("dialog[open]")) return;
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
  document.addEventListener("htmx:finally:request", () => setTimeout(() => {
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
    const first = new Map();
    for (const element of bound()) if (!first.has(element.dataset.key)) first.set(element.dataset.key, label(element));
    first.set("?", "This sheet");
    sheet.querySelector("dl").replaceChildren(...[...first].flatMap(([key, words]) => row(key, words)));
    sheet.showModal();
  };

  const name = () => {
    sheet.querySelector("[data-keys-switch]").textContent = on() ? "Turn keys off" : "Turn keys on";
  };

  const turn = () => {
    const off = root.classList.toggle("keys-off");
    try {
      localStorage.setItem("keys", off ? "off" : "on");
    } catch { /* the cookie remembers it */ }
    document.cookie = `keys=${off ? "off" : "on"}; path=/; max-age=31536000; samesite=lax`;
    name();
  };

  if (!sheet) return;
  sheet.querySelector("[data-keys-switch]").addEventListener("click", turn);
  for (const opener of document.querySelectorAll("[data-opens=keys]")) opener.addEventListener("click", open);
  document.addEventListener("htmx:after:swap", print);
  name();
  print();
})();
