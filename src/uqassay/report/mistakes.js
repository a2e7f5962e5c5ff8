// Section 4: does it know when it is wrong? What refusing gains, how well each score ranks the mistakes, and every metric.

const shareText = (share) => `${Number((100 * share).toPrecision(3))}\u00a0%`;
const FLATTERED = "The best score of a model has the highest UQ-AUC on these instances; it is judged on the same ones, which flatters it a little.";
const points = (value, places) => fixed(100 * number(value), places);

// Decimals of percentages that show one digit of the typical half-width of their intervals, at least one.
function percentPlaces(intervals) {
  const widths = intervals.map(([low, high]) => 50 * (number(high) - number(low))).filter((w) => w > 0).sort((a, b) => a - b);
  return widths.length ? Math.min(3, Math.max(1, -Math.floor(Math.log10(widths[widths.length >> 1])))) : 1;
}

lenses.mistakes = (section, lens) => {
  if (lens.nothing) {
    section.append(el("p", { class: "note" }, lens.nothing));
    return;
  }
  const models = lens.models.map((m) => ({ ...m, j: page.models.findIndex((p) => p.name === m.model) }));
  const mixed = models.filter((m) => !m.unmixed); // right and wrong predictions: something to choose between
  const offered = lens.scores.filter((s) => mixed.some((m) => m.scores.some((o) => o.score === s.score)));
  const labels = new Map(lens.scores.map((s) => [s.score, s.label]));
  const known = new Set(lens.scores.filter((s) => s.known).map((s) => s.score));
  const key = (...names) => JSON.stringify(names);
  const estimates = new Map(page.assay.findings.filter((f) => f.run === "all" && f.score).map((f) => [key(f.model, f.score, f.metric), f]));
  const view = { score: offered.some((s) => s.score === "total-entropy") ? "total-entropy" : "", share: lens.refused.find((r) => r >= 0.1), layout: "short", metric: lens.compared[0], over: null };
  const best = models.length > 1 ? "each model's best score" : "its best score";
  const it = {
    lens, models, view, offered, best,
    label: (score) => labels.get(score),
    explain: (score) => (known.has(score) ? what(score) : null),
    estimate: (m, score, metric) => estimates.get(key(m.model, score, metric)) ?? null,
    chosen: (m) => m.scores.find((s) => s.score === (view.score || m.best)) ?? null,
    judged: () => models.filter((m) => it.chosen(m)),
    by: () => (view.score ? labels.get(view.score) : best),
  };
  it.cautions = remarks(mixed, (m) => m.scores.map((s) => it.estimate(m, s.score, "uq-auc"))); // of all scores alike: how many mistakes there are
  const pieces = [refusalPiece, rankingPiece, curvePiece, testsPiece, metricsPiece].map((piece) => piece(it)).filter(Boolean);
  it.draw = () => { for (const piece of pieces) piece.draw(); };
  section.append(...[
    el("p", { class: "note" }, "A model knows when it is wrong if its mistakes are more uncertain than its right predictions. Then fewer are left when the most uncertain predictions are refused, or passed on to a person."),
    el("div", { class: "filter asked" },
      choice("Uncertainty by", [["", best], ...offered.map((s) => [s.score, s.label])], view.score, (value) => { view.score = value; it.draw(); }),
      choice("Refuse", lens.refused.map((r) => [r, shareText(r)]), view.share, (value) => { view.share = Number(value); it.draw(); })),
    it.cautions.length ? el("p", { class: "warning" }, it.cautions.join(" ")) : null,
    ...pieces.map((piece) => piece.node),
  ].filter(Boolean));
  it.draw();
  chart("mistakes-curves", it.draw);
};

function choice(label, options, value, change) {
  const node = el("select", {}, options.map(([option, text]) => el("option", { value: option }, text)));
  node.value = value;
  node.addEventListener("change", () => change(node.value));
  return el("label", {}, label, " ", node);
}

