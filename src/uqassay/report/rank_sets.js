// Section 2, below the ranking: the ranks that each model can have by a metric, and the models of the top group at every λ.

function startRankSets() {
  const sets = page.rank_sets;
  if (!sets) return;
  const text = page.text.rank_sets;
  const region = (label) => el("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": label });
  const [bars, strips] = [region(text.title), region(text.top_title)];
  const never = el("p", { class: "note" });
  const unified = el("option", { value: -1 });
  const options = sets.metrics.map((m, i) => el("option", { value: i }, m.label));
  const by = el("select", { id: "rank-sets-by" }, unified, options);
  const draw = () => {
    unified.textContent = fillTemplate(text.at, { tradeoff: lambdaText() });
    drawRankBars(bars, by.value === "-1" ? unifiedSets() : sets.metrics[Number(by.value)]);
    drawTopStrips(strips, never);
  };
  by.addEventListener("change", draw);
  fill(
    byId("rank-sets"),
    el("figure", {}, el("h3", {}, text.title), el("p", { class: "choices" }, el("label", {}, text.by, " ", by)), bars,
      el("figcaption", {}, text.note)),
    el("figure", { class: "of-price" }, el("h3", {}, text.top_title), strips, never, el("figcaption", {}, text.top_note)),
  );
  listeners.push(() => whenOpen(by, draw));
}

// Rank sets by E at the λ of the slider, from the ranking.
function unifiedSets() {
  const rows = rankedRows().map((r) => ({
    ...r,
    value: r.estimate,
    low: r.rank_low,
    high: r.rank_high,
  }));
  return { metric: "unified", rows };
}

function drawRankBars(holder, chosen) {
  const text = page.text.rank_sets;
  const last = chosen.rows.map((r) => r.top !== null).lastIndexOf(true);
  const total = chosen.rows.filter((r) => r.top !== null).length;
  let rank = 0;
  const rows = chosen.rows
    .slice(0, last + 1) // a baseline is drawn where a model lies below it
    .map((r) => ({ ...r, rank: r.top === null ? null : ++rank, key: page.models[r.j].name }));
  const everyone = rows.every((r) => r.top !== false);
  const written = (r) => {
    if (Number.isNaN(number(r.value))) return missing(text.no_value);
    return chosen.metric === "accuracy" ? wording.percent(number(r.value)) : fixed(r.value);
  };
  const columns = [
    { title: text.heads.model, text: true, cls: "name", cell: (r) => nameCell(r.j) },
    { title: rankAxis(total), text: true, cls: "graph", cell: (r) => rankBar(r, total, everyone) },
    { title: text.heads.ranks, cell: (r) => (r.top === null ? "" : rankCell(r)) },
    { title: text.heads.value, wide: true, cell: written },
  ];
  const rowClass = (r) => (r.top === null ? "baseline" : null);
  fillModelTable(holder, columns, rows, { sortable: false, rowClass });
}

const rankCell = (r) => el("span", { class: r.top ? "sure" : "soft" }, wording.rankRange(r.low, r.high));

// Ranks stand at the middle of equal columns.
function rankAxis(total) {
  const step = [1, 5, 10, 20, 50].find((s) => total / s <= 6) ?? 100;
  const marks = Array.from({ length: total }, (_, i) => i + 1).filter((r) => r === 1 || (r % step === 0 && r > step / 2 + 1));
  const at = (r) => `${(100 * (r - 0.5)) / total}%`;
  const label = fillTemplate(page.text.rank_sets.heads.range, { models: total });
  const attributes = { y: 12, "text-anchor": "middle", "font-size": 11, fill: "currentColor" };
  const texts = marks.map((r) => el("text", { x: at(r), ...attributes }, r));
  return el("svg", { role: "img", "aria-label": label, class: "axis-marks" }, texts);
}

