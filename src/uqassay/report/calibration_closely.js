// Section 4: can it be calibrated? One test, closely: the choice of a test, and its four pictures with their captions.

function startClosely(t, text) {
  const same = (a, b) => a.model === b.model && a.run === b.run;
  const of = (r, measure) => t.rows.find((o) => same(o, r) && o.measure === measure);
  const sides = t.rows.filter((r, i) => t.rows.findIndex((o) => same(o, r)) === i);
  const side = (r) => sides.findIndex((o) => same(o, r));
  const rejected = t.rows.find((r) => r.outcome === "rejected");
  const view = { row: rejected ?? t.rows.find((r) => r.outcome !== "undefined") ?? t.rows[0] };
  const named = (r) => (r.run_label ? fillTemplate(t.text.side, { model: r.model, run: r.run_label }) : r.model);
  const model = choice(t.text.heads.model, sides.map((r, i) => [i, named(r)]), side(view.row), (value) => {
    const r = sides[Number(value)];
    t.choose(of(r, view.row.measure) ?? r);
  });
  const measure = choice(t.text.heads.measure, t.measures.map((m) => [m.measure, m.label]), view.row.measure, (value) => {
    t.choose(of(view.row, value) ?? t.rows.find((r) => r.measure === value));
  });
  const said = el("p", { class: "said", id: "calibration-said", "aria-live": "polite" });
  const choices = [sides.length > 1 ? model : null, " ", t.measures.length > 1 ? measure : null];
  byId("lens-calibration").append(
    el("h3", { id: "calibration-closely", tabindex: "-1" }, t.text.closely),
    ...(t.rows.length > 1 ? [el("p", { class: "choices" }, choices), said] : []),
    closelyFigures(t, view.row),
  );
  const words = () => {
    const r = view.row;
    model.querySelector("select").value = String(side(r));
    measure.querySelector("select").value = r.measure;
    fill(said, swatch(r.j), r.run_label ? `${r.run_label}: ` : null, unbroken(r.words));
    closelyWords(r);
  };
  const before = charts.length;
  const part = (id, draw) => chart(id, (node) => draw(node, view.row));
  part("calibration-null", (node, r) => drawNull(node, r, t));
  part("calibration-weights", (node, r) => drawWeights(node, r, t));
  part("calibration-before", (node, r) => drawOneReliability(node, r, "before", t, text));
  part("calibration-after", (node, r) => drawOneReliability(node, r, "after", t, text));
  const runs = charts.slice(before);
  t.choose = (r) => {
    view.row = r;
    words();
    for (const run of runs) run();
  };
  words();
}

function closelyFigures(t, r) {
  const titles = {
    "calibration-null": r.captions.null_title,
    "calibration-weights": t.text.weights_title,
    "calibration-before": r.captions.before_title,
    "calibration-after": t.text.after_title,
  };
  const figure = ([id, title]) => {
    const caption = el("figcaption", { id: `${id}-note` });
    return el("figure", {}, el("h4", { id: `${id}-h` }, title), el("div", { class: "chart", id }), caption);
  };
  return el("div", { class: "figures" }, Object.entries(titles).map(figure));
}

function closelyWords(r) {
  for (const id of ["null", "weights", "before", "after"]) fill(byId(`calibration-${id}-note`), unbroken(r.captions[id] ?? ""));
  byId("calibration-null-h").textContent = plain(r.captions.null_title);
  byId("calibration-before-h").textContent = plain(r.captions.before_title);
  for (const id of ["weights", "after"]) byId(`calibration-${id}`).closest("figure").hidden = r.n_members < 2;
}