// Texts of an estimate's notes: those of some codes, or all but the numbers of groups and runs, which the page says elsewhere.
const noted = (e, codes) => (e?.notes ?? []).filter(({ code }) => (codes ? codes.includes(code) : !["groups", "runs"].includes(code))).map(({ text }) => text);

// Why an estimate is undefined.
const reasonOf = (e) => noted(e, ["undefined"])[0] ?? (noted(e).join("; ") || "undefined");

// What the notes of some estimates say, each once, with the models it is about; of all but counts, or of these codes.
function remarks(models, estimatesOf, codes) {
  const found = new Map();
  for (const m of models) {
    for (const part of new Set(estimatesOf(m).flatMap((e) => noted(e, codes)))) found.set(part, [...(found.get(part) ?? []), m.model]);
  }
  return [...found].map(([part, names]) => {
    const whose = candidates.length === 1 ? "" : names.length === candidates.length ? " (every model)" : ` (${listed(names)})`;
    return `${part[0].toUpperCase()}${part.slice(1)}${whose}.`;
  });
}

// -- refusing ----------------------------------------------------------------------------------------------------------

function refusalPiece(it) {
  const sentence = el("p", { class: "said" });
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What refusing gains" });
  const note = el("p", { class: "note" });
  const votes = page.facts.distributions ? "share of the votes" : "accuracy";
  const draw = () => {
    const k = it.lens.refused.indexOf(it.view.share);
    const rows = it.judged().filter((m) => !m.unmixed).map((m) => {
      const [kept, keptLow, keptHigh, gain, gainLow, gainHigh, notes] = it.chosen(m).refusals[k];
      return { m, key: m.model, score: it.chosen(m).score, all: finding(m.model, "accuracy"), kept: [kept, keptLow, keptHigh], gain: [gain, gainLow, gainHigh], notes };
    });
    const places = percentPlaces(rows.flatMap((r) => [r.kept, r.gain].map((e) => e.slice(1))));
    const top = rows.reduce((a, b) => (number(b.kept[0]) > number(a.kept[0]) ? b : a));
    const greatest = rows.length > 1 && it.models.every((m) => number(finding(m.model, "accuracy").estimate) <= number(top.kept[0]));
    fill(sentence, refusalSentence(it, top, places, votes), greatest ? ` No other model is left with a higher ${votes}.` : null);
    const percents = (e, sign = "") => {
      const node = interval(100 * number(e[0]), 100 * number(e[1]), 100 * number(e[2]), places);
      if (sign && number(e[0]) > 0) node.prepend(sign);
      return node;
    };
    const columns = [
      { title: "Model", text: true, cls: "name", value: (r) => r.key, cell: (r) => nameCell(r.m.j, it.view.score ? null : el("span", { class: "i" }, it.label(r.score))) },
      { title: "Accuracy of all, %", define: "accuracy", value: (r) => r.all.estimate, cell: (r) => percents([r.all.estimate, r.all.low, r.all.high]) },
      { title: `Of the ${shareText(1 - it.view.share)} kept, %`, define: "accuracy-at-coverage", value: (r) => r.kept[0], cell: (r) => percents(r.kept) },
      { title: "Gain, points", value: (r) => r.gain[0], cell: (r) => percents(r.gain, "+") },
    ];
    const outcomes = { none: "could be chance", loss: "it falls", unknown: "no interval" };
    if (rows.some((r) => refusalOutcome(r) !== "gain")) columns.push({ title: "", text: true, cell: (r) => el("span", { class: "i" }, outcomes[refusalOutcome(r)] ?? "") });
    fill(holder, rows.length > 1 ? table(columns, rows, { caption: `Refused: the ${shareText(it.view.share)} most uncertain by ${it.by()}.${page.facts.distributions ? " Accuracy is the share of the votes for the predicted class." : ""}` }) : null);
    const absent = it.models.filter((m) => m.unmixed || !it.chosen(m));
    fill(note, [
      absent.length ? `Not shown: ${absent.map((m) => `${m.model} (${whyAbsent(it, m)})`).join("; ")}.` : "",
      it.view.score ? "" : FLATTERED,
      ...remarks(it.judged(), (m) => rows.filter((r) => r.m === m), ["edge"]),
    ].filter(Boolean).join(" "));
  };
  return { node: el("div", { id: "mistakes-refusal" }, el("h3", {}, "What refusing the most uncertain gains"), sentence, holder, note), draw };
}

