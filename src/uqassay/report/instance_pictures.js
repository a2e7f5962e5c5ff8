// Section 5: the credal sets of one instance, as bars of probabilities and in the triangle of three classes.

const CORNERS = [[24, 190], [226, 190], [125, 20]]; // of the triangle: first, second, third class
const sum = (values) => values.reduce((a, b) => a + b, 0);

function setOf(m, k) {
  const held = page.instances;
  const stored = held.sets[m.name];
  const classes = page.facts.classes;
  const codes = (array) => Array.from(array.subarray(k * classes, (k + 1) * classes));
  const read = (list) => list.map((q) => probability(q, held.bits));
  const [mean, modulus] = [codes(stored.mean), 2 ** held.bits];
  if (!stored.below) return { mean: read(mean), lower: read(mean), upper: read(mean) };
  const ends = (differences, sign) => mean.map((q, c) => (q + sign * differences[c] + modulus) % modulus);
  return { mean: read(mean), lower: read(ends(codes(stored.below), -1)), upper: read(ends(codes(stored.above), 1)) };
}

function drawPictures() {
  const held = page.instances;
  const text = page.text.instances;
  const view = pictureView(current);
  const { truth, votes, three } = view;
  const share = votes ? wording.percent(votes[truth]) : "";
  const names = { instance: instanceName(current), row: held.rows[current], label: className(truth), share };
  fill(byId("picked"), fillTemplate(text.picked, names));
  fill(byId("picked-note"), pictureNotes(view).filter(Boolean).join(" "));
  const picture = ({ m, set }) =>
    el(
      "div",
      { class: "picture" },
      el("h4", {}, nameCell(m.j)),
      el("p", {}, predictionText(m, truth)),
      bars(m, set, view.listed, truth),
      three ? triangle(m, set, view) : null,
    );
  fill(byId("pictures"), view.sets.map(picture));
  picturesTable(byId("pictures-data"), view);
}

// The numbers of the bars, and of the triangle where it leaves classes out.
function picturesTable(node, view) {
  const { heads, pictures_data } = page.text.instances;
  const { sets, listed, three, votes, truth } = view;
  const rows = () => sets.flatMap(({ m, set }) => {
    const points = three && page.facts.classes > 3 ? pointsInThree(m, set, view).points : null;
    const ends = (c) => (points?.length && three.includes(c) ? endsOf(points, three.indexOf(c)) : null);
    return listed.map((c) => ({ m, set, c, ends: ends(c) }));
  });
  const name = (c) => el(c === truth ? "strong" : "span", {}, className(c));
  const columns = [
    { title: heads.model, text: true, cls: "name", cell: (r) => nameCell(r.m.j) },
    { title: heads.class, text: true, cell: (r) => name(r.c) },
    { title: heads.lower, cell: (r) => fixed(r.set.lower[r.c]) },
    { title: heads.mean_prediction, cell: (r) => fixed(r.set.mean[r.c]) },
    { title: heads.upper, cell: (r) => fixed(r.set.upper[r.c]) },
  ];
  if (votes) columns.push({ title: heads.votes, cell: (r) => fixed(votes[r.c]) });
  if (three && page.facts.classes > 3) columns.push({ title: heads.in_three, cell: (r) => r.ends ?? wording.ABSENT });
  chartTable(node, pictures_data, columns, rows);
}

function endsOf(points, at) {
  const values = points.map((p) => p[at]);
  const [low, high] = [Math.min(...values), Math.max(...values)].map((v) => fixed(v));
  return low === high ? low : fillTemplate(page.text.general.range, { low, high });
}

// Sets, label and votes of one instance, the classes of the bars, and those of the triangle.
function pictureView(i) {
  const held = page.instances;
  const k = held.place.get(i);
  const classes = page.facts.classes;
  const sets = shown().map((m) => ({ m, set: setOf(m, k) }));
  const greatest = Array.from({ length: classes }, (_, c) => Math.max(0, ...sets.map(({ set }) => set.upper[c])));
  const order = greatest.map((_, c) => c).sort((a, b) => greatest[b] - greatest[a] || a - b);
  const truth = held.truth[i];
  const listed = order.slice(0, page.text.instances.listed_classes);
  if (!listed.includes(truth)) listed.push(truth);
  const shares = held.shares?.subarray(i * classes, (i + 1) * classes);
  const votes = shares ? Array.from(shares, (q) => probability(q, 16)) : null;
  let three = null;
  if (classes >= 3) {
    const stored = k < held.top_three.length / 3;
    three = stored
      ? Array.from(held.top_three.subarray(3 * k, 3 * k + 3))
      : [truth, ...order.filter((c) => c !== truth)].slice(0, 3);
  }
  return { k, sets, truth, listed, votes, three };
}

const threeNames = (three) => {
  const [first, second, third] = three.map(className);
  return { first, second, third };
};

