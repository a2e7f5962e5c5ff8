// Section 4: can it be calibrated? Tests of the mixtures of an ensemble's members, and how far off the confidence is.

const OUTCOMES = { rejected: ["✗", "no mixture is"], doubtful: ["?", "doubtful"], passes: ["✓", "passes"], undefined: ["–", "undefined"] };
const NULLS = {
  single: "labels are drawn from its own probabilities",
  minimised: "labels are drawn from a mixture that is likely, and the best mixture for them is sought again",
  random: "labels are drawn from mixtures chosen at random and judged by these, as in the paper; this rejects less often than it may",
  "berger-boos": "labels are drawn from several mixtures that could be the true one, and the p-value is the largest of theirs; this rejects a little less often than it may",
};
const MANY_TESTS = 8; // sentences; more stand in a box of their own
const chance = (p) => `p ${/^</.test(pvalue(p)) ? "" : "= "}${pvalue(p)}`;

lenses.calibration = (section, lens) => {
  if (lens.tests) {
    Object.assign(page.definitions, lens.tests.definitions);
    const t = { ...lens.tests, rows: lens.tests.rows.map((r, i) => ({ ...r, i, j: page.models.findIndex((m) => m.name === r.model) })) };
    const runs = new Map(t.rows.map((r) => [r.model, new Set(t.rows.filter((o) => o.model === r.model).map((o) => o.run)).size]));
    t.runOf = (r) => (runs.get(r.model) > 1 ? `run ${r.run + 1}` : "");
    t.label = (measure) => t.measures.find((m) => m.measure === measure).label;
    section.append(...testPieces(t));
    startClosely(t);
    section.append(el("h3", {}, "How far off is the confidence of each model?"));
  }
  reliabilityPiece(section, lens.models);
};

// -- every test in words and in a table --------------------------------------------------------------------------------

function testPieces(t) {
  const models = [...new Set(t.rows.map((r) => r.model))];
  const words = el("dl", { class: "tests" }, models.flatMap((model) => {
    const mine = t.rows.filter((r) => r.model === model);
    return [el("dt", {}, nameCell(mine[0].j)), ...mine.map((r) => el("dd", { class: r.outcome },
      el("span", { class: "outcome", "aria-hidden": "true" }, OUTCOMES[r.outcome][0]), t.runOf(r) ? `${t.runOf(r)}: ` : null, r.words))];
  }));
  const box = t.rows.length > MANY_TESTS ? el("div", { class: "scroll short", tabindex: "0", role: "region", "aria-label": "All tests in words" }, words) : words;
  const tested = [...new Set(t.rows.filter((r) => r.tested !== "nothing").map((r) => `${r.n_tested === r.n_instances ? `${r.n_tested > 1 ? "all " : ""}${count(r.n_instances, "instance")}` : `${r.n_tested.toLocaleString("en")} of the ${count(r.n_instances, "instance")}`}`))];
  const adjusted = t.n_tests > 1 ? ` p-values are adjusted by Holm for the ${t.n_tests} tests.` : "";
  const only = t.rows.length === 1 ? t.rows[0] : null;
  return [
    only ? el("p", { class: "said" }, nameCell(only.j), ": ", only.words) : el("p", { class: "said" }, t.lead),
    only ? null : box,
    t.cautions.length ? el("p", { class: "warning" }, t.cautions.join(" ")) : null,
    el("p", { class: "note" }, "A mixture weighs the members’ predictions. If some mixture is calibrated, its probabilities can be taken at their word; if none is, the truth lies outside the set that the members span.\u00a0", what("calibration-pvalue"),
      ` Tested on ${listed(tested)}.${adjusted} Passing is no proof of calibration: with few instances, or by a measure that looks elsewhere, much goes unnoticed.`),
    testsTable(t),
  ].filter(Boolean);
}

