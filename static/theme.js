/* Runs before the first paint: the system's theme where none was chosen, and the mark (`js`) that shows what only works with
   scripts. */
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => root.classList.toggle("dark", dark.matches);
  if (root.dataset.theme === "system") {
    follow();
    dark.addEventListener("change", follow);
  }
})();
