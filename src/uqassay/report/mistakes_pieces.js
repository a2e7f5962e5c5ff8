// Section 4: does it know when it is wrong? Ranking metrics, curves, paired tests, and the table of every metric.

// -- the ranking metrics with their intervals ------------------------------------------------------------------------

function rankingPiece(it) {
  const holder = el("div", { class: "scroll forest", tabindex: "0", role: "region", "aria-label": it.text.ranking_title });
  const note = el("p", { class: "note" });
  const layouts = Object.entries(it.text.layouts);
  const choose = (layout) => {
    it.chosen.layout = layout;
    draw();
  };
  const buttons = layouts.map(([layout, text]) => el("button", { type: "button", on: { click: () => choose(layout) } }, text));
  const draw = () => {
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(layouts[i][0] === it.chosen.layout)));
    const short = it.chosen.layout === "short";
    holder.classList.toggle("tall", !short);
    const first = it.chosen.layout === "model" ? it.text.heads.score : it.text.heads.model;
    fillGroupedModels(holder, forest(rankingGroups(it).filter((g) => g.rows.length), it.lens.compared, first));
    const notes = [it.text.ranking_note, it.text.backward_note, short ? it.text.flattered : "", it.text.left_out];
    fill(note, notes.filter(Boolean).join(" "));
  };
  const group = el("div", { class: "segmented", role: "group", "aria-label": it.text.rows }, buttons);
  return { node: el("div", { id: "mistakes-ranking" }, el("h3", {}, it.text.ranking_title), group, holder, note), draw };
}

// Rows of the forest plot, in groups by score or by model.
function rankingGroups(it) {
  const row = (m, score, ...name) => {
    const own = m.scores.find((s) => s.score === score);
    const cells = it.lens.compared.map((metric) => it.estimate(m, score, metric));
    const mark = own?.backward ? el("span", { class: "flag" }, it.text.backward) : null;
    return { m, name: [...name, mark], cells, reasons: it.lens.compared.map((metric) => own?.undefined[metric]) };
  };
  const sorted = (rows) => rows.sort((a, b) => compare(a.cells[0].estimate, b.cells[0].estimate, -1));
  const has = (m, score) => m.scores.some((s) => s.score === score);
  const byScore = ({ score, label }) => {
    const rows = it.models.filter((m) => has(m, score)).map((m) => row(m, score, nameCell(m.j)));
    return { score, title: [label[0].toUpperCase() + label.slice(1), "\u00a0", it.explain(score)], rows: sorted(rows) };
  };
  if (it.chosen.layout === "score") return it.offered.map(byScore);
  if (it.chosen.layout === "model") {
    const ofModel = (m) => m.scores.map(({ score }) => row(m, score, it.label(score), "\u00a0", it.explain(score)));
    return it.models.map((m) => ({ title: [nameCell(m.j)], rows: sorted(ofModel(m)) }));
  }
  const byBest = (m) => row(m, m.best, nameCell(m.j, el("span", { class: "i" }, it.label(m.best))));
  const best = it.models.filter((m) => m.best !== null).map(byBest);
  const entropy = it.offered.filter((s) => s.score === "total-entropy").map(byScore);
  return [{ title: [it.text.best_title], rows: sorted(best) }, ...entropy];
}

// -- curves ----------------------------------------------------------------------------------------------------------

// Drawn beforehand by the first score and by each model's best; with another score chosen, a note says so.
function curvePiece(it) {
  const kind = () => ({ [it.lens.first.score]: "first", [BEST]: "best" })[it.chosen.score];
  const shows = (m, part) => part.classList.contains(kind());
  const figure = drawnFigure(it.lens, "mistakes-curve", { shows });
  const note = el("p", { class: "note" }, it.text.few_curves);
  figure.querySelector(".drawing").before(note);
  const draw = () => {
    note.hidden = Boolean(kind());
    for (const line of figure.querySelectorAll(".share")) {
      line.classList.toggle("off", !line.classList.contains(`share-${wording.general(100 * it.chosen.share, 3)}`));
    }
    figure.follow();
  };
  return { node: figure, draw };
}

