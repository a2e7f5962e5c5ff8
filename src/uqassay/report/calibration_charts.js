// Section 4: reliability diagrams, the null distribution of a calibration test, and the weights of a mixture.

const MANY_MEMBERS = 24; // more stand in the order of their weights, without numbers
const WRITTEN = 12; // weights with their numbers

// -- reliability -----------------------------------------------------------------------------------------------------

// entries: {m, bins}; with `counts` the number of instances stands above each bar of a single model.
function drawReliability(node, entries, { height, text, least = null, counts = false }) {
  const total = (bins) => bins.count.reduce((a, b) => a + b, 0);
  const most = Math.max(...entries.map(({ bins }) => Math.max(...bins.count) / total(bins)));
  const diagonal = { mode: "lines", line: { color: css("--faint"), width: 1, dash: "dot" }, hoverinfo: "skip" };
  const traces = [{ x: [0, 1], y: [0, 1], ...diagonal }];
  entries.forEach(({ m, bins }, i) => {
    const n = total(bins);
    traces.push(accuracyTrace(m, bins, text), countTrace(m, bins, { n, most, i, of: entries.length, counts, text }));
  });
  const from = least ?? Math.min(...entries.flatMap(({ bins }) => bins.edges[0]));
  const below = { domain: [0, 0.15], range: [0, 1.05], showticklabels: false, showgrid: false, fixedrange: true };
  const domain = [counts ? 0.26 : 0.2, 1];
  plot(node, traces, {
    height,
    bargap: 0,
    xaxis: { title: text.axes.confidence, tickformat: ".0%", range: [from - 0.01, 1.01], anchor: "y2", zeroline: false },
    yaxis: { title: text.axes.accuracy, tickformat: ".0%", range: [-0.02, 1.02], domain, zeroline: false },
    yaxis2: { ...below, linecolor: css("--line") },
  });
}

function accuracyTrace(m, bins, text) {
  const face = bins.count.map((c) => (c >= text.few ? colour(m.j) : css("--page")));
  const words = (c, b) => [
    fillTemplate(text.bin, {
      confidences: wording.percentInterval(bins.edges[0][b], bins.edges[1][b], 0),
      accuracy: wording.percent(number(bins.accuracy[b])),
      accuracies: wording.percentInterval(number(bins.low[b]), number(bins.high[b])),
    }),
    fillTemplate(text.bin_count, { n: wording.count(c) }),
  ];
  return {
    x: bins.confidence,
    y: bins.accuracy,
    mode: "lines+markers",
    line: { color: colour(m.j), width: 1.5, dash: dash(m.j) },
    hoverinfo: "text",
    marker: { color: face, size: 7, symbol: marker(m.j), line: { color: colour(m.j), width: 1.5 } },
    hovertext: bins.count.map((c, b) => hover(m.name, ...words(c, b))),
    error_y: {
      type: "data",
      symmetric: false,
      array: bins.high.map((h, b) => h - bins.accuracy[b]),
      arrayminus: bins.low.map((l, b) => bins.accuracy[b] - l),
      color: tinted(colour(m.j), 0.7),
      thickness: 1.2,
      width: 3,
    },
  };
}

function countTrace(m, bins, { n, most, i, of, counts, text }) {
  const w = 0.08 / of;
  const values = (c) => ({ n: wording.count(c), total: wording.count(n), share: wording.percent(c / n, 0) });
  const written = {
    text: bins.count.map(wording.count),
    textposition: "outside",
    textfont: { size: 10, color: css("--soft") },
    textangle: 0,
    cliponaxis: false,
    constraintext: "none",
  };
  return {
    type: "bar",
    x: bins.edges[0].map((e) => e + 0.01 + (i + 0.5) * w),
    y: bins.count.map((c) => c / n / most),
    width: w,
    yaxis: "y2",
    marker: { color: tinted(colour(m.j), 0.75) },
    hoverinfo: "text",
    ...(counts ? written : {}),
    hovertext: bins.count.map((c) => hover(m.name, fillTemplate(text.bin_share, values(c)))),
  };
}

