// Section 4: does it know when it is wrong? The choices of score and share, and what refusing gains.

const shareText = (share) => unbroken(`${wording.general(100 * share, 3)} %`);
const points = (value, places) => fixed(100 * number(value), places);

lenses.mistakes = (section, lens) => {
  if (!lens.views) return; // nothing can be ranked: the finding says why
  const it = mistakesState(lens);
  const drawn = [refusalPiece, rankingPiece, curvePiece, testsPiece, metricsPiece].map((piece) => piece(it)).filter(Boolean);
  it.draw = () => {
    for (const piece of drawn) piece.draw();
  };
  const scores = [[BEST, it.text.best], ...it.offered.map((s) => [s.score, s.label])];
  const score = choice(it.text.by_score, scores, it.chosen.score, (value) => {
    it.chosen.score = value;
    it.draw();
  });
  const share = choice(it.text.refuse, lens.refused.map((r) => [r, shareText(r)]), it.chosen.share, (value) => {
    it.chosen.share = Number(value);
    it.draw();
  });
  section.append(
    el("p", { class: "note" }, it.text.lead),
    el("div", { class: "filter asked" }, score, share),
    ...(lens.cautions.length ? [el("p", { class: "warning" }, lens.cautions.join(" "))] : []),
    ...drawn.map((piece) => piece.node),
  );
  charts.push(() => whenOpen(section, it.draw));
};

const BEST = ""; // in the place of a score's name: each model by its best one

// What is chosen, and what the pieces ask for.
function mistakesState(lens) {
  const key = (...names) => JSON.stringify(names);
  const findings = page.assay.findings.filter((f) => f.run === "all" && f.score);
  const estimates = new Map(findings.map((f) => [key(f.model, f.score, f.metric), f]));
  const scores = new Map(lens.scores.map((s) => [s.score, s]));
  const offered = lens.scores.filter((s) => s.offered);
  const models = lens.models.map((m) => ({ ...m, j: placeOf(m.model) }));
  const it = {
    lens,
    models,
    offered,
    text: lens.text,
    chosen: { ...lens.first, layout: "short", metric: lens.compared[0], over: null },
    label: (score) => scores.get(score).label,
    explain: (score) => (scores.get(score).known ? what(score) : null),
    estimate: (m, score, metric) => estimates.get(key(m.model, score, metric)) ?? null,
    scoreOf: (m) => m.scores.find((s) => s.score === (it.chosen.score || m.best)) ?? null,
    judged: () => models.filter((m) => it.scoreOf(m)),
    view: () => lens.views.find((v) => v.score === it.chosen.score),
    modelColumn: () => ({
      title: it.text.heads.model,
      text: true,
      cls: "name",
      value: (r) => r.key,
      cell: (r) => nameCell(r.m.j, it.chosen.score ? null : el("span", { class: "i" }, it.label(r.score))),
    }),
  };
  return it;
}

// -- refusing --------------------------------------------------------------------------------------------------------

function refusalPiece(it) {
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": it.text.refusal_table });
  const note = el("p", { class: "note" });
  const draw = () => {
    const k = it.lens.refused.indexOf(it.chosen.share);
    const rows = it.judged().filter((m) => !m.unmixed).map((m) => refusalRow(it, m, k));
    const places = percentPlaces(rows.flatMap((r) => [r.kept, r.gain].map((e) => e.slice(1))));
    tellFinding("lens-mistakes", [it.view().refusal[k], it.text.epistemic].filter(Boolean).join(" "));
    const caption = [it.text.alone, it.text.votes].filter(Boolean).join(" ");
    if (rows.length > 1) fillModelTable(holder, refusalColumns(it, rows, places), rows, { caption });
    else fill(holder);
    fill(note, [it.view().absent, it.view().refusal_notes[k]].filter(Boolean).join(" "));
    node.hidden = rows.length < 2 && !note.textContent; // then the finding says it all
  };
  const node = el("div", { id: "mistakes-refusal" }, el("h3", {}, it.text.refusal_title), holder, note);
  return { node, draw };
}

function refusalRow(it, m, k) {
  const { score, refusals } = it.scoreOf(m);
  const row = { m, key: m.model, score, all: finding(m.model, "accuracy") };
  return { ...row, kept: refusals[k].slice(0, 3), gain: refusals[k].slice(3, 6) };
}

function refusalColumns(it, rows, places) {
  const gain = (e) => {
    const node = interval(...e.map((v) => 100 * number(v)), places);
    if (number(e[0]) > 0) node.prepend("+");
    return node;
  };
  const kept = fillTemplate(it.text.kept, { share: shareText(1 - it.chosen.share) });
  const ends = (e) => [e.estimate, e.low, e.high];
  const columns = [
    it.modelColumn(),
    { title: it.text.heads.all, define: "accuracy", value: (r) => r.all.estimate, cell: (r) => shareCell(ends(r.all), places) },
    { title: kept, define: "accuracy-at-coverage", value: (r) => r.kept[0], cell: (r) => shareCell(r.kept, places) },
    { title: it.text.heads.gain, value: (r) => r.gain[0], cell: (r) => gain(r.gain) },
  ];
  if (rows.some((r) => refusalOutcome(r) !== "gain")) {
    const said = (r) => el("span", { class: "i" }, it.text.outcomes[refusalOutcome(r)]);
    columns.push({ title: it.text.heads.outcome, text: true, cell: said });
  }
  return columns;
}

function refusalOutcome(r) {
  const [low, high] = [number(r.gain[1]), number(r.gain[2])];
  if (!Number.isFinite(low) || !Number.isFinite(high)) return "unknown";
  if (low > 0) return "gain";
  return high < 0 ? "loss" : "none";
}
