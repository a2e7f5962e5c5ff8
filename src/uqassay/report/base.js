"use strict";
// Elements, numbers, tables, colours: what every part of the page uses. Text from data only ever becomes textContent.

const page = JSON.parse(document.getElementById("payload").textContent);
const state = { index: page.ranking.reference, part: "all", hidden: new Set() };
const byId = (id) => document.getElementById(id);
const candidates = page.models.map((m, j) => ({ ...m, j })).filter((m) => !m.baseline);
const shown = () => candidates.filter((m) => !state.hidden.has(m.j));

// Marks of direction are shown as such, so that a name cannot turn the words and numbers after it around.
const plain = (text) => String(text).replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

function el(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "line", "circle", "rect", "polygon", "text", "title", "use"].includes(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (key === "style") Object.assign(node.style, value);
    else node.setAttribute(key, value === true ? "" : key === "title" || key === "aria-label" ? plain(value) : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : plain(child));
  }
  return node;
}

function fill(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined).map((child) => (child instanceof Node ? child : plain(child))));
  return node;
}

// -- numbers ---------------------------------------------------------------------------------------------------------

// The payload writes nan as null and infinities as text, for JSON has neither.
function number(value) {
  if (value === null || value === undefined) return NaN;
  if (value === "Infinity") return Infinity;
  return value === "-Infinity" ? -Infinity : value;
}

function fixed(value, decimals = 3) {
  const x = number(value);
  if (Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const least = 10 ** -decimals;
  if (Math.abs(x) < 0.5 * least) return Math.abs(x) < 1e-12 ? (0).toFixed(decimals) : x > 0 ? `<${least.toFixed(decimals)}` : `>−${least.toFixed(decimals)}`;
  return x.toFixed(decimals).replace("-", "−");
}

// Decimals that show one digit of the typical half-width of the intervals, two where it is below 5.
function decimalsFor(intervals) {
  const widths = intervals.map(([low, high]) => (number(high) - number(low)) / 2).filter((w) => w > 0 && Number.isFinite(w));
  if (!widths.length) return 3;
  widths.sort((a, b) => a - b);
  const width = widths[widths.length >> 1];
  const first = -Math.floor(Math.log10(width));
  return Math.min(5, Math.max(3, width * 10 ** first < 5 ? first + 1 : first));
}

function lambdaText(x) {
  if (!Number.isFinite(x)) return "∞";
  return x >= 0.1 || x === 0 ? x.toFixed(2) : String(Number(x.toPrecision(2)));
}

function percent(share) {
  const p = 100 * share;
  if (page.facts.draws >= 1000 && p > 99.9) return "> 99.9 %";
  if (page.facts.draws >= 1000 && p < 0.1) return "< 0.1 %";
  return `${p.toFixed(p > 99 || p < 1 ? 1 : 0)} %`;
}

function pvalue(value) {
  const p = number(value);
  if (Number.isNaN(p)) return "–";
  if (p < 0.001) return "< .001";
  return p.toFixed(p < 0.0095 ? 3 : 2).replace(/^0/, "");
}

const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

// The texts of a number's notes, {code, text} each.
const noteText = (notes) => (notes ?? []).map(({ text }) => text).join("; ");

function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

const levelText = () => `${Number((100 * page.facts.level).toPrecision(4))} %`;

// -- packed arrays ---------------------------------------------------------------------------------------------------

const ARRAYS = { uint8: Uint8Array, uint16: Uint16Array, float32: Float32Array };

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

// Puts typed arrays in the place of their packed text, everywhere in a tree.
async function unpack(tree) {
  if (tree === null || typeof tree !== "object") return tree;
  if (Array.isArray(tree)) return tree;
  if ("zlib" in tree) return new ARRAYS[tree.dtype](await inflate(tree.zlib));
  const entries = await Promise.all(Object.entries(tree).map(async ([key, value]) => [key, await unpack(value)]));
  return Object.fromEntries(entries);
}

const probability = (code, bits) => Math.sin(((code / (2 ** bits - 1)) * Math.PI) / 2) ** 2;

// -- colours ---------------------------------------------------------------------------------------------------------

// Okabe and Ito, the darker ones first; "" is the ink of the page (their black).
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "", "#B8A800"];
const DASHES = ["solid", "dash", "dot", "dashdot"];
const MARKERS = ["circle", "square", "diamond", "triangle-up"];
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dark = () => document.documentElement.dataset.theme === "dark";

function colour(j) {
  if (page.models[j].baseline) return css("--faint");
  const base = COLOURS[j % COLOURS.length] || css("--ink");
  return dark() && base === "#0072B2" ? "#3B9FDB" : base;
}

