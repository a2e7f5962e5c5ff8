// Section 3: mean E of every model against λ.

const MOST_ENDS = 14; // more names at the ends of the lines are not read

function drawLines(node) {
  const models = shown();
  linesTable(node);
  if (!models.length) {
    empty(node, page.text.models.no_model);
    return;
  }
  const reach = models.flatMap((m) => [...alongGrid(m.j, "high"), ...alongGrid(m.j, "estimate")]);
  const yTop = 1.08 * Math.max(1e-6, ...reach.filter((v) => v !== null));
  const baselines = page.models.map((b, j) => ({ ...b, j })).filter((b) => b.baseline);
  const marks = [...contextModels().map(otherLine), ...models.flatMap(modelLine), ...baselines.map(baselineLine)];
  const ends = models
    .map((m) => ({ j: m.j, text: label(m.j), y: alongGrid(m.j, "estimate").at(-1), color: colour(m.j) }))
    .filter((e) => e.y !== null && e.y <= yTop);
  const width = Math.max(20, ...ends.map((e) => textWidth(e.text))) + 20;
  const direct = width < 0.4 * node.clientWidth && ends.length <= MOST_ENDS;
  const [xTitle, yTitle] = page.text.charts.line_axes;
  plot(node, marks, {
    labels: baselines.flatMap((b) => baselineLabel(b, yTop)),
    ends: direct ? ends : [],
    margin: direct ? { right: width } : {},
    rules: [{ x: lambda(), stroke: { color: css("--ink"), width: 1.5 } }],
    x: { title: xTitle, range: [0, ranking.grid.at(-1)] },
    y: { title: yTitle, range: [0, yTop] },
  });
  if (!direct && ends.length <= MOST_ENDS) node.append(lineLegend(ends));
}

// The names below the picture, where its right end has no room for them: as at that end, from the top.
function lineLegend(ends) {
  const sample = (j) => {
    const line = el("line", { x1: 0, x2: 26, y1: 6, y2: 6, ...strokeOf({ color: colour(j), width: 2, dash: dash(j) }) });
    return el("svg", { width: 26, height: 12, "aria-hidden": "true" }, line);
  };
  const ordered = [...ends].sort((a, b) => b.y - a.y);
  return el("p", { class: "line-legend" }, ordered.map(({ j }) => el("span", {}, sample(j), " ", nameText(j))));
}

const alongGrid = (j, key) => ranking.models[j][key].map(number).map((v) => (Number.isFinite(v) ? v : null));

function modelLine(m) {
  const x = ranking.grid;
  const { estimate, low, high } = ranking.models[m.j];
  const alpha = shown().length > MOST_BANDS ? 0.1 : 0.18;
  const text = (t, i) =>
    fillTemplate(page.text.charts.line_hover, {
      tradeoff: wording.tradeoff(t),
      estimate: fixed(estimate[i]),
      low: fixed(low[i]),
      high: fixed(high[i]),
    });
  return [
    { band: tinted(colour(m.j), alpha), x, low: alongGrid(m.j, "low"), high: alongGrid(m.j, "high") },
    {
      line: true,
      x,
      y: alongGrid(m.j, "estimate"),
      stroke: { color: colour(m.j), width: 2, dash: dash(m.j) },
      says: (i) => hover(m.name, text(x[i], i)),
    },
  ];
}

// A model that is not shown: thin and grey.
function otherLine(m) {
  const stroke = { color: tinted(css("--faint"), 0.35), width: 1 };
  return { line: true, x: ranking.grid, y: alongGrid(m.j, "estimate"), stroke };
}

function baselineLine({ name, j }) {
  const title = fillTemplate(page.text.charts.baseline, { model: name });
  const text = (t, estimate) =>
    fillTemplate(page.text.charts.baseline_hover, { tradeoff: wording.tradeoff(t), estimate: fixed(estimate) });
  return {
    line: true,
    x: ranking.grid,
    y: alongGrid(j, "estimate"),
    stroke: { color: colour(j), width: 1.5, dash: "dot" },
    says: (i) => [title, text(ranking.grid[i], ranking.models[j].estimate[i])],
  };
}

// The name of a baseline, near the place where its line leaves the picture.
function baselineLabel({ name, j }, yTop) {
  const y = alongGrid(j, "estimate");
  const last = y.findLastIndex((v) => v !== null && v <= 0.94 * yTop);
  return last > 0 ? [{ x: ranking.grid[last], y: y[last], text: name, color: colour(j), must: true }] : [];
}

function linesTable(node) {
  const rows = () => ranking.order[state.index].map((j) => ({ j, at: (key) => ranking.models[j][key] }));
  const { grid } = ranking;
  const along = (i) => ({
    title: fillTemplate(page.text.ranking.at, { tradeoff: wording.tradeoff(grid[i]) }),
    cell: ({ at }) => interval(at("estimate")[i], at("low")[i], at("high")[i], 3, page.text.ranking.no_mean),
  });
  const name = { title: page.text.charts.heads.model, text: true, cls: "name", cell: ({ j }) => nameCell(j) };
  chartTable(node.closest("figure"), page.text.charts.lines_data, [name, ...gridPlaces().map(along)], rows);
}
