/* The line figures of Insights under a pointer: uPlot draws the two lines over the ones the server drew, and the day under the
   pointer is read out below. Without it the server's figure stands. Text goes in by textContent alone. */
(() => {
  /* The part of the figure's 440 x 128 that the lines fill (review/insights/answers.py). */
  const AREA = { left: 0, top: 12, width: 370, height: 88, whole: 440 };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const drawn = [];

  const words = (box, days, first, second, place) => {
    const read = box.querySelector(".read");
    if (place == null) {
      read.textContent = "";
      return;
    }
    const day = new Date(days[place] * 1000).toLocaleDateString(document.documentElement.lang, { day: "numeric", month: "short", timeZone: "UTC" });
    read.textContent = `${day}: ${second[place]} ${read.dataset.second}, ${first[place]} ${read.dataset.first}`;
  };

  const draw = (box) => {
    const [days, first, second] = JSON.parse(box.dataset.series);
    if (days.length < 2) return;
    const figure = box.querySelector(".fig");
    const scale = figure.getBoundingClientRect().width / AREA.whole;
    const over = document.createElement("div");
    over.className = "over-lines";
    over.setAttribute("aria-hidden", "true");
    over.style.top = `${AREA.top * scale}px`;
    box.append(over);
    const plot = new uPlot({
      width: Math.round(AREA.width * scale),
      height: Math.round(AREA.height * scale),
      padding: [0, 0, 0, 0],
      legend: { show: false },
      axes: [{ show: false }, { show: false }],
      scales: { x: { time: true, range: [days[0], days[days.length - 1]] }, y: { range: [0, Number(box.dataset.top)] } },
      cursor: { y: false, drag: { x: false, y: false } },
      series: [
        {},
        { stroke: colour("--grey-1"), width: 2, points: { show: false } },
        { stroke: colour("--ink"), width: 2, points: { show: false } },
      ],
      hooks: { setCursor: [(self) => words(box, days, first, second, self.cursor.idx)] },
    }, [days, second, first], over);
    box.classList.add("live");
    drawn.push({ box, over, plot });
  };

  const again = () => {
    const boxes = drawn.map(({ box, over, plot }) => {
      plot.destroy();
      over.remove();
      return box;
    });
    drawn.length = 0;
    boxes.forEach(draw);
  };

  document.querySelectorAll(".drawn[data-series]").forEach(draw);
  addEventListener("resize", again);
  new MutationObserver(again).observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
})();
