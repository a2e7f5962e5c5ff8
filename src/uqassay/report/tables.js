// Tables: cells of numbers with their intervals, columns that sort.

const PORTION = 250; // rows of a table that are drawn at once

// A dash for what is missing, with the reason where there is one.
const missing = (why) => el("span", { title: why || null }, wording.ABSENT);

// A cell: the number, its interval below; a missing number says why.
function interval(value, low, high, decimals, why = page.text.general.undefined_here) {
  if (Number.isNaN(number(value))) return missing(why);
  const ends = [number(low), number(high)];
  const known = ends.every(Number.isFinite) && ends[1] > ends[0];
  const [a, b] = [fixed(low, decimals), fixed(high, decimals)];
  const both = ends[0] < 0 ? fillTemplate(page.text.general.range, { low: a, high: b }) : `${a}–${b}`;
  return el("span", {}, fixed(value, decimals), known ? el("span", { class: "i" }, both) : null);
}

// The same for a share, in percent.
function shareCell([value, low, high], decimals, why = page.text.general.undefined_here) {
  if (Number.isNaN(number(value))) return missing(why);
  const ends = [number(low), number(high)];
  const known = ends.every(Number.isFinite) && ends[1] > ends[0];
  const below = known ? el("span", { class: "i" }, wording.percentInterval(...ends, decimals)) : null;
  return el("span", {}, wording.percent(number(value), decimals), below);
}

// Decimals of percentages that show one digit of the typical half-width of their intervals, at least one.
function percentPlaces(intervals) {
  const widths = intervals.map(([low, high]) => 50 * (number(high) - number(low))).filter((w) => w > 0);
  widths.sort((a, b) => a - b);
  return widths.length ? Math.min(3, Math.max(1, -Math.floor(Math.log10(widths[widths.length >> 1])))) : 1;
}

// columns: {title, value(row) for sorting, cell(row), text, define, wide, cls, rowHeader}; rows keep their order until sorted.
function table(columns, rows, { caption = null, rowClass = () => null, sortable = true, keep = () => true } = {}) {
  const body = el("tbody");
  const head = columns.map((column, c) => {
    const sorts = sortable && column.value;
    const button = { type: "button", class: "sort", on: { click: () => sort(c) } };
    return el(
      "th",
      { scope: "col", class: classesOf(column), "aria-sort": sorts ? "none" : null },
      headOf(sorts ? el("button", button, column.title) : column.title, column.define),
    );
  });
  let drawing = 0;
  // The first rows at once, the others in portions, between which the page answers.
  async function draw(ordered) {
    const mine = ++drawing;
    body.replaceChildren();
    for (let first = 0; first < ordered.length && mine === drawing; first += PORTION) {
      if (first) await new Promise((next) => setTimeout(next));
      if (mine !== drawing) return;
      body.append(...ordered.slice(first, first + PORTION).map((row) => tableRow(columns, row, rowClass)));
    }
  }
  function sort(c) {
    const next = head[c].getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const th of head) if (th.hasAttribute("aria-sort")) th.setAttribute("aria-sort", "none");
    head[c].setAttribute("aria-sort", next);
    const sign = next === "ascending" ? 1 : -1;
    ordered = [...rows].sort((a, b) => compare(columns[c].value(a), columns[c].value(b), sign));
    draw(ordered.filter(keep));
  }
  let ordered = rows;
  draw(ordered.filter(keep));
  const titled = caption ? el("caption", {}, el("span", {}, caption)) : null;
  const on = { keep: () => draw(ordered.filter(keep)) };
  return el("table", { on }, titled, el("thead", {}, el("tr", {}, head)), body);
}

// A heading, with the button of its definition.
const headOf = (title, name) => (name ? el("span", { class: "head" }, title, what(name)) : title);

// -- tables of many models -------------------------------------------------------------------------------------------

const tableFilters = new WeakMap(); // by the holder of the table

// Fills a holder with a table whose rows are models (`key`: the name). With many models its rows take one line each, and a
// field above filters them by name; the filter stays when the table is filled again.
function fillModelTable(holder, columns, rows, options = {}) {
  const many = rows.length > MANY;
  const filter = tableFilters.get(holder) ?? (many ? newTableFilter(holder) : null);
  if (!filter) {
    fill(holder, table(columns, rows, options));
    return;
  }
  holder.classList.toggle("compact", many);
  filter.node.hidden = !many;
  filter.rows = rows;
  fill(holder, table(columns, rows, { ...options, keep: (row) => filter.matches(row.key) }));
  filter.say();
}

// The same for a table in groups, whose rows of models have a `data-key`.
function fillGroupedModels(holder, node) {
  const rows = [...node.querySelectorAll("tbody tr[data-key]")];
  const keyed = rows.map((row) => ({ key: row.dataset.key }));
  const many = new Set(keyed.map(({ key }) => key)).size > MANY;
  fill(holder, node);
  holder.classList.toggle("compact", many);
  const filter = tableFilters.get(holder) ?? (many ? newTableFilter(holder) : null);
  if (!filter) return;
  filter.node.hidden = !many;
  filter.rows = keyed;
  const keep = () => {
    for (const row of rows) row.hidden = !filter.matches(row.dataset.key);
  };
  node.addEventListener("keep", keep);
  keep();
  filter.say();
}

function newTableFilter(holder) {
  const text = page.text.models;
  const said = el("span", { class: "note", role: "status" });
  const filter = { rows: [], matches: () => true };
  filter.say = () => {
    const n = filter.rows.filter((row) => filter.matches(row.key)).length;
    fill(said, fillTemplate(text.rows, { n, rows: filter.rows.length }));
  };
  const field = nameField(text.filter, (matches) => {
    filter.matches = matches;
    holder.querySelector("table").dispatchEvent(new Event("keep"));
    filter.say();
  });
  filter.node = el("p", { class: "table-filter" }, field, said);
  holder.before(filter.node);
  tableFilters.set(holder, filter);
  return filter;
}

function tableRow(columns, row, rowClass) {
  const cells = columns.map((column, c) => {
    const classes = classesOf(column, column.cls);
    if (c === 0 && column.rowHeader) return el("th", { class: classes, scope: "row" }, column.cell(row));
    return el("td", { class: classes }, column.cell(row));
  });
  return el("tr", { class: rowClass(row), "data-key": row.key ?? null }, cells);
}

function classesOf(column, more = "") {
  const classes = [column.text ? "text" : "", column.wide ? "wide" : "", more];
  return classes.filter(Boolean).join(" ") || null;
}

// Numbers by size, text by the alphabet, what is missing last in both directions.
function compare(a, b, sign) {
  if (typeof a === "string" && typeof b === "string") return sign * a.localeCompare(b, "en", { numeric: true });
  const [x, y] = [number(a), number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  if (x === y) return 0;
  return sign * (x < y ? -1 : 1);
}
