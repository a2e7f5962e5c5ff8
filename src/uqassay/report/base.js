// Elements, templates, packed arrays, colours, definitions: what every part of the page uses. Text from data only ever becomes
// textContent.

let page = null; // everything that is shown, from `openPage` on
let candidates = [];
let ranking = null;
const state = { index: 0, part: "all" };
const byId = (id) => document.getElementById(id);

async function openPage() {
  page = await inflatedJson("payload");
  ranking = page.ranking;
  candidates = page.models.map((m, j) => ({ ...m, j })).filter((m) => !m.baseline);
  state.index = ranking.reference;
  startLabels();
}

const inflatedJson = async (id) => JSON.parse(new TextDecoder().decode(await inflate(byId(id).textContent)));

// The further questions, which no chart of the first sections needs.
async function openLenses() {
  page.lenses = await inflatedJson("lenses");
}

// The single instances, which take longer.
async function openInstances() {
  const held = await unpack(JSON.parse(byId("packed").textContent));
  page.instances = held;
  if (!held) return;
  held.place = new Map(Array.from(held.set_rows, (row, k) => [row, k]));
  held.confidences = {};
  for (const m of candidates) held.confidences[m.name] = Array.from(held.columns[m.name].confidence, (q) => probability(q, 16));
}

const placeOf = (name) => page.models.findIndex((m) => m.name === name);

// The twin of uqassay.wording.visible: invisible characters but spaces are spelt out, so that a name cannot turn the words and
// numbers after it around. A test compares the two.
const SPELT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const plain = (text) => String(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => SPELT[c] ?? spelt(c.codePointAt(0)));

function spelt(code) {
  const [start, digits] = code < 0x100 ? ["\\x", 2] : code < 0x10000 ? ["\\u", 4] : ["\\U", 8];
  return `${start}${code.toString(16).padStart(digits, "0")}`;
}

const SVG = new Set(["svg", "g", "path", "line", "circle", "rect", "polygon", "text", "title", "use"]);

function el(tag, attributes = {}, ...children) {
  const node = SVG.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (key === "style") Object.assign(node.style, value);
    else if (value === true) node.setAttribute(key, "");
    else node.setAttribute(key, key === "title" || key === "aria-label" ? plainLines(value) : String(value));
  }
  node.append(...pieces(children));
  return node;
}

// A title may have several lines.
const plainLines = (text) => String(text).split("\n").map(plain).join("\n");

const pieces = (children) =>
  children
    .flat()
    .filter((child) => child !== null && child !== undefined)
    .map((child) => (child instanceof Node ? child : plain(child)));

function fill(node, ...children) {
  node.replaceChildren(...pieces(children));
  return node;
}

// -- templates -------------------------------------------------------------------------------------------------------

// Puts values in the places {name} of a template made in Python. A value is never searched for places.
const fillTemplate = (template, values) => templatePieces(template, values).join("");

// The same for values that may be nodes: texts and nodes in their order.
function templatePieces(template, values) {
  const found = [];
  template.split(/\{(\w+)\}/).forEach((piece, i) => {
    if (i % 2 === 1 && !(piece in values)) throw new Error(`no value for {${piece}} in “${template}”`);
    const value = i % 2 === 1 ? values[piece] : piece;
    if (value instanceof Node || !found.length || found.at(-1) instanceof Node) found.push(value);
    else found.push(`${found.pop()}${value}`);
  });
  return found;
}

// -- numbers of the payload ------------------------------------------------------------------------------------------

// The payload writes nan as null and infinities as text, for JSON has neither.
function number(value) {
  if (value === null || value === undefined) return NaN;
  if (value === "Infinity") return Infinity;
  return value === "-Infinity" ? -Infinity : value;
}

const fixed = (value, decimals = 3) => wording.number(number(value), decimals, true);
const pvalue = (value) => wording.pvalue(number(value));
const signed = (value, text) => (number(value) > 0 && /^\d/.test(text) ? `+${text}` : text);

// Decimals that show one digit of the typical half-width of the intervals, two where it is below 5.
function decimalsFor(intervals) {
  const widths = intervals
    .map(([low, high]) => (number(high) - number(low)) / 2)
    .filter((w) => w > 0 && Number.isFinite(w));
  if (!widths.length) return 3;
  widths.sort((a, b) => a - b);
  const width = widths[widths.length >> 1];
  const first = -Math.floor(Math.log10(width));
  return Math.min(5, Math.max(3, width * 10 ** first < 5 ? first + 1 : first));
}

