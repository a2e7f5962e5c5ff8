// Section 2: λ, its questionnaire, the strip of winners, the live ranking.

const ranking = page.ranking;
const lambda = () => ranking.grid[state.index];
const top_ = ranking.grid[ranking.grid.length - 1];
const listeners = [];

function setIndex(index) {
  state.index = Math.min(ranking.grid.length - 1, Math.max(0, index));
  for (const slider of document.querySelectorAll(".sets-lambda")) {
    slider.value = state.index;
    slider.setAttribute("aria-valuetext", `λ = ${lambdaText(lambda())}`);
  }
  for (const node of document.querySelectorAll("[data-lambda]")) node.textContent = lambdaText(lambda());
  byId("lambda-value").textContent = lambdaText(lambda());
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

const nothingToResample = () => `${page.facts.groups ? "1 group" : "1 instance"}: nothing to resample`;

// Winners that lie beyond the largest λ of the slider.
function drawBeyond() {
  const beyond = ranking.winners.filter((w) => number(w.low) > top_).map((w) => `from λ = ${lambdaText(number(w.low))} on ${listed(w.models)}`);
  const words = beyond.length ? [`Beyond the end of the slider the winner changes again: ${beyond.join("; ")}.`] : [];
  if (page.facts.resampled === 1) words.push(`Shares of resamples are undefined (${nothingToResample()}).`);
  fill(byId("beyond"), words.join(" "));
}

const changesOfWinner = () => ranking.winners.map((w) => number(w.low)).filter((x) => x > 0 && x <= top_);

function drawStrip() {
  const strip = byId("strip");
  const across = (x) => `${(100 * x) / top_}%`;
  const bands = [];
  let floor = ranking.grid.map(() => 0);
  for (const m of candidates) {
    const wins = ranking.models[m.j].win_probability;
    const ceiling = floor.map((y, i) => y + wins[i]);
    const up = ranking.grid.map((x, i) => `${x},${1 - ceiling[i]}`);
    const down = ranking.grid.map((x, i) => `${x},${1 - floor[i]}`).reverse();
    bands.push(el("polygon", { points: [...up, ...down].join(" "), fill: colour(m.j), "fill-opacity": 0.8 }));
    floor = ceiling;
  }
  const area = el("svg", { viewBox: `0 0 ${top_} 1`, preserveAspectRatio: "none", role: "img", "aria-label": "Share of resamples that each model wins, against λ" }, bands);
  const winners = ranking.winners.filter((w) => number(w.low) < top_).map((w) => {
    const j = page.models.findIndex((m) => m.name === w.models[0]);
    const [low, high] = [number(w.low), Math.min(number(w.high), top_)];
    const name = listed(w.models);
    return el("span", {
      title: `${name}: λ from ${lambdaText(low)} to ${lambdaText(number(w.high))}`,
      style: { left: across(low), width: across(high - low), background: colour(j), color: onColour(toHex(colour(j))) },
    }, name);
  });
  const changes = changesOfWinner();
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10].find((s) => top_ / s <= (innerWidth < 620 ? 4 : 8)) ?? top_ / 4;
  const round = Array.from({ length: Math.floor(top_ / step + 1e-9) + 1 }, (_, i) => i * step);
  const kept = [];
  for (const x of changes) if (kept.every((y) => Math.abs(x - y) > 0.05 * top_)) kept.push(x);
  const gap = (innerWidth < 620 ? 0.09 : 0.05) * top_;
  const ticks = [
    ...round.filter((x) => kept.every((y) => Math.abs(x - y) > gap)).map((x) => el("span", { class: "tick", style: { left: across(x) } }, String(Number(x.toPrecision(3))))),
    ...kept.map((x) => el("span", { class: "tick change", style: { left: across(x) } }, lambdaText(x))),
  ];
  const answer = currentAnswer();
  const range = answer && number(answer.low) < top_
    ? el("div", { class: "range", style: { left: across(answer.low), width: across(Math.min(answer.high, top_) - answer.low) } }) : null;
  fill(strip, area, el("div", { class: "band" }, winners), ticks, range, el("div", { class: "cursor", style: { left: across(lambda()) } }));
}

function toHex(c) {
  return c.startsWith("#") && c.length === 7 ? c : "#888888";
}

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
    parts.push(el("text", { x: "100%", y: 15, "text-anchor": "end", fill: c, "font-size": 12 }, "▸"));
  } else {
    if (Number.isFinite(low) && Number.isFinite(high)) parts.push(el("line", { x1: x(low), x2: x(high), y1: 11, y2: 11, stroke: c, "stroke-width": 5, "stroke-opacity": 0.45 }));
    parts.push(el("circle", { cx: x(row.estimate), cy: 11, r: 4, fill: c }));
  }
  return el("svg", { "aria-hidden": "true" }, parts);
}

function rankedRows() {
  let rank = 0;
  return ranking.order[state.index].map((j) => {
    const source = ranking.models[j];
    const row = { j, key: page.models[j].name, ...Object.fromEntries(Object.entries(source).map(([key, values]) => [key, values[state.index]])) };
    row.rank = page.models[j].baseline ? null : ++rank;
    return row;
  });
}

