/* The pile as a list: J and K walk the lines, Space ticks the one in front, Enter opens it (it is a link); the bar counts what is
   ticked. Without JavaScript the same form is sent as it stands. */
(() => {
  const list = () => document.querySelector("[data-pick]");
  const rows = () => [...(list()?.children ?? [])];
  const tick = (row) => row?.querySelector("input[type=checkbox]:not(:disabled)") ?? null;
  let at = -1;

  const mark = (row) => {
    for (const other of rows()) other.classList.toggle("at", other === row);
    at = rows().indexOf(row);
    const open = document.querySelector("[data-open]");
    const link = row?.querySelector("[data-row]");
    if (open && link) open.href = link.href;
  };

  const step = (by) => {
    const all = rows();
    if (!all.length) return;
    const next = all[Math.min(all.length - 1, Math.max(0, at + by))];
    next.querySelector("[data-row]").focus();
    next.scrollIntoView({ block: "nearest" });
  };

  const count = () => {
    const all = rows();
    if (!all.length) return;
    const ticks = all.map(tick).filter(Boolean);
    const ticked = ticks.filter((box) => box.checked).length;
    for (const number of document.querySelectorAll("[data-picked]")) number.textContent = ticked;
    for (const button of document.querySelectorAll("[data-needs-tick]")) button.disabled = ticked === 0;
    const words = document.querySelector("[data-unticked]");
    const left = ticks.length - ticked;
    if (words) words.textContent = left ? ` ${left} ${words.dataset.unticked}.` : "";
  };

  document.addEventListener("focusin", ({ target }) => {
    const row = target.closest?.("[data-pick] > li");
    if (row) mark(row);
  });

  document.addEventListener("change", ({ target }) => {
    if (target.closest?.("[data-pick]")) count();
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== " " || !event.target.matches?.("[data-row]")) return;
    event.preventDefault();
    const box = tick(event.target.closest("li"));
    if (!box) return;
    box.checked = !box.checked;
    count();
  });

  document.addEventListener("click", (event) => {
    const by = event.target.closest?.("[data-step]");
    if (by) step(Number(by.dataset.step));
    if (event.target.closest?.("[data-tick-all]")) {
      const ticks = rows().map(tick).filter(Boolean);
      const wanted = !ticks.every((box) => box.checked);
      for (const box of ticks) box.checked = wanted;
      count();
    }
    const reasons = document.querySelector("details.why-not[open]");
    if (reasons && !reasons.contains(event.target)) reasons.open = false;
  });

  document.addEventListener("htmx:after:swap", () => {
    at = -1;
    count();
  });
  count();
})();
