// Section 4: intervals in rows, and curves with bands.

// -- intervals in rows -----------------------------------------------------------------------------------------------

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

// -- risk-coverage curves --------------------------------------------------------------------------------------------

function drawCurves(node, it, models) {
  const x = it.lens.coverages.map((c) => 100 * c);
  const kept = 100 * (1 - it.chosen.share);
  const percents = (values) => values.map((v) => (Number.isFinite(number(v)) ? 100 * number(v) : null));
  const others = candidates.length > MANY ? it.judged().filter((m) => !models.includes(m)) : [];
  const pale = { color: css("--line"), width: 1 };
  const marks = others.map((m) => ({ line: true, x, y: percents(it.scoreOf(m).curve[0]), stroke: pale }));
  let top = 0;
  for (const m of models) {
    const [risk, low, high] = it.scoreOf(m).curve.map(percents);
    const banded = models.length <= MOST_BANDS;
    marks.push(...curveMarks(it, m, x, { risk, low, high }).slice(banded ? 0 : 1));
    x.forEach((c, i) => {
      top = Math.max(top, c >= 5 ? risk[i] : 0, banded && c >= 20 ? (high[i] ?? 0) : 0);
    });
  }
  const stroke = { color: css("--ink"), width: 1.5 };
  const [xTitle, yTitle] = it.text.curve_axes;
  plot(node, marks, {
    height: heightOf(360),
    rules: [{ x: kept, stroke }],
    x: { title: xTitle, range: [0, 100.5] },
    y: { title: yTitle, range: [0, 1.06 * top || 1] },
  });
}

function curveMarks(it, m, x, { risk, low, high }) {
  const base = colour(m.j);
  const words = (c, i) => {
    const known = low[i] !== null;
    const values = { risk: wording.number(risk[i], 2), low: wording.number(low[i], 2), high: wording.number(high[i], 2) };
    return [
      fillTemplate(it.text.curve_hover, { share: wording.general(c, 3) }),
      fillTemplate(known ? it.text.curve_risk_interval : it.text.curve_risk, values),
    ];
  };
  return [
    { band: tinted(base, 0.16), x, low, high },
    {
      line: true,
      x,
      y: risk,
      stroke: { color: base, width: 2, dash: dash(m.j) },
      says: (i) => hover(m.model, ...words(x[i], i)),
    },
  ];
}

// The numbers of the curves: a row for each share kept, a column for each model drawn.
function curveTable(figure, it, models) {
  const ends = (m) => it.lens.coverages.map((_, i) => it.scoreOf(m).curve.slice(1).map((e) => e[i]));
  const places = percentPlaces(models.flatMap(ends));
  const share = { title: it.text.heads.share, text: true, rowHeader: true, cell: (i) => shareText(it.lens.coverages[i]) };
  const column = (m) => ({
    title: nameCell(m.j),
    cell: (i) => shareCell(it.scoreOf(m).curve.map((values) => values[i]), places),
  });
  chartTable(figure, it.text.curve_data, [share, ...models.map(column)], () => it.lens.coverages.map((_, i) => i));
}