function drawRanking() {
  const rows = rankedRows();
  const own = rows.filter((r) => r.rank !== null);
  const e = decimalsFor(rows.map((r) => [r.low, r.high]));
  const diff = decimalsFor(own.map((r) => [r.difference_low, r.difference_high]));
  const limit = niceCeil(Math.max(...own.map((r) => Math.max(number(r.estimate), number(r.high) || 0)).filter(Number.isFinite)));
  const columns = [
    { title: "", cell: (r) => r.rank ?? "" },
    { title: "Model", text: true, cls: "name", cell: (r) => el("span", {}, nameCell(r.j),
      page.models[r.j].baseline ? what(r.key) : null,
      r.below.length ? el("span", { class: "flag" }, `⚠ ${listed(r.below)} ${r.below.length > 1 ? "do" : "does"} better`) : null) },
    { title: `E from 0 to ${Number(limit.toPrecision(3))}`, text: true, wide: true, cls: "graph", cell: (r) => intervalGraph(r, limit) },
    { title: "Mean E", define: "unified", cell: (r) => interval(r.estimate, r.low, r.high, e, "no finite mean") },
    { title: "Difference to best", wide: true, cell: (r) => r.rank === 1 ? el("span", { title: "the best model itself" }, "–") : interval(r.difference, r.difference_low, r.difference_high, diff) },
    { title: "p (Holm)", wide: true, define: "pvalue", cell: (r) => el("span", { title: Number.isNaN(number(r.pvalue_holm)) ? (r.rank === 1 ? "the best model itself" : r.rank === null ? "baselines are not candidates" : "no test with so few instances") : null }, pvalue(r.pvalue_holm)) },
    ...(candidates.length < 2 ? [] : [{ title: "Wins", define: "win-probability", cell: (r) => r.win_probability === null ? el("span", { title: r.rank === null ? "baselines are not candidates" : nothingToResample() }, "–")
      : el("span", { class: "share" }, percent(r.win_probability), el("i", { style: { width: `${100 * r.win_probability}%`, background: colour(r.j) } })) }]),
  ];
  fill(byId("ranking"), table(columns, rows, { sortable: false, rowClass: (r) => (r.rank === null ? "baseline" : r.rank === 1 ? "best" : null) }));
  const cursor = document.querySelector("#strip .cursor");
  if (cursor) cursor.style.left = `${(100 * lambda()) / top_}%`;
  const next = ranking.changes.find((c) => c.at > lambda());
  fill(byId("next-sentence"), candidates.length < 2 ? "" : next
    ? `The order changes next at λ = ${lambdaText(next.at)}, where ${next.above} passes ${next.below}.` : "The order stays like this for every larger λ.");
  byId("previous-change").disabled = !changesOfWinner().some((x) => indexAt(x) < state.index);
  byId("next-change").disabled = !changesOfWinner().some((x) => indexAt(x) > state.index);
  clearTimeout(drawRanking.timer);
  drawRanking.timer = setTimeout(() => {
    fill(byId("spoken"), `At λ = ${lambdaText(lambda())}: ${own.slice(0, 5).map((r) => `${r.rank}. ${r.key}, ${fixed(r.estimate, e)}`).join("; ")}`);
  }, 400);
}

function currentAnswer() {
  const choice = document.querySelector('input[name="abstain"]:checked')?.value;
  if (!choice) return null;
  const costs = ranking.questions.filter((q) => q.abstention);
  return choice === "no" ? ranking.questions.find((q) => !q.abstention) : costs[Number(byId("cost").value)];
}

function drawAnswer() {
  const answer = currentAnswer();
  byId("cost-line").hidden = !answer?.abstention;
  byId("use-answer").hidden = !answer;
  if (!answer) return;
  const inside = ranking.winners.filter((w) => number(w.low) < answer.high && number(w.high) > answer.low);
  const winners = inside.length === 1 ? `${listed(inside[0].models)} has the lowest mean E throughout.`
    : `The winner changes inside: ${inside.map((w) => listed(w.models)).join(", then ")}.`;
  fill(byId("answer"), `λ from ${lambdaText(answer.low)} to ${lambdaText(answer.high)}. ${answer.reason} ${winners}`);
  const middle = Math.sqrt(answer.low * answer.high);
  byId("use-answer").textContent = `Set λ = ${lambdaText(ranking.grid[indexAt(middle)])}`;
  byId("use-answer").onclick = () => setIndex(indexAt(middle));
  drawStrip();
}

function startRanking() {
  slider(byId("lambda"));
  const words = { 0.01: "a hundredth", 0.02: "a fiftieth", 0.05: "a twentieth", 0.1: "a tenth", 0.2: "a fifth", 0.5: "half as much", 1: "as much" };
  fill(byId("cost"), ranking.questions.filter((q) => q.abstention).map((q, i) => {
    const word = words[q.cost] ?? (Math.abs(q.cost - 1 / 3) < 1e-9 ? "a third" : String(q.cost));
    return el("option", { value: i, selected: q.cost === 0.1 }, q.cost < 0.5 ? `${word} as much` : word);
  }));
  byId("questions").addEventListener("change", drawAnswer);
  byId("questions").addEventListener("submit", (event) => event.preventDefault());
  byId("previous-change").addEventListener("click", () => setIndex(indexAt(Math.max(...changesOfWinner().filter((x) => indexAt(x) < state.index)))));
  byId("next-change").addEventListener("click", () => setIndex(indexAt(Math.min(...changesOfWinner().filter((x) => indexAt(x) > state.index)))));
  if (!changesOfWinner().length) byId("previous-change").parentElement.hidden = true;
  if (ranking.changes.length) {
    const rows = ranking.changes.map((c) => ({ ...c }));
    fill(byId("changes").querySelector(".scroll"), table([
      { title: "λ", value: (r) => r.at, cell: (r) => lambdaText(r.at) },
      { title: "below it ahead", text: true, value: (r) => r.below, cell: (r) => el("bdi", {}, r.below) },
      { title: "above it ahead", text: true, value: (r) => r.above, cell: (r) => el("bdi", {}, r.above) },
    ], rows));
  } else byId("changes").hidden = true;
  drawBeyond();
  listeners.push(drawRanking);
}
