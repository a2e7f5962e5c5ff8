// The folded sections: each opens by its heading, by a link, by the fragment of the address, with all others, or for paper.
// Charts are drawn when their section opens; text is there from the start, so that the browser's search finds it.

const waiting = new Map(); // of each closed section what is drawn when it opens, with the element that it is drawn in
const sections = () => [...document.querySelectorAll("details.section")];
let openedForPaper = [];

// No break inside "r = 0.5", "95 %" and "p < .001", as `markup.kept` has it.
const unbroken = (text) =>
  text.replace(/(?<=[λrpρ]) (=|≤|≥|<) (?=[−0-9.])/g, "\u00a0$1\u00a0").replaceAll(" %", "\u00a0%");

const nextTask = () => new Promise((done) => setTimeout(done));

// Draws at once where the section of a node is open, else when it opens.
function whenOpen(node, draw) {
  const section = node.closest("details.section");
  if (!section || section.open) draw();
  else waiting.set(section, (waiting.get(section) ?? new Map()).set(draw, node));
}

// Draws all that is no chart, one after the other.
async function drawHiddenText() {
  for (const draws of waiting.values()) {
    for (const [draw, node] of draws) {
      if (node.matches(".chart")) continue;
      draws.delete(draw);
      draw();
      await nextTask();
    }
  }
}

// Opens a section and draws what waited for it, without waiting for the event: paper does not wait either.
function openSection(section) {
  section.open = true;
  const draws = waiting.get(section)?.keys() ?? [];
  waiting.delete(section);
  for (const draw of draws) draw();
}

// Shows an element, in whichever section it is.
function goTo(id) {
  const node = byId(id);
  const section = node?.closest("details.section");
  if (section) openSection(section);
  node?.scrollIntoView();
}

// The sentence at the head of a section; the server has written the first.
const tellFinding = (id, text) => shortenNames(fill(byId(`${id}-finding`), unbroken(text)));

// Which model has the lowest mean E at the chosen λ.
function tellOrder() {
  const found = ranking.findings.filter((f) => f.from <= state.index).at(-1);
  const estimate = fixed(ranking.models[placeOf(found.model)].estimate[state.index]);
  tellFinding("choose", fillTemplate(page.text.ranking.findings[found.said], { ...found, tradeoff: lambdaText(), estimate }));
}

const fragment = () => decodeURIComponent(location.hash.slice(1));
const goToFragment = () => goTo(fragment());

// All sections are open on paper, and as before afterwards. The caller draws everything again.
function foldFor(paper) {
  if (paper && !openedForPaper.length) {
    openedForPaper = sections().filter((section) => !section.open);
    waiting.clear();
  }
  for (const section of openedForPaper) section.open = paper;
  if (!paper) openedForPaper = [];
}

// The entry of the browser's history keeps which sections are open, so that they are after a reload.
function keepOpen() {
  if (openedForPaper.length) return;
  const open = sections().filter((section) => section.open).map((section) => section.id);
  try {
    history.replaceState(open, "");
  } catch {
    /* a page inside another may have no history */
  }
}

function startSections() {
  const button = byId("open-all");
  const everyOpen = () => sections().every((section) => section.open);
  const label = () => {
    button.textContent = everyOpen() ? button.dataset.close : button.dataset.open;
  };
  for (const section of sections()) {
    section.addEventListener("toggle", () => {
      if (section.open) openSection(section);
      keepOpen();
      label();
    });
  }
  button.hidden = false;
  button.addEventListener("click", () => {
    const close = everyOpen();
    for (const section of sections()) section.open = !close;
  });
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    link.addEventListener("click", () => goTo(link.hash.slice(1))); // the fragment may be the same again
  }
  addEventListener("hashchange", goToFragment);
  for (const id of Array.isArray(history.state) ? history.state : []) byId(id)?.setAttribute("open", "");
  if (location.hash) goToFragment();
}
