// The order in which everything starts, and what is drawn again.

function repaint(theme, onPaper) {
  document.documentElement.classList.toggle("printing", onPaper);
  foldFor(onPaper);
  paint(theme);
  drawMetrics();
  drawStrip();
  for (const update of modelControls) update();
  for (const listener of listeners) listener();
  redraw();
}

// -- start -----------------------------------------------------------------------------------------------------------

function fillPlaces() {
  for (const node of document.querySelectorAll("button[data-define]")) {
    if (!page.definitions[node.dataset.define]) {
      node.remove(); // of an uncertainty that the user gave
      continue;
    }
    node.setAttribute("aria-label", whatIs(node.dataset.define));
    node.addEventListener("click", () => define(node.dataset.define));
  }
}

function followSurroundings() {
  followScheme(repaint);
  let [width, waiting] = [innerWidth, null];
  addEventListener("resize", () => {
    if (innerWidth === width) return; // a phone's address bar comes and goes
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      drawStrip();
      redraw();
    }, 120);
  });
}

// Draws the charts that are new, one after the other, between which the page answers.
async function drawNew(first) {
  for (const run of charts.slice(first)) {
    run();
    await nextTask();
  }
}

async function start() {
  document.documentElement.dataset.theme = chosenTheme(); // before anything is shown; its button follows
  await openPage();
  paint(chosenTheme());
  fillPlaces();
  startMetrics();
  drawMetrics();
  startRanking();
  startRankSets();
  drawStrip();
  if (!page.facts.answers) startCharts();
  listeners.push(tellOrder);
  setIndex(ranking.reference);
  startSections();
  const late = !byId(fragment()); // a part of a section that is still to be made
  await drawNew(0);
  const [followed, drawn] = [listeners.length, charts.length];
  await openLenses();
  await openInstances();
  if (!page.facts.answers) startScatter();
  startLenses();
  if (!page.facts.answers) startInstances();
  drawHow();
  if (late) goToFragment();
  for (const listener of listeners.slice(followed)) listener();
  followSurroundings();
  await drawNew(drawn);
  await drawHiddenText();
  document.documentElement.dataset.ready = "yes";
}

start().catch((problem) => {
  console.error(problem);
  byId("failed").hidden = false; // it says that the browser is too old
  if (page) byId("failed").textContent = fillTemplate(page.text.general.page_failed, { problem: problem.message });
});
