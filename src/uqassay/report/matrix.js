// Section 4: the matrix of paired tests.

const LABELLED = 24; // models or scores up to which every cell has its words from the start; thousands of cells take seconds

// Row minus column of one pair. The payload holds its ends, its p-value and the difference that could have been shown (null:
// none), of the pairs below the diagonal, row by row.
function pairAt(held, i, j) {
  const [a, b] = i > j ? [i, j] : [j, i];
  const [low, high, p, shown] = held.pairs.map((values) => number(values[(a * (a - 1)) / 2 + b]));
  const difference = Number((held.values[a] - held.values[b]).toFixed(12));
  return i > j ? { difference, low, high, p, shown } : { difference: -difference, low: -high, high: -low, p, shown };
}

const agree = ({ difference, low, high }) => difference === 0 && low === 0 && high === 0;

// held: values and pairs; sides: {at, name, j, by}, `at` in the pairs; told: where the words of a cell go.
function matrix(held, sides, metric, told, text) {
  const places = decimalsFor(held.pairs[0].map((low, k) => [low, held.pairs[1][k]]));
  const full = (side) => (side.by ? fillTemplate(text.by, { name: side.name, score: side.by }) : side.name);
  const cells = sides.map((row, i) => sides.map((column, j) => {
    const node = matrixCell(held, row.at, column.at, places, text);
    const words = () => cellWords(held, [row, column], [full(row), full(column)], { metric, places, text });
    const label = () => node.setAttribute("title", plain(words())); // read aloud after the text of the cell
    if (sides.length <= LABELLED) label();
    for (const event of ["mouseenter", "focus"]) {
      node.addEventListener(event, () => {
        label();
        fill(told, words());
      });
    }
    node.addEventListener("keydown", (event) => walkMatrix(event, cells, i, j));
    node.tabIndex = i === 0 && j === 0 ? 0 : -1;
    return node;
  }));
  const heading = (side, scope) => {
    const by = side.by && scope === "row" ? el("span", { class: "i" }, side.by) : null;
    const attributes = { scope, class: scope === "row" ? "text name" : null, title: full(side) };
    return el("th", attributes, side.j === null ? el("bdi", {}, side.name) : nameCell(side.j), by);
  };
  const label = fillTemplate(text.label, { metric });
  const head = el("tr", {}, el("td", {}), sides.map((side) => heading(side, "col")));
  const body = sides.map((side, i) => el("tr", {}, heading(side, "row"), cells[i]));
  const attributes = { role: "grid", class: sides.length > 10 ? "many" : null, "aria-label": label };
  return el("table", attributes, el("thead", {}, head), el("tbody", {}, body));
}

const signedText = (value, places) => signed(value, fixed(value, places));

// At least one digit of a difference, where a cell says <0.001.
function inFull(value, places) {
  let digits = places;
  while (digits < 9 && value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits) digits += 1;
  return signedText(value, digits);
}

// What a cell says: the values, their difference with its interval, the p-value, and who ranks better.
function cellWords(held, [row, column], full, { metric, places, text }) {
  const [i, j] = [row.at, column.at];
  const values = { metric, row: full[0], column: full[1], row_value: fixed(held.values[i], places) };
  if (i === j) return fillTemplate(text.own, values);
  const pair = pairAt(held, i, j);
  Object.assign(values, {
    column_value: fixed(held.values[j], places),
    difference: inFull(pair.difference, places),
    low: fixed(pair.low, places),
    high: fixed(pair.high, places),
    pvalue: wording.pvalueText(pair.p),
    adjusted: held.values.length > 2 ? text.adjusted : "",
    better: (pair.difference > 0 ? row : column).name,
  });
  if (Number.isNaN(pair.p)) return fillTemplate(text.untested, values);
  if (agree(pair)) return fillTemplate(text.same, values);
  if (pair.p <= 1 - page.facts.level) return fillTemplate(text.better, values);
  return fillTemplate(text.chance, { ...values, shown: shownWords(pair.shown, text) });
}

// The smallest difference that could have been shown, with two digits.
function shownWords(shown, text) {
  if (!(shown > 0)) return text.shown_none;
  return fillTemplate(text.shown, { difference: fixed(shown, Math.max(1 - Math.floor(Math.log10(shown)), 0)) });
}

function matrixCell(held, i, j, places, text) {
  const node = el("td", { role: "gridcell" });
  if (i === j) {
    node.classList.add("own");
    return fill(node, fixed(held.values[i], places));
  }
  const pair = pairAt(held, i, j);
  const { difference, p } = pair;
  const small = (words) => el("span", { class: "i" }, words);
  if (agree(pair)) fill(node, "=", small(text.same_order));
  else {
    const tested = Number.isNaN(p) ? text.no_test : fillTemplate(text.pvalue, { pvalue: pvalue(p) });
    fill(node, signedText(difference, places), small(tested));
  }
  if (p <= 1 - page.facts.level && difference !== 0) {
    node.classList.add("sure");
    node.style.background = tinted(difference > 0 ? COLOURS[0] : COLOURS[1], dark() ? 0.34 : 0.16);
  }
  return node;
}

// Arrow keys, Home and End move between cells.
function walkMatrix(event, cells, i, j) {
  const steps = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    Home: [0, -j],
    End: [0, cells.length - 1 - j],
  };
  const [down, right] = steps[event.key] ?? [];
  if (down === undefined) return;
  event.preventDefault();
  const next = cells[i + down]?.[j + right];
  if (!next) return;
  cells[i][j].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
