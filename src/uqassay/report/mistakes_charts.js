// Section 4: intervals in rows.

const isHalf = (t) => Math.abs(t - 0.5) < 1e-9;

// An axis for some estimates: from ½ where one comes near it, else around them, and then ½ lies to the left.
function forestAxis(cells) {
  const values = cells.flatMap((e) => [e.estimate, e.low, e.high]).map(number).filter(Number.isFinite);
  const nearest = Math.min(...values);
  let [least, most] = [0.5, 1];
  if (values.length) [least, most] = [nearest < 0.7 ? Math.min(0.5, nearest) : nearest, Math.max(...values, 0.5 + 1e-9)];
  const steps = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1];
  const room = onPaper() ? 3 : narrow() ? 4 : 5;
  const step = steps.find((s) => (most - least) / s <= room) ?? 0.2;
  const first = Math.floor(least / step + 1e-9);
  const last = Math.min(Math.ceil(most / step - 1e-9), Math.round(1 / step));
  const [low, high] = [first * step, Math.max(last, first + 1) * step];
  const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => (first + i) * step);
  if (low < 0.5 && !ticks.some(isHalf)) ticks.push(0.5);
  return { x: (value) => `${(100 * (number(value) - low)) / (high - low)}%`, ticks, beyond: low > 0.5 };
}

function forestScale({ x, ticks, beyond }) {
  const label = (t) => (isHalf(t) ? "½" : String(Number(t.toFixed(3))).replace(/^0(?=\.)/, ""));
  const anchor = (i) => (beyond && i === 0 ? "start" : "middle");
  return el(
    "svg",
    { class: "axis-row", "aria-hidden": "true" },
    ticks.map((t, i) => el("text", { x: x(t), y: 11, "text-anchor": anchor(i) }, label(t))),
    beyond ? el("text", { x: -6, y: 11, "text-anchor": "end" }, "◂½") : null,
  );
}

function forestGraph(e, j, { x, ticks }) {
  const [c, a, b] = [colour(j), number(e.low), number(e.high)];
  const grid = (t) => el("line", { x1: x(t), x2: x(t), y1: 0, y2: "100%", class: isHalf(t) ? "half" : "tick" });
  const bar = { x1: x(a), x2: x(b), y1: "50%", y2: "50%", stroke: c, "stroke-width": 6, "stroke-opacity": 0.5 };
  const at = { x1: x(e.estimate), x2: x(e.estimate), y1: "28%", y2: "72%", stroke: c, "stroke-width": 3 };
  const known = Number.isFinite(a) && Number.isFinite(b);
  return el("svg", { "aria-hidden": "true" }, ticks.map(grid), known ? el("line", bar) : null, el("line", at));
}

// groups: {title, rows: {m, name, cells, reasons}}, one cell per metric.
function forest(groups, metrics, first) {
  const cells = groups.flatMap((g) => g.rows.flatMap((r) => r.cells)).filter(Boolean);
  const column = (k) => groups.flatMap((g) => g.rows.map((r) => r.cells[k])).filter(Boolean);
  const axes = metrics.map((_, k) => forestAxis(column(k)));
  const places = decimalsFor(cells.map((e) => [e.low, e.high]));
  const cell = (r, k) => {
    const e = r.cells[k];
    if (!e || Number.isNaN(number(e.estimate))) {
      return el("td", {}, el("div", { class: "pair" }, el("span", { class: "undefined" }, r.reasons[k] ?? "undefined")));
    }
    const value = interval(e.estimate, e.low, e.high, places);
    const said = el("span", { class: "number", title: noteLines(e.notes) || null }, value);
    return el("td", {}, el("div", { class: "pair" }, forestGraph(e, r.m.j, axes[k]), said));
  };
  const heading = (metric, k) => {
    const scale = el("div", { class: "pair" }, forestScale(axes[k]), el("span", { class: "number" }));
    return el("th", { scope: "col", class: "text" }, page.definitions[metric].title, "\u00a0", what(metric), scale);
  };
  const head = el("tr", {}, el("th", { scope: "col", class: "text" }, first), metrics.map(heading));
  const row = (r) => {
    const name = el("th", { scope: "row", class: "text name" }, r.name);
    return el("tr", { "data-key": r.m.model }, name, r.cells.map((_, k) => cell(r, k)));
  };
  const group = (g) => {
    const title = el("th", { scope: "rowgroup", class: "text", colspan: 1 + metrics.length }, g.title);
    return el("tbody", {}, el("tr", { class: "group" }, title), g.rows.map(row));
  };
  return el("table", {}, el("thead", {}, head), groups.map(group));
}
