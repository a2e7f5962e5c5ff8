// Section 4: reliability diagrams, the null distribution of a calibration test, and the weights of a mixture.

const MANY_MEMBERS = 24; // more stand in the order of their weights, without numbers
const WRITTEN = 12; // weights with their numbers

// -- reliability -----------------------------------------------------------------------------------------------------

// entries: {m, bins}; with `counts` the number of instances stands above each bar of a single model.
function drawReliability(node, entries, { height, text, least = null, counts = false }) {
  if (!entries.length) {
    withoutPicture(node, page.text.models.no_model);
    return;
  }
  const total = (bins) => bins.count.reduce((a, b) => a + b, 0);
  const most = Math.max(...entries.map(({ bins }) => Math.max(...bins.count) / total(bins)));
  const marks = [{ line: true, x: [0, 1], y: [0, 1], stroke: { color: css("--faint"), width: 1, dash: "dot" } }];
  entries.forEach(({ m, bins }, i) => {
    const n = total(bins);
    const [line, markers] = accuracyMarks(m, bins, text);
    if (entries.length > MOST_BANDS) markers.errors = null;
    marks.push(line, markers, countMarks(m, bins, { n, most, i, of: entries.length, counts, text }));
  });
  const from = least ?? Math.min(...entries.flatMap(({ bins }) => bins.edges[0]));
  plot(node, marks, {
    height,
    from: counts ? 0.26 : 0.2,
    under: { range: [0, 1.05], share: 0.15 },
    x: { title: text.axes.confidence, percent: true, range: [from - 0.01, 1.01] },
    y: { title: text.axes.accuracy, percent: true, range: [-0.02, 1.02] },
  });
  reliabilityTable(node.closest("figure"), entries, text);
}

function withoutPicture(node, text) {
  empty(node, text);
  noChartTable(node.closest("figure"));
}

function reliabilityTable(figure, entries, text) {
  const rows = () => entries.flatMap(({ m, bins }) => bins.count.map((_, b) => ({ m, bins, b })));
  const places = percentPlaces(entries.flatMap(({ bins }) => bins.low.map((low, b) => [low, bins.high[b]])));
  const columns = [
    ...(entries.length > 1 ? [{ title: text.heads.model, text: true, cls: "name", cell: (r) => nameCell(r.m.j) }] : []),
    { title: text.heads.bin, cell: ({ bins, b }) => wording.percentInterval(bins.edges[0][b], bins.edges[1][b], 0) },
    { title: text.heads.confidence, cell: ({ bins, b }) => wording.percent(number(bins.confidence[b]), places) },
    {
      title: text.heads.accuracy,
      cell: ({ bins, b }) => shareCell([bins.accuracy[b], bins.low[b], bins.high[b]], places),
    },
    { title: text.heads.count, cell: ({ bins, b }) => wording.count(bins.count[b]) },
  ];
  chartTable(figure, text.data, columns, rows);
}

function accuracyMarks(m, bins, text) {
  const face = bins.count.map((c) => (c >= text.few ? colour(m.j) : css("--page")));
  const words = (c, b) => [
    fillTemplate(text.bin, {
      confidences: wording.percentInterval(bins.edges[0][b], bins.edges[1][b], 0),
      accuracy: wording.percent(number(bins.accuracy[b])),
      accuracies: wording.percentInterval(number(bins.low[b]), number(bins.high[b])),
    }),
    fillTemplate(text.bin_count, { n: wording.count(c) }),
  ];
  const at = { x: bins.confidence, y: bins.accuracy };
  const edge = { color: colour(m.j), width: 1.5 };
  return [
    { line: true, ...at, stroke: { ...edge, dash: dash(m.j) } },
    {
      points: true,
      ...at,
      marker: { color: face, size: 7, symbol: marker(m.j), edge },
      says: (b) => hover(m.name, ...words(bins.count[b], b)),
      errors: { low: bins.low.map(number), high: bins.high.map(number), color: tinted(colour(m.j), 0.7) },
    },
  ];
}

