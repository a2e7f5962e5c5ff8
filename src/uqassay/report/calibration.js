// Section 4: can it be calibrated? One sentence, every test in a table, and how far off the confidence is.

const SIGNS = { rejected: "✗", passed: "✓", undefined: "–" };

lenses.calibration = (section, lens) => {
  if (lens.tests) {
    Object.assign(page.definitions, lens.tests.definitions);
    const rows = lens.tests.rows.map((r) => ({ ...r, j: placeOf(r.model) }));
    const t = { ...lens.tests, rows };
    t.measureOf = (r) => t.measures.find((m) => m.measure === r.measure);
    section.append(...testPieces(t));
    section.append(drawnFigure(lens, "calibration-tests", { follows: false }));
  }
  reliabilityPiece(section, lens);
};

// -- every test in words ---------------------------------------------------------------------------------------------

function testPieces(t) {
  return [
    t.further ? el("p", { class: "said" }, t.further) : null,
    el("p", { class: "note" }, t.text.note, "\u00a0", what("calibration-pvalue"), " ", t.text.how),
    testsTable(t),
    t.cautions.length ? el("ul", { class: "note" }, t.cautions.map((text) => el("li", {}, text))) : null,
    t.rows.length === 1 ? null : el("details", {}, el("summary", {}, t.text.all), testWords(t)),
  ].filter(Boolean);
}

function testWords(t) {
  const models = [...new Set(t.rows.map((r) => r.model))];
  const said = (r) => {
    const sign = el("span", { class: "outcome", "aria-hidden": "true" }, SIGNS[r.outcome]);
    return el("dd", { class: r.outcome }, sign, r.run_label ? `${r.run_label}: ` : null, unbroken(r.words));
  };
  const ofModel = (model) => {
    const mine = t.rows.filter((r) => r.model === model);
    return [el("dt", {}, nameCell(mine[0].j)), ...mine.map(said)];
  };
  return el("dl", { class: "tests" }, models.flatMap(ofModel));
}

// -- every test in a table -------------------------------------------------------------------------------------------

function testsTable(t) {
  const heads = [
    [t.text.heads.model, null, "text"],
    [t.text.heads.outcome, null, "text"],
    [t.text.pvalue_title, null],
    [t.text.heads.minimum, "calibration-minimum"],
    [t.text.heads.mean, null],
    [t.text.heads.members, null],
    [t.text.heads.width, "calibration-width"],
  ];
  const head = ([title, define, cls]) =>
    el("th", { scope: "col", class: cls ?? null }, title, define ? "\u00a0" : null, define ? what(define) : null);
  const group = ({ measure, property, label }) => {
    const question = fillTemplate(t.text.question, { property });
    const capital = `${label[0].toUpperCase()}${label.slice(1)}`;
    const held = el("span", { class: "held" }, capital, "\u00a0", what(measure), el("span", { class: "soft" }, ` ${question}`));
    const title = el("th", { scope: "rowgroup", class: "text", colspan: heads.length }, held);
    const mine = t.rows.filter((r) => r.measure === measure);
    return el("tbody", {}, el("tr", { class: "group" }, title), mine.map((r) => testRow(t, r)));
  };
  const region = { id: "calibration-table", tabindex: "0", role: "region", "aria-label": t.text.table };
  const caption = el("caption", {}, el("span", {}, t.text.caption));
  const rows = el("table", {}, caption, el("thead", {}, el("tr", {}, heads.map(head))), t.measures.map(group));
  const holder = el("div", { class: "scroll grouped", ...region });
  const node = el("div", {}, holder);
  fillGroupedModels(holder, rows);
  return node;
}

function testRow(t, r) {
  const { places } = t.measureOf(r);
  const cell = (value, below = null) => el("td", {}, value, below === null ? null : el("span", { class: "i" }, below));
  const run = r.run_label ? el("span", { class: "i" }, r.run_label) : null;
  return el(
    "tr",
    { "data-key": r.model },
    el("th", { scope: "row", class: "text name" }, nameCell(r.j, run)),
    el("td", { class: "text" }, `${SIGNS[r.outcome]} ${r.said}`),
    cell(testedCell(r)),
    cell(fixed(r.statistic, places)),
    cell(...meanCell(t, r, places)),
    cell(...membersCell(t, r, places)),
    cell(Number.isNaN(number(r.width)) ? wording.ABSENT : fixed(r.width, t.width_places)),
  );
}

