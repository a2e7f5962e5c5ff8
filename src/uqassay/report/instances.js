// Section 5: one instance at a time, with every model's credal set of it.

const LISTED_CLASSES = 12;
const CORNERS = [[24, 190], [226, 190], [125, 20]]; // of the triangle: first, second, third class
let current = null; // position in page.instances.rows

const instanceName = (i) => (page.instances.ids ? page.instances.ids[i] : String(page.instances.rows[i]));
const className = (c) => page.assay.class_names[c];

function startInstances() {
  const held = page.instances;
  const holder = byId("instances");
  if (!held) { holder.hidden = true; return; }
  held.place = new Map(held.set_rows.map((row, k) => [row, k]));
  held.confidences = {};
  for (const m of candidates) held.confidences[m.name] = Array.from(held.columns[m.name].confidence, (q) => probability(q, 16));
  const kinds = Object.keys(held.extremes).filter((kind) => kind !== "most epistemic" || candidates.some((m) => !m.precise));
  const buttons = kinds.map((kind, k) => el("button", { type: "button", "aria-pressed": String(k === 0), on: { click: () => {
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(i === k)));
    drawExtremes(kind);
  } } }, kind));
  fill(byId("kinds"), buttons);
  byId("pick").addEventListener("change", () => pickText(byId("pick").value.trim()));
  byId("before").addEventListener("click", () => step(-1));
  byId("after").addEventListener("click", () => step(1));
  byId("random").addEventListener("click", () => pickInstance(held.set_rows[Math.floor(Math.random() * held.set_rows.length)]));
  current = held.extremes[kinds[0]][0];
  drawExtremes(kinds[0]);
  pickInstance(current);
  listeners.push(drawPictures);
}

function step(by) {
  const n = page.instances.rows.length;
  let i = current;
  do i = (i + by + n) % n; while (!page.instances.place.has(i) && i !== current);
  pickInstance(i);
}

function pickText(text) {
  const held = page.instances;
  let i = held.ids ? held.ids.indexOf(text) : -1;
  if (i < 0 && /^\d+$/.test(text)) i = held.rows.indexOf(Number(text));
  const known = held.ids ? "an id or a row number" : `a number from 0 to ${held.n - 1}`;
  const part = held.set_rows.length < held.n ? `the sets of ${held.set_rows.length.toLocaleString("en")} of ${held.n.toLocaleString("en")} instances` : null;
  const exists = i >= 0 || (/^\d+$/.test(text) && Number(text) < held.n);
  const problem = i >= 0 && held.place.has(i) ? "" : part && exists ? `This page holds ${part}, and not of this one.`
    : part && held.ids ? `No instance on this page has that id; it holds ${part}.` : `Give ${known}.`;
  if (problem) byId("pick-problem").textContent = problem;
  else pickInstance(i);
}

function drawExtremes(kind) {
  const held = page.instances;
  const d = (m, i) => held.columns[m.name].distance[i];
  const rows = held.extremes[kind].map((i, place) => {
    const distances = candidates.map((m) => d(m, i));
    const widest = candidates.reduce((a, b) => (held.columns[b.name].nonspecificity[i] > held.columns[a.name].nonspecificity[i] ? b : a));
    return { i, place: place + 1, key: String(i), widest, ns: held.columns[widest.name].nonspecificity[i],
      mean: distances.reduce((a, b) => a + b, 0) / distances.length, spread: Math.max(...distances) - Math.min(...distances) };
  });
  const columns = [
    { title: "#", value: (r) => r.place, cell: (r) => r.place },
    { title: "Instance", text: true, value: (r) => instanceName(r.i), cell: (r) => el("button", { type: "button", class: "row", on: { click: () => pickInstance(r.i) } }, instanceName(r.i)) },
    { title: "Label", text: true, value: (r) => className(held.truth[r.i]), cell: (r) => className(held.truth[r.i]) },
    { title: "Predicted by", text: true, cls: "name", cell: (r) => predictions(r.i) },
    { title: "Largest NS", value: (r) => r.ns, cell: (r) => (r.ns > 0 ? el("span", { title: r.widest.name }, swatch(r.widest.j), fixed(r.ns)) : fixed(0)) },
    { title: "Mean d", value: (r) => r.mean, cell: (r) => fixed(r.mean, 2) },
    { title: "Spread of d", value: (r) => r.spread, cell: (r) => fixed(r.spread, 2) },
  ];
  fill(byId("extremes"), table(columns, rows, { caption: {
    "most epistemic": "Greatest non-specificity of any model.",
    "most wrong": "Greatest mean distance over the models.",
    "most disputed": "Greatest spread of the distances between models.",
  }[kind] }));
  markPicked();
}

