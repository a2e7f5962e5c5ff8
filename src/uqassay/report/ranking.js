// Section 2: λ, its questionnaire, the strip of winners, the live ranking.

const lambda = () => ranking.grid[state.index];
const greatest = () => ranking.grid.at(-1);
const lambdaText = () => wording.tradeoff(lambda());
const listeners = [];
const narrow = () => innerWidth < 620;

function setIndex(index) {
  state.index = Math.min(ranking.grid.length - 1, Math.max(0, index));
  for (const slider of document.querySelectorAll(".sets-lambda")) {
    slider.value = state.index;
    slider.setAttribute("aria-valuetext", fillTemplate(page.text.ranking.at, { tradeoff: lambdaText() }));
  }
  for (const node of document.querySelectorAll("[data-lambda]")) node.textContent = lambdaText();
  byId("lambda-value").textContent = lambdaText();
  for (const listener of listeners) listener();
}

// The first λ of the grid at or above a value.
const indexAt = (value) => {
  const found = ranking.grid.findIndex((x) => x >= value - 1e-12);
  return found < 0 ? ranking.grid.length - 1 : found;
};

function slider(node) {
  node.max = ranking.grid.length - 1;
  node.classList.add("sets-lambda");
  node.addEventListener("input", () => setIndex(Number(node.value)));
}

const changesOfWinner = () => ranking.winners.map((w) => number(w.low)).filter((x) => x > 0 && x <= greatest());

// -- the strip -------------------------------------------------------------------------------------------------------

const across = (x) => `${(100 * x) / greatest()}%`;

// Widths are known where the section is open.
const drawStrip = () => whenOpen(byId("strip"), paintStrip);

function paintStrip() {
  const answer = currentAnswer();
  let range = null;
  if (answer && number(answer.low) < greatest()) {
    const width = across(Math.min(answer.high, greatest()) - answer.low);
    range = el("div", { class: "range", style: { left: across(answer.low), width } });
  }
  const cursor = el("div", { class: "cursor", style: { left: across(lambda()) } });
  const band = el("div", { class: "band" }, stripWinners());
  fill(byId("strip"), stripAreas(), band, stripTicks(), range, cursor);
  fill(byId("strip-rest"), stripRest());
  stripTable();
}

// Shares of resamples at some λ; bold: the model with the lowest mean E.
function stripTable() {
  const places = gridPlaces();
  const columns = [
    { title: page.text.ranking.heads.model, text: true, cls: "name", cell: ({ j }) => nameCell(j) },
    ...places.map((i) => ({
      title: fillTemplate(page.text.ranking.at, { tradeoff: wording.tradeoff(ranking.grid[i]) }),
      cell: ({ j }) => {
        const first = ranking.order[i].find((k) => !page.models[k].baseline) === j;
        const share = ranking.models[j].win_share[i];
        return el("span", { class: first ? "sure" : null }, wording.shareOfDraws(share, page.facts.draws));
      },
    })),
  ];
  const rows = ranking.order[state.index].filter((j) => !page.models[j].baseline).map((j) => ({ j }));
  chartTable(byId("strip").parentElement, page.text.ranking.strip_data, columns, rows);
}

// Some places of the grid of λ, evenly spread, and the chosen one.
function gridPlaces() {
  const step = (ranking.grid.length - 1) / 8;
  const even = Array.from({ length: 9 }, (_, k) => Math.round(k * step));
  return [...new Set([...even, state.index])].sort((a, b) => a - b);
}

// Shares of resamples, stacked.
function stripAreas() {
  const bands = [];
  let floor = ranking.grid.map(() => 0);
  for (const m of candidates) {
    const wins = ranking.models[m.j].win_share;
    const ceiling = floor.map((y, i) => y + wins[i]);
    const up = ranking.grid.map((x, i) => `${x},${1 - ceiling[i]}`);
    const down = ranking.grid.map((x, i) => `${x},${1 - floor[i]}`).reverse();
    bands.push(el("polygon", { points: [...up, ...down].join(" "), fill: colour(m.j), "fill-opacity": 0.8 }));
    floor = ceiling;
  }
  const view = { viewBox: `0 0 ${greatest()} 1`, preserveAspectRatio: "none", role: "img" };
  return el("svg", { ...view, "aria-label": page.text.ranking.strip }, bands);
}

