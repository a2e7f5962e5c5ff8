// Section 4: intervals in rows, curves with bands, and the matrix of paired tests.

// -- intervals in rows -------------------------------------------------------------------------------------------------

// An axis for some estimates: from ½ where one comes near it, else around them, and then ½ lies to the left.
function forestAxis(cells) {
  const values = cells.flatMap((e) => [e.estimate, e.low, e.high]).map(number).filter(Number.isFinite);
  const nearest = Math.min(...values);
  const [least, most] = values.length ? [nearest < 0.7 ? Math.min(0.5, nearest) : nearest, Math.max(...values, 0.5 + 1e-9)] : [0.5, 1];
  const step = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1].find((s) => (most - least) / s <= (innerWidth < 620 ? 3 : 5)) ?? 0.2;
  const first = Math.floor(least / step + 1e-9);
  const last = Math.min(Math.ceil(most / step - 1e-9), Math.round(1 / step));
  const [low, high] = [first * step, Math.max(last, first + 1) * step];
  const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => (first + i) * step);
  if (low < 0.5 && !ticks.some((t) => Math.abs(t - 0.5) < 1e-9)) ticks.push(0.5);
  return { x: (value) => `${(100 * (number(value) - low)) / (high - low)}%`, ticks, beyond: low > 0.5 };
}

// groups: {title, rows: {m, name, cells}}, one cell per metric.
function forest(groups, metrics) {
  const cells = groups.flatMap((g) => g.rows.flatMap((r) => r.cells)).filter(Boolean);
  const axes = metrics.map((_, k) => forestAxis(groups.flatMap((g) => g.rows.map((r) => r.cells[k])).filter(Boolean)));
  const places = decimalsFor(cells.map((e) => [e.low, e.high]));
  const isHalf = (t) => Math.abs(t - 0.5) < 1e-9;
  const axis = ({ x, ticks, beyond }) => el("svg", { class: "axis-row", "aria-hidden": "true" },
    ticks.map((t, i) => el("text", { x: x(t), y: 11, "text-anchor": beyond && i === 0 ? "start" : "middle" }, isHalf(t) ? "½" : String(Number(t.toFixed(3))).replace(/^0(?=\.)/, ""))),
    beyond ? el("text", { x: -6, y: 11, "text-anchor": "end" }, "◂½") : null);
  const graph = (e, j, { x, ticks }) => {
    const [c, a, b] = [colour(j), number(e.low), number(e.high)];
    return el("svg", { "aria-hidden": "true" }, ticks.map((t) => el("line", { x1: x(t), x2: x(t), y1: 0, y2: "100%", class: isHalf(t) ? "half" : "tick" })),
      Number.isFinite(a) && Number.isFinite(b) ? el("line", { x1: x(a), x2: x(b), y1: "50%", y2: "50%", stroke: c, "stroke-width": 6, "stroke-opacity": 0.5 }) : null,
      el("line", { x1: x(e.estimate), x2: x(e.estimate), y1: "28%", y2: "72%", stroke: c, "stroke-width": 3 }));
  };
  const cell = (e, j, k) => {
    if (!e || Number.isNaN(number(e.estimate))) return el("td", {}, el("div", { class: "pair" }, el("span", { class: "undefined" }, reasonOf(e))));
    return el("td", {}, el("div", { class: "pair" }, graph(e, j, axes[k]), el("span", { class: "number", title: noteText(e.notes) || null }, interval(e.estimate, e.low, e.high, places))));
  };
  const head = el("tr", {}, el("th", { scope: "col", class: "text" }, ""), metrics.map((metric, k) => el("th", { scope: "col", class: "text" }, page.definitions[metric].title, "\u00a0", what(metric), el("div", { class: "pair" }, axis(axes[k]), el("span", { class: "number" })))));
  return el("table", {}, el("thead", {}, head), groups.map((g) => el("tbody", {},
    el("tr", { class: "group" }, el("th", { scope: "rowgroup", class: "text", colspan: 1 + metrics.length }, g.title)),
    g.rows.map((r) => el("tr", { "data-key": r.m.model }, el("th", { scope: "row", class: "text name" }, r.name), r.cells.map((e, k) => cell(e, r.m.j, k)))))));
}

// -- risk-coverage curves ----------------------------------------------------------------------------------------------

