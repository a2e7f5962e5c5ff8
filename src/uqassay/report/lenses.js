// Section 4: one question per section. A lens of the payload is drawn by the function registered under its id.

const lenses = {};

function startLenses() {
  const drawn = page.lenses.filter((lens) => lens.id in lenses);
  for (const lens of drawn) {
    const heading = el("h2", { id: `lens-${lens.id}-h` }, lens.title);
    lens.section = el("section", { id: `lens-${lens.id}`, "aria-labelledby": `lens-${lens.id}-h` }, heading);
  }
  fill(byId("lenses"), drawn.map((lens) => lens.section));
  for (const lens of drawn) lenses[lens.id](lens.section, lens);
}

// -- the parts of the test set ---------------------------------------------------------------------------------------

lenses.parts = (section, lens) => {
  const option = (value, text) => el("option", { value }, text);
  const by = el("select", { "aria-label": lens.text.parts }, lens.tables.map((t, i) => option(i, t.title)));
  const metrics = Object.entries(lens.metrics);
  const metric = el("select", { "aria-label": lens.text.metric }, metrics.map(([key, name]) => option(key, name)));
  const sentence = el("p", {});
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": lens.text.part });
  section.append(el("p", { class: "buttons" }, metric, lens.text.by, by), sentence, holder);
  const draw = () => drawParts(lens, lens.tables[Number(by.value)], metric.value, sentence, holder);
  by.addEventListener("change", draw);
  metric.addEventListener("change", draw);
  listeners.push(draw);
};

function drawParts(lens, chosen, metric, sentence, holder) {
  const distance = (i) => Math.abs(lens.tradeoffs[i] - lambda());
  const nearest = lens.tradeoffs.reduce((b, _, i) => (distance(i) < distance(b) ? i : b), 0);
  const view = chosen.views[metric][metric === "unified" ? nearest : 0];
  const cell = (part, m) => {
    const found = part.models[m.name];
    return (metric === "unified" ? found?.unified[nearest].slice(1) : found?.[metric]) ?? [null, null, null];
  };
  const rows = chosen.parts.map((part, i) => {
    const n = Math.max(...Object.values(part.models).map((m) => m.n));
    return { ...part, key: part.part, best: view.best?.[i], n };
  });
  const ends = rows.flatMap((r) => candidates.map((m) => cell(r, m).slice(1)));
  const places = metric === "accuracy" ? percentPlaces(ends) : decimalsFor(ends);
  const none = lens.text.none;
  const written = (e) => (metric === "accuracy" ? shareCell(e, places, none) : interval(...e, places, none));
  const columns = [
    { title: chosen.title, text: true, cls: "name", value: (r) => r.part, cell: (r) => r.part },
    { title: "n", value: (r) => r.n, cell: (r) => wording.count(r.n) },
    ...candidates.map((m) => ({
      title: el("span", {}, swatch(m.j), el("bdi", {}, m.name)),
      value: (r) => cell(r, m)[0],
      cell: (r) => {
        const shownCell = written(cell(r, m));
        if (r.best === m.name) shownCell.style.fontWeight = "700";
        return shownCell;
      },
    })),
  ];
  fill(sentence, view.sentence);
  const exact = lens.tradeoffs[nearest] === lambda();
  fill(holder, table(columns, rows, { caption: metric !== "unified" || exact ? view.caption : view.caption_near }));
}