const winnersShown = () =>
  ranking.winners
    .filter((w) => number(w.low) < greatest())
    .map((w) => ({ ...w, low: number(w.low), high: Math.min(number(w.high), greatest()) }));
const winnerLabel = (w) => wording.listed(w.models.map((name) => wording.named(label(placeOf(name)))));
const stripWidth = ({ low, high }) => ((high - low) / greatest()) * byId("strip").clientWidth;
const fitsStrip = (w) => textWidth(winnerLabel(w), 13) + 14 < stripWidth(w);

function stripWinners() {
  return winnersShown().map((w) => {
    const face = colour(placeOf(w.models[0]));
    const style = { left: across(w.low), width: across(w.high - w.low), background: face, color: onColour(toHex(face)) };
    if (!fitsStrip(w)) style.padding = 0;
    return el("span", { title: w.words, style }, fitsStrip(w) ? winnerLabel(w) : null);
  });
}

// The winners whose names have no room in the strip.
function stripRest() {
  const rest = winnersShown().filter((w) => !fitsStrip(w));
  const words = ({ low, high }) =>
    fillTemplate(page.text.ranking.from_to, { low: wording.tradeoff(low), high: wording.tradeoff(high) });
  const names = (w) => w.models.flatMap((name, i) => [i ? ", " : null, nameCell(placeOf(name))]);
  return rest.map((w) => el("span", {}, names(w), ` ${words(w)}`));
}

// Round values, but for those that would touch the numbers of a change.
function stripTicks() {
  const steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10];
  const step = steps.find((s) => greatest() / s <= (narrow() ? 4 : 8)) ?? greatest() / 4;
  const even = Array.from({ length: Math.floor(greatest() / step + 1e-9) + 1 }, (_, i) => i * step);
  const wanted = [
    ...changesOfWinner().map((x) => ({ x, text: wording.tradeoff(x), cls: "tick change" })),
    ...even.map((x) => ({ x, text: wording.general(x, 3), cls: "tick" })),
  ];
  const [scale, kept] = [byId("strip").clientWidth / greatest(), []];
  const half = (tick) => textWidth(tick.text, 13) / 2 + 4;
  for (const tick of wanted) {
    if (kept.every((other) => Math.abs(tick.x - other.x) * scale > half(tick) + half(other))) kept.push(tick);
  }
  return kept.map(({ x, text, cls }) => el("span", { class: cls, style: { left: across(x) } }, text));
}

// -- the table -------------------------------------------------------------------------------------------------------

function niceCeil(x, factors = [1, 1.5, 2, 3, 4, 5, 7.5, 10]) {
  if (!(x > 0) || !Number.isFinite(x)) return 1;
  const power = 10 ** Math.floor(Math.log10(x));
  return (factors.find((f) => f * power >= x) ?? 10) * power;
}

function intervalGraph(row, limit) {
  const x = (value) => `${Math.min(100, Math.max(0, (100 * value) / limit))}%`;
  const c = colour(row.j);
  const [low, high] = [number(row.low), number(row.high)];
  const parts = [el("line", { class: "axis", x1: 0, x2: "100%", y1: 11, y2: 11 })];
  if (number(row.estimate) > limit) {
    parts.push(el("text", { x: "100%", y: 15, "text-anchor": "end", fill: css("--ink"), "font-size": 12 }, "▸"));
  } else {
    const bar = { x1: x(low), x2: x(high), y1: 11, y2: 11, stroke: c, "stroke-width": 5, "stroke-opacity": 0.45 };
    if (Number.isFinite(low) && Number.isFinite(high)) parts.push(el("line", bar));
    parts.push(el("circle", { cx: x(row.estimate), cy: 11, r: 4, fill: c }));
  }
  return el("svg", { "aria-hidden": "true" }, parts);
}