const dash = (j) => (page.models[j].baseline ? "dot" : DASHES[Math.floor(j / COLOURS.length) % DASHES.length]);
const marker = (j) => MARKERS[Math.floor(j / COLOURS.length) % MARKERS.length];

function onColour(hex) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
  return 0.299 * r + 0.587 * g + 0.114 * b > 0.55 ? "#111" : "#fff";
}

function swatch(j) {
  const kind = page.models[j].baseline ? "swatch open" : `swatch ${marker(j)}`;
  return el("span", { class: kind, style: { background: colour(j) }, "aria-hidden": "true" });
}

const nameCell = (j, ...more) => el("span", {}, swatch(j), el("bdi", {}, page.models[j].name), ...more);

// -- definitions -----------------------------------------------------------------------------------------------------

function define(name) {
  const d = page.definitions[name];
  byId("definition-title").textContent = d.title;
  byId("definition-sentence").textContent = d.sentence;
  byId("definition-equation").textContent = d.equation;
  byId("definition-source").textContent = d.source;
  byId("definition").showModal();
}

function what(name) {
  const d = page.definitions[name];
  if (!d) return null;
  return el("button", { type: "button", class: "what", "aria-label": `What is ${d.title}?`, on: { click: () => define(name) } }, "?");
}

// -- tables ----------------------------------------------------------------------------------------------------------

// A cell: the number, its interval below; a missing number says why.
function interval(value, low, high, decimals, why = "not defined here") {
  const x = number(value);
  if (Number.isNaN(x)) return el("span", { title: why }, "–");
  const ends = [number(low), number(high)];
  const known = ends.every(Number.isFinite) && ends[1] > ends[0];
  return el("span", {}, fixed(x, decimals), known ? el("span", { class: "i" }, ends[0] < 0 ? `${fixed(low, decimals)} to ${fixed(high, decimals)}` : `${fixed(low, decimals)}–${fixed(high, decimals)}`) : null);
}

// columns: {title, value(row) for sorting, cell(row), text, define, wide, sort: false}; rows keep their order until sorted.
function table(columns, rows, { caption = null, rowClass = () => null, sortable = true, initial = null } = {}) {
  const body = el("tbody");
  const head = columns.map((column, c) => {
    const sorts = sortable && column.value;
    const label = sorts ? el("button", { type: "button", class: "sort", on: { click: () => sort(c) } }, column.title) : column.title;
    const classes = [column.text ? "text" : "", column.wide ? "wide" : ""].join(" ").trim();
    return el("th", { scope: "col", class: classes || null, "aria-sort": sorts ? "none" : null },
      label, column.define ? "\u00a0" : null, column.define ? what(column.define) : null);
  });
  const draw = (ordered) => fill(body, ordered.map((row) => {
    const cells = columns.map((column, c) => {
      const classes = [column.text ? "text" : "", column.wide ? "wide" : "", column.cls ?? ""].join(" ").trim();
      return el(c === 0 && column.rowHeader ? "th" : "td", { class: classes || null, scope: c === 0 && column.rowHeader ? "row" : null }, column.cell(row));
    });
    return el("tr", { class: rowClass(row), "data-key": row.key ?? null }, cells);
  }));
  function sort(c, direction = null) {
    const was = head[c].getAttribute("aria-sort");
    const next = direction ?? (was === "ascending" ? "descending" : "ascending");
    head.forEach((th) => { if (th.hasAttribute("aria-sort")) th.setAttribute("aria-sort", "none"); });
    head[c].setAttribute("aria-sort", next);
    const sign = next === "ascending" ? 1 : -1;
    draw([...rows].sort((a, b) => compare(columns[c].value(a), columns[c].value(b), sign)));
  }
  draw(rows);
  if (initial) sort(...initial);
  return el("table", {}, caption ? el("caption", {}, el("span", {}, caption)) : null, el("thead", {}, el("tr", {}, head)), body);
}

// Numbers by size, text by the alphabet, what is missing last in both directions.
function compare(a, b, sign) {
  if (typeof a === "string" && typeof b === "string") return sign * a.localeCompare(b, "en", { numeric: true });
  const [x, y] = [number(a), number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return x === y ? 0 : sign * (x < y ? -1 : 1);
}

// Finding over all runs by model and metric.
function finding(model, metric, tradeoff = null) {
  return page.assay.findings.find((r) => r.run === "all" && r.model === model && r.metric === metric &&
    (tradeoff === null || r.tradeoff === tradeoff)) ?? null;
}
