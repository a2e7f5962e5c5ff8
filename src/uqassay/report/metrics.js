// The tables of metrics, which stand in the page: here their headings get to sort, and many models a field that filters them.

const metricTables = () => [...document.querySelectorAll("#summary table, #stated table")];

function startMetrics() {
  for (const node of metricTables()) {
    for (const row of node.tBodies[0].rows) row.dataset.key = page.models[Number(row.dataset.place)].name;
    const heads = [...node.querySelectorAll("th")];
    heads.forEach((head, c) => head.querySelector(".sort").addEventListener("click", () => sortMetrics(node, heads, c)));
    fillGroupedModels(node.parentElement, node);
  }
}

function sortMetrics(node, heads, c) {
  const next = heads[c].getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const head of heads) head.setAttribute("aria-sort", head === heads[c] ? next : "none");
  const sign = next === "ascending" ? 1 : -1;
  const value = (row) => (c ? Number(row.cells[c].dataset.value ?? Number.NaN) : row.dataset.key);
  const body = node.tBodies[0];
  body.append(...[...body.rows].sort((a, b) => compare(value(a), value(b), sign)));
}

// The names with their marks, whose colours follow the scheme.
function drawMetrics() {
  for (const named of metricTables().flatMap((node) => [...node.querySelectorAll(".named")])) {
    named.replaceWith(nameCell(Number(named.closest("tr").dataset.place)));
  }
}
