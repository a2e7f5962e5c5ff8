// Section 3: mean E of every model against λ.

function drawLines(node) {
  const models = shown();
  const x = ranking.grid;
  const traces = models.flatMap(modelLine);
  const reach = models.flatMap((m) => [...alongGrid(m.j, "high"), ...alongGrid(m.j, "estimate")]);
  const yTop = 1.08 * Math.max(1e-6, ...reach.filter((v) => v !== null));
  const annotations = endLabels(models, yTop);
  const longest = Math.max(...annotations.map((e) => e.length), 4);
  for (const [j, b] of page.models.entries()) {
    if (!b.baseline) continue;
    traces.push(baselineLine(b, j));
    annotations.push(...baselineLabel(b, j, yTop));
  }
  const cursor = { type: "line", x0: lambda(), x1: lambda(), yref: "paper", y0: 0, y1: 1 };
  const [xTitle, yTitle] = page.text.charts.line_axes;
  plot(node, traces, {
    annotations: annotations.map(({ length, ...annotation }) => annotation),
    margin: { l: 52, r: Math.min(130, 7 * longest + 10), t: 8, b: 44 },
    shapes: [{ ...cursor, line: { color: css("--ink"), width: 1.5 } }],
    xaxis: { title: xTitle, range: [0, x.at(-1)] },
    yaxis: { title: yTitle, range: [0, yTop] },
  });
}

const alongGrid = (j, key) => ranking.models[j][key].map(number).map((v) => (Number.isFinite(v) ? v : null));

function modelLine(m) {
  const x = ranking.grid;
  const { estimate, low, high } = ranking.models[m.j];
  const text = (t, i) =>
    fillTemplate(page.text.charts.line_hover, {
      tradeoff: wording.tradeoff(t),
      estimate: fixed(estimate[i]),
      low: fixed(low[i]),
      high: fixed(high[i]),
    });
  const bound = { x, mode: "lines", line: { width: 0 }, hoverinfo: "skip" };
  return [
    { ...bound, y: alongGrid(m.j, "low") },
    { ...bound, y: alongGrid(m.j, "high"), fill: "tonexty", fillcolor: tinted(colour(m.j), 0.18) },
    {
      x,
      y: alongGrid(m.j, "estimate"),
      mode: "lines",
      line: { color: colour(m.j), width: 2, dash: dash(m.j) },
      hoverinfo: "text",
      hovertext: x.map((t, i) => hover(m.name, text(t, i))),
    },
  ];
}

function baselineLine(b, j) {
  const name = esc(fillTemplate(page.text.charts.baseline, { model: b.name }));
  const estimate = ranking.models[j].estimate.map((v) => fixed(v));
  const text = (t, i) =>
    fillTemplate(page.text.charts.baseline_hover, { tradeoff: wording.tradeoff(t), estimate: estimate[i] });
  return {
    x: ranking.grid,
    y: alongGrid(j, "estimate"),
    mode: "lines",
    line: { color: colour(j), width: 1.5, dash: "dot" },
    hoverinfo: "text",
    hovertext: ranking.grid.map((t, i) => `${name}<br>${esc(text(t, i))}`),
  };
}

// Names at the right end, pushed apart.
function endLabels(models, yTop) {
  const ends = models
    .map((m) => ({ name: elided(m.name, 16), y: alongGrid(m.j, "estimate").at(-1), color: colour(m.j) }))
    .filter((e) => e.y !== null)
    .sort((a, b) => a.y - b.y);
  const gap = (yTop / 288) * 14;
  ends.forEach((e, i) => {
    e.at = i ? Math.max(e.y, ends[i - 1].at + gap) : e.y;
  });
  for (let i = ends.length - 1, ceiling = yTop; i >= 0; i -= 1) {
    ends[i].at = Math.min(ends[i].at, ceiling);
    ceiling = ends[i].at - gap;
  }
  const place = { x: 1, xref: "paper", xanchor: "left", xshift: 4, showarrow: false };
  return ends.map((e) => ({ ...place, y: e.at, text: esc(e.name), length: e.name.length, font: { color: e.color, size: 12 } }));
}

// The name of a baseline where its line leaves the picture.
function baselineLabel(b, j, yTop) {
  const y = alongGrid(j, "estimate");
  const last = y.findLastIndex((v) => v !== null && v <= 0.94 * yTop);
  if (last <= 0) return [];
  const late = last > 0.8 * ranking.grid.length;
  const place = late ? { xanchor: "right", xshift: -4, yshift: 9 } : { xanchor: "left", xshift: 6, yshift: 0 };
  const font = { color: css("--faint"), size: 11 };
  return [{ x: ranking.grid[last], y: y[last], text: b.name, length: 0, showarrow: false, ...place, font }];
}
