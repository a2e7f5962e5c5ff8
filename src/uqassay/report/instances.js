// Section 5: one instance at a time: lists of extremes, and the choice of an instance.

let current = null; // position in page.instances.rows

const instanceName = (i) => (page.instances.ids ? page.instances.ids[i] : String(page.instances.rows[i]));
const className = (c) => page.assay.class_names[c];

function startInstances() {
  const held = page.instances;
  if (!held) {
    byId("instances").hidden = true;
    return;
  }
  const sets = candidates.some((m) => !m.precise);
  const kinds = Object.keys(held.extremes).filter((kind) => kind !== "most epistemic" || sets);
  const choose = (k) => {
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(i === k)));
    drawExtremes(kinds[k]);
  };
  const buttons = kinds.map((kind, k) =>
    el("button", { type: "button", "aria-pressed": String(k === 0), on: { click: () => choose(k) } }, kind),
  );
  fill(byId("kinds"), buttons);
  if (candidates.length > 1) byId("picked-note").after(modelControl());
  byId("pictures").after(el("div", { id: "pictures-data" }));
  const any = () => held.set_rows[Math.floor(Math.random() * held.set_rows.length)];
  byId("pick").addEventListener("change", () => pickText(byId("pick").value.trim()));
  byId("before").addEventListener("click", () => step(-1));
  byId("after").addEventListener("click", () => step(1));
  byId("random").addEventListener("click", () => pickInstance(any()));
  current = held.extremes[kinds[0]][0];
  drawExtremes(kinds[0]);
  pickInstance(current);
  const draw = () => whenOpen(byId("pictures"), drawPictures);
  listeners.push(draw);
  charts.push(draw); // the choice of models
}

function step(by) {
  const n = page.instances.rows.length;
  let i = current;
  do i = (i + by + n) % n;
  while (!page.instances.place.has(i) && i !== current);
  pickInstance(i);
}

function pickText(text) {
  const held = page.instances;
  const isNumber = /^\d+$/.test(text);
  let i = held.ids ? held.ids.indexOf(text) : -1;
  if (i < 0 && isNumber) i = held.rows.indexOf(Number(text));
  if (i >= 0 && held.place.has(i)) pickInstance(i);
  else byId("pick-problem").textContent = pickProblem(i >= 0 || (isNumber && Number(text) < held.n));
}

// Why an instance cannot be shown; `exists` tells whether there is one of that name.
function pickProblem(exists) {
  const held = page.instances;
  const text = page.text.instances;
  const values = { held: wording.count(held.set_rows.length) };
  if (held.set_rows.length < held.n && exists) return fillTemplate(text.not_held, values);
  if (held.set_rows.length < held.n && held.ids) return fillTemplate(text.no_such_id, values);
  return text.give;
}

function pickInstance(i) {
  const held = page.instances;
  if (!held.place.has(i)) {
    pickText(String(held.rows[i]));
    return;
  }
  current = i;
  byId("pick").value = instanceName(i);
  byId("pick-problem").textContent = "";
  markPicked();
  drawPictures();
}

// -- lists of extremes -----------------------------------------------------------------------------------------------

function extremeRow(i, place) {
  const held = page.instances;
  const distances = candidates.map((m) => held.columns[m.name].distance[i]);
  const size = (m) => held.columns[m.name].nonspecificity[i];
  const widest = candidates.reduce((a, b) => (size(b) > size(a) ? b : a));
  const mean = distances.reduce((a, b) => a + b, 0) / distances.length;
  const spread = Math.max(...distances) - Math.min(...distances);
  return { i, place: place + 1, key: String(i), widest, ns: size(widest), mean, spread };
}

function drawExtremes(kind) {
  const held = page.instances;
  const truth = (r) => className(held.truth[r.i]);
  const open = (r) => {
    const attributes = { type: "button", class: "row", on: { click: () => pickInstance(r.i) } };
    return el("button", attributes, instanceName(r.i));
  };
  const size = (r) => (r.ns > 0 ? el("span", { title: r.widest.name }, swatch(r.widest.j), fixed(r.ns)) : fixed(0));
  const heads = page.text.instances.heads;
  const columns = [
    { title: "#", value: (r) => r.place, cell: (r) => r.place },
    { title: heads.instance, text: true, value: (r) => instanceName(r.i), cell: open },
    { title: heads.label, text: true, value: truth, cell: truth },
    { title: heads.predicted, text: true, cell: (r) => predictions(r.i) },
    { title: heads.size, value: (r) => r.ns, cell: size },
    { title: heads.mean, value: (r) => r.mean, cell: (r) => fixed(r.mean, 2) },
    { title: heads.spread, value: (r) => r.spread, cell: (r) => fixed(r.spread, 2) },
  ];
  const rows = held.extremes[kind].map(extremeRow);
  fill(byId("extremes"), table(columns, rows, { caption: page.text.instances.extremes[kind] }));
  markPicked();
}

// A class set that does not have a single class has the label K.
const predictedName = (label) => (label < page.facts.classes ? className(label) : page.text.instances.no_class);

// The classes that were predicted, each with the swatches of the models that predict it.
function predictions(i) {
  const byClass = new Map();
  for (const m of candidates) {
    const label = page.instances.columns[m.name].label[i];
    byClass.set(label, [...(byClass.get(label) ?? []), m]);
  }
  const part = ([label, models]) => {
    const names = { label: predictedName(label), models: models.map((m) => wording.named(m.name)).join(", ") };
    const title = fillTemplate(page.text.instances.predicted, names);
    const attributes = { title, style: { marginRight: ".8rem", whiteSpace: "nowrap" } };
    if (candidates.length > MANY) {
      return el("span", attributes, predictedName(label), el("span", { class: "soft" }, ` × ${models.length}`), " ");
    }
    const swatches = models.map((m) => {
      const node = swatch(m.j);
      node.style.marginRight = "2px";
      return node;
    });
    const spoken = el("span", { class: "visually-hidden" }, ` (${names.models}) `);
    return el("span", attributes, swatches, " ", predictedName(label), spoken);
  };
  return el("span", {}, [...byClass].sort((a, b) => b[1].length - a[1].length).map(part));
}

function markPicked() {
  for (const row of byId("extremes").querySelectorAll("tbody tr")) {
    row.setAttribute("aria-selected", String(row.dataset.key === String(current)));
  }
}
