// Section 3: densities of distance, non-specificity and E, for correct and wrong predictions apart.

const SIDES = [["correct", 1], ["wrong", -1]];

function ridges(quantity) {
  return (node) => {
    const { axis, models } = ridgeSource(quantity);
    const rows = shown().map((m) => ({ m, parts: models[candidates.findIndex((c) => c.j === m.j)] }));
    if (!rows.length) {
      noChartTable(node.closest("figure"));
      empty(node, page.text.models.no_model);
      return;
    }
    ridgeTable(node, rows);
    const [marks, notes] = [[], []];
    rows.forEach(({ m, parts }, i) => {
      const y0 = rows.length - 1 - i;
      if (SIDES.every(([side]) => !parts[side] || parts[side].zero)) {
        const place = { acrossAt: 0.5, y: y0, base: "bottom", size: 11, color: css("--soft") };
        notes.push({ ...place, text: nothingBut(m, parts, quantity), halo: true });
        return;
      }
      for (const [side, sign] of SIDES) {
        if (!parts[side]) continue;
        const half = halfRidge(m, parts[side], { side, sign, y0, axis });
        marks.push(...half.marks);
        notes.push(...half.notes);
      }
    });
    const layout = ridgeLayout(node, rows, axis, quantity);
    const above = ({ m }, i) => ({ acrossAt: 0, y: rows.length - 0.56 - i, anchor: "start", text: label(m.j), halo: true });
    plot(node, marks, { notes: layout.overRows ? [...notes, ...rows.map(above)] : notes, ...layout });
  };
}

// The densities; those of E at the held λ that is nearest to the slider's.
function ridgeSource(quantity) {
  const source = page.densities[quantity];
  if (quantity !== "unified") return source;
  const distance = (t) => Math.abs(t - lambda());
  const at = source.tradeoffs.reduce((b, t, i) => (distance(t) < distance(source.tradeoffs[b]) ? i : b), 0);
  const t = source.tradeoffs[at];
  const text = page.text.charts;
  const template = distance(t) < 1e-9 ? text.ridge_at : text.ridge_near;
  const tradeoff = wording.tradeoff(t);
  byId("ridge-lambda").textContent = fillTemplate(template, { tradeoff });
  byId("ridge-unified").closest("figure").querySelector("h4 .at").textContent = fillTemplate(text.title_at, { tradeoff });
  return { axis: source.axis, models: source.models[at] };
}

function halfRidge(m, part, { side, sign, y0, axis }) {
  const text = page.text.charts;
  const [marks, notes] = [[], []];
  const peak = Math.max(...part.density) || 1;
  const share = wording.percent(part.at_end, 0);
  if (part.at_end > 0.01) {
    const place = { acrossAt: 0, dx: 2, y: y0 + sign * 0.2, anchor: "start", size: 11, color: css("--soft") };
    notes.push({ ...place, text: `◂${share}` });
  }
  const median = number(part.quartiles[1]);
  const [n, infinite] = [part.n, part.infinite].map(wording.count);
  const lines = [fillTemplate(text.middle, { mean: fixed(part.mean), median: wording.general(median, 2) })];
  if (part.at_end > 0.0005) lines.push(fillTemplate(text.at_end, { share }));
  const name = fillTemplate((part.infinite ? text.part_infinite : text.part)[side], { n, infinite });
  marks.push({
    area: tinted(colour(m.j), side === "correct" ? 0.75 : 0.28),
    x: [axis[0], ...axis, axis.at(-1)],
    y: [y0, ...part.density.map((v) => y0 + (sign * 0.43 * v) / peak), y0],
    stroke: { color: colour(m.j), width: 1 },
    says: () => [el("span", {}, el("b", {}, m.name), `, ${name}`), ...lines],
  });
  if (median > axis[0]) {
    const y = [y0, y0 + sign * 0.36];
    marks.push({ line: true, x: [median, median], y, stroke: { color: css("--ink"), width: 2 } });
  }
  return { marks, notes };
}

function ridgeLayout(node, rows, axis, quantity) {
  const named = quantity === "distance" || !(innerWidth > 900 || onPaper()); // elsewhere the first picture names the rows
  const widest = Math.max(...rows.map(({ m }) => textWidth(label(m.j)))) + 8;
  const above = widest > 0.3 * byId("ridge-distance").clientWidth; // then a name stands over its row, and all rows are higher
  const used = 30 + (above || !named ? 0 : widest);
  const [left, right] = [axis[0], axis.at(-1)].map(Math.log10);
  const ends = rows.some(({ parts }) => Object.values(parts).some((p) => p?.at_end > 0.01));
  const gutter = ((ends ? 48 : 4) / Math.max(120, node.clientWidth - used)) * (right - left);
  const ticks = ridgeTicks(axis, right - left, Math.max(60, node.clientWidth - used));
  return {
    overRows: named && above,
    height: 74 + (above ? 80 : 64) * rows.length,
    margin: { left: 20, right: 10, top: above ? 14 : 6 },
    x: {
      log: true,
      title: page.text.charts.ridge_axes[quantity],
      range: [left - gutter, right],
      ticks: ticks.map((t) => ({ at: t, text: String(Number(t.toPrecision(1))) })),
    },
    y: {
      range: [-0.55, rows.length - 0.45],
      ticks: rows.map(({ m }, i) => ({ at: rows.length - 1 - i, text: label(m.j) })),
      labels: named && !above,
    },
  };
}