function whyAbsent(it, m) {
  if (m.unmixed) return `it makes ${m.unmixed} on these instances`;
  if (it.view.score) return m.constant.includes(it.view.score) ? "the score is the same in every instance: nothing to choose by" : "it has no such score";
  if (!m.scores.length) return m.constant.length ? "no score of it differs between instances: nothing to choose by" : "it has no score";
  return reasonOf(it.estimate(m, m.scores[0].score, "uq-auc"));
}

function refusalOutcome(r) {
  const [low, high] = [number(r.gain[1]), number(r.gain[2])];
  if (!Number.isFinite(low) || !Number.isFinite(high)) return "unknown";
  return low > 0 ? "gain" : high < 0 ? "loss" : "none";
}

function refusalSentence(it, r, places, votes) {
  const outcome = refusalOutcome(r);
  const name = el("strong", {}, el("bdi", {}, r.m.model));
  const [value, low, high] = r.gain;
  const ends = (a, b, unit) => (Number.isFinite(number(a)) ? ` (${points(a, places)} to ${points(b, places)}${unit})` : "");
  const verb = { gain: "rises", loss: "falls", none: "goes", unknown: number(value) < 0 ? "falls" : "rises" }[outcome];
  const after = {
    gain: `, a gain of ${points(value, places)} points${ends(low, high, "")}.`,
    loss: `: its right predictions are the more uncertain ones. The change is ${points(value, places)} points${ends(low, high, "")}.`,
    none: `. The change of ${points(value, places)} points${ends(low, high, "")} could be chance.`,
    unknown: `; how surely cannot be said (${page.facts.groups ? "1 group" : "1 instance"}: no interval).`,
  }[outcome];
  const [before, later] = [points(r.all.estimate, places), points(r.kept[0], places)];
  return [`Refuse the ${shareText(it.view.share)} most uncertain (by ${it.label(r.score)}) and the ${votes === "accuracy" ? "accuracy" : "accuracy (share of the votes)"} of `, name,
    ` ${before === later ? `stays at ${later}` : `${verb} from ${before}\u00a0% to ${later}`}\u00a0%${ends(r.kept[1], r.kept[2], "\u00a0%")}${after}`];
}

// -- the ranking metrics with their intervals --------------------------------------------------------------------------