function predictions(i) {
  const byClass = new Map();
  for (const m of candidates) {
    const label = page.instances.columns[m.name].label[i];
    byClass.set(label, [...(byClass.get(label) ?? []), m]);
  }
  const parts = [...byClass].sort((a, b) => b[1].length - a[1].length).map(([label, models]) =>
    el("span", { title: `${className(label)}: ${models.map((m) => m.name).join(", ")}`, style: { marginRight: ".8rem", whiteSpace: "nowrap" } }, models.map((m) => { const s = swatch(m.j); s.style.marginRight = "2px"; return s; }), " ", className(label)));
  return el("span", {}, parts);
}

function markPicked() {
  for (const row of byId("extremes").querySelectorAll("tbody tr")) row.setAttribute("aria-selected", String(row.dataset.key === String(current)));
}

function pickInstance(i) {
  const held = page.instances;
  if (!held.place.has(i)) { pickText(String(held.rows[i])); return; }
  current = i;
  byId("pick").value = instanceName(i);
  byId("pick-problem").textContent = "";
  markPicked();
  drawPictures();
}

// -- pictures ----------------------------------------------------------------------------------------------------------

function setOf(m, k) {
  const held = page.instances;
  const stored = held.sets[m.name];
  const classes = page.facts.classes;
  const read = (array) => Array.from(array.subarray(k * classes, (k + 1) * classes), (q) => probability(q, held.bits));
  const mean = read(stored.mean);
  return stored.lower ? { mean, lower: read(stored.lower), upper: read(stored.upper) } : { mean, lower: mean, upper: mean };
}

function drawPictures() {
  const held = page.instances;
  const i = current;
  const k = held.place.get(i);
  const sets = candidates.map((m) => ({ m, set: setOf(m, k) }));
  const classes = page.facts.classes;
  const greatest = Array.from({ length: classes }, (_, c) => Math.max(...sets.map(({ set }) => set.upper[c])));
  const order = greatest.map((_, c) => c).sort((a, b) => greatest[b] - greatest[a] || a - b);
  const stored = held.top_three.length / Math.min(3, classes);
  const truth = held.truth[i];
  const three = classes >= 3 ? (k < stored ? Array.from(held.top_three.subarray(3 * k, 3 * k + 3)) : [truth, ...order.filter((c) => c !== truth)].slice(0, 3)) : null;
  const listedClasses = order.slice(0, LISTED_CLASSES);
  if (!listedClasses.includes(truth)) listedClasses.push(truth);
  const votes = held.shares ? Array.from(held.shares.subarray(i * classes, (i + 1) * classes), (q) => probability(q, 16)) : null;
  const id = held.ids ? `Instance ${held.ids[i]} (row ${held.rows[i]})` : `Instance ${held.rows[i]}`;
  fill(byId("picked"), votes ? `${id}: most often labelled ${className(truth)} (${percent(votes[truth])})` : `${id}: ${className(truth)}`);
  const notes = [`Bars: lower to upper probability of each class, the tick is the mean prediction; classes by their highest upper probability in any model${classes > listedClasses.length ? `, ${listedClasses.length} of ${classes} shown` : ""}. The label is in bold.`];
  if (three && classes > 3) notes.push(`Triangle: ${listed(three.map(className))}, the label and the two other classes of highest upper probability; what each model says given that it is one of these three.`);
  if (votes && three) notes.push("The cross is the distribution of the labels.");
  if (candidates.some((m) => m.runs > 1)) notes.push("Sets are those of the first training run.");
  fill(byId("picked-note"), notes.join(" "));
  fill(byId("pictures"), sets.map(({ m, set }) => {
    const column = held.columns[m.name];
    const d = column.distance[i]; const ns = column.nonspecificity[i];
    const label = column.label[i];
    return el("div", { class: "picture" }, el("h4", {}, nameCell(m.j)),
      el("p", {}, `${label === truth ? "✓" : "✗"} predicts ${className(label)} (${fixed(held.confidences[m.name][i], 2)}); d ${fixed(d)}, NS ${fixed(ns)}, E ${fixed(d + lambda() * ns)} at λ = ${lambdaText(lambda())}`),
      bars(m, set, listedClasses, truth), three ? triangle(m, set, three, truth, votes, k) : null);
  }));
}