function countMarks(m, bins, { n, most, i, of, counts, text }) {
  const w = 0.08 / of;
  const values = (c) => ({ n: wording.count(c), total: wording.count(n), share: wording.percent(c / n, 0) });
  return {
    bars: tinted(colour(m.j), 0.75),
    under: true,
    free: true,
    x: bins.edges[0].map((e) => e + 0.01 + (i + 0.5) * w),
    y: bins.count.map((c) => c / n / most),
    width: w,
    labels: counts ? bins.count.map(wording.count) : null,
    says: (b) => hover(m.name, fillTemplate(text.bin_share, values(bins.count[b]))),
  };
}

function drawOneReliability(node, r, side, t, text) {
  const bins = r[side];
  if (side === "after" && r.n_members < 2) {
    withoutPicture(node, t.text.nothing_to_weigh);
    return;
  }
  if (!bins || !bins.count.length) {
    withoutPicture(node, t.text.nothing_to_draw);
    return;
  }
  const both = [r.before, r.after].filter((b) => b && b.count.length);
  const least = Math.min(...both.flatMap((b) => b.edges[0]));
  drawReliability(node, [{ m: { name: r.model, j: r.j }, bins }], { height: heightOf(330), least, counts: true, text });
}

// -- the null distribution -------------------------------------------------------------------------------------------

function drawNull(node, r, t) {
  if (r.captions.no_null) {
    withoutPicture(node, r.captions.no_null);
    return;
  }
  const view = nullView(r);
  const { inside, top } = view;
  const marks = [nullBars(r, t, view), ...(inside.length ? [memberTicks(r, t, view)] : [])];
  plot(node, marks, {
    height: heightOf(300),
    ...nullMarks(node, r, t, view),
    x: { title: t.measureOf(r).label, range: view.range },
    y: { title: t.text.axes.draws, range: [inside.length ? -0.09 * top : 0, 1.28 * top], zero: true },
  });
  const ends = (i) => ({ low: fixed(view.left[i], r.places + 1), high: fixed(view.left[i] + r.null.width, r.places + 1) });
  const columns = [
    { title: t.measureOf(r).label, cell: (i) => fillTemplate(page.text.general.range, ends(i)) },
    { title: t.text.axes.draws, cell: (i) => wording.count(r.null.counts[i]) },
  ];
  chartTable(node.closest("figure"), t.text.null_data, columns, () => r.null.counts.map((_, i) => i));
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
    bars: left.map((x) => (x > found - width / 2 ? base : other)),
    edge: { color: css("--page"), width: 0.5 },
    x: left.map((x) => x + width / 2),
    y: counts,
    width,
    says: (i) => [words(counts[i], i)],
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
    points: true,
    free: true,
    x: inside.map(([v]) => v),
    y: inside.map(() => -0.045 * top),
    marker: { symbol: "tick", size: 9, edge: { color: colour(r.j), width: 1.5 } },
    says: (i) => [words(inside[i])],
  };
}

