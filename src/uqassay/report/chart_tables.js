// The numbers of a chart as a table, for readers who do not see the picture.

const chartTables = new WeakMap(); // by the figure: its <details>, and what fills its table

// Puts the table below the picture, before the caption. Called again, it replaces the numbers. The table is made when it is
// open: columns as in `table`; rows, or a function that makes them.
function chartTable(figure, caption, columns, rows) {
  const held = chartTables.get(figure) ?? newChartTable(figure);
  held.node.hidden = false;
  held.region.setAttribute("aria-label", plain(caption));
  fill(held.said, `: ${caption}`);
  held.fill = () => {
    const made = typeof rows === "function" ? rows() : rows;
    fill(held.region, table(columns, made, { caption, sortable: false }));
  };
  if (held.node.open) held.fill();
}

// Takes the table away where the picture shows nothing.
function noChartTable(figure) {
  const held = chartTables.get(figure);
  if (held) held.node.hidden = true;
}

function newChartTable(figure) {
  const region = el("div", { class: "scroll short", tabindex: "0", role: "group" });
  const said = el("span", { class: "visually-hidden" });
  const node = el("details", { class: "chart-data" }, el("summary", {}, page.text.models.data, said), region);
  const held = { node, region, said, fill: null };
  node.addEventListener("toggle", () => {
    if (node.open) held.fill();
  });
  figure.insertBefore(node, figure.querySelector(":scope > figcaption"));
  chartTables.set(figure, held);
  return held;
}
