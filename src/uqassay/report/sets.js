// The classes that sets leave, and votes against the sets.

lenses.sets = (section, lens) => {
  modelScores(section, lens);
  if (lens.figures["sets-curve"]) section.append(drawnFigure(lens, "sets-curve"));
};

lenses.votes = (section, lens) => modelScores(section, lens);

// A table with one row for each model and one column for each score: [estimate, low, high].
function modelScores(section, lens) {
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": lens.title });
  section.append(el("p", { class: "note" }, lens.text.note), holder);
  const draw = () => {
    const rows = lens.models.map((m) => ({ ...m, key: m.model, j: placeOf(m.model) }));
    fillModelTable(holder, scoreColumns(lens, rows), rows);
  };
  charts.push(() => whenOpen(holder, draw));
}

function scoreColumns(lens, rows) {
  const { heads, none } = lens.text;
  const name = { title: heads.model, text: true, cls: "name", value: (r) => r.key, cell: (r) => nameCell(r.j) };
  const scores = Object.keys(heads).filter((score) => score !== "model");
  const columns = scores.map((score) => {
    const ends = rows.map((r) => r[score].slice(1));
    const isShare = lens.shares.includes(score);
    const places = isShare ? percentPlaces(ends) : decimalsFor(ends);
    const cell = (r) => (isShare ? shareCell(r[score], places, none) : interval(...r[score], places, none));
    return { title: heads[score], value: (r) => r[score][0], cell };
  });
  return [name, ...columns];
}
