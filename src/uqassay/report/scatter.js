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
  const chosen = held.sample.slice().sort((a, b) => scramble(a) - scramble(b)).slice(0, each);
  const traces = models.map((m) => pointTrace(m, chosen, x(m), y(m), axes));
  for (const m of lines ? models : []) traces.push(meanTrace(m, lines));
  plot(node, traces, {
    height: 320,
    xaxis: { title: axes[0], zeroline: false },
    yaxis: { title: axes[1], rangemode: "tozero", zeroline: false },
  });
  if (node.dataset.clicks) return;
  node.dataset.clicks = "1";
  node.on("plotly_click", (event) => {
    const i = event.points[0]?.customdata;
    if (i === undefined) return;
    pickInstance(i);
    byId("instances").scrollIntoView();
  });
}

function pointTrace(m, chosen, xs, ys, [x_name, y_name]) {
  const text = page.text.charts;
  const lines = (i) => [
    fillTemplate(text.instance_hover, { instance: instanceName(i) }),
    fillTemplate(text.values_hover, { x_name, x: fixed(xs[i]), y_name, y: fixed(ys[i]) }),
  ];
  return {
    x: chosen.map((i) => xs[i]),
    y: chosen.map((i) => ys[i]),
    customdata: chosen,
    mode: "markers",
    hoverinfo: "text",
    cliponaxis: true,
    hovertext: chosen.map((i) => hover(m.name, ...lines(i))),
    marker: { color: tinted(colour(m.j), 0.4), size: 4, symbol: marker(m.j) },
  };
}

function meanTrace(m, lines) {
  const text = page.text.charts;
  const line = page.confidence[lines][candidates.findIndex((c) => c.j === m.j)];
  const words = (n, i) => [
    fillTemplate(text.mean_hover, { mean: fixed(line.mean[i]), n: wording.count(n) }),
    fillTemplate(text.confidence_hover, { confidence: fixed(line.confidence[i], 2) }),
  ];
  const outline = { color: css("--page"), width: 1.5 };
  return {
    x: line.confidence,
    y: line.mean.map(number),
    mode: "lines+markers",
    line: { color: colour(m.j), width: 2.5, dash: dash(m.j) },
    hoverinfo: "text",
    hovertext: line.n.map((n, i) => hover(m.name, ...words(n, i))),
    marker: { color: colour(m.j), size: 7, symbol: marker(m.j), line: outline },
  };
}