function testsTable(t) {
  const digits = new Map(t.measures.map(({ measure }) => [measure, placesOf(t.rows.filter((r) => r.measure === measure).flatMap((r) => [r.statistic, r.mean[0]]))]));
  const width = placesOf(t.rows.map((r) => r.width));
  const adjusted = t.n_tests > 1;
  const range = (values, text) => {
    const known = values.map(number).filter((v) => !Number.isNaN(v));
    if (!known.length) return "–";
    const [low, high] = [Math.min(...known), Math.max(...known)].map(text);
    return low === high ? low : `${low} to ${high}`;
  };
  const cell = (value, below) => el("td", {}, value, below === null ? null : el("span", { class: "i" }, below));
  const said = (r) => (r.tested === "nothing" ? "not tested" : r.outcome === "rejected" && r.n_members < 2 ? "not calibrated" : OUTCOMES[r.outcome][1]);
  const row = (r) => {
    const places = digits.get(r.measure);
    const alone = r.n_members < 2;
    return el("tr", { "data-key": r.model }, el("th", { scope: "row", class: "text name" }, nameCell(r.j, t.runOf(r) ? el("span", { class: "i" }, t.runOf(r)) : null)),
      el("td", { class: "text" }, el("button", { type: "button", class: "row", "aria-label": `${said(r)}: look at ${r.model}, ${t.label(r.measure)}`, on: { click: () => { t.choose(r); byId("calibration-closely").scrollIntoView(); } } }, `${OUTCOMES[r.outcome][0]} ${said(r)}`)),
      cell(el("span", { class: r.outcome === "rejected" ? "sure" : null, title: noteText(r.notes) || null }, pvalue(adjusted ? r.holm : r.pvalue)), adjusted && r.outcome !== "undefined" ? `${pvalue(r.pvalue)} alone` : null),
      cell(fixed(r.statistic, places), null),
      cell(alone ? el("span", { title: "the mean is all that was tested" }, "–") : fixed(r.mean[0], places), alone || Number.isNaN(number(r.mean[1])) ? null : `p ${pvalue(r.mean[1])}`),
      cell(!r.members.length ? el("span", { title: "no members" }, "–") : range(r.members, (v) => fixed(v, places)), !r.member_pvalues.some((p) => !Number.isNaN(number(p))) ? null : `p ${range(r.member_pvalues, pvalue)}`),
      cell(Number.isNaN(number(r.width)) ? "–" : fixed(r.width, width), null));
  };
  const heads = [["Model", null, "text"], ["Outcome", null, "text"], [adjusted ? "p (Holm)" : "p", null], ["Minimum found", "calibration-minimum"], ["Model’s mean", null], ["Single members", null], ["Width of the set", "calibration-width"]];
  const groups = t.measures.map(({ measure, adjective, label }) => el("tbody", {},
    el("tr", { class: "group" }, el("th", { scope: "rowgroup", class: "text", colspan: heads.length }, el("span", { class: "held" }, `${label[0].toUpperCase()}${label.slice(1)}`, "\u00a0", what(measure), el("span", { class: "soft" }, ` – is the model, or some mixture of its members, ${adjective}?`)))),
    t.rows.filter((r) => r.measure === measure).map(row)));
  return el("div", { class: `scroll grouped ${t.rows.length > 16 ? "tall" : ""}`.trim(), id: "calibration-table", tabindex: "0", role: "region", "aria-label": "Tests of calibration" },
    el("table", {}, el("caption", {}, el("span", {}, "p-values of the model’s mean and of single members are of tests of their own, not adjusted; the outcome leads to the picture of a test.")),
      el("thead", {}, el("tr", {}, heads.map(([title, define, cls]) => el("th", { scope: "col", class: cls ?? null }, title, define ? "\u00a0" : null, define ? what(define) : null)))), groups));
}

// Decimals that show two digits of the typical value, at most five.
function placesOf(values, more = 0) {
  const sizes = values.map((v) => Math.abs(number(v))).filter((v) => v > 0 && Number.isFinite(v)).sort((a, b) => a - b);
  return sizes.length ? Math.min(5, Math.max(0, 1 + more - Math.floor(Math.log10(sizes[sizes.length >> 1])))) : 3;
}

// -- one test, closely -------------------------------------------------------------------------------------------------

function testPieceFigures() {
  const figure = (id, title) => el("figure", {}, el("h4", { id: `${id}-h` }, title), el("div", { class: "chart", id }), el("figcaption", { id: `${id}-note` }));
  return el("div", { class: "figures" }, figure("calibration-null", "Could chance explain the best mixture's miscalibration?"), figure("calibration-weights", "Weights λ of the best mixture"),
    figure("calibration-before", "Before: the model’s mean"), figure("calibration-after", "After: the best mixture"));
}

