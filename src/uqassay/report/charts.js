// Section 3: the statistical charts, drawn by Plotly, which reads some HTML in its texts: `esc` all data.

const esc = (text) => plain(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const elided = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
const charts = [];

// Lines of a tooltip: the name of a model in bold, then text.
const hover = (name, ...lines) => [`<b>${esc(name)}</b>`, ...lines.map(esc)].join("<br>");

function chart(id, draw, { follows = false } = {}) {
  const node = byId(id);
  const title = () => node.closest("figure")?.querySelector("h3, h4")?.textContent.replace(/ \?$/, "");
  node.setAttribute("role", "img");
  const run = () => {
    node.setAttribute("aria-label", title() ?? page.text.charts.reliability);
    try {
      draw(node);
    } catch (problem) {
      node.textContent = fillTemplate(page.text.general.chart_failed, { problem: problem.message });
      console.error(problem);
    }
  };
  charts.push(run);
  if (!follows) return;
  let waiting = false;
  listeners.push(() => {
    if (waiting || !window.Plotly) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      run();
    });
  });
}

function plot(node, traces, layout) {
  const axis = {
    gridcolor: css("--grid"),
    linecolor: css("--line"),
    zerolinecolor: css("--line"),
    tickcolor: css("--line"),
    automargin: true,
    fixedrange: true,
    ticks: "outside",
    ticklen: 4,
  };
  const { xaxis, yaxis, ...others } = layout;
  const family = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif";
  const merged = {
    margin: { l: 56, r: 14, t: 8, b: 44 },
    height: 340,
    width: node.clientWidth,
    showlegend: false,
    hovermode: "closest",
    dragmode: false,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family, size: 12, color: css("--ink") },
    hoverlabel: {
      bgcolor: css("--card"),
      bordercolor: css("--faint"),
      font: { color: css("--ink"), size: 12 },
      align: "left",
    },
    ...others,
    xaxis: { ...axis, ...xaxis, title: { text: esc(xaxis.title ?? ""), standoff: 8 } },
    yaxis: { ...axis, ...yaxis, title: { text: esc(yaxis.title ?? ""), standoff: 8 } },
  };
  if (node.querySelector(".empty")) node.replaceChildren();
  window.Plotly.react(node, traces, merged, { displayModeBar: false });
}

function empty(node, text) {
  if (window.Plotly && node.classList.contains("js-plotly-plot")) window.Plotly.purge(node);
  fill(node, el("p", { class: "empty" }, text));
}

function toggle(m, button) {
  if (state.hidden.has(m.j)) state.hidden.delete(m.j);
  else if (shown().length > 1) state.hidden.add(m.j);
  button.setAttribute("aria-pressed", String(!state.hidden.has(m.j)));
  redraw();
}

function redraw() {
  if (window.Plotly) for (const run of charts) run();
}

// -- start -----------------------------------------------------------------------------------------------------------

function startCharts() {
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
  listeners.push(drawCorrectness);
  startScatter();
}

function startFilter() {
  const button = (m) => {
    const click = (event) => toggle(m, event.currentTarget);
    const attributes = { type: "button", class: "model", "aria-pressed": "true", title: m.name, on: { click } };
    return el("button", attributes, swatch(m.j), el("bdi", {}, m.name));
  };
  const input = el("input", { type: "range", min: 0, step: 1, "aria-label": "λ" });
  const label = el("label", { class: "lambda" }, "λ ", el("span", { "data-lambda": "" }), input);
  fill(byId("filter"), el("span", { class: "note" }, page.text.charts.show), candidates.map(button), label);
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