// The texts of a number's notes, {code, text} each: one per line of a title or of a cell of CSV, or one per element.
const noteTexts = (notes) => (notes ?? []).map(({ text }) => plain(text));
const noteLines = (notes) => noteTexts(notes).join("\n");
const noteItems = (notes) => noteTexts(notes).map((text) => el("div", {}, text));

// Finding over all runs by model and metric.
function finding(model, metric) {
  return page.assay.findings.find((r) => r.run === "all" && r.model === model && r.metric === metric) ?? null;
}

// -- packed arrays ---------------------------------------------------------------------------------------------------

const ARRAYS = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array };

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

// A packed array: first the low bytes of all numbers, then the next ones. With `decimals` the numbers are decimal fractions,
// and the two greatest codes stand for nan and infinity.
async function unpackArray({ dtype, zlib, decimals }) {
  const planes = new Uint8Array(await inflate(zlib));
  const size = ARRAYS[dtype].BYTES_PER_ELEMENT;
  const codes = new ARRAYS[dtype](planes.length / size);
  for (let i = 0; i < codes.length; i += 1) {
    for (let b = size - 1; b >= 0; b -= 1) codes[i] = codes[i] * 256 + planes[b * codes.length + i];
  }
  if (decimals === undefined) return codes;
  const top = 2 ** (8 * size) - 1;
  const special = { [top]: Infinity, [top - 1]: NaN };
  return Float64Array.from(codes, (code) => special[code] ?? code / 10 ** decimals);
}

// Puts typed arrays in the place of their packed text, everywhere in a tree.
async function unpack(tree) {
  if (tree === null || typeof tree !== "object") return tree;
  if (Array.isArray(tree)) return tree;
  if ("zlib" in tree) return unpackArray(tree);
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
const onPaper = () => document.documentElement.classList.contains("printing");
const dark = () => document.documentElement.dataset.theme === "dark";

function colour(j) {
  if (page.models[j].baseline) return css("--faint");
  const base = COLOURS[page.models[j].colour % COLOURS.length] || css("--ink");
  return dark() && base === "#0072B2" ? "#3B9FDB" : base;
}

const colourTurn = (j) => Math.floor(page.models[j].colour / COLOURS.length); // how often the colours were all used before
const dash = (j) => (page.models[j].baseline ? "dot" : DASHES[colourTurn(j) % DASHES.length]);
const marker = (j) => MARKERS[colourTurn(j) % MARKERS.length];

const toHex = (c) => (c.startsWith("#") && c.length === 7 ? c : "#888888");

// Black or white, whichever has the higher contrast (WCAG), which is at least 4.5 : 1.
function onColour(hex) {
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = [1, 3, 5].map((i) => linear(parseInt(hex.slice(i, i + 2), 16) / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}

function tinted(hex, alpha) {
  const c = toHex(hex);
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16));
  return `rgba(${r},${g},${b},${alpha})`;
}

function swatch(j) {
  const kind = page.models[j].baseline ? "swatch open" : `swatch ${marker(j)}`;
  return el("span", { class: kind, style: { background: colour(j) }, "aria-hidden": "true" });
}

const nameCell = (j, ...more) => el("span", { class: "named" }, swatch(j), nameText(j), ...more);
const wholeName = (j) => el("span", { class: "named" }, swatch(j), el("bdi", {}, page.models[j].name));

// -- definitions -----------------------------------------------------------------------------------------------------

function define(name) {
  const d = page.definitions[name];
  byId("definition-title").textContent = d.title;
  byId("definition-sentence").textContent = d.sentence;
  byId("definition-equation").textContent = d.equation;
  byId("definition-source").textContent = d.source;
  byId("definition").showModal();
}

const whatIs = (name) => fillTemplate(page.text.general.what_is, { title: page.definitions[name].title });

function what(name) {
  if (!page.definitions[name]) return null;
  const attributes = { type: "button", class: "what", "aria-label": whatIs(name), on: { click: () => define(name) } };
  return el("button", attributes, "?");
}

// A choice among options [value, text].
function choice(label, options, value, change) {
  const node = el("select", {}, options.map(([option, text]) => el("option", { value: option }, text)));
  node.value = value;
  node.addEventListener("change", () => change(node.value));
  return el("label", {}, label, " ", node);
}
