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
  byId("sample-note").textContent = text.sample;
  chart("width", (node) => {
    if (!has("credal-width")) empty(node, text.no_width);
    else scatter(node, sets(), column("nonspecificity"), column("credal-width"));
  });
  chart("ns-confidence", (node) => scatter(node, sets(), confidence, column("nonspecificity"), "nonspecificity"));
  chart("entropy-confidence", (node) => {
    if (!has("total-entropy")) empty(node, text.no_entropy);
    else scatter(node, shown(), confidence, column("total-entropy"), "total-entropy");
  });
}

// x and y: values of all instances held, by model; `lines` names the means by confidence to draw over the points.
function scatter(node, models, x, y, lines = null) {
  if (!models.length) {
    empty(node, page.text.charts.no_sets);
    return;
  }
  const held = page.instances;
  const axes = page.text.charts.scatter_axes[node.id];
  const each = Math.min(held.sample.length, Math.floor(page.text.charts.points / models.length));
  const chosen = Array.from(held.sample).sort((a, b) => scramble(a) - scramble(b)).slice(0, each);
  const marks = models.map((m) => pointMarks(m, chosen, x(m), y(m), axes));
  for (const m of lines ? models : []) marks.push(...meanMarks(m, lines));
  plot(node, marks, {
    height: 320,
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

function pointMarks(m, chosen, xs, ys, [x_name, y_name]) {
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
      byId("instances").scrollIntoView();
    },
    marker: { color: tinted(colour(m.j), 0.4), size: 4, symbol: marker(m.j) },
  };
}

function meanMarks(m, lines) {
  const text = page.text.charts;
  const line = page.confidence[lines][candidates.findIndex((c) => c.j === m.j)];
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
