// Section 4: reliability diagrams, the null distribution of a calibration test, and the weights of a mixture.

const FEW = 30; // instances in a bin below which its accuracy says little
const MANY_MEMBERS = 24; // more stand in the order of their weights, without numbers

// -- reliability -------------------------------------------------------------------------------------------------------

// entries: {m, bins}; with `counts` the number of instances stands above each bar of a single model.
function drawReliability(node, entries, { height, least = null, counts = false }) {
  const total = (bins) => bins.count.reduce((a, b) => a + b, 0);
  const most = Math.max(...entries.map(({ bins }) => Math.max(...bins.count) / total(bins)));
  const traces = [{ x: [0, 1], y: [0, 1], mode: "lines", line: { color: css("--faint"), width: 1, dash: "dot" }, hoverinfo: "skip" }];
  entries.forEach(({ m, bins }, i) => {
    const n = total(bins);
    const firm = bins.count.map((c) => c >= FEW);
    traces.push({ x: bins.confidence, y: bins.accuracy, mode: "lines+markers", line: { color: colour(m.j), width: 1.5, dash: dash(m.j) }, hoverinfo: "text",
      marker: { color: firm.map((f) => (f ? colour(m.j) : css("--page"))), size: 7, symbol: marker(m.j), line: { color: colour(m.j), width: 1.5 } },
      hovertext: bins.count.map((c, b) => `<b>${esc(m.name)}</b><br>confidence ${fixed(bins.edges[0][b], 1)} to ${fixed(bins.edges[1][b], 1)}: accuracy ${fixed(bins.accuracy[b])} (${fixed(bins.low[b])} to ${fixed(bins.high[b])})<br>${c} instances`),
      error_y: { type: "data", symmetric: false, array: bins.high.map((h, b) => h - bins.accuracy[b]), arrayminus: bins.low.map((l, b) => bins.accuracy[b] - l), color: tinted(colour(m.j), 0.7), thickness: 1.2, width: 3 } });
    const w = 0.08 / entries.length;
    traces.push({ type: "bar", x: bins.edges[0].map((e) => e + 0.01 + (i + 0.5) * w), y: bins.count.map((c) => c / n / most), width: w, yaxis: "y2", marker: { color: tinted(colour(m.j), 0.75) }, hoverinfo: "text",
      ...(counts ? { text: bins.count.map((c) => c.toLocaleString("en")), textposition: "outside", textfont: { size: 10, color: css("--soft") }, textangle: 0, cliponaxis: false, constraintext: "none" } : {}),
      hovertext: bins.count.map((c) => `<b>${esc(m.name)}</b><br>${c} of ${n} instances (${percent(c / n)})`) });
  });
  const from = least ?? Math.min(...entries.flatMap(({ bins }) => bins.edges[0]));
  plot(node, traces, { height, xaxis: { title: "confidence", range: [from - 0.01, 1.01], anchor: "y2", zeroline: false }, yaxis: { title: "accuracy", range: [-0.02, 1.02], domain: [counts ? 0.26 : 0.2, 1], zeroline: false },
    yaxis2: { domain: [0, 0.15], range: [0, 1.05], showticklabels: false, showgrid: false, fixedrange: true, linecolor: css("--line") }, bargap: 0 });
}

function drawOneReliability(node, r, side) {
  const bins = r[side];
  if (side === "after" && r.n_members < 2) { empty(node, "Nothing to weigh."); return; }
  if (!bins || !bins.count.length) { empty(node, "Nothing to draw here."); return; }
  const least = Math.min(...[r.before, r.after].filter((b) => b && b.count.length).flatMap((b) => b.edges[0]));
  drawReliability(node, [{ m: { name: r.model, j: r.j }, bins }], { height: 330, least, counts: true });
}

// -- the null distribution ---------------------------------------------------------------------------------------------

