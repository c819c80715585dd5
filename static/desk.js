/* What the desk needs beside htmx: focus and words after a swap, a still skeleton when the server is slow, what went wrong on the
   way, copying, and menus that close. Text only ever goes in by textContent: Trusted Types would refuse anything else. No words
   stand here: what is said lies translated in data attributes of the page (templates/_messages.html). */
(() => {
  const root = document.documentElement;
  const say = document.getElementById("say");
  const trouble = document.getElementById("trouble");
  const WAIT = 300;
  let busy = 0;
  let last = null;

  const speak = (words) => {
    say.textContent = "";
    /* A region that is emptied and filled in one go is not read out when the words are the same as before. */
    requestAnimationFrame(() => { say.textContent = words; });
  };

  const complain = (words) => {
    trouble.textContent = words;
    trouble.hidden = !words;
  };

  /* What comes by itself after the card (`data-quiet`): it takes neither keys nor focus, and nobody waits for it. Noted when it
     is asked for: once swapped, the element that asked is gone, and htmx names another one. */
  const isQuiet = ({ detail: { ctx } }) => ctx?.quiet ?? false;

  /* Of a card that was decided meanwhile nothing is missing. */
  const wonder = ({ detail: { ctx } }) => {
    if (ctx.target.isConnected) complain(trouble.dataset.figures);
  };

  /* Words waiting in `data-announce` are said once. */
  const announce = () => {
    const piece = document.querySelector("[data-announce]");
    if (!piece) return;
    speak(piece.dataset.announce);
    piece.removeAttribute("data-announce");
  };

  /* The headings a page came with are no landing places: only those a swap brings are. */
  const taken = () => {
    const places = document.querySelectorAll("[data-land]");
    for (const place of places) place.removeAttribute("data-land");
    /* A field that a panel brings is what the panel is for; it comes after the heading. */
    return [...places].find((place) => place.matches("input, select, textarea")) ?? places[0] ?? null;
  };

  /* The number in the bar is outside of what a swap brings; the desk says what it is now. */
  const count = () => {
    const waiting = document.getElementById("desk")?.dataset.waiting;
    if (waiting === undefined) return;
    for (const number of document.querySelectorAll("[data-waiting-count]")) {
      number.textContent = waiting;
      number.hidden = waiting === "0";
    }
  };

  const focus = (element) => {
    if (!element.hasAttribute("tabindex")) element.tabIndex = -1;
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "nearest" });
  };

  /* After a swap the focus goes to the new card's heading (`data-land`); htmx drops it when a trigger replaces itself. */
  const land = () => {
    announce();
    count();
    const place = taken();
    if (place) focus(place);
    else if (document.activeElement === document.body) focus(document.querySelector("main h1") ?? document.getElementById("main"));
  };

  const skeleton = (target) => {
    const over = document.createElement("div");
    over.className = "over skel";
    over.setAttribute("aria-hidden", "true");
    for (const width of ["w3", "w2", "w1"]) over.appendChild(document.createElement("span")).className = width;
    target.classList.add("waiting");
    target.append(over);
  };

  const settle = (target) => {
    target.classList.remove("waiting");
    target.querySelector(":scope > .over")?.remove();
  };

  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    ctx.quiet = ctx.sourceElement.hasAttribute("data-quiet");
    if (ctx.quiet) return;
    complain("");
    last = document.activeElement;
    busy += 1;
    /* A panel of the card in front: the key that follows is meant for it (static/keys.js). */
    root.dataset.busy = ctx.sourceElement?.getAttribute("hx-get")?.includes("panel=") ? "panel" : "";
    const target = ctx.target instanceof Element && ctx.target !== document.body ? ctx.target : null;
    if (target) ctx.waiting = { target, timer: setTimeout(skeleton, WAIT, target) };
  });

  /* The answer is on the screen: keys count again, though htmx has yet to settle it. */
  document.addEventListener("htmx:after:swap", (event) => {
    if (busy === 1 && !isQuiet(event)) root.removeAttribute("data-busy");
  });

  document.addEventListener("htmx:finally:request", (event) => {
    if (isQuiet(event)) return;
    const { ctx } = event.detail;
    busy = Math.max(0, busy - 1);
    if (busy === 0) root.removeAttribute("data-busy");
    if (ctx.waiting) {
      clearTimeout(ctx.waiting.timer);
      settle(ctx.waiting.target);
    }
    if (document.activeElement === document.body && last?.isConnected) last.focus({ preventScroll: true });
  });

  document.addEventListener("htmx:after:swap", (event) => {
    if (!isQuiet(event)) land();
  });

  document.addEventListener("htmx:response:error", (event) => {
    if (isQuiet(event)) {
      wonder(event);
      return;
    }
    const status = event.detail.ctx.response.status;
    if (status === 409 || status === 422) return;
    complain(trouble.dataset[{ 403: "forbidden", 404: "gone" }[status] ?? "failed"]);
  });

  document.addEventListener("htmx:error", (event) => {
    const { ctx } = event.detail;
    if (isQuiet(event)) wonder(event);
    else if (ctx && !ctx.response) complain(trouble.dataset.silent);
  });

  /* Copying: `data-copy` names the element whose words are taken. Over plain HTTP there is no clipboard, so they are selected. */
  document.addEventListener("click", async ({ target }) => {
    const button = target.closest("[data-copy]");
    if (!button) return;
    const source = document.querySelector(button.dataset.copy);
    const words = button.querySelector("[data-copy-label]") ?? button;
    const before = words.textContent;
    let after = say.dataset.copied;
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
    } catch {
      getSelection().selectAllChildren(source);
      after = say.dataset.selected;
    }
    words.textContent = after;
    speak(after);
    setTimeout(() => { words.textContent = before; }, 2000);
  });

  /* Everyone, or some: ticking one takes the other away. */
  document.addEventListener("change", ({ target }) => {
    if (!target.form || !target.checked) return;
    const all = target.form.querySelector("[data-everyone]");
    if (!all || !target.matches("[data-everyone], [name=agent]")) return;
    for (const other of target === all ? target.form.querySelectorAll("[name=agent]") : [all]) other.checked = false;
  });

  document.addEventListener("click", ({ target }) => {
    for (const pull of document.querySelectorAll("details.pull[open]")) if (!pull.contains(target)) pull.open = false;
  });

  taken();
  announce();
})();