function drawOneReliability(node, r, side, t, text) {
  const bins = r[side];
  if (side === "after" && r.n_members < 2) {
    empty(node, t.text.nothing_to_weigh);
    return;
  }
  if (!bins || !bins.count.length) {
    empty(node, t.text.nothing_to_draw);
    return;
  }
  const both = [r.before, r.after].filter((b) => b && b.count.length);
  const least = Math.min(...both.flatMap((b) => b.edges[0]));
  drawReliability(node, [{ m: { name: r.model, j: r.j }, bins }], { height: 330, least, counts: true, text });
}

// -- the null distribution -------------------------------------------------------------------------------------------

function drawNull(node, r, t) {
  if (r.captions.no_null) {
    empty(node, r.captions.no_null);
    return;
  }
  const view = nullView(r);
  const { inside, top } = view;
  const traces = [nullBars(r, t, view), ...(inside.length ? [memberTicks(r, t, view)] : [])];
  const { shapes, annotations } = nullMarks(node, r, t, view);
  plot(node, traces, {
    height: 300,
    shapes,
    annotations,
    bargap: 0,
    xaxis: { title: t.measureOf(r).label, range: view.range, zeroline: false },
    yaxis: {
      title: t.text.axes.draws,
      range: [inside.length ? -0.09 * top : 0, 1.28 * top],
      zeroline: true,
      tickformat: ",d",
    },
  });
}

// Where the axis lies: around the draws and the value found, with the mean and single members that are near.
function nullView(r) {
  const [found, mean] = [number(r.statistic), number(r.mean[0])];
  const { start, width, counts } = r.null;
  const left = counts.map((_, i) => start + i * width);
  const [low, high] = [Math.min(left[0], found), Math.max(left.at(-1) + width, found)];
  const span = high - low;
  const near = (v) => Number.isFinite(v) && v >= low - 0.1 * span && v <= high + 0.8 * span;
  const members = r.members.map(number).map((v, i) => [v, i]).filter(([v]) => Number.isFinite(v));
  const inside = members.filter(([v]) => near(v));
  const values = [...(near(mean) ? [mean] : []), ...inside.map(([v]) => v)];
  const [from, to] = [Math.min(low, ...values), Math.max(high, ...values)];
  const pad = 0.05 * (to - from);
  const beyond = members.length - inside.length;
  return { found, mean, left, near, inside, beyond, range: [from - pad, to + pad], top: Math.max(...counts) };
}

function nullBars(r, t, { found, left }) {
  const { width, counts } = r.null;
  const [base, other] = [tinted(colour(r.j), 0.85), tinted(css("--faint"), dark() ? 0.7 : 0.45)];
  const words = (c, i) => {
    const ends = { low: fixed(left[i], r.places + 1), high: fixed(left[i] + width, r.places + 1) };
    return fillTemplate(c === 1 ? t.text.draws.one : t.text.draws.many, { n: wording.count(c), ...ends });
  };
  return {
    type: "bar",
    x: left.map((x) => x + width / 2),
    y: counts,
    width: counts.map(() => width),
    hoverinfo: "text",
    marker: { color: left.map((x) => (x > found - width / 2 ? base : other)), line: { color: css("--page"), width: 0.5 } },
    hovertext: counts.map((c, i) => esc(words(c, i))),
  };
}

function memberTicks(r, t, { inside, top }) {
  const words = ([v, i]) => {
    const tested = r.member_pvalues.length > 0;
    const pvalue_ = tested ? wording.pvalueText(number(r.member_pvalues[i])) : "";
    const values = { member: i + 1, value: fixed(v, r.places), pvalue: pvalue_ };
    return fillTemplate(tested ? t.text.member_tested : t.text.member, values);
  };
  return {
    x: inside.map(([v]) => v),
    y: inside.map(() => -0.045 * top),
    mode: "markers",
    marker: { symbol: "line-ns", size: 9, line: { color: colour(r.j), width: 1.5 } },
    hoverinfo: "text",
    cliponaxis: false,
    hovertext: inside.map((entry) => esc(words(entry))),
  };
}

