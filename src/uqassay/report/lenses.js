// Section 4: one question per section. A lens of the payload is drawn by the function registered under its id.

const lenses = {};

function startLenses() {
  for (const lens of page.lenses) lenses[lens.id](byId(`lens-${lens.id}`), lens);
}

// -- the parts of the test set ---------------------------------------------------------------------------------------

lenses.parts = (section, lens) => {
  const option = (value, text) => el("option", { value }, text);
  const by = el("select", { "aria-label": lens.text.parts }, lens.tables.map((t, i) => option(i, t.title)));
  const metrics = Object.entries(lens.metrics);
  const metric = el("select", { "aria-label": lens.text.metric }, metrics.map(([key, name]) => option(key, name)));
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": lens.text.part });
  const control = candidates.length > MANY ? [modelControl()] : [];
  section.append(el("p", { class: "choices" }, el("span", {}, metric, lens.text.by, by)), ...control, holder);
  const view = () => viewOfParts(lens, lens.tables[Number(by.value)], metric.value);
  const draw = () => drawParts(lens, lens.tables[Number(by.value)], metric.value, view(), holder);
  const follow = () => {
    tellFinding(section.id, view().finding);
    whenOpen(holder, draw);
  };
  for (const choice_ of [by, metric]) choice_.addEventListener("change", follow);
  listeners.push(follow);
  charts.push(() => whenOpen(holder, draw)); // with other models
};

// What a table shows by a metric: for E at the λ of the findings that is nearest to the chosen one.
function viewOfParts(lens, { views }, metric) {
  const distance = (i) => Math.abs(lens.tradeoffs[i] - lambda());
  const nearest = lens.tradeoffs.reduce((b, _, i) => (distance(i) < distance(b) ? i : b), 0);
  const view = views[metric][metric === "unified" ? nearest : 0];
  const exact = metric !== "unified" || lens.tradeoffs[nearest] === lambda();
  const caption = exact ? view.caption : view.caption_near;
  return { nearest, best: view.best, caption, finding: view.sentence || views.unified[nearest].sentence };
}

function drawParts(lens, chosen, metric, { nearest, best, caption }, holder) {
  const cell = (part, m) => {
    const found = part.models[m.name];
    return (metric === "unified" ? found?.unified[nearest].slice(1) : found?.[metric]) ?? [null, null, null];
  };
  const rows = chosen.parts.map((part, i) => {
    const n = Math.max(...Object.values(part.models).map((m) => m.n));
    return { ...part, key: part.part, best: best?.[i], n };
  });
  const models = candidates.length > MANY ? shown() : candidates;
  const ends = rows.flatMap((r) => models.map((m) => cell(r, m).slice(1)));
  const places = metric === "accuracy" ? percentPlaces(ends) : decimalsFor(ends);
  const none = lens.text.none;
  const written = (e) => (metric === "accuracy" ? shareCell(e, places, none) : interval(...e, places, none));
  const columns = [
    { title: chosen.title, text: true, cls: "name", value: (r) => r.part, cell: (r) => r.part },
    { title: "n", value: (r) => r.n, cell: (r) => wording.count(r.n) },
    ...models.map((m) => ({
      title: nameCell(m.j),
      value: (r) => cell(r, m)[0],
      cell: (r) => {
        const shownCell = written(cell(r, m));
        if (r.best === m.name) shownCell.style.fontWeight = "700";
        return shownCell;
      },
    })),
  ];
  fill(holder, table(columns, rows, { caption }));
}