// Lines at the value found and at the mean, with their labels; what lies beyond the axis is named at its end.
function nullMarks(node, r, t, { found, mean, near, range, beyond }) {
  const room = Math.max(100, node.clientWidth - 70);
  const across = (v) => ((v - range[0]) / (range[1] - range[0])) * room;
  const crowded = (v, text) => room - across(v) < 7 * text.length + 8;
  const side = (v, text) => (crowded(v, text) ? { anchor: "end", dx: -5 } : { anchor: "start", dx: 5 });
  const note = (text, upAt, color) => ({ upAt, base: "top", text, color, halo: true });
  const label = (v, text, upAt, color) => ({ x: v, ...note(text, upAt, color), ...side(v, text) });
  const atEnd = (text, upAt) => ({ acrossAt: 1, anchor: "end", ...note(text, upAt, css("--soft")) });
  const mixed = r.n_members > 1;
  const words = fillTemplate(mixed ? t.text.minimum : t.text.found, { value: fixed(found, r.places) });
  const value = { value: fixed(mean, r.places) };
  const [rules, notes] = [[], []];
  const row = () => 1 - 0.1 * notes.length; // each label in a row of its own, from the top
  if (mixed && Number.isFinite(mean)) {
    if (near(mean)) {
      rules.push({ x: mean, stroke: { color: css("--soft"), width: 1.5, dash: "dash" } });
      notes.push(label(mean, fillTemplate(t.text.mean, value), row(), css("--soft")));
    } else notes.push(atEnd(fillTemplate(t.text.mean_beyond, value), row()));
  }
  if (beyond) {
    const template = beyond === 1 ? t.text.members_beyond.one : t.text.members_beyond.many;
    notes.push(atEnd(fillTemplate(template, { n: wording.count(beyond) }), row()));
  }
  rules.unshift({ x: found, stroke: { color: css("--ink"), width: 2 }, upTo: row() }); // the labels above may reach over it
  const own = label(found, words, row(), css("--ink"));
  if (across(found) > textWidth(words) + 12) Object.assign(own, { anchor: "end", dx: -5 }); // away from what lies to the right
  notes.push(own);
  return { rules, notes };
}

// -- weights ---------------------------------------------------------------------------------------------------------

function drawWeights(node, r, t) {
  if (r.n_members < 2) {
    withoutPicture(node, t.text.nothing_to_weigh);
    return;
  }
  if (r.captions.no_weights) {
    withoutPicture(node, r.captions.no_weights);
    return;
  }
  const many = r.weights.length > MANY_MEMBERS;
  const order = r.weights.map((w, i) => [w, i]);
  if (many) order.sort((a, b) => b[0] - a[0]);
  const equal = 1 / r.weights.length;
  const x = order.map(([, i], k) => (many ? k + 1 : i + 1));
  const words = ([w, i]) => fillTemplate(t.text.weight, { member: `${r.one} ${i + 1}`, weight: fixed(w) });
  const bars_ = { bars: colour(r.j), x, y: order.map(([w]) => w), width: many ? 0.9 : 0.65 };
  const dashed = { color: css("--ink"), width: 1.5, dash: "dash" };
  const title = many ? fillTemplate(t.text.heaviest, { members: r.noun }) : r.one;
  const range = [0.4, r.weights.length + (many ? 0.6 : 0.9)];
  const ticks = many ? {} : { ticks: x.map((at) => ({ at, text: String(at) })) };
  plot(node, [{ ...bars_, says: (i) => [words(order[i])] }], {
    height: heightOf(300),
    rules: [{ y: equal, stroke: dashed }],
    notes: weightLabels(r, order, x, equal),
    x: { title, range, grid: false, ...ticks },
    y: { title: t.text.axes.weight, range: [0, 1.12 * Math.max(equal, ...r.weights)], zero: true },
  });
  weightsTable(node.closest("figure"), r, t, order);
}

// Each member's weight, with its own value of the measure, which is a tick below the null draws, and its p-value.
function weightsTable(figure, r, t, order) {
  const columns = [
    { title: r.one, cell: ([, i]) => String(i + 1) },
    { title: t.text.axes.weight, cell: ([w]) => fixed(w) },
  ];
  if (r.members.length) columns.push({ title: t.measureOf(r).label, cell: ([, i]) => fixed(r.members[i], r.places) });
  if (r.member_pvalues.length) columns.push({ title: t.text.pvalue_title, cell: ([, i]) => pvalue(r.member_pvalues[i]) });
  chartTable(figure, t.text.weights_data, columns, order);
}

// Notes, unlike labels of bars, cover the dashed line behind them.
function weightLabels(r, order, x, equal) {
  const end = { acrossAt: 1, anchor: "end", y: equal, base: "bottom", text: "1/M", size: 11, halo: true };
  const short = (w) => fixed(w, 2).replace(/^(<?)0\./, "$1.");
  const weights = order.map(([w], k) => ({ x: x[k], y: w, base: "bottom", dy: 2, text: short(w), halo: true }));
  return [end, ...(r.weights.length <= WRITTEN ? weights : [])];
}