function drawNull(node, r, t) {
  const [found, mean] = [number(r.statistic), number(r.mean[0])];
  const { start, width, counts } = r.null;
  if (!counts.length || !Number.isFinite(found)) { empty(node, counts.length ? `The minimum found is ${Number.isNaN(found) ? "undefined" : "infinite"}.` : "No draw is finite."); return; }
  const places = placesOf([r.statistic, r.mean[0]], 1);
  const left = counts.map((_, i) => start + i * width);
  const beyond = left.map((x) => x > found - width / 2);
  const [low, high] = [Math.min(left[0], found), Math.max(left.at(-1) + width, found)];
  const span = high - low;
  const near = (v) => Number.isFinite(v) && v >= low - 0.1 * span && v <= high + 0.8 * span;
  const marks = r.members.map(number).map((v, i) => [v, i]).filter(([v]) => Number.isFinite(v));
  const inside = marks.filter(([v]) => near(v));
  const [from, to] = [Math.min(low, near(mean) ? mean : low, ...inside.map(([v]) => v)), Math.max(high, near(mean) ? mean : high, ...inside.map(([v]) => v))];
  const pad = 0.05 * (to - from);
  const range = [from - pad, to + pad];
  const top = Math.max(...counts);
  const base = colour(r.j);
  const traces = [{ type: "bar", x: left.map((x) => x + width / 2), y: counts, width: counts.map(() => width), hoverinfo: "text",
    marker: { color: beyond.map((b) => (b ? tinted(base, 0.85) : tinted(css("--faint"), dark() ? 0.7 : 0.45))), line: { color: css("--page"), width: 0.5 } },
    hovertext: counts.map((c, i) => `${count(c, "draw")} from ${fixed(left[i], places + 1)} to ${fixed(left[i] + width, places + 1)}`) }];
  if (inside.length) {
    traces.push({ x: inside.map(([v]) => v), y: inside.map(() => -0.045 * top), mode: "markers", marker: { symbol: "line-ns", size: 9, line: { color: base, width: 1.5 } }, hoverinfo: "text", cliponaxis: false,
      hovertext: inside.map(([v, i]) => `member ${i + 1}: ${fixed(v, places)}${r.member_pvalues.length ? `, ${chance(r.member_pvalues[i])}` : ""}`) });
  }
  const room = Math.max(100, node.clientWidth - 70);
  const side = (v, text) => (((range[1] - v) / (range[1] - range[0])) * room < 7 * text.length + 8 ? { xanchor: "right", xshift: -5 } : { xanchor: "left", xshift: 5 });
  const line = (v, look) => ({ type: "line", x0: v, x1: v, y0: 0, y1: 1, yref: "paper", line: look });
  const label = (v, text, y, color) => ({ x: v, y, yref: "paper", yanchor: "top", text: esc(text), showarrow: false, font: { size: 12, color }, bgcolor: css("--page"), opacity: 0.92, borderpad: 1, ...side(v, text) });
  const shapes = [line(found, { color: css("--ink"), width: 2 })];
  const annotations = [label(found, `${r.n_members > 1 ? "minimum" : "found"} ${fixed(found, places)}`, 1, css("--ink"))];
  if (r.n_members > 1 && Number.isFinite(mean)) {
    if (near(mean)) shapes.push(line(mean, { color: css("--soft"), width: 1.5, dash: "dash" }));
    annotations.push(near(mean) ? label(mean, `model’s mean ${fixed(mean, places)}`, 0.9, css("--soft"))
      : { x: 1, xref: "paper", xanchor: "right", y: 0.9, yref: "paper", yanchor: "top", text: `model’s mean ${fixed(mean, places)} ▸`, showarrow: false, bgcolor: css("--page"), font: { size: 12, color: css("--soft") } });
  }
  if (marks.length > inside.length) annotations.push({ x: 1, xref: "paper", xanchor: "right", y: 0.78, yref: "paper", yanchor: "top", text: `${count(marks.length - inside.length, "member")} ▸`, showarrow: false, bgcolor: css("--page"), font: { size: 12, color: css("--soft") } });
  plot(node, traces, { height: 300, shapes, annotations, bargap: 0, xaxis: { title: t.label(r.measure), range, zeroline: false }, yaxis: { title: "null draws", range: [inside.length ? -0.09 * top : 0, 1.28 * top], zeroline: true, tickformat: ",d" } });
}

// -- weights -----------------------------------------------------------------------------------------------------------

function drawWeights(node, r) {
  if (r.n_members < 2) { empty(node, "Nothing to weigh."); return; }
  if (!r.weights.length) { empty(node, r.outcome === "undefined" ? "No mixture is the best where the measure is undefined." : "No weights were kept."); return; }
  const many = r.weights.length > MANY_MEMBERS;
  const one = r.noun === "vertices" ? "vertex" : "member";
  const order = r.weights.map((w, i) => [w, i]);
  if (many) order.sort((a, b) => b[0] - a[0]);
  const equal = 1 / r.weights.length;
  const top = 1.12 * Math.max(equal, ...r.weights);
  const written = r.weights.length <= 12;
  const x = order.map(([, i], k) => (many ? k + 1 : i + 1));
  const traces = [{ type: "bar", x, y: order.map(([w]) => w), marker: { color: colour(r.j) }, hoverinfo: "text", cliponaxis: false,
    hovertext: order.map(([w, i]) => `${one} ${i + 1}: ${fixed(w)}`) }];
  const shapes = [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: equal, y1: equal, line: { color: css("--ink"), width: 1.5, dash: "dash" } }];
  const annotations = [{ xref: "paper", x: 1, xanchor: "right", y: equal, yanchor: "bottom", text: "1/M", showarrow: false, font: { size: 11, color: css("--ink") }, bgcolor: css("--page"), opacity: 0.9, borderpad: 1 }];
  // annotations, unlike texts of bars, cover the dashed line behind them
  if (written) annotations.push(...order.map(([w], k) => ({ x: x[k], y: w, yanchor: "bottom", yshift: 2, text: fixed(w, 2).replace(/^(<?)0\./, "$1."), showarrow: false, font: { size: 12, color: css("--ink") }, bgcolor: css("--page"), borderpad: 1 })));
  plot(node, traces, { height: 300, shapes, annotations, bargap: many ? 0.1 : 0.35, xaxis: { title: many ? `${r.noun}, the heaviest first` : one, range: [0.4, r.weights.length + (many ? 0.6 : 0.9)], zeroline: false, showgrid: false, ...(many ? {} : { tickvals: x, tickangle: 0 }) }, yaxis: { title: "weight λ", range: [0, top], zeroline: true } });
}
