// The order in which everything starts, and what is drawn again.

function repaint(theme, onPaper) {
  document.documentElement.classList.toggle("printing", onPaper);
  paint(theme);
  drawSummary();
  drawStrip();
  document.querySelectorAll("#filter .model .swatch").forEach((node, i) => {
    node.style.background = colour(candidates[i].j);
  });
  for (const listener of listeners) listener();
  redraw();
}

// -- start -----------------------------------------------------------------------------------------------------------

function fillPlaces() {
  document.title = plain(document.title);
  for (const node of document.querySelectorAll("h1, .warnings li")) node.textContent = plain(node.textContent);
  for (const node of document.querySelectorAll("button[data-define]")) {
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

async function start() {
  paint(chosenTheme());
  fillPlaces();
  page.instances = await unpack(page.instances);
  drawSummary();
  startRanking();
  startRankSets();
  drawStrip();
  startCharts();
  startLenses();
  startInstances();
  drawHow();
  setIndex(ranking.reference);
  followSurroundings();
  const source = new TextDecoder().decode(await inflate(byId("plotly").textContent));
  document.head.append(el("script", {}, source));
  for (const run of charts) {
    run();
    await new Promise((done) => {
      setTimeout(done);
    });
  }
  document.documentElement.dataset.ready = "yes";
}

start().catch((problem) => {
  console.error(problem);
  const text = page.text.general;
  const old = typeof DecompressionStream === "undefined";
  byId("failed").hidden = false;
  byId("failed").textContent = old ? text.old_browser : fillTemplate(text.page_failed, { problem: problem.message });
});