function rankingPiece(it) {
  const holder = el("div", { class: "scroll forest", tabindex: "0", role: "region", "aria-label": "How well the mistakes are ranked" });
  const note = el("p", { class: "note" });
  const layouts = [["short", it.models.length > 1 ? "best scores and total entropy" : "best score and total entropy"], ["score", "all, by score"], ["model", "all, by model"]];
  const buttons = layouts.map(([layout, text]) => el("button", { type: "button", on: { click: () => { it.view.layout = layout; draw(); } } }, text));
  const row = (m, score, ...name) => ({ m, name, cells: it.lens.compared.map((metric) => it.estimate(m, score, metric)) });
  const draw = () => {
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(layouts[i][0] === it.view.layout)));
    const sorted = (rows) => rows.sort((a, b) => compare(a.cells[0].estimate, b.cells[0].estimate, -1));
    const byBest = (m) => row(m, m.best, nameCell(m.j, el("span", { class: "i" }, it.label(m.best))));
    const best = { title: [it.best[0].toUpperCase() + it.best.slice(1)], rows: sorted(it.models.filter((m) => m.best !== null).map(byBest)) };
    const byScore = it.offered.map((s) => ({ score: s.score, title: [s.label[0].toUpperCase() + s.label.slice(1), "\u00a0", it.explain(s.score)],
      rows: sorted(it.models.filter((m) => m.scores.some((o) => o.score === s.score)).map((m) => row(m, s.score, nameCell(m.j)))) }));
    const byModel = it.models.map((m) => ({ title: [nameCell(m.j)], rows: sorted(m.scores.map((s) => row(m, s.score, it.label(s.score), "\u00a0", it.explain(s.score)))) }));
    const groups = { short: [best, ...byScore.filter((g) => g.score === "total-entropy")], score: byScore, model: byModel }[it.view.layout];
    holder.classList.toggle("tall", it.view.layout !== "short");
    fill(holder, forest(groups.filter((g) => g.rows.length), it.lens.compared));
    fill(note, [
      `½ (the line there, or beyond the left end at ◂½) is an uncertainty that knows nothing of the mistakes; ${levelText()} intervals, sorted by UQ-AUC.`,
      ...(it.view.layout === "short" ? [FLATTERED] : []),
      ...it.models.filter((m) => m.constant.length).map((m) => `Left out, since the same in every instance: ${listed(m.constant.map(it.label))} of ${m.model}.`),
    ].join(" "));
  };
  return { node: el("div", { id: "mistakes-ranking" }, el("h3", {}, "How well the mistakes are ranked"), el("div", { class: "segmented", role: "group", "aria-label": "Rows" }, buttons), holder, note), draw };
}

// -- curves ------------------------------------------------------------------------------------------------------------

function curvePiece(it) {
  const node = el("div", { class: "chart", id: "mistakes-curves" });
  const caption = el("figcaption");
  const other = (m) => [...byId("filter").querySelectorAll(".model")][candidates.findIndex((c) => c.j === m.j)];
  const buttons = it.models.map((m) => el("button", { type: "button", class: "model", title: m.model, on: { click: () => toggle(candidates.find((c) => c.j === m.j), other(m)) } }, swatch(m.j), el("bdi", {}, m.model)));
  const draw = () => {
    const drawn = it.judged().filter((m) => !state.hidden.has(m.j));
    buttons.forEach((button, i) => {
      button.setAttribute("aria-pressed", String(!state.hidden.has(it.models[i].j)));
      button.querySelector(".swatch").style.background = colour(it.models[i].j);
      button.hidden = !it.chosen(it.models[i]);
    });
    fill(caption, `Of the least uncertain share of the instances, by ${it.by()}, how much is wrong${page.facts.distributions ? " (share of the votes against the predicted class)" : ""}. The ${levelText()} bands are pointwise: they hold at each share on its own, not for a whole curve. The line keeps ${shareText(1 - it.view.share)}. The axis is cut where a few instances make a band wide.`);
    if (!window.Plotly) return;
    if (drawn.length) drawCurves(node, drawn.map((m) => ({ m, curve: it.chosen(m).curve })), it.lens.coverages, 1 - it.view.share);
    else empty(node, "None of the models shown has this score.");
  };
  return { node: el("figure", { id: "mistakes-curve" }, el("h3", {}, "What is still wrong among what is kept"), it.models.length > 1 ? el("p", { class: "legend" }, buttons) : null, node, caption), draw };
}

// -- paired tests ------------------------------------------------------------------------------------------------------