// Round values on a logarithmic axis, as many as the width has room for.
function ridgeTicks(axis, span, width) {
  let multiples = [1, 2, 3, 5, 7];
  if (span > 1) multiples = span > 2.5 ? [1] : [1, 3];
  const all = Array.from({ length: 12 }, (_, k) => multiples.map((f) => f * 10 ** (k - 8))).flat();
  const within = all.filter((t) => t >= axis[0] && t <= axis.at(-1));
  const every = Math.ceil((40 * within.length) / width);
  return within.filter((_, i) => (within.length - 1 - i) % every === 0);
}

function ridgeTable(node, rows) {
  const text = page.text.charts;
  const figure = node.closest("figure");
  const title = figure.querySelector("h4")?.firstChild.textContent ?? "";
  const middle = (part) => {
    const [low, median, high] = part.quartiles.map((v) => wording.general(number(v), 2));
    return `${median} (${low}–${high})`;
  };
  const column = (key, side, write) => ({
    title: fillTemplate(text.ridge_heads[key], { part: text.parts[side] }),
    cell: ({ parts }) => (parts[side] ? write(parts[side]) : missing(text.no_such[side])),
  });
  const columns = [
    { title: text.heads.model, text: true, cls: "name", cell: ({ m }) => nameCell(m.j) },
    ...SIDES.flatMap(([side]) => [
      column("n", side, (part) => wording.count(part.n)),
      column("mean", side, (part) => fixed(part.mean)),
      column("middle", side, middle),
    ]),
  ];
  chartTable(figure, fillTemplate(text.ridge_data, { title }), columns, rows);
}

// Words for a row without a density.
function nothingBut(m, parts, quantity) {
  const text = page.text.charts;
  if (quantity === "nonspecificity") return m.precise ? text.point : text.zero;
  const zero = Object.values(parts).some((p) => p?.zero);
  const region = (side) => (page.regions[side] ?? []).find((r) => r?.model === m.name);
  const infinite = SIDES.some(([side]) => number(region(side)?.distance[0]) === Infinity);
  if (!infinite) return text.zero;
  return zero ? text.zero_or_infinite : text.infinite;
}

// -- the same as a table ---------------------------------------------------------------------------------------------

function drawCorrectness() {
  const part = (name, model) => (page.regions[name] ?? []).find((r) => r && r.model === model) ?? null;
  const rows = candidates.map((m) => ({ m, key: m.name, correct: part("correct", m.name), wrong: part("wrong", m.name) }));
  const title = page.text.charts.heads.model;
  const columns = [{ title, text: true, cls: "name", value: (r) => r.key, cell: (r) => nameCell(r.m.j) }];
  for (const [side] of SIDES) columns.push(...sideColumns(rows, side));
  const known = rows.some((r) => number(unifiedEnds(r.correct ?? r.wrong)[0]) >= 0);
  const template = known ? page.text.charts.by_correctness : page.text.charts.by_correctness_apart;
  fillModelTable(byId("by-correctness"), columns, rows, { caption: fillTemplate(template, { tradeoff: lambdaText() }) });
}

const unifiedOf = (region) =>
  region ? number(region.distance[0]) + lambda() * number(region.nonspecificity[0]) : NaN;
const unifiedEnds = (region) =>
  region?.unified.find((u) => Math.abs(u[0] - lambda()) < 1e-9)?.slice(2) ?? [null, null];

function sideColumns(rows, side) {
  const why = page.text.charts.no_such[side];
  const head = (name) => fillTemplate(page.text.charts.heads[name], { part: page.text.charts.parts[side] });
  const places = (key) => decimalsFor(rows.filter((r) => r[side]).map((r) => r[side][key].slice(1)));
  const [dPlaces, nPlaces] = [places("distance"), places("nonspecificity")];
  const define = (name) => (side === "correct" ? name : null);
  const values = (r, key) => r[side]?.[key] ?? [null, null, null];
  const columns = [
    { title: head("n"), value: (r) => r[side]?.n ?? 0, cell: (r) => wording.count(r[side]?.n ?? 0) },
    {
      title: head("distance"),
      define: define("distance"),
      value: (r) => r[side]?.distance[0],
      cell: (r) => interval(...values(r, "distance"), dPlaces, why),
    },
    {
      title: head("nonspecificity"),
      define: define("nonspecificity"),
      value: (r) => r[side]?.nonspecificity[0],
      cell: (r) => interval(...values(r, "nonspecificity"), nPlaces, why),
    },
    {
      title: head("unified"),
      define: define("unified"),
      value: (r) => unifiedOf(r[side]),
      cell: (r) => interval(unifiedOf(r[side]), ...unifiedEnds(r[side]), dPlaces, why),
    },
  ];
  // without sets the distance is all there is
  return document.body.classList.contains("unpriced") ? columns.slice(0, 2) : columns;
}
