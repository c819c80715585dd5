/* Marking words in a transcript: "Remember this" appears under the turn they stand in, with a key of its own. What was marked
   is sent as text; the server looks for it in the turn (review/deciding/remembering.py). */
(() => {
  const form = document.getElementById("remember");
  if (!form) return;
  const home = form.parentElement;

  const holder = (node) => (node?.nodeType === Node.TEXT_NODE ? node.parentElement : node)?.closest?.("[data-o]") ?? null;

  const hide = () => {
    form.hidden = true;
    if (form.parentElement !== home) home.append(form);
  };

  const look = () => {
    /* A click on the button itself ends the selection in some browsers; the words are in the form by then. */
    if (form.contains(document.activeElement)) return;
    const marked = getSelection();
    const turn = marked.isCollapsed ? null : holder(marked.anchorNode);
    const words = marked.toString();
    if (!turn || turn !== holder(marked.focusNode) || !words.trim()) {
      hide();
      return;
    }
    form.elements.o.value = turn.dataset.o;
    form.elements.words.value = words;
    turn.closest(".say").append(form);
    form.hidden = false;
  };

  let waiting = 0;
  document.addEventListener("selectionchange", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 120);
  });
})();
