// Section 3: mean distance against mean non-specificity, with ellipses and lines of equal E.

function ellipse(region) {
  const [a, b] = region.half_widths.map(number);
  const c = number(region.covariance);
  if (!(a >= 0 && b >= 0)) return null;
  const slant = a > 0 ? c / a : 0;
  const rest = Math.sqrt(Math.max(0, b * b - slant * slant));
  const turns = Array.from({ length: 61 }, (_, i) => (i * Math.PI) / 30);
  const [x, y] = [number(region.nonspecificity[0]), number(region.distance[0])];
  return {
    x: turns.map((t) => x + slant * Math.cos(t) + rest * Math.sin(t)),
    y: turns.map((t) => y + a * Math.cos(t)),
  };
}

const NEAR_DASHES = 0.08; // of the height: so near under a line, the dashed one would cross a label below it
const GREY_ROOM = 1.5; // of the span of the models shown, on either side of them, for the others

function drawPlane(node) {
  const regions = (page.regions[state.part] ?? []).filter((r) => r !== null);
  const located = (models) =>
    models
      .map((m) => ({ m, region: regions.find((r) => r.model === m.name) }))
      .filter((p) => p.region && Number.isFinite(number(p.region.distance[0])));
  const [points, others] = [located(shown()), located(contextModels())];
  planeTable(node, [...points, ...others]);
  if (!points.length) {
    empty(node, shown().length ? page.text.charts.no_instances : page.text.models.no_model);
    return;
  }
  const { xRange, yRange } = planeRanges(points, others);
  const { marks, notes } = equalLines(points, xRange, yRange);
  if (others.length) marks.unshift(otherPoints(others));
  for (const p of points) marks.push(...regionMarks(p));
  const above = absentNote(node, points, regions);
  const [xTitle, yTitle] = page.text.charts.plane_axes;
  plot(node, marks, {
    notes: [...notes, ...above],
    labels: byRank(points).map((p) => labelOf(p, points.length)),
    margin: above.length ? { top: 22 } : {},
    x: { title: xTitle, range: xRange },
    y: { title: yTitle, range: yRange },
  });
}

// Axes around the finite ends of all intervals.
function planeRanges(points, others) {
  const outer = (key, i) =>
    points.map(({ region }) => {
      const v = number(region[key][i]);
      return Number.isFinite(v) ? v : number(region[key][0]);
    });
  const reach = (key, low, high) => {
    const room = GREY_ROOM * (high - low || high || 1);
    const near = others.map(({ region }) => number(region[key][0])).filter((v) => v >= low - room && v <= high + room);
    return [Math.min(low, ...near), Math.max(high, ...near)];
  };
  const x = [Math.min(...outer("nonspecificity", 1)), Math.max(...outer("nonspecificity", 2))];
  const [xLow, xEnd] = reach("nonspecificity", ...x);
  const y = [Math.min(...outer("distance", 1)), Math.max(...outer("distance", 2))];
  const [yLow, yTop] = reach("distance", ...y);
  const yPad = 0.1 * (yTop - yLow || yTop || 1);
  const bottom = yLow < 0.45 * yTop ? -0.02 * yTop : yLow - yPad;
  const xTop = xEnd || 0.1;
  const xPad = 0.12 * (xTop - xLow || xTop);
  const xRange = xLow < 0.45 * xTop ? [-0.06 * xTop, 1.18 * xTop] : [xLow - xPad, xTop + 2 * xPad];
  return { xRange, yRange: [bottom, yTop + yPad] };
}

// Lines d = E − λ NS at round values of E, and the one through the best model.
function equalLines(points, xRange, yRange) {
  const at = lambda();
  const loss = (p) => number(p.region.distance[0]) + at * number(p.region.nonspecificity[0]);
  const best = points.reduce((a, b) => (loss(b) < loss(a) ? b : a));
  const [marks, notes] = [[], []];
  const iso = (e, stroke) => marks.push({ line: true, x: xRange, y: xRange.map((x) => e - at * x), stroke });
  const step = niceCeil((yRange[1] - yRange[0] + at * xRange[1]) / 9, [1, 2, 2.5, 5, 10]);
  for (let e = Math.ceil(yRange[0] / step) * step; e < yRange[1] + at * xRange[1]; e += step) {
    if (e < 1e-12) continue;
    iso(e, { color: css("--line"), width: 1 });
    const y = e - at * xRange[1];
    const above = Math.round((100 * (loss(best) - e)) / (yRange[1] - yRange[0])) / 100; // the dashed line, in heights
    const base = above < 0 && above > -NEAR_DASHES ? "bottom" : "top";
    const place = { x: xRange[1], y, anchor: "end", base, size: 10, color: css("--soft") };
    const within = y > yRange[0] + 0.05 * (yRange[1] - yRange[0]) && y < yRange[1];
    if (within) notes.push({ ...place, text: `E ${wording.general(e, 3)}` });
  }
  iso(loss(best), { color: colour(best.m.j), width: 2, dash: "dash" });
  return { marks, notes };
}