function pictureNotes({ listed, three, votes }) {
  const text = page.text.instances;
  const some = page.facts.classes > listed.length;
  return [
    some ? fillTemplate(text.bars.some, { shown: wording.count(listed.length) }) : text.bars.all,
    three && page.facts.classes > 3 ? fillTemplate(text.triangle, threeNames(three)) : "",
    votes && three ? text.votes : "",
    text.first_run,
  ];
}

function predictionText(m, truth) {
  const column = page.instances.columns[m.name];
  const [d, ns, label] = [column.distance[current], column.nonspecificity[current], column.label[current]];
  const templates = page.text.instances.prediction;
  const kind = label === page.facts.classes ? "several" : label === truth ? "right" : "wrong";
  const words = fillTemplate(templates[kind], {
    label: kind === "several" ? "" : className(label),
    confidence: fixed(page.instances.confidences[m.name][current], 2),
    distance: fixed(d),
    nonspecificity: fixed(ns),
    unified: fixed(d + lambda() * ns),
    tradeoff: lambdaText(),
  });
  return unbroken(words);
}

// -- bars ------------------------------------------------------------------------------------------------------------

function bars(m, set, listed, truth) {
  const text = page.text.instances;
  const [left, right, row] = [92, 240, 17];
  const height = row * listed.length + 18;
  const x = (p) => left + p * (right - left);
  const c = colour(m.j);
  const grid = (p) => [
    el("line", { class: "axis", x1: x(p), x2: x(p), y1: 0, y2: height - 16 }),
    el("text", { class: "soft", x: x(p), y: height - 3, "text-anchor": p === 1 ? "end" : "middle" }, p),
  ];
  const bar = (k, r) => {
    const y = row * r + 9;
    const name = `${k === truth ? "▸ " : ""}${elided(className(k), 12)}`;
    const [lo, hi] = [set.lower[k], set.upper[k]];
    const values = { name: className(k), low: fixed(lo), high: fixed(hi), mean: fixed(set.mean[k]) };
    const box = { x: x(lo), y: y - 4, width: Math.max(0, x(hi) - x(lo)), height: 8, rx: 2, fill: c, "fill-opacity": 0.5 };
    const at = { x1: x(set.mean[k]), x2: x(set.mean[k]), y1: y - 6, y2: y + 6, stroke: c, "stroke-width": 3 };
    return [
      el("text", { x: left - 7, y: y + 4, "text-anchor": "end", class: k === truth ? "label" : "" }, name),
      el("rect", box, el("title", {}, fillTemplate(hi > lo ? text.bar : text.bar_point, values))),
      el("line", at),
    ];
  };
  const spoken = listed.slice(0, 3).map((k) => {
    const [low, high] = [fixed(set.lower[k], 2), fixed(set.upper[k], 2)];
    return fillTemplate(text.bar_spoken, { name: className(k), low, high });
  });
  const words = fillTemplate(text.bars_spoken, { bars: wording.listed(spoken) });
  const view = { viewBox: `0 0 250 ${height}`, role: "img", "aria-label": words };
  return el("svg", view, [0, 0.5, 1].flatMap(grid), listed.flatMap(bar));
}

// -- the triangle ----------------------------------------------------------------------------------------------------

const inTriangle = (p) => CORNERS.reduce(([x, y], [cx, cy], i) => [x + p[i] * cx, y + p[i] * cy], [0, 0]);

// Corners of {lower ≤ p ≤ upper, Σ p = 1} seen through three of its classes, each divided by their sum.
function boxCorners(set, three) {
  const rest = (bounds) => sum(bounds) - sum(three.map((c) => bounds[c]));
  const [low, high] = [Math.max(0, 1 - rest(set.upper)), Math.max(0, 1 - rest(set.lower))];
  const [l, u] = [three.map((c) => set.lower[c]), three.map((c) => set.upper[c])];
  const found = [];
  const add = (p) => {
    const s = sum(p);
    if (s > 1e-9) found.push(p.map((v) => v / s));
  };
  const slack = 0.004; // the bounds are rounded
  for (let code = 0; code < 8; code += 1) {
    const p = [0, 1, 2].map((a) => ((code >> a) & 1 ? u[a] : l[a]));
    const s = sum(p);
    if (s >= low - slack && s <= high + slack) add(p);
    for (let a = 0; a < 3; a += 1) {
      if ((code >> a) & 1) continue;
      for (const total of [low, high]) {
        const value = total - (s - p[a]);
        if (value > l[a] && value < u[a]) add(p.map((v, b) => (b === a ? value : v)));
      }
    }
  }
  return found;
}

const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

// Convex hull of points in the plane (Andrew's monotone chain).
function hull(points_) {
  const sorted = points_.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => {
    const chain = [];
    for (const p of list) {
      while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), p) <= 0) chain.pop();
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}

