// What can be promised after refusing: thresholds with a certified error rate, and the expected cost at several prices.

lenses.refusal = (section, lens) => {
  const { text } = lens;
  const region = (title) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title });
  const [limits, costs] = [region(text.limits_title), region(text.costs_title)];
  const words = lens.limits.map((r) => el("li", {}, unbroken(r.sentence)));
  section.append(
    el("p", { class: "note" }, text.lead, text.remarks.map((remark) => ` ${remark}`)),
    el("h3", {}, text.limits_title),
    limits,
    ...(words.length ? [el("details", {}, el("summary", {}, text.words), el("ul", { class: "note" }, words))] : []),
    el("h3", {}, text.costs_title),
    el("p", { class: "note" }, text.costs_note),
    ...(candidates.length > MANY ? [modelControl()] : []),
    costs,
  );
  limits.id = "refusal-limits";
  costs.id = "refusal-costs";
  const drawLimits = () => {
    const options = { caption: text.limits_caption, sortable: false };
    const none = el("p", { class: "empty" }, text.none);
    fill(limits, lens.limits.length ? table(limitColumns(lens), lens.limits, options) : none);
  };
  charts.push(() => whenOpen(limits, drawLimits));
  charts.push(() => whenOpen(costs, () => drawCosts(costs, lens)));
};

function limitColumns({ limits, text }) {
  const places = percentPlaces(limits.map((r) => r.kept.slice(1)));
  const observed = (r) => el("span", {}, wording.percent(number(r.observed), 2), el("span", { class: "i" }, r.of));
  const absent = () => missing(text.undefined);
  return [
    { title: text.heads.limit, text: true, rowHeader: true, cell: (r) => unbroken(r.limit) },
    { title: text.heads.model, text: true, cls: "name", cell: (r) => nameCell(placeOf(r.model), aside(r.run)) },
    { title: text.heads.threshold, text: true, cell: (r) => el("span", {}, r.threshold, aside(r.score)) },
    { title: text.heads.kept, cell: (r) => (r.certified ? shareCell(r.kept, places) : absent()) },
    { title: text.heads.observed, cell: (r) => (r.certified ? observed(r) : absent()) },
  ];
}

const aside = (words) => (words ? el("span", { class: "i" }, words) : null);

// One row for keeping every case and one for each price, one column for each model, of many those that the charts show.
function drawCosts(holder, { costs, prices, text }) {
  const places = shownPlaces();
  const every = costs.map((m) => ({ ...m, j: placeOf(m.model) }));
  const models = candidates.length > MANY ? every.filter((m) => places.has(m.j)) : every;
  const decimals = decimalsFor(models.flatMap((m) => [m.every, ...m.costs].map((e) => e.slice(1))));
  const cell = (m, k) => {
    if (k < 0) return interval(...m.every, decimals);
    const found = interval(...m.costs[k], decimals);
    if (m.saves[k]) found.classList.add("sure");
    found.append(aside(unbroken(m.passed[k])));
    return found;
  };
  const price = (k) => (k < 0 ? text.every : String(prices[k]));
  const columns = [
    { title: text.heads.price, text: true, rowHeader: true, cell: price },
    ...models.map((m) => ({ title: nameCell(m.j, aside(m.about)), cell: (k) => cell(m, k) })),
  ];
  const rows = [-1, ...prices.keys()];
  const none = el("p", { class: "empty" }, page.text.models.no_model);
  fill(holder, models.length ? table(columns, rows, { caption: text.costs_caption, sortable: false }) : none);
}