function rankedRows() {
  let rank = 0;
  return ranking.order[state.index].map((j) => {
    const values = Object.entries(ranking.models[j]).map(([key, along]) => [key, along[state.index]]);
    const place = page.models[j].baseline ? null : ++rank;
    return { j, key: page.models[j].name, ...Object.fromEntries(values), rank: place };
  });
}

function drawRanking() {
  const text = page.text.ranking;
  const rows = rankedRows();
  const own = rows.filter((r) => r.rank !== null);
  const places = decimalsFor(rows.map((r) => [r.low, r.high]));
  const reach = own.map((r) => Math.max(number(r.estimate), number(r.high) || 0)).filter(Number.isFinite);
  const columns = rankingColumns(own, niceCeil(Math.max(...reach)), places);
  const everyone = own.every((r) => r.top);
  const rowClass = (r) => (r.rank === null ? "baseline" : r.top && !everyone ? "best" : null);
  fillModelTable(byId("ranking"), columns, rows, { sortable: false, rowClass });
  fill(byId("ranking-marks"), markNotes(rows));
  const cursor = document.querySelector("#strip .cursor");
  if (cursor) cursor.style.left = across(lambda());
  stripTable();
  const next = ranking.changes.find((c) => c.at > lambda());
  const near = next && wording.tradeoff(next.at) === wording.tradeoff(lambda()); // would read as the λ at hand
  const where = next && (near ? String(Number(next.at.toPrecision(4))) : wording.tradeoff(next.at));
  const names = next && { above: nameText(placeOf(next.above)), below: nameText(placeOf(next.below)) };
  const change = next ? templatePieces(text.next_change, { ...names, tradeoff: where }) : text.no_change;
  fill(byId("next-sentence"), candidates.length < 2 ? "" : change);
  byId("previous-change").disabled = !changesOfWinner().some((x) => indexAt(x) < state.index);
  byId("next-change").disabled = !changesOfWinner().some((x) => indexAt(x) > state.index);
  clearTimeout(drawRanking.timer);
  drawRanking.timer = setTimeout(() => speakRanking(own.slice(0, 5), places), 400);
}

function rankingColumns(own, limit, places) {
  const [text, limits] = [page.text.ranking, page.text.rank_sets];
  const diff = decimalsFor(own.map((r) => [r.difference_low, r.difference_high]));
  const untested = (r) => ({ null: text.is_baseline, 1: text.is_best })[r.rank] ?? text.no_test;
  const name = (r) =>
    el(
      "span",
      {},
      nameCell(r.j),
      page.models[r.j].baseline ? what(r.key) : null,
      r.below.length ? el("span", { class: "flag" }, text.below[r.below.join(",")]) : null,
    );
  const difference = (r) =>
    r.rank === 1 ? missing(text.is_best) : interval(r.difference, r.difference_low, r.difference_high, diff);
  const tested = (r) => {
    const why = Number.isNaN(number(r.pvalue_adjusted)) ? untested(r) : limits.limited[r.limited_by] ?? null;
    return el("span", { title: why }, pvalue(r.pvalue_adjusted), limits.marks[r.limited_by] ?? "");
  };
  const heads = text.heads;
  const scale = fillTemplate(text.scale, { limit: wording.general(limit, 3) });
  return [
    { title: heads.ranks, define: "rank-set", cell: (r) => (r.rank === null ? "" : ranksCell(r)) },
    { title: heads.model, text: true, cls: "name", cell: name },
    { title: scale, text: true, wide: true, cls: "graph", cell: (r) => intervalGraph(r, limit) },
    { title: heads.mean, define: "unified", cell: (r) => interval(r.estimate, r.low, r.high, places, text.no_mean) },
    { title: heads.difference, wide: true, cell: difference },
    { title: heads.pvalue, wide: true, define: "pvalue", cell: tested },
    ...(candidates.length < 2 ? [] : [{ title: heads.wins, define: "win-share", cell: winCell }]),
  ];
}