// Points of a set given three classes: the points of the set where the page holds them, else the corners of its intervals.
function pointsInThree(m, set, { k, three }) {
  const held = heldPoints(m, k);
  if (held) return { points: held, held: true };
  if (!m.precise) return { points: boxCorners(set, three), held: false };
  const share = sum(three.map((a) => set.mean[a]));
  return { points: share > 1e-6 ? [three.map((a) => set.mean[a] / share)] : [], held: false };
}

// Points of a set given three classes; null where the page does not hold them.
function heldPoints(m, k) {
  const stored = page.instances.sets[m.name].points;
  const each = stored && m.points ? 2 * m.points : 0;
  if (!stored || (k + 1) * each > stored.length) return null;
  const values = stored.subarray(k * each, (k + 1) * each);
  const found = [];
  for (let v = 0; v < values.length; v += 2) {
    if (values[v] === 65535) continue; // nothing on the three classes
    const [a, b] = [values[v] / 65534, values[v + 1] / 65534];
    found.push([a, b, 1 - (values[v] + values[v + 1]) / 65534]);
  }
  return found;
}

function triangle(m, set, view) {
  const { three, truth, votes } = view;
  const c = colour(m.j);
  const share = sum(three.map((a) => set.mean[a]));
  const { points: found, held } = pointsInThree(m, set, view);
  const places = found.map(inTriangle);
  const polygon = held || !m.precise ? hull(places) : [];
  const dots = held && places.length <= 30 ? places : [];
  const parts = [
    el("polygon", { class: "frame", points: CORNERS.map((p) => p.join(",")).join(" ") }),
    halfLines(),
    polygon.length ? setPolygon(polygon, c) : null,
    dots.map(([x, y]) => el("circle", { cx: x, cy: y, r: 2.6, fill: c })),
    share > 1e-6 ? meanDot(set, three, share, c) : null,
    votes ? votesCross(votes, three) : labelRing(three, truth),
    cornerNames(three, truth),
  ];
  const note = triangleNote(m, held, share);
  const words = fillTemplate(page.text.instances.triangle_spoken, { ...threeNames(three), note });
  const attributes = { viewBox: "0 0 250 214", role: "img", "aria-label": words };
  return el("div", {}, el("svg", attributes, parts.flat()), el("p", {}, note));
}

// Lines where the class of one corner has half of the three's probability.
function halfLines() {
  const middle = (a, b) => {
    const p = [0, 0, 0];
    p[a] = 0.5;
    p[b] = 0.5;
    return inTriangle(p);
  };
  return [[0, 1, 2], [1, 2, 0], [2, 0, 1]].map(([a, b, o]) => {
    const [[x1, y1], [x2, y2]] = [middle(o, a), middle(o, b)];
    return el("line", { class: "axis", x1, y1, x2, y2 });
  });
}

function setPolygon(polygon, c) {
  const corners = polygon.map((p) => p.map((v) => v.toFixed(2)).join(",")).join(" ");
  const look = { fill: c, "fill-opacity": 0.3, stroke: c, "stroke-width": 1.5, "stroke-linejoin": "round" };
  return el("polygon", { points: corners, ...look });
}

function meanDot(set, three, share, c) {
  const [x, y] = inTriangle(three.map((a) => set.mean[a] / share));
  const look = { r: 4.5, fill: c, stroke: css("--card"), "stroke-width": 1.5 };
  return el("circle", { cx: x, cy: y, ...look }, el("title", {}, page.text.instances.mean_prediction));
}

function votesCross(votes, three) {
  const total = sum(three.map((a) => votes[a]));
  if (!(total > 1e-6)) return null;
  const [x, y] = inTriangle(three.map((a) => votes[a] / total));
  const cross = { d: `M${x - 6},${y}h12M${x},${y - 6}v12`, stroke: css("--ink"), "stroke-width": 2 };
  return el("path", cross, el("title", {}, page.text.instances.label_distribution));
}

function labelRing(three, truth) {
  const [x, y] = CORNERS[three.indexOf(truth)];
  const look = { r: 8, fill: "none", stroke: css("--ink"), "stroke-width": 2 };
  return el("circle", { cx: x, cy: y, ...look }, el("title", {}, page.text.instances.label));
}

function cornerNames(three, truth) {
  const places = [[0, 209, "start"], [250, 209, "end"], [125, 9, "middle"]];
  return three.map((a, v) => {
    const [x, y, anchor] = places[v];
    return el("text", { x, y, "text-anchor": anchor, class: a === truth ? "label" : "" }, elided(className(a), 16));
  });
}

// What the polygon is, and how much of the mean prediction the three classes have.
function triangleNote(m, held, share) {
  const text = page.text.instances;
  const how = text.sets[m.name][held ? "held" : "not_held"];
  if (page.facts.classes <= 3) return how;
  return fillTemplate(share < 0.0005 ? text.little_share : text.share, { how, share: wording.percent(share) });
}