function rankBar(r, total, everyone) {
  const across = (x) => `${(100 * x) / total}%`;
  if (r.top === null) {
    const line = { x1: 0, x2: "100%", y1: 9, y2: 9, stroke: css("--soft"), "stroke-dasharray": "4 3", "stroke-width": 1.5 };
    return el("svg", { "aria-hidden": "true", class: "rank-bar" }, el("line", line));
  }
  const c = colour(r.j);
  const strong = r.top && !everyone;
  const track = { x: 0, width: "100%", y: 3, height: 12, fill: css("--grid"), rx: 2 };
  const bar = { x: across(r.low - 1), width: across(r.high - r.low + 1), y: 3, height: 12, rx: 2, fill: c };
  const label = fillTemplate(page.text.rank_sets.bar, { model: r.key, ranks: wording.rankRange(r.low, r.high) });
  const dot = { cx: across(r.rank - 0.5), cy: 9, r: 3.5, fill: css("--card"), stroke: css("--ink"), "stroke-width": 1.2 };
  return el(
    "svg",
    { role: "img", "aria-label": label, class: "rank-bar" },
    el("rect", track),
    el("rect", { ...bar, "fill-opacity": strong || (everyone && r.top) ? 0.95 : 0.35 }),
    el("circle", dot),
  );
}

// -- the top group along λ -------------------------------------------------------------------------------------------

// Ranges of the grid in which a test holds, each end half-way to the next λ.
function stretches(holds) {
  const { grid } = ranking;
  const edge = (i) => (i <= 0 ? grid[0] : i >= grid.length ? greatest() : (grid[i - 1] + grid[i]) / 2);
  const found = [];
  for (let i = 0; i < grid.length; i++) {
    if (!holds(i)) continue;
    if (found.length && found.at(-1)[2] === i) [found.at(-1)[1], found.at(-1)[2]] = [edge(i + 1), i + 1];
    else found.push([edge(i), edge(i + 1), i + 1]);
  }
  return found;
}

function drawTopStrips(holder, never) {
  const text = page.text.rank_sets;
  const ever = candidates.filter((m) => ranking.models[m.j].top.some(Boolean));
  const drawn = candidates.length > MANY ? ever : candidates;
  const left = candidates.length - drawn.length;
  fill(never, left ? fillTemplate(text.never, { n: left, models: candidates.length }) : "");
  const columns = [
    { title: text.heads.model, text: true, cls: "name", cell: (m) => nameCell(m.j) },
    { title: tradeoffAxis(), text: true, cls: "graph", cell: topStrip },
  ];
  fillModelTable(holder, columns, drawn.map((m) => ({ ...m, key: m.name })), { sortable: false });
}

function topStrip(m) {
  const { top, below } = ranking.models[m.j];
  const c = colour(m.j);
  const said = stretches((i) => top[i]).map(([low, high]) =>
    fillTemplate(page.text.general.range, { low: wording.tradeoff(low), high: wording.tradeoff(high) }),
  );
  const template = said.length ? page.text.rank_sets.strip : page.text.rank_sets.strip_empty;
  const words = fillTemplate(template, { model: m.name, ranges: said.join(", ") });
  const areas = [false, true].flatMap((behind) =>
    stretches((i) => top[i] && below[i].length > 0 === behind).map(([low, high]) => {
      const place = { x: across(low), width: across(high - low), y: 3, height: 12 };
      return el("rect", { ...place, fill: c, "fill-opacity": behind ? 0.35 : 0.95 });
    }),
  );
  const x = across(lambda());
  return el(
    "svg",
    { role: "img", "aria-label": words, class: "rank-bar" },
    el("rect", { x: 0, width: "100%", y: 3, height: 12, fill: css("--grid"), rx: 2 }),
    areas,
    el("line", { x1: x, x2: x, y1: -6, y2: 24, stroke: css("--ink"), "stroke-width": 1.5 }),
  );
}

function tradeoffAxis() {
  const step = [0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10].find((s) => greatest() / s <= 5) ?? greatest() / 4;
  const marks = Array.from({ length: Math.floor(greatest() / step + 1e-9) + 1 }, (_, i) => i * step);
  const anchor = (x) => (x === 0 ? "start" : x > 0.97 * greatest() ? "end" : "middle");
  const texts = marks.map((x) => {
    const place = { x: across(x), y: 12, "text-anchor": anchor(x), "font-size": 11, fill: "currentColor" };
    return el("text", place, wording.general(x, 3));
  });
  return el("svg", { role: "img", "aria-label": page.text.rank_sets.heads.top, class: "axis-marks" }, texts);
}