function bars(m, set, listedClasses, truth) {
  const [left, right, row] = [92, 240, 17];
  const height = row * listedClasses.length + 18;
  const x = (p) => left + p * (right - left);
  const c = colour(m.j);
  const parts = [0, 0.5, 1].flatMap((p) => [
    el("line", { class: "axis", x1: x(p), x2: x(p), y1: 0, y2: height - 16 }),
    el("text", { class: "soft", x: x(p), y: height - 3, "text-anchor": p === 1 ? "end" : "middle" }, p)]);
  listedClasses.forEach((k, r) => {
    const y = row * r + 9;
    const name = className(k);
    parts.push(el("text", { x: left - 7, y: y + 4, "text-anchor": "end", class: k === truth ? "label" : "" }, `${k === truth ? "▸ " : ""}${name.length > 12 ? `${name.slice(0, 11)}…` : name}`));
    const [lo, hi] = [set.lower[k], set.upper[k]];
    parts.push(el("rect", { x: x(lo), y: y - 4, width: Math.max(0, x(hi) - x(lo)), height: 8, rx: 2, fill: c, "fill-opacity": 0.5 },
      el("title", {}, hi > lo ? `${name}: ${fixed(lo)} to ${fixed(hi)}, mean ${fixed(set.mean[k])}` : `${name}: ${fixed(lo)}`)));
    parts.push(el("line", { x1: x(set.mean[k]), x2: x(set.mean[k]), y1: y - 6, y2: y + 6, stroke: c, "stroke-width": 3 }));
  });
  const words = listedClasses.slice(0, 3).map((k) => `${className(k)} ${fixed(set.lower[k], 2)} to ${fixed(set.upper[k], 2)}`).join("; ");
  return el("svg", { viewBox: `0 0 250 ${height}`, role: "img", "aria-label": `Probabilities: ${words}` }, parts);
}

const inTriangle = (p) => CORNERS.reduce(([x, y], [cx, cy], i) => [x + p[i] * cx, y + p[i] * cy], [0, 0]);

// Corners of {lower ≤ p ≤ upper, Σ p = 1} seen through three of its classes, each divided by their sum.
function boxCorners(set, three) {
  const rest = (bounds) => bounds.reduce((a, b) => a + b, 0) - three.reduce((a, c) => a + bounds[c], 0);
  const [low, high] = [Math.max(0, 1 - rest(set.upper)), Math.max(0, 1 - rest(set.lower))];
  const [l, u] = [three.map((c) => set.lower[c]), three.map((c) => set.upper[c])];
  const found = [];
  const add = (p) => { const s = p[0] + p[1] + p[2]; if (s > 1e-9) found.push(p.map((v) => v / s)); };
  const slack = 0.004; // the bounds are rounded
  for (let code = 0; code < 8; code += 1) {
    const p = [0, 1, 2].map((a) => ((code >> a) & 1 ? u[a] : l[a]));
    const s = p[0] + p[1] + p[2];
    if (s >= low - slack && s <= high + slack) add(p);
    for (let a = 0; a < 3; a += 1) {
      if ((code >> a) & 1) continue;
      for (const total of [low, high]) {
        const value = total - (s - p[a]);
        if (value > l[a] && value < u[a]) { const q = p.slice(); q[a] = value; add(q); }
      }
    }
  }
  return found;
}

