// The tables of metrics, which stand in the page: here their headings get to sort, and many models a field that filters them.

const metricTables = () => [...document.querySelectorAll("#summary table, #stated table")];

function startMetrics() {
  for (const node of metricTables()) {
    const heads = [...node.querySelectorAll("th")];
    for (const [c, head] of heads.entries()) head.querySelector(".sort").addEventListener("click", () => sortMetrics(node, heads, c));
    fillGroupedModels(node.parentElement, node);
  }
}

function sortMetrics(node, heads, c) {
  const next = heads[c].getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const head of heads) head.setAttribute("aria-sort", "none");
  heads[c].setAttribute("aria-sort", next);
  const sign = next === "ascending" ? 1 : -1;
  const value = (row) => (c ? row.cells[c].dataset.value : row.dataset.key);
  const rows = [...node.querySelectorAll("tbody tr")];
  const key = (row) => (c ? Number(value(row) ?? Number.NaN) : value(row));
  rows.sort((a, b) => compare(key(a), key(b), sign));
  node.tBodies[0].append(...rows);
}

// The names with their marks, whose colours follow the scheme.
function drawMetrics() {
  for (const node of metricTables()) {
    for (const row of node.tBodies[0].rows) row.querySelector(".named").replaceWith(nameCell(placeOf(row.dataset.key)));
  }
}
