/* How many lines of a list are ticked, and a tick for all of them. Without this file the bar appears all the same (app.css). */
(() => {
  for (const form of document.querySelectorAll("[data-ticks]")) {
    const words = form.querySelector("[data-ticked]");
    const whole = form.querySelector("[data-tick-all]");
    if (!words || !whole) continue;
    const lines = () => [...form.querySelectorAll("tbody input[type=checkbox]")];
    const count = () => {
      const ticked = lines().filter((line) => line.checked).length;
      words.textContent = `${ticked} ${words.dataset.words}`;
      whole.checked = ticked > 0 && ticked === lines().length;
      whole.indeterminate = ticked > 0 && !whole.checked;
    };
    whole.hidden = false;
    whole.addEventListener("change", () => {
      for (const line of lines()) line.checked = whole.checked;
      count();
    });
    form.addEventListener("change", count);
    count();
  }
})();