// Convex hull of points in the plane (Andrew's monotone chain).
function hull(points) {
  const sorted = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => list.reduce((chain, p) => {
    while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), p) <= 0) chain.pop();
    return [...chain, p];
  }, []).slice(0, -1);
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}

const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

function triangle(m, set, three, truth, votes, k) {
  const c = colour(m.j);
  const share = three.reduce((sum, a) => sum + set.mean[a], 0);
  const stored = page.instances.sets[m.name].points;
  const parts = [el("polygon", { class: "frame", points: CORNERS.map((p) => p.join(",")).join(" ") })];
  [0.5].forEach((t) => [[0, 1, 2], [1, 2, 0], [2, 0, 1]].forEach(([a, b, o]) => {
    const at = (first, second) => { const p = [0, 0, 0]; p[first] = t; p[second] = 1 - t; return inTriangle(p); };
    const [[x1, y1], [x2, y2]] = [at(o, a), at(o, b)];
    parts.push(el("line", { class: "axis", x1, y1, x2, y2 }));
  }));
  let how = m.precise ? "a point" : m.points === null ? (m.kind === "Intervals" ? "the intervals themselves" : "the set's probability intervals, which contain it") : "the set's probability intervals, which contain it; its points are kept for the extreme instances only";
  let polygon = null;
  const perInstance = stored && m.points ? 2 * m.points : 0;
  if (stored && (k + 1) * perInstance <= stored.length) {
    const values = stored.subarray(k * perInstance, (k + 1) * perInstance);
    const points = [];
    for (let v = 0; v < values.length; v += 2) if (values[v] < 65535) points.push(inTriangle([values[v] / 65534, values[v + 1] / 65534, 1 - (values[v] + values[v + 1]) / 65534]));
    polygon = hull(points);
    how = `hull of ${m.points} points`;
    if (points.length <= 30) points.forEach(([x, y]) => parts.push(el("circle", { cx: x, cy: y, r: 2.6, fill: c })));
  } else if (!m.precise) polygon = hull(boxCorners(set, three).map(inTriangle));
  if (polygon?.length) parts.splice(4, 0, el("polygon", { points: polygon.map((p) => p.map((v) => v.toFixed(2)).join(",")).join(" "), fill: c, "fill-opacity": 0.3, stroke: c, "stroke-width": 1.5, "stroke-linejoin": "round" }));
  if (share > 1e-6) {
    const [x, y] = inTriangle(three.map((a) => set.mean[a] / share));
    parts.push(el("circle", { cx: x, cy: y, r: 4.5, fill: c, stroke: css("--card"), "stroke-width": 1.5 }, el("title", {}, "mean prediction")));
  }
  if (votes) {
    const total = three.reduce((sum, a) => sum + votes[a], 0);
    if (total > 1e-6) { const [x, y] = inTriangle(three.map((a) => votes[a] / total)); parts.push(el("path", { d: `M${x - 6},${y}h12M${x},${y - 6}v12`, stroke: css("--ink"), "stroke-width": 2 }, el("title", {}, "label distribution"))); }
  } else {
    const [x, y] = CORNERS[three.indexOf(truth)];
    parts.push(el("circle", { cx: x, cy: y, r: 8, fill: "none", stroke: css("--ink"), "stroke-width": 2 }, el("title", {}, "label")));
  }
  const places = [[0, 209, "start"], [250, 209, "end"], [125, 9, "middle"]];
  three.forEach((a, v) => {
    const name = className(a);
    parts.push(el("text", { x: places[v][0], y: places[v][1], "text-anchor": places[v][2], class: a === truth ? "label" : "" }, name.length > 16 ? `${name.slice(0, 15)}…` : name));
  });
  const note = page.facts.classes > 3 ? `${how}; ${share < 0.0005 ? "almost none" : percent(share)} of the mean prediction lies on these three` : how;
  return el("div", {}, el("svg", { viewBox: "0 0 250 214", role: "img", "aria-label": `Triangle of ${listed(three.map(className))}: ${note}` }, parts), el("p", {}, note));
}