function testedCell(r) {
  const attributes = { class: r.outcome === "rejected" ? "sure" : null, title: noteLines(r.notes) || null };
  return el("span", attributes, pvalue(r.pvalue));
}

function meanCell(t, r, places) {
  if (r.n_members < 2) return [missing(t.text.mean_alone), null];
  return [fixed(r.mean[0], places), Number.isNaN(number(r.mean[1])) ? null : `p ${pvalue(r.mean[1])}`];
}

function membersCell(t, r, places) {
  const range = (values, text) => {
    const known = values.map(number).filter((v) => !Number.isNaN(v));
    if (!known.length) return wording.ABSENT;
    const [low, high] = [Math.min(...known), Math.max(...known)].map(text);
    return low === high ? low : fillTemplate(page.text.general.range, { low, high });
  };
  const value = r.members.length ? range(r.members, (v) => fixed(v, places)) : missing(t.text.no_members);
  const tested = r.member_pvalues.some((p) => !Number.isNaN(number(p)));
  return [value, tested ? `p ${range(r.member_pvalues, pvalue)}` : null];
}

// -- the confidence of every model -----------------------------------------------------------------------------------

function reliabilityPiece(section, lens) {
  const rows = lens.models.map((bins) => ({
    key: bins.model,
    j: placeOf(bins.model),
    bins,
    accuracy: finding(bins.model, "accuracy"),
    ece: finding(bins.model, "ece"),
    classwise: finding(bins.model, "ece-classwise"),
  }));
  const columns = reliabilityColumns(rows, lens.text);
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": lens.text.table });
  const ranges = el("div", { class: "ranges note" });
  section.append(
    el(
      "div",
      { class: rows.length > MANY ? null : "figures beside" },
      drawnFigure(lens, "reliability"),
      el("div", {}, holder, ...[lens.text.note, lens.text.shown].map((text) => el("p", { class: "note" }, text)), ranges),
    ),
  );
  fillModelTable(holder, columns, rows);
  charts.push(() => fillRanges(ranges, rows.filter((r) => shownPlaces().has(r.j))));
}

// Where the models that the chart shows are overconfident or underconfident; models alike are named together.
function fillRanges(holder, rows) {
  const alike = new Map();
  for (const r of rows) alike.set(r.bins.shown, [...(alike.get(r.bins.shown) ?? []), r]);
  const names = (mine) => mine.map((r) => [nameCell(r.j), " "]);
  fill(holder, [...alike].map(([words, mine]) => el("p", {}, ...names(mine), words)));
}

function reliabilityColumns(rows, text) {
  const ends = rows.map((r) => [r.accuracy.low, r.accuracy.high]);
  const [places, inPercent] = [decimalsFor(ends), percentPlaces(ends)];
  const accuracy = ({ estimate, low, high }) => shareCell([estimate, low, high], inPercent);
  const gap = ({ bins }) => {
    const judged = el("span", { class: "i" }, bins.judged);
    return el("span", {}, signed(bins.gap, points(bins.gap, inPercent)), judged);
  };
  const ece = (r) => {
    const classwise = r.classwise && fillTemplate(text.classwise, { estimate: fixed(r.classwise.estimate, places) });
    const below = classwise ? el("span", { class: "i" }, classwise) : null;
    const { estimate, low, high } = r.ece;
    return el("span", { title: noteLines(r.ece.notes) }, interval(estimate, low, high, places), below);
  };
  return [
    { title: text.heads.model, text: true, cls: "name", value: (r) => r.key, cell: (r) => nameCell(r.j) },
    { title: text.heads.accuracy, define: "accuracy", value: (r) => r.accuracy.estimate, cell: (r) => accuracy(r.accuracy) },
    {
      title: text.heads.confidence,
      define: "confidence",
      value: (r) => r.bins.confidence_all,
      cell: (r) => wording.percent(number(r.bins.confidence_all), inPercent),
    },
    { title: text.heads.gap, value: (r) => r.bins.gap, cell: gap },
    { title: text.heads.ece, define: "ece", value: (r) => r.ece.estimate, cell: ece },
  ];
}