// Lines at the value found and at the mean, with their labels; what lies beyond the axis is named at its end.
function nullMarks(node, r, t, { found, mean, near, range, beyond }) {
  const room = Math.max(100, node.clientWidth - 70);
  const crowded = (v, text) => ((range[1] - v) / (range[1] - range[0])) * room < 7 * text.length + 8;
  const side = (v, text) => (crowded(v, text) ? { xanchor: "right", xshift: -5 } : { xanchor: "left", xshift: 5 });
  const line = (v, look) => ({ type: "line", x0: v, x1: v, y0: 0, y1: 1, yref: "paper", line: look });
  const note = (text, y, color) => {
    const font = { size: 12, color };
    return { y, yref: "paper", yanchor: "top", text: esc(text), showarrow: false, font, bgcolor: css("--page") };
  };
  const label = (v, text, y, color) => ({ x: v, ...note(text, y, color), opacity: 0.92, borderpad: 1, ...side(v, text) });
  const atEnd = (text, y) => ({ x: 1, xref: "paper", xanchor: "right", ...note(text, y, css("--soft")) });
  const mixed = r.n_members > 1;
  const words = fillTemplate(mixed ? t.text.minimum : t.text.found, { value: fixed(found, r.places) });
  const shapes = [line(found, { color: css("--ink"), width: 2 })];
  const annotations = [label(found, words, 1, css("--ink"))];
  if (mixed && Number.isFinite(mean)) {
    const value = { value: fixed(mean, r.places) };
    if (near(mean)) {
      shapes.push(line(mean, { color: css("--soft"), width: 1.5, dash: "dash" }));
      annotations.push(label(mean, fillTemplate(t.text.mean, value), 0.9, css("--soft")));
    } else annotations.push(atEnd(fillTemplate(t.text.mean_beyond, value), 0.9));
  }
  if (beyond) {
    const template = beyond === 1 ? t.text.members_beyond.one : t.text.members_beyond.many;
    annotations.push(atEnd(fillTemplate(template, { n: wording.count(beyond) }), 0.78));
  }
  return { shapes, annotations };
}

// -- weights ---------------------------------------------------------------------------------------------------------

function drawWeights(node, r, t) {
  if (r.n_members < 2) {
    empty(node, t.text.nothing_to_weigh);
    return;
  }
  if (r.captions.no_weights) {
    empty(node, r.captions.no_weights);
    return;
  }
  const many = r.weights.length > MANY_MEMBERS;
  const order = r.weights.map((w, i) => [w, i]);
  if (many) order.sort((a, b) => b[0] - a[0]);
  const equal = 1 / r.weights.length;
  const x = order.map(([, i], k) => (many ? k + 1 : i + 1));
  const words = ([w, i]) => fillTemplate(t.text.weight, { member: `${r.one} ${i + 1}`, weight: fixed(w) });
  const bars = { type: "bar", marker: { color: colour(r.j) }, hoverinfo: "text", cliponaxis: false };
  const dashed = { color: css("--ink"), width: 1.5, dash: "dash" };
  const title = many ? fillTemplate(t.text.heaviest, { members: r.noun }) : r.one;
  const range = [0.4, r.weights.length + (many ? 0.6 : 0.9)];
  plot(node, [{ ...bars, x, y: order.map(([w]) => w), hovertext: order.map((entry) => esc(words(entry))) }], {
    height: 300,
    shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: equal, y1: equal, line: dashed }],
    annotations: weightLabels(r, order, x, equal),
    bargap: many ? 0.1 : 0.35,
    xaxis: { title, range, zeroline: false, showgrid: false, ...(many ? {} : { tickvals: x, tickangle: 0 }) },
    yaxis: { title: t.text.axes.weight, range: [0, 1.12 * Math.max(equal, ...r.weights)], zeroline: true },
  });
}

// Annotations, unlike texts of bars, cover the dashed line behind them.
function weightLabels(r, order, x, equal) {
  const look = (size) => ({ showarrow: false, font: { size, color: css("--ink") }, bgcolor: css("--page"), borderpad: 1 });
  const end = { xref: "paper", x: 1, xanchor: "right", y: equal, yanchor: "bottom", text: "1/M", opacity: 0.9 };
  const short = (w) => fixed(w, 2).replace(/^(<?)0\./, "$1.");
  const weights = order.map(([w], k) => ({ x: x[k], y: w, yanchor: "bottom", yshift: 2, text: esc(short(w)), ...look(12) }));
  return [{ ...end, ...look(11) }, ...(r.weights.length <= WRITTEN ? weights : [])];
}
