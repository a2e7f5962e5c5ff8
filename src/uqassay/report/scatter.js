// Section 3: how the measures of single instances go together.

const scramble = (i) => ((i + 1) * 2654435761) % 4294967296;

function startScatter() {
  const text = page.text.charts;
  if (!page.instances) {
    for (const id of Object.keys(text.scatter_axes)) chart(id, (node) => empty(node, text.none_kept));
    return;
  }
  const column = (name) => (m) => page.instances.columns[m.name][name];
  const confidence = (m) => page.instances.confidences[m.name];
  const sets = () => shown().filter((m) => !m.precise);
  const has = (name) => candidates.every((m) => name in page.instances.columns[m.name]);
  chart("width", (node) => {
    byId("sample-note").textContent = sampleSentence();
    if (!has("credal-width")) empty(node, text.no_width);
    else scatter(node, sets(), column("nonspecificity"), column("credal-width"));
  });
  chart("ns-confidence", (node) => scatter(node, sets(), confidence, column("nonspecificity"), "nonspecificity"));
  chart("entropy-confidence", (node) => {
    if (!has("total-entropy")) empty(node, text.no_entropy);
    else scatter(node, shown(), confidence, column("total-entropy"), "total-entropy");
  });
}

// Points of each model in one picture.
const pointsEach = () =>
  Math.min(page.instances.sample.length, Math.floor(page.text.charts.points / Math.max(1, shown().length)));

function sampleSentence() {
  const n = pointsEach();
  const { some, all } = page.text.charts.sample;
  return n < page.facts.instances ? fillTemplate(some, { n: wording.count(n) }) : all;
}

// x and y: values of all instances held, by model; `lines` names the means by confidence to draw over the points.
function scatter(node, models, x, y, lines = null) {
  if (!models.length) {
    noChartTable(node.closest("figure"));
    empty(node, shown().length ? page.text.charts.no_sets : page.text.models.no_model);
    return;
  }
  if (lines) meansTable(node, models, lines);
  const held = page.instances;
  const axes = page.text.charts.scatter_axes[node.id];
  const chosen = Array.from(held.sample).sort((a, b) => scramble(a) - scramble(b)).slice(0, pointsEach());
  const alpha = Math.min(0.4, Math.max(0.12, 1 / models.length));
  const marks = models.map((m) => pointMarks(m, chosen, x(m), y(m), { axes, alpha }));
  if (!lines) pointsTable(node, models, chosen, { x, y, axes });
  for (const m of lines ? models : []) marks.push(...meanMarks(m, lines));
  plot(node, marks, {
    height: heightOf(320),
    x: { title: axes[0], range: rangeAround(marks.map((m) => m.x)) },
    y: { title: axes[1], range: rangeAround([[0], ...marks.map((m) => m.y)]) },
  });
}

function rangeAround(lists) {
  let [low, high] = [Infinity, -Infinity];
  for (const values of lists) {
    for (const v of values) if (Number.isFinite(v)) [low, high] = [Math.min(low, v), Math.max(high, v)];
  }
  const pad = 0.05 * (high - low) || 0.05 * Math.abs(high) || 1;
  return low < high || low === high ? [low - pad, high + pad] : [0, 1];
}

function pointMarks(m, chosen, xs, ys, { axes: [x_name, y_name], alpha }) {
  const text = page.text.charts;
  const lines = (i) => [
    fillTemplate(text.instance_hover, { instance: instanceName(i) }),
    fillTemplate(text.values_hover, { x_name, x: fixed(xs[i]), y_name, y: fixed(ys[i]) }),
  ];
  return {
    points: true,
    x: chosen.map((i) => xs[i]),
    y: chosen.map((i) => ys[i]),
    says: (k) => hover(m.name, ...lines(chosen[k])),
    pick: (k) => {
      pickInstance(chosen[k]);
      goTo("instances");
      byId("picked").focus({ preventScroll: true });
    },
    marker: { color: tinted(colour(m.j), alpha), size: 4, symbol: marker(m.j) },
  };
}

function pointsTable(node, models, chosen, { x, y, axes }) {
  const columns = [
    { title: page.text.charts.heads.model, text: true, cls: "name", cell: (r) => nameCell(r.m.j) },
    { title: page.text.instances.heads.instance, cell: (r) => instanceName(r.i) },
    { title: axes[0], cell: (r) => fixed(x(r.m)[r.i]) },
    { title: axes[1], cell: (r) => fixed(y(r.m)[r.i]) },
  ];
  const rows = () => models.flatMap((m) => chosen.map((i) => ({ m, i })));
  chartTable(node.closest("figure"), page.text.charts.points_data, columns, rows);
}

const meansOf = (m, lines) => page.confidence[lines][candidates.findIndex((c) => c.j === m.j)];

function meansTable(node, models, lines) {
  const text = page.text.charts;
  const rows = models.flatMap((m) => {
    const { confidence, mean, n } = meansOf(m, lines);
    return confidence.map((c, i) => ({ m, confidence: c, mean: mean[i], n: n[i] }));
  });
  const columns = [
    { title: text.heads.model, text: true, cls: "name", cell: (r) => nameCell(r.m.j) },
    { title: text.means_heads.confidence, cell: (r) => fixed(r.confidence, 2) },
    { title: fillTemplate(text.means_heads.mean, { quantity: text.scatter_axes[node.id][1] }), cell: (r) => fixed(r.mean) },
    { title: text.means_heads.n, cell: (r) => wording.count(r.n) },
  ];
  chartTable(node.closest("figure"), text.means_data, columns, rows);
}

function meanMarks(m, lines) {
  const text = page.text.charts;
  const line = meansOf(m, lines);
  const words = (n, i) => [
    fillTemplate(text.mean_hover, { mean: fixed(line.mean[i]), n: wording.count(n) }),
    fillTemplate(text.confidence_hover, { confidence: fixed(line.confidence[i], 2) }),
  ];
  const outline = { color: css("--page"), width: 1.5 };
  const at = { x: line.confidence, y: line.mean.map(number) };
  return [
    { line: true, ...at, stroke: { color: colour(m.j), width: 2.5, dash: dash(m.j) } },
    {
      points: true,
      ...at,
      marker: { color: colour(m.j), size: 7, symbol: marker(m.j), edge: outline },
      says: (i) => hover(m.name, ...words(line.n[i], i)),
    },
  ];
}
