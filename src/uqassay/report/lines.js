// Section 3: mean E of every model against λ.

function drawLines(node) {
  const models = shown();
  const marks = models.flatMap(modelLine);
  const reach = models.flatMap((m) => [...alongGrid(m.j, "high"), ...alongGrid(m.j, "estimate")]);
  const yTop = 1.08 * Math.max(1e-6, ...reach.filter((v) => v !== null));
  const notes = endLabels(models, yTop);
  const longest = Math.max(...notes.map((e) => e.text.length), 4);
  for (const [j, b] of page.models.entries()) {
    if (!b.baseline) continue;
    marks.push(baselineLine(b, j));
    notes.push(...baselineLabel(b, j, yTop));
  }
  const [xTitle, yTitle] = page.text.charts.line_axes;
  plot(node, marks, {
    notes,
    margin: { right: Math.min(130, 7 * longest + 10) },
    rules: [{ x: lambda(), stroke: { color: css("--ink"), width: 1.5 } }],
    x: { title: xTitle, range: [0, ranking.grid.at(-1)] },
    y: { title: yTitle, range: [0, yTop] },
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
  return [
    { band: tinted(colour(m.j), 0.18), x, low: alongGrid(m.j, "low"), high: alongGrid(m.j, "high") },
    {
      line: true,
      x,
      y: alongGrid(m.j, "estimate"),
      stroke: { color: colour(m.j), width: 2, dash: dash(m.j) },
      says: (i) => hover(m.name, text(x[i], i)),
    },
  ];
}

function baselineLine(b, j) {
  const name = fillTemplate(page.text.charts.baseline, { model: b.name });
  const text = (t, estimate) =>
    fillTemplate(page.text.charts.baseline_hover, { tradeoff: wording.tradeoff(t), estimate: fixed(estimate) });
  return {
    line: true,
    x: ranking.grid,
    y: alongGrid(j, "estimate"),
    stroke: { color: colour(j), width: 1.5, dash: "dot" },
    says: (i) => [name, text(ranking.grid[i], ranking.models[j].estimate[i])],
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
  return ends.map((e) => ({ acrossAt: 1, dx: 4, y: e.at, anchor: "start", text: e.name, color: e.color }));
}

// The name of a baseline where its line leaves the picture.
function baselineLabel(b, j, yTop) {
  const y = alongGrid(j, "estimate");
  const last = y.findLastIndex((v) => v !== null && v <= 0.94 * yTop);
  if (last <= 0) return [];
  const late = last > 0.8 * ranking.grid.length;
  const place = late ? { anchor: "end", dx: -4, dy: -9 } : { anchor: "start", dx: 6 };
  return [{ x: ranking.grid[last], y: y[last], text: b.name, ...place, halo: true, color: css("--faint"), size: 11 }];
}