// -- paired tests ----------------------------------------------------------------------------------------------------

function testsPiece(it) {
  const withMatrix = (over) => it.lens.comparisons.some((c) => (over === null ? "score" in c : c.model === over.model));
  const overs = [null, ...it.models].filter(withMatrix);
  if (!overs.length) return null;
  it.chosen.over = overs[0];
  const holder = el("div", { class: "scroll matrix" });
  const told = el("p", { class: "told screen" });
  const control = el("div", {}, it.models.length > MANY ? modelControl() : null);
  const note = el("p", { class: "note" });
  const draw = () => {
    const { over, metric, score } = it.chosen;
    const mine = (c) => c.metric === metric && (over ? c.model === over.model : c.score === score);
    const held = it.lens.comparisons.find(mine);
    fill(told, held ? it.text.point_at : "");
    fill(note, held?.note);
    control.hidden = !held || Boolean(over);
    if (held) fill(holder, matrix(held, sidesOf(it, held), page.definitions[metric].title, told, it.text.matrix));
    else fill(holder, el("p", { class: "empty" }, over ? over.few_scores : it.view().few_models));
  };
  const named = (m) => (m === null ? it.text.the_models : fillTemplate(it.text.the_scores, { model: m.model }));
  const compared = choice(it.text.compare, overs.map((m, i) => [i, named(m)]), 0, (value) => {
    it.chosen.over = overs[Number(value)];
    draw();
  });
  const metrics = it.lens.compared.map((name) => [name, page.definitions[name].title]);
  const metric = choice(it.text.by, metrics, it.chosen.metric, (value) => {
    it.chosen.metric = value;
    draw();
  });
  const choices = el("p", { class: "choices" }, compared, " ", metric);
  const title = el("h3", {}, it.text.tests_title);
  return { node: el("div", { id: "mistakes-tests" }, title, choices, control, holder, told, note), draw };
}

// What stands along both sides of a matrix, each with its place among the pairs: models (of many those that the charts show),
// or the scores of one model.
function sidesOf(it, held) {
  if (it.chosen.over) return held.rows.map((score, at) => ({ at, name: it.label(score), j: null, by: null }));
  const model = (name) => it.models.find((m) => m.model === name);
  const by = (m) => (it.chosen.score ? null : it.label(it.scoreOf(m).score));
  const sides = held.rows.map((name, at) => ({ at, name, j: model(name).j, by: by(model(name)) }));
  const places = shownPlaces();
  return sides.length > MANY ? sides.filter(({ j }) => places.has(j)) : sides;
}

// -- every metric ----------------------------------------------------------------------------------------------------

function metricsPiece(it) {
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": it.text.metrics_title });
  const note = el("p", { class: "note" });
  const draw = () => {
    const rows = it.judged().map((m) => ({ m, key: m.model, score: it.scoreOf(m).score }));
    const column = ([metric, better]) => {
      const get = (r) => it.estimate(r.m, r.score, metric);
      const places = decimalsFor(rows.map((r) => [get(r).low, get(r).high]));
      const why = (e) => noteLines(e.notes) || page.text.general.undefined;
      const cell = (e) => interval(e.estimate, e.low, e.high, places, why(e));
      const title = `${page.definitions[metric].title} ${better}`;
      return { title, define: metric, value: (r) => get(r).estimate, cell: (r) => cell(get(r)) };
    };
    const columns = [it.modelColumn(), ...it.lens.tabled.map(column)];
    fillModelTable(holder, columns, rows, { caption: it.view().metrics });
    fill(note, it.view().metrics_note);
  };
  return { node: el("div", { id: "mistakes-metrics" }, el("h3", {}, it.text.metrics_title), holder, note), draw };
}