function startClosely(t) {
  const first = t.rows.find((r) => r.outcome === "rejected") ?? t.rows.find((r) => r.outcome !== "undefined") ?? t.rows[0];
  const view = { row: first };
  const sides = [...new Set(t.rows.map((r) => JSON.stringify([r.model, r.run])))].map((side) => t.rows.find((r) => JSON.stringify([r.model, r.run]) === side));
  const same = (a, b) => a.model === b.model && a.run === b.run;
  const of = (r, measure) => t.rows.find((o) => same(o, r) && o.measure === measure);
  const holder = byId("lens-calibration");
  const model = choice("Model", sides.map((r, i) => [i, t.runOf(r) ? `${r.model}, ${t.runOf(r)}` : r.model]), sides.findIndex((r) => same(r, first)), (value) => {
    const r = sides[Number(value)];
    t.choose(of(r, view.row.measure) ?? r);
  });
  const measure = choice("Measure", t.measures.map((m) => [m.measure, m.label]), first.measure, (value) => { t.choose(of(view.row, value) ?? t.rows.find((r) => r.measure === value)); });
  const said = el("p", { class: "said", id: "calibration-said", "aria-live": "polite" });
  holder.append(el("h3", { id: "calibration-closely" }, t.rows.length > 1 ? "One test, closely" : "The test, closely"),
    ...(t.rows.length > 1 ? [el("p", { class: "choices" }, sides.length > 1 ? model : null, " ", t.measures.length > 1 ? measure : null), said] : []), testPieceFigures());
  const runs = [];
  const part = (id, draw) => chart(id, (node) => { if (window.Plotly) draw(node, view.row, t); });
  const words = () => {
    const r = view.row;
    model.querySelector("select").value = String(sides.findIndex((o) => same(o, r)));
    measure.querySelector("select").value = r.measure;
    fill(said, nameCell(r.j), t.runOf(r) ? `, ${t.runOf(r)}` : null, ": ", r.words);
    closelyWords(r, t);
  };
  const before = charts.length;
  part("calibration-null", drawNull);
  part("calibration-weights", drawWeights);
  part("calibration-before", (node, r) => drawOneReliability(node, r, "before"));
  part("calibration-after", (node, r) => drawOneReliability(node, r, "after"));
  runs.push(...charts.slice(before));
  t.choose = (r) => {
    view.row = r;
    words();
    for (const run of runs) run();
  };
  words();
}

function closelyWords(r, t) {
  const note = (id, ...text) => fill(byId(`calibration-${id}-note`), text.filter(Boolean).join(" "));
  const places = placesOf([r.statistic, r.mean[0]], 1);
  const [mixed, label, adjusted] = [r.n_members > 1, t.label(r.measure), t.n_tests > 1 ? `, ${pvalue(r.holm)} among the ${t.n_tests} tests` : ""];
  const drawn = r.null.counts.length > 0 && Number.isFinite(number(r.statistic));
  const [found, reach, draws] = [mixed ? "minimum found" : "value found", r.null.reach.toLocaleString("en"), r.n_null.toLocaleString("en")];
  const counted = r.n_draws > r.n_null ? `with ${(r.n_draws - r.n_null).toLocaleString("en")} further draws valued at the mixture they come from, which can only raise it, p = ${pvalue(r.pvalue)}`
    : r.kind === "berger-boos" ? `p = ${pvalue(r.pvalue)}` : `so p = (1 + ${reach}) / (1 + ${draws}) = ${pvalue(r.pvalue)}`;
  note("null", r.outcome === "undefined" ? "" : r.n_null ? `The ${label} that chance gives ${mixed ? "where a mixture is calibrated" : "a calibrated model"}: ${NULLS[r.kind] ?? r.kind}. ${reach} of ${draws} draws reach${r.null.reach === 1 ? "es" : ""} the ${found}${drawn ? " (coloured)" : ""}; ${counted}${adjusted}.` : "",
    r.null.infinite ? `${count(r.null.infinite, "draw")} infinite, not drawn.` : "",
    r.members.length && drawn ? "Ticks below, or ▸ beyond the axis: single members; they and the model’s mean are judged by draws of their own." : "");
  note("weights", mixed && r.weights.length ? `The mixture whose ${label} is least: ${fixed(r.statistic, places)}, against ${fixed(r.mean[0], places)} of the model’s mean. ${r.n_members > 8 ? `${effective(r.weights)} of the ${r.n_members} ${r.noun} carry 95\u00a0% of the weight. ` : ""}Dashed: 1/M, the same weight for all. ${Number.isFinite(number(r.statistic)) ? "Other weights can be almost as good." : "All mixtures are infinitely far off, so these weights mean nothing."}` : "");
  const accuracy = (value) => (Number.isNaN(number(value)) ? "" : `Accuracy ${fixed(value)}`);
  const gap = (bins) => (bins ? `, mean gap ${fixed(binGap(bins))}.` : "");
  note("before", r.before ? `${accuracy(r.accuracy[0])}${gap(r.before)} Bars: ${levelText()} intervals; open markers: fewer than ${FEW} instances; below, how many instances there are.` : "");
  note("after", r.after ? `${accuracy(r.accuracy[1])}${gap(r.after)} The weights were fitted to these instances, which flatters them${r.notion === "confidence" ? "" : "; they were chosen by the measure above, not by this diagram"}.` : "");
  byId("calibration-null-h").textContent = mixed ? "Could chance explain the best mixture’s miscalibration?" : "Could chance explain its miscalibration?";
  byId("calibration-before-h").textContent = mixed ? "Before: the model’s mean" : "Reliability of its confidence";
  for (const id of ["weights", "after"]) byId(`calibration-${id}`).closest("figure").hidden = !mixed;
}

