/* What was found is walked by the arrow keys: from the field to the first result and back. Enter opens a link by itself. */
(() => {
  const results = [...document.querySelectorAll("[data-result]")];
  const field = document.getElementById("q");
  if (!results.length) return;
  /* A browser may refuse `autofocus` on a link, or give it to the bar. */
  if (document.activeElement === document.body || document.activeElement === null) results[0].focus();

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = results.indexOf(document.activeElement);
    if (!step || (at < 0 && document.activeElement !== field)) return;
    event.preventDefault();
    (results[at + step] ?? (step < 0 ? field : results[at])).focus();
  });
})();