function testsPiece(it) {
  const withMatrix = (over) => it.lens.comparisons.some((c) => (over === null ? "score" in c : c.model === over.model));
  const overs = [null, ...it.models].filter(withMatrix);
  if (!overs.length) return null;
  it.view.over = overs[0];
  const holder = el("div", { class: "scroll matrix" });
  const told = el("p", { class: "told screen" });
  const note = el("p", { class: "note" });
  const draw = () => {
    const { over, metric, score } = it.view;
    const held = it.lens.comparisons.find((c) => c.metric === metric && (over ? c.model === over.model : c.score === score));
    fill(told, held ? "Point at a cell, or move with the arrow keys, for the difference with its interval." : "");
    if (!held) {
      const few = over ? `Fewer than two scores of ${over.model} have this metric` : `Fewer than two models have a ranking by ${it.by()}`;
      fill(holder, el("p", { class: "empty" }, over?.unmixed ? `${few}: it makes ${over.unmixed} on these instances.` : `${few}.`));
      fill(note);
      return;
    }
    const sides = held.rows.map((name) => {
      const m = over ?? it.models.find((o) => o.model === name);
      const own = over ? name : it.chosen(m).score;
      return { name: over ? it.label(name) : name, j: over ? null : m.j, by: over || score ? null : it.label(own) };
    });
    const all = over ? over.scores.map((s) => [it.label(s.score), over, s.score]) : it.judged().map((m) => [m.model, m, it.chosen(m).score]);
    const absent = all.filter(([, m, own]) => !held.rows.includes(over ? own : m.model));
    const title = page.definitions[metric].title;
    fill(holder, matrix(held, sides, title, told));
    const pairs = held.rows.length * (held.rows.length - 1) / 2;
    fill(note, `${title} on the diagonal; elsewhere the row minus the column, + where the row ranks better, with the p-value of the paired test${pairs > 1 ? `, adjusted by Holm for the ${pairs} pairs of this matrix (not for other matrices that can be chosen here); the intervals are for each pair on its own, not adjusted for the number of pairs` : ""}. Bold and tinted where p ≤ ${Number((1 - page.facts.level).toPrecision(3))}.${over || score ? "" : " Best scores were chosen on the same instances, so these p-values are somewhat too small."}${absent.length ? ` Not compared: ${absent.map(([name, m, own]) => `${name} (${reasonOf(it.estimate(m, own, metric))})`).join("; ")}.` : ""}`);
  };
  const compared = choice("Compare", overs.map((m, i) => [i, m === null ? "the models" : `the scores of ${m.model}`]), 0, (value) => { it.view.over = overs[Number(value)]; draw(); });
  const metric = choice("by", it.lens.compared.map((name) => [name, page.definitions[name].title]), it.view.metric, (value) => { it.view.metric = value; draw(); });
  return { node: el("div", { id: "mistakes-tests" }, el("h3", {}, "Could the differences be chance?"), el("p", { class: "choices" }, compared, " ", metric), holder, told, note), draw };
}

// -- every metric ------------------------------------------------------------------------------------------------------

function metricsPiece(it) {
  const metrics = [["uq-auc", "↑"], ["uq-c-index", "↑"], ["aurc", "↓"], ["e-aurc", "↓"], ["augrc", "↓"], ["prediction-rejection", "↑"]];
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All ranking metrics" });
  const note = el("p", { class: "note" });
  const draw = () => {
    const rows = it.judged().map((m) => ({ m, key: m.model, score: it.chosen(m).score }));
    const get = (r, metric) => it.estimate(r.m, r.score, metric);
    const columns = [
      { title: "Model", text: true, cls: "name", value: (r) => r.key, cell: (r) => nameCell(r.m.j, it.view.score ? null : el("span", { class: "i" }, it.label(r.score))) },
      ...metrics.map(([metric, better]) => {
        const places = decimalsFor(rows.map((r) => [get(r, metric).low, get(r, metric).high]));
        return { title: `${page.definitions[metric].title} ${better}`, define: metric, value: (r) => get(r, metric).estimate, cell: (r) => {
          const e = get(r, metric);
          return interval(e.estimate, e.low, e.high, places, noteText(e.notes) || "not defined");
        } };
      }),
    ];
    fill(holder, table(columns, rows, { caption: `By ${it.by()}; ↑ higher is better, ↓ lower is better.` }));
    fill(note, remarks(it.judged().filter((m) => !m.unmixed), (m) => metrics.map(([metric]) => it.estimate(m, it.chosen(m).score, metric))).filter((remark) => !it.cautions.includes(remark)).join(" "));
  };
  return { node: el("div", { id: "mistakes-metrics" }, el("h3", {}, "All ranking metrics"), holder, note), draw };
}
