// Section 3: what all statistical charts share, the filter of models, and the order in which they are drawn.

const charts = [];

// Lines at the pointer: the name of a model in bold, then text.
const hover = (name, ...lines) => [el("b", {}, name), ...lines];

function chart(id, draw, { follows = false } = {}) {
  const node = byId(id);
  const title = () => node.closest("figure")?.querySelector("h3, h4")?.textContent.replace(/ \?$/, "");
  const paintChart = () => {
    node.setAttribute("role", "img");
    node.removeAttribute("tabindex");
    node.setAttribute("aria-label", plain(title() ?? page.text.charts.reliability));
    try {
      draw(node);
    } catch (problem) {
      node.textContent = fillTemplate(page.text.general.chart_failed, { problem: problem.message });
      console.error(problem);
    }
  };
  const run = () => whenOpen(node, paintChart);
  charts.push(run);
  if (!follows) return;
  let waiting = false;
  listeners.push(() => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      run();
    });
  });
}

function redraw() {
  for (const run of charts) run();
}

// -- start -----------------------------------------------------------------------------------------------------------

function startCharts() {
  startChoiceOfModels();
  startFilter();
  startPlaneParts();
  for (const node of document.querySelectorAll("h4[data-title]")) {
    const at = el("span", { class: "at" }); // where the picture has a λ
    fill(node, page.definitions[node.dataset.title].title, at, " ", what(node.dataset.title));
  }
  chart("plane", drawPlane, { follows: true });
  chart("lines", drawLines, { follows: true });
  chart("ridge-distance", ridges("distance"));
  chart("ridge-nonspecificity", ridges("nonspecificity"));
  chart("ridge-unified", ridges("unified"), { follows: true });
  listeners.push(() => whenOpen(byId("by-correctness"), drawCorrectness));
}

function startFilter() {
  const input = el("input", { type: "range", min: 0, step: 1, "aria-label": "λ" });
  const tradeoff = el("label", { class: "lambda" }, "λ ", el("span", { "data-lambda": "" }), input);
  fill(byId("filter"), modelControl({ grey: true }), tradeoff);
  slider(input);
}

function startPlaneParts() {
  const parts = Object.entries(page.text.charts.parts).filter(([part]) => page.regions[part]);
  const choose = (part) => {
    state.part = part;
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(parts[i][0] === part)));
    drawPlane(byId("plane"));
  };
  const buttons = parts.map(([part, label]) =>
    el("button", { type: "button", "aria-pressed": String(part === "all"), on: { click: () => choose(part) } }, label),
  );
  fill(byId("plane-part"), buttons);
}