// What the pointer says of a model.
function regionWords({ m, region }) {
  const [distance, distance_low, distance_high] = region.distance.map((v) => fixed(v));
  const [nonspecificity, nonspecificity_low, nonspecificity_high] = region.nonspecificity.map((v) => fixed(v));
  const text = page.text.charts;
  return hover(
    m.name,
    fillTemplate(text.point_hover, { distance, distance_low, distance_high }),
    fillTemplate(text.size_hover, { nonspecificity, nonspecificity_low, nonspecificity_high }),
    fillTemplate(text.n_hover, { n: wording.count(region.n) }),
  );
}

const placeOfRegion = ({ region }) => [number(region.nonspecificity[0]), number(region.distance[0])];

function regionMarks(p) {
  const [oval, c] = [ellipse(p.region), colour(p.m.j)];
  const [x, y] = placeOfRegion(p);
  const face = { area: tinted(c, 0.22), stroke: { color: c, width: 1 } };
  const look = { color: c, size: 9, symbol: marker(p.m.j) };
  const point = { points: true, x: [x], y: [y], marker: look, says: () => regionWords(p) };
  return oval ? [{ ...oval, ...face }, point] : [point];
}

// The models that are not shown: small, grey, without names.
function otherPoints(others) {
  const places = others.map(placeOfRegion);
  const [x, y] = [0, 1].map((axis) => places.map((at) => at[axis]));
  const look = { color: css("--faint"), size: 5, symbol: "circle" };
  return { points: true, x, y, marker: look, says: (i) => regionWords(others[i]) };
}

// A note above the picture on the shown models that it has no place for.
function absentNote(node, points, regions) {
  const absent = shown().filter((m) => !points.some((p) => p.m.j === m.j));
  if (!absent.length) return [];
  const infinite = regions.some((r) => r.model === absent[0].name);
  const template = infinite ? page.text.charts.absent_infinite : page.text.charts.absent;
  const written = (models) => fillTemplate(template, { models });
  const names = written(absent.map((m) => wording.named(label(m.j))).join(", "));
  const fits = textWidth(names, 11) < node.clientWidth - 80;
  const text = fits ? names : written(fillTemplate(page.text.charts.absent_many, { n: absent.length }));
  return [{ acrossAt: 0.5, upAt: 1, base: "bottom", text, size: 11, color: css("--soft") }];
}

function labelOf(p, n) {
  const [x, y] = placeOfRegion(p);
  const [ry, rx] = p.region.half_widths.map((v) => number(v) || 0);
  return { x, y, rx, ry, text: label(p.m.j), color: colour(p.m.j), must: n <= MANY };
}

// In the order of the ranking at the chosen λ.
function byRank(points) {
  const place = new Map(ranking.order[state.index].map((j, i) => [j, i]));
  return [...points].sort((a, b) => place.get(a.m.j) - place.get(b.m.j));
}

function planeTable(node, points) {
  const heads = page.text.charts.heads;
  const ends = (key) => decimalsFor(points.map(({ region }) => region[key].slice(1)));
  const places = { distance: ends("distance"), nonspecificity: ends("nonspecificity") };
  const cell = (key) => (p) => interval(...p.region[key], places[key]);
  const part = page.text.charts.parts[state.part];
  const columns = [
    { title: heads.model, text: true, cls: "name", cell: (p) => nameCell(p.m.j) },
    { title: fillTemplate(heads.n, { part }), cell: (p) => wording.count(p.region.n) },
    { title: page.text.charts.plane_axes[1], cell: cell("distance") },
    { title: page.text.charts.plane_axes[0], cell: cell("nonspecificity") },
  ];
  chartTable(node.closest("figure"), page.text.charts.plane_data, columns, () => byRank(points));
}