const ranksCell = (r) => el("span", { class: r.top ? "sure" : "soft" }, wording.rankRange(r.rank_low, r.rank_high));

// What the marks behind the p-values mean, of those that are there.
function markNotes(rows) {
  const { limited, marks } = page.text.rank_sets;
  const found = Object.keys(marks).filter((why) => rows.some((r) => r.limited_by === why));
  return found.map((why) => el("span", {}, `${marks[why]} ${limited[why]}. `));
}

function winCell(r) {
  const text = page.text.ranking;
  if (r.win_share === null) return missing(r.rank === null ? text.is_baseline : text.no_resampling);
  const bar = el("i", { style: { width: `${100 * r.win_share}%`, background: colour(r.j) } });
  return el("span", { class: "share" }, wording.shareOfDraws(r.win_share, page.facts.draws), bar);
}

function speakRanking(rows, places) {
  const text = page.text.ranking;
  const spoken = rows.map((r) =>
    fillTemplate(text.place, { rank: r.rank, model: r.key, estimate: fixed(r.estimate, places) }),
  );
  fill(byId("spoken"), fillTemplate(text.spoken, { tradeoff: lambdaText(), places: spoken.join(" ") }));
}

// -- the questionnaire -----------------------------------------------------------------------------------------------

function currentAnswer() {
  const chosen = document.querySelector('input[name="abstain"]:checked')?.value;
  if (!chosen) return null;
  const costs = ranking.questions.filter((q) => q.abstention);
  return chosen === "no" ? ranking.questions.find((q) => !q.abstention) : costs[Number(byId("cost").value)];
}

function drawAnswer() {
  const answer = currentAnswer();
  byId("cost-line").hidden = !answer?.abstention;
  byId("use-answer").hidden = !answer;
  if (!answer) return;
  fill(byId("answer"), answer.answer);
  const middle = indexAt(Math.sqrt(answer.low * answer.high));
  const set = fillTemplate(page.text.ranking.set, { tradeoff: wording.tradeoff(ranking.grid[middle]) });
  byId("use-answer").textContent = set;
  byId("use-answer").onclick = () => setIndex(middle);
  drawStrip();
}

function startRanking() {
  slider(byId("lambda"));
  const costs = ranking.questions.filter((q) => q.abstention);
  fill(byId("cost"), costs.map((q, i) => el("option", { value: i, selected: q.cost === 0.1 }, q.label)));
  byId("questions").addEventListener("change", drawAnswer);
  byId("questions").addEventListener("submit", (event) => event.preventDefault());
  const changes = () => changesOfWinner().map(indexAt);
  byId("previous-change").addEventListener("click", () => setIndex(Math.max(...changes().filter((i) => i < state.index))));
  byId("next-change").addEventListener("click", () => setIndex(Math.min(...changes().filter((i) => i > state.index))));
  if (!changesOfWinner().length) byId("previous-change").parentElement.hidden = true;
  if (ranking.changes.length) {
    const heads = page.text.ranking.heads;
    const columns = [
      { title: "λ", value: (r) => r.at, cell: (r) => wording.tradeoff(r.at) },
      { title: heads.below, text: true, value: (r) => r.below, cell: (r) => nameText(placeOf(r.below)) },
      { title: heads.above, text: true, value: (r) => r.above, cell: (r) => nameText(placeOf(r.above)) },
    ];
    fill(byId("changes").querySelector(".scroll"), table(columns, ranking.changes.map((c) => ({ ...c }))));
  } else byId("changes").hidden = true;
  fill(byId("beyond"), ranking.beyond);
  listeners.push(() => whenOpen(byId("ranking"), drawRanking));
}