// Fewest members that carry 95 % of the weight.
function effective(weights) {
  const sorted = [...weights].sort((a, b) => b - a);
  let [sum, k] = [0, 0];
  while (k < sorted.length && sum < 0.95) { sum += sorted[k]; k += 1; }
  return k;
}

const binGap = (bins) => {
  const n = bins.count.reduce((a, b) => a + b, 0);
  return bins.count.reduce((sum, c, b) => sum + c * Math.abs(bins.accuracy[b] - bins.confidence[b]), 0) / n;
};

// -- the confidence of every model -------------------------------------------------------------------------------------

function reliabilityPiece(section, models) {
  const rows = models.map((bins) => {
    const n = bins.count.reduce((a, b) => a + b, 0);
    const mean = (key) => bins[key].reduce((sum, v, i) => sum + v * bins.count[i], 0) / n;
    return { key: bins.model, j: page.models.findIndex((m) => m.name === bins.model), confidence: mean("confidence"), accuracy: finding(bins.model, "accuracy"), ece: finding(bins.model, "ece"), classwise: finding(bins.model, "ece-classwise") };
  });
  const places = decimalsFor(rows.map((r) => [r.accuracy.low, r.accuracy.high]));
  const gap = (r) => r.confidence - number(r.accuracy.estimate);
  const judged = (r) => {
    const half = (number(r.accuracy.high) - number(r.accuracy.low)) / 2;
    return !(half > 0) ? "no interval to judge by" : Math.abs(gap(r)) <= half ? "within the interval" : gap(r) > 0 ? "too confident" : "too timid";
  };
  const columns = [
    { title: "Model", text: true, cls: "name", value: (r) => r.key, cell: (r) => nameCell(r.j) },
    { title: "Accuracy", define: "accuracy", value: (r) => r.accuracy.estimate, cell: (r) => interval(r.accuracy.estimate, r.accuracy.low, r.accuracy.high, places) },
    { title: "Mean confidence", define: "confidence", value: (r) => r.confidence, cell: (r) => fixed(r.confidence, places) },
    { title: "Gap", value: gap, cell: (r) => el("span", {}, fixed(gap(r), places).replace(/^(?=\d)/, gap(r) > 0 ? "+" : ""), el("span", { class: "i" }, judged(r))) },
    { title: "ECE", define: "ece", value: (r) => r.ece.estimate, cell: (r) => el("span", { title: noteText(r.ece.notes) }, fixed(r.ece.estimate, places), r.classwise ? el("span", { class: "i" }, `classwise ${fixed(r.classwise.estimate, places)}`) : null) },
  ];
  const votes = page.facts.distributions ? " The labels are distributions, so accuracy is the share of the votes for the predicted class, and confidence is held against that share." : "";
  section.append(el("div", { class: "figures beside" },
    el("figure", {}, el("div", { class: "chart", id: "reliability" }), el("figcaption", {}, `Accuracy in ten bins of confidence with its ${levelText()} interval, drawn at the bin's mean confidence; a calibrated model follows the diagonal. Open markers: fewer than ${FEW} instances. Bars below: where the instances are.`)),
    el("div", {}, el("div", { class: "scroll" }, table(columns, rows)), el("p", { class: "note" }, "Gap: mean confidence minus accuracy. A model can be too confident in one place and too timid in another; then the gap is small and the ECE is not.", votes))));
  chart("reliability", (node) => drawReliability(node, shown().map((m) => ({ m, bins: models.find((b) => b.model === m.name) })), { height: 400 }));
}
