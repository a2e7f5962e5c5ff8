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

// Puts each label where no earlier label or point lies, next to its point.
function placeLabels(points, xRange, yRange, width, height) {
  const [xSpan, ySpan] = [xRange[1] - xRange[0], yRange[1] - yRange[0]];
  const px = (p) => [((p.x - xRange[0]) / xSpan) * width, (1 - (p.y - yRange[0]) / ySpan) * height];
  const reach = (p) => [(p.rx / xSpan) * width, (p.ry / ySpan) * height].map((r) => Math.max(6, r));
  const boxes = points.map((p) => {
    const [[x, y], [a, b]] = [px(p), reach(p)];
    return [x - a, y - b, x + a, y + b];
  });
  const overlaps = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  return points.map((p, i) => {
    const [x, y] = px(p);
    const w = 7 * p.text.length + 4;
    const [a, b] = reach(p).map((r) => r + 4);
    const options = [[a, 0], [-a, 0], [0, -b - 8], [0, b + 8], [a, -16], [a, 16], [-a, -16], [-a, 16], [a, -32], [a, 32]];
    const boxFor = ([dx, dy]) => {
      let left = x - w / 2;
      if (dx !== 0) left = dx > 0 ? x + dx : x + dx - w;
      return [left, y + dy - 8, left + w, y + dy + 8];
    };
    const inside = (box) => box[0] >= 0 && box[2] <= width && box[1] >= 0 && box[3] <= height;
    const fits = (box) => inside(box) && boxes.every((other, k) => k === i || !overlaps(box, other));
    const [dx, dy] = options.find((o) => fits(boxFor(o))) ?? options[0];
    boxes.push(boxFor([dx, dy]));
    return {
      x: p.x,
      y: p.y,
      text: p.text,
      dx,
      dy,
      anchor: { 1: "start", "-1": "end" }[Math.sign(dx)] ?? "middle",
      halo: true,
      color: p.color,
    };
  });
}

function drawPlane(node) {
  const regions = (page.regions[state.part] ?? []).filter((r) => r !== null);
  const points = shown()
    .map((m) => ({ m, region: regions.find((r) => r.model === m.name) }))
    .filter((p) => p.region && Number.isFinite(number(p.region.distance[0])));
  if (!points.length) {
    empty(node, page.text.charts.no_instances);
    return;
  }
  const { xRange, yRange } = planeRanges(points);
  const { marks, notes } = equalLines(points, xRange, yRange);
  for (const p of points) marks.push(...regionMarks(p));
  const absent = absentModels(points, regions);
  const labels = placeLabels(points.map(labelOf), xRange, yRange, node.clientWidth - 70, 288);
  const [xTitle, yTitle] = page.text.charts.plane_axes;
  plot(node, marks, {
    notes: [...notes, ...absent, ...labels],
    margin: absent.length ? { top: 22 } : {},
    x: { title: xTitle, range: xRange },
    y: { title: yTitle, range: yRange },
  });
}

// Axes around the finite ends of all intervals.
function planeRanges(points) {
  const outer = (key, i) =>
    points.map(({ region }) => {
      const v = number(region[key][i]);
      return Number.isFinite(v) ? v : number(region[key][0]);
    });
  const xTop = (Math.max(...outer("nonspecificity", 2)) || 0.1) * 1.18;
  const [yLow, yTop] = [Math.min(...outer("distance", 1)), Math.max(...outer("distance", 2))];
  const yPad = 0.1 * (yTop - yLow || yTop || 1);
  const bottom = yLow < 0.45 * yTop ? -0.02 * yTop : yLow - yPad;
  return { xRange: [-0.05 * xTop, xTop], yRange: [bottom, yTop + yPad] };
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
    const place = { x: xRange[1], y, anchor: "end", base: "bottom", size: 10, color: css("--faint") };
    if (y > yRange[0] && y < yRange[1]) notes.push({ ...place, text: `E ${wording.general(e, 3)}` });
  }
  iso(loss(best), { color: colour(best.m.j), width: 2, dash: "dash" });
  return { marks, notes };
}

function regionMarks({ m, region }) {
  const oval = ellipse(region);
  const face = { area: tinted(colour(m.j), 0.22), stroke: { color: colour(m.j), width: 1 } };
  const [distance, distance_low, distance_high] = region.distance.map((v) => fixed(v));
  const [nonspecificity, nonspecificity_low, nonspecificity_high] = region.nonspecificity.map((v) => fixed(v));
  const text = page.text.charts;
  const lines = [
    fillTemplate(text.point_hover, { distance, distance_low, distance_high }),
    fillTemplate(text.size_hover, { nonspecificity, nonspecificity_low, nonspecificity_high }),
    fillTemplate(text.n_hover, { n: wording.count(region.n) }),
  ];
  const point = {
    points: true,
    x: [number(region.nonspecificity[0])],
    y: [number(region.distance[0])],
    marker: { color: colour(m.j), size: 9, symbol: marker(m.j) },
    says: () => hover(m.name, ...lines),
  };
  return oval ? [{ ...oval, ...face }, point] : [point];
}

// A note above the picture that names the models it cannot show.
function absentModels(points, regions) {
  const absent = shown().filter((m) => !points.some((p) => p.m.j === m.j));
  if (!absent.length) return [];
  const infinite = regions.some((r) => r.model === absent[0].name);
  const template = infinite ? page.text.charts.absent_infinite : page.text.charts.absent;
  const text = fillTemplate(template, { models: absent.map((m) => m.name).join(", ") });
  return [{ acrossAt: 0.5, upAt: 1, base: "bottom", text, size: 11, color: css("--soft") }];
}

const labelOf = ({ m, region }) => ({
  x: number(region.nonspecificity[0]),
  y: number(region.distance[0]),
  rx: number(region.half_widths[1]) || 0,
  ry: number(region.half_widths[0]) || 0,
  text: elided(m.name, 20),
  color: colour(m.j),
});
