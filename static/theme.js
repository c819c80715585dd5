/* Runs before the first paint: the system's theme where none was chosen, key hints hidden where keys are off, and the mark (`js`)
   that shows what only works with scripts. */
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => root.classList.toggle("dark", dark.matches);
  if (root.dataset.theme === "system") {
    follow();
    dark.addEventListener("change", follow);
  }
  try {
    const keys = localStorage.getItem("keys");
    if (keys) root.classList.toggle("keys-off", keys === "off");
  } catch { /* storage may be shut; the cookie then speaks, through the server */ }
})();
