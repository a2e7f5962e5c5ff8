// The models that the charts show: one choice for the whole page, made in any of its controls.

const MANY = 10; // with more models, charts show the top group and what the reader picks, and tables are compact
const MOST_CHIPS = 12;
const choiceOfModels = { follows: false, picked: new Set(), last: "" }; // follows: the top group at the chosen λ is shown
const modelControls = [];

// The best models of the top group at the chosen λ, at most as many as stay readable.
function leaders() {
  const { order, models } = ranking;
  const ranked = order[state.index].filter((j) => !page.models[j].baseline);
  const top = ranked.filter((j) => models[j].top[state.index]);
  return { top: top.length, shown: (top.length ? top : ranked).slice(0, page.text.models.most) };
}

const shownPlaces = () => new Set([...(choiceOfModels.follows ? leaders().shown : []), ...choiceOfModels.picked]);
const shown = () => {
  const places = shownPlaces();
  return candidates.filter((m) => places.has(m.j));
};

// The other ones of many models, which pictures draw in grey; of few models the reader takes one away because it is in the way.
const contextModels = () => {
  const places = shownPlaces();
  return candidates.length > MANY ? candidates.filter((m) => !places.has(m.j)) : [];
};

function startChoiceOfModels() {
  showModels(candidates.length > MANY ? "top" : "all");
  listeners.push(modelsFollow);
}

// "top", "all" or "none".
function showModels(which) {
  choiceOfModels.follows = which === "top";
  choiceOfModels.picked = new Set(which === "all" ? candidates.map((m) => m.j) : []);
  modelsFollow();
}

function toggleModel(j) {
  const places = shownPlaces();
  if (places.has(j)) {
    places.delete(j);
    Object.assign(choiceOfModels, { follows: false, picked: places });
  } else choiceOfModels.picked.add(j);
  modelsFollow();
}

// Draws all charts again where other models are to be shown than before.
function modelsFollow() {
  for (const update of modelControls) update();
  const now = [...shownPlaces()].sort().join();
  if (now === choiceOfModels.last) return;
  choiceOfModels.last = now;
  redraw();
}

function modelsSentence(grey) {
  const text = page.text.models;
  const { follows, picked } = choiceOfModels;
  const [found, n] = [leaders(), shown().length];
  const picks = [...picked].filter((j) => !found.shown.includes(j)).length;
  const own = picks ? fillTemplate(text.own, { n: picks }) : "";
  const values = { n, own, models: candidates.length, top: found.top, most: found.shown.length, tradeoff: lambdaText() };
  const others = grey && n < candidates.length ? text.others : "";
  if (!follows) return fillTemplate(text.shown, values) + others;
  const whole = found.top === found.shown.length;
  return fillTemplate(whole ? text.follows_whole : text.follows, values) + others;
}

// -- the control -----------------------------------------------------------------------------------------------------

// Chips of the models, and for many models their search; every control shows and changes the same choice. `grey`: the charts
// below draw the other models in grey.
function modelControl({ grey = false } = {}) {
  const chips = el("div", { class: "chips", role: "group", "aria-label": page.text.charts.show });
  if (candidates.length <= MANY) {
    const buttons = candidates.map(modelChip);
    fill(chips, el("span", { class: "note" }, page.text.charts.show), buttons);
    modelControls.push(() => {
      const places = shownPlaces();
      candidates.forEach((m, i) => {
        buttons[i].setAttribute("aria-pressed", String(places.has(m.j)));
        buttons[i].replaceChild(swatch(m.j), buttons[i].firstChild);
      });
    });
    modelControls.at(-1)();
    return chips;
  }
  const said = el("p", { class: "note", role: "status" });
  const search = modelSearch();
  modelControls.push(() => {
    fill(said, modelsSentence(grey));
    const models = shown();
    const focused = chips.contains(document.activeElement);
    fill(chips, models.length <= MOST_CHIPS ? models.map(modelChip) : null);
    if (focused) search.querySelector("summary").focus();
  });
  modelControls.at(-1)();
  return el("div", { class: "many-models" }, said, chips, search);
}

function modelChip(m) {
  const attributes = { type: "button", class: "model", "aria-pressed": "true", title: m.name };
  return el("button", { ...attributes, on: { click: () => toggleModel(m.j) } }, swatch(m.j), nameText(m.j));
}

// A list of all models with a field that filters it.
function modelSearch() {
  const text = page.text.models;
  const boxes = candidates.map((m) => {
    const input = el("input", { type: "checkbox", on: { change: () => toggleModel(m.j) } });
    return { m, input, row: el("label", { title: m.name }, input, swatch(m.j), nameText(m.j)) };
  });
  const nothing = el("p", { class: "note", role: "status" });
  const field = nameField(text.find, (matches) => {
    for (const { m, row } of boxes) row.hidden = !matches(m.name);
    fill(nothing, boxes.every(({ row }) => row.hidden) ? text.none_found : null);
  });
  const choose = (which) =>
    el("button", { type: "button", "data-show": which, on: { click: () => showModels(which) } }, text[which]);
  const rows = boxes.map(({ row }) => row);
  const list = el("div", { class: "model-list", role: "group", "aria-label": text.choose }, rows, nothing);
  const panel = el("div", { class: "panel" }, el("div", { class: "buttons" }, field, ["top", "all", "none"].map(choose)), list);
  const summary = el("summary", {}, text.choose);
  const node = el("details", { class: "model-search" }, summary, panel);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !node.open) return;
    node.open = false;
    summary.focus();
  });
  const update = () => {
    if (!node.open) return;
    const places = shownPlaces();
    for (const { m, input, row } of boxes) {
      input.checked = places.has(m.j);
      row.replaceChild(swatch(m.j), row.children[1]);
    }
  };
  node.addEventListener("toggle", update);
  modelControls.push(update);
  return node;
}

// A search field that hands a test of names to `change`.
function nameField(title, change) {
  const input = el("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLocaleLowerCase();
    change((name) => plain(name).toLocaleLowerCase().includes(wanted));
  });
  return el("label", { class: "find" }, title, " ", input);
}