function drawCurves(node, rows, coverages, kept) {
  const x = coverages.map((c) => 100 * c);
  const traces = [];
  let top = 0;
  for (const { m, curve } of rows) {
    const [risk, low, high] = curve.map((values) => values.map((v) => (Number.isFinite(number(v)) ? 100 * number(v) : null)));
    const base = colour(m.j);
    traces.push({ x, y: low, mode: "lines", line: { width: 0 }, hoverinfo: "skip" });
    traces.push({ x, y: high, mode: "lines", line: { width: 0 }, fill: "tonexty", fillcolor: tinted(base, 0.16), hoverinfo: "skip" });
    traces.push({ x, y: risk, mode: "lines", line: { color: base, width: 2, dash: dash(m.j) }, hoverinfo: "text",
      hovertext: x.map((c, i) => `<b>${esc(m.model)}</b><br>of the ${Number(c.toPrecision(3))} % kept<br>${risk[i].toFixed(2)} % wrong${low[i] === null ? "" : ` (${low[i].toFixed(2)} to ${high[i].toFixed(2)})`}`) });
    x.forEach((c, i) => { top = Math.max(top, c >= 5 ? risk[i] : 0, c >= 20 ? high[i] ?? 0 : 0); });
  }
  const shapes = [{ type: "line", x0: 100 * kept, x1: 100 * kept, yref: "paper", y0: 0, y1: 1, line: { color: css("--ink"), width: 1.5 } }];
  plot(node, traces, { height: 360, shapes, xaxis: { title: "share kept, least uncertain first (%)", range: [0, 100.5], zeroline: false }, yaxis: { title: "wrong among what is kept (%)", range: [0, 1.06 * top || 1] } });
}

// -- the matrix of paired tests ----------------------------------------------------------------------------------------

function matrix(held, sides, metric, told) {
  const at = (i, j) => {
    const [a, b] = i > j ? [i, j] : [j, i];
    const [difference, low, high, p] = held.pairs.map((values) => number(values[(a * (a - 1)) / 2 + b]));
    return i > j ? { difference, low, high, p } : { difference: -difference, low: -high, high: -low, p };
  };
  const places = decimalsFor(held.pairs[1].map((low, k) => [low, held.pairs[2][k]]));
  const signed = (value, digits = places) => fixed(value, digits).replace(/^(?=\d)/, value > 0 ? "+" : "");
  const inFull = (value) => { // at least one digit of a difference, where a cell says < .001
    let digits = places;
    while (digits < 9 && value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits) digits += 1;
    return signed(value, digits);
  };
  const alpha = 1 - page.facts.level;
  const full = (side) => (side.by ? `${side.name} (${side.by})` : side.name);
  const untested = page.facts.resampled === 1 ? `no test, for there is only 1 ${page.facts.groups ? "group" : "instance"}` : "no test, for the difference does not vary over the instances";
  const words = (i, j) => {
    const pair = `${full(sides[i])} against ${full(sides[j])}`;
    if (i === j) return `${full(sides[i])}: ${metric} ${fixed(held.values[i], places)}`;
    const { difference, low, high, p } = at(i, j);
    const values = `${metric} ${fixed(held.values[i], places)} − ${fixed(held.values[j], places)} = ${inFull(difference)}`;
    if (Number.isNaN(p)) return `${pair}: ${values}; ${untested}`;
    if (difference === 0 && low === 0 && high === 0) return `${pair}: ${values}; the two agree on every instance`;
    const verdict = p > alpha ? "could be chance" : difference > 0 ? `${sides[i].name} ranks better` : `${sides[j].name} ranks better`;
    return `${pair}: ${values} (${fixed(low, places)} to ${fixed(high, places)}), p ${/^[<–]/.test(pvalue(p)) ? "" : "= "}${pvalue(p)}${sides.length > 2 ? " (Holm)" : ""}: ${verdict}`;
  };
  const cells = sides.map((_, i) => sides.map((__, j) => {
    const text = words(i, j);
    const node = el("td", { role: "gridcell", tabindex: i === 0 && j === 0 ? "0" : "-1", title: text, "aria-label": text });
    const { difference, low, high, p } = i === j ? {} : at(i, j);
    if (i === j) fill(node, fixed(held.values[i], places));
    else if (difference === 0 && low === 0 && high === 0) fill(node, "=", el("span", { class: "i" }, "same order"));
    else fill(node, signed(difference), el("span", { class: "i" }, Number.isNaN(p) ? "no test" : `p ${pvalue(p)}`));
    if (i === j) node.classList.add("own");
    else if (p <= alpha && difference !== 0) {
      node.classList.add("sure");
      node.style.background = tinted(difference > 0 ? COLOURS[0] : COLOURS[1], dark() ? 0.34 : 0.16);
    }
    const tell = () => fill(told, text);
    node.addEventListener("mouseenter", tell);
    node.addEventListener("focus", tell);
    node.addEventListener("keydown", (event) => {
      const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -j], End: [0, sides.length - 1 - j] }[event.key] ?? [];
      const next = down === undefined ? null : cells[i + down]?.[j + right];
      if (down !== undefined) event.preventDefault();
      if (!next) return;
      node.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
    return node;
  }));
  const heading = (side, scope) => el("th", { scope, class: scope === "row" ? "text name" : null, title: full(side) }, side.j === null ? null : swatch(side.j), el("bdi", {}, side.name), side.by && scope === "row" ? el("span", { class: "i" }, side.by) : null);
  return el("table", { role: "grid", class: sides.length > 10 ? "many" : null, "aria-label": `Paired tests, ${metric}` }, el("thead", {}, el("tr", {}, el("td", {}), sides.map((side) => heading(side, "col")))),
    el("tbody", {}, sides.map((side, i) => el("tr", {}, heading(side, "row"), cells[i]))));
}
