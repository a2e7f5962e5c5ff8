// Pictures in SVG. A picture is drawn from marks in the units of its axes, each with one of
//   line: true      {x, y, stroke}             a gap where y is null
//   band: colour    {x, low, high}
//   area: colour    {x, y, stroke}             closed
//   points: true    {x, y, marker: {color, size, symbol, edge}}
// and perhaps `says(i)`, lines of words at the pointer (the first in bold where it is a name); `pick(i)` is called at a click.
// stroke: {color, width, dash}.

const DASHED = { dash: [3, 2.4], dot: [1, 2], dashdot: [3, 2, 1, 2] }; // in widths of the line
const TEXT = 12; // pixels
const MOST_BANDS = 4; // models whose intervals one picture shows; those of more hide each other
const NEAR = 20; // pixels from a point at which its words are shown
const PAPER = 0.8; // of the height on the screen
const pictures = new Map(); // marks and layout of every picture by its node

const MARKER_PATHS = {
  circle: (r) => `M${-r},0a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0z`,
  square: (r) => `M${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  diamond: (r) => `M0,${-1.3 * r}L${1.3 * r},0L0,${1.3 * r}L${-1.3 * r},0z`,
  "triangle-up": (r) => `M0,${-1.2 * r}L${1.1 * r},${0.8 * r}L${-1.1 * r},${0.8 * r}z`,
};

// -- axes ------------------------------------------------------------------------------------------------------------

const canvas = document.createElement("canvas").getContext("2d");

function textWidth(text, size = TEXT) {
  canvas.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return canvas.measureText(text).width;
}

const onAxis = (axis, value) => (axis.log ? Math.log10(value) : value);

// From a value of an axis to pixels; the range of a logarithmic axis is that of its logarithms.
function scaleOf(axis, from, to) {
  const [low, high] = axis.range;
  return (value) => from + ((onAxis(axis, value) - low) / (high - low)) * (to - from);
}

// Round values of an axis with their labels, at most so many; or those that the axis asks for.
function ticksOf(axis, most) {
  if (axis.labels === false && !axis.ticks) return [];
  if (axis.ticks) return axis.ticks;
  const [low, high] = axis.range;
  const step = niceCeil((high - low) / Math.max(1, most), [1, 2, 5, 10]);
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const at = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  return at.map((t) => ({ at: t, text: wording.number(t, places) }));
}

function frameOf(node, { height, margin = {}, x, y }) {
  const width = Math.max(160, node.clientWidth);
  const [top, bottom] = [margin.top ?? 8, height - (x.title ? 44 : 28)];
  const yTicks = ticksOf(y, (bottom - top) / 36);
  const labels = y.labels === false ? 0 : Math.max(0, ...yTicks.map((t) => textWidth(t.text)));
  const left = Math.max(margin.left ?? 0, labels + (y.title ? 30 : 8));
  const right = width - (margin.right ?? 14);
  const xTicks = ticksOf(x, (right - left) / 70);
  return { width, height, top, bottom, left, right, xTicks, yTicks };
}

function axisParts(frame, { x, y }, sx, sy) {
  const { left, right, top, bottom, xTicks, yTicks, height } = frame;
  const line = (x1, y1, x2, y2, cls) => el("line", { x1, y1, x2, y2, class: cls });
  const grid = [
    ...xTicks.map((t) => line(sx(t.at), top, sx(t.at), bottom, "grid")),
    ...yTicks.map((t) => line(left, sy(t.at), right, sy(t.at), "grid")),
  ];
  const labels = [
    ...xTicks.flatMap((t) => [
      line(sx(t.at), bottom, sx(t.at), bottom + 4, "axis-line"),
      el("text", { x: sx(t.at), y: bottom + 17, "text-anchor": "middle" }, t.text),
    ]),
    ...(y.labels === false ? [] : yTicks).map((t) =>
      el("text", { x: left - 6, y: sy(t.at), dy: "0.35em", "text-anchor": "end" }, t.text),
    ),
  ];
  const turned = { transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" };
  const titles = [
    x.title ? el("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, x.title) : null,
    y.title ? el("text", turned, y.title) : null,
  ];
  return { grid, labels, titles };
}

// -- marks -----------------------------------------------------------------------------------------------------------

function strokeOf(stroke) {
  if (!stroke) return { stroke: "none" };
  const { color, width = 1, dash = "solid" } = stroke;
  const dashes = DASHED[dash]?.map((part) => part * Math.max(width, 1.5)).join(" ");
  return { stroke: color, "stroke-width": width, "stroke-dasharray": dashes ?? null, "stroke-linejoin": "round" };
}

const round = (v) => Math.round(100 * v) / 100;

// Points in pixels, null where there is none.
const placed = (xs, ys, sx, sy) =>
  xs.map((v, i) => {
    const at = ys[i] === null || v === null ? null : [round(sx(v)), round(sy(ys[i]))];
    return at?.every(Number.isFinite) ? at : null;
  });

const pathOf = (points) => points.map((p, i) => (p ? `${points[i - 1] ? "L" : "M"}${p[0]},${p[1]}` : "")).join("");

function lineMark(m, sx, sy) {
  return el("path", { d: pathOf(placed(m.x, m.y, sx, sy)), fill: "none", class: "line", ...strokeOf(m.stroke) });
}

function bandMark(m, sx, sy) {
  const [low, high] = [m.low, m.high].map((ys) => placed(m.x, ys, sx, sy));
  const known = m.x.map((_, i) => low[i] && high[i]);
  const [runs, open] = [[], []];
  known.forEach((is, i) => {
    if (is) open.push(i);
    if (open.length && (!is || i === known.length - 1)) runs.push(open.splice(0));
  });
  const outline = (run) => `${pathOf([...run.map((i) => high[i]), ...run.reverse().map((i) => low[i])])}z`;
  return el("path", { d: runs.map(outline).join(""), fill: m.band, class: "band" });
}

function areaMark(m, sx, sy) {
  return el("path", { d: `${pathOf(placed(m.x, m.y, sx, sy))}z`, fill: m.area, class: "area", ...strokeOf(m.stroke) });
}

function pointsMark(m, sx, sy) {
  const { color, size, symbol, edge } = m.marker;
  const d = MARKER_PATHS[symbol](size / 2);
  const at = placed(m.x, m.y, sx, sy);
  const dots = at.map((p) => (p ? el("path", { d, transform: `translate(${p[0]} ${p[1]})` }) : null));
  return el("g", { fill: color, ...strokeOf(edge), class: "points" }, dots);
}

function markOf(m, sx, sy) {
  if (m.line) return lineMark(m, sx, sy);
  if (m.band) return bandMark(m, sx, sy);
  return m.area ? areaMark(m, sx, sy) : pointsMark(m, sx, sy);
}

// -- notes and rules -------------------------------------------------------------------------------------------------

const BASELINES = { top: "0.9em", middle: "0.35em", bottom: "-0.3em" };

// {text, x or acrossAt (share of the width), y or upAt (share of the height), dx, dy, anchor, base, size, color, halo}
function notePlace(note, frame, sx, sy) {
  const x = note.x === undefined ? frame.left + note.acrossAt * (frame.right - frame.left) : sx(note.x);
  const y = note.y === undefined ? frame.bottom - note.upAt * (frame.bottom - frame.top) : sy(note.y);
  return [round(x + (note.dx ?? 0)), round(y + (note.dy ?? 0))];
}

function noteMark(note, frame, sx, sy) {
  const { text, anchor = "middle", base = "middle", size = TEXT, color = null, halo = false } = note;
  const [x, y] = notePlace(note, frame, sx, sy);
  const place = { x, y, dy: BASELINES[base], "text-anchor": anchor };
  return el("text", { ...place, class: halo ? "halo" : null, style: { fontSize: `${size}px`, fill: color ?? "" } }, text);
}

function noteBox(note, frame, sx, sy) {
  const { text, anchor = "middle", base = "middle", size = TEXT } = note;
  const [x, y] = notePlace(note, frame, sx, sy);
  const width = textWidth(text, size) + 4;
  const left = x - { start: 0, middle: 0.5, end: 1 }[anchor] * width;
  const middle = y + { top: 0.6, middle: 0, bottom: -0.6 }[base] * size;
  return [left, middle - 0.65 * size, left + width, middle + 0.65 * size];
}

// Names next to their points: {text, x, y, rx, ry, color, must}; see `placedLabels`.
function labelMarks(labels, notes, frame, sx, sy) {
  const inPixels = labels.map((l) => {
    const reach = [Math.abs(sx(l.x + (l.rx ?? 0)) - sx(l.x)), Math.abs(sy(l.y + (l.ry ?? 0)) - sy(l.y))];
    return { ...l, at: [sx(l.x), sy(l.y)], reach };
  });
  const panel = [frame.left + 2, frame.top, frame.right, frame.bottom];
  const found = placedLabels(inPixels, panel, notes.map((note) => noteBox(note, frame, sx, sy)));
  return found.flatMap(({ text, box: [left, top, , bottom], leader, color }) => [
    leader ? leaderMark(leader, color) : null,
    el("text", { x: round(left + 2), y: round((top + bottom) / 2), dy: "0.35em", class: "halo direct" }, text),
  ]);
}

const leaderMark = (points, color) =>
  el("path", { d: pathOf(points.map((p) => p.map(round))), class: "leader", stroke: color });

// Names of lines at their right ends: {text, y, color}, pushed apart.
function endMarks(ends, frame, sy) {
  const wishes = ends.map((e) => sy(e.y));
  const heights = stackedHeights(wishes, frame.top - 8, frame.bottom + 8) ?? [];
  return heights.flatMap((y, i) => [
    leaderMark([[frame.right + 1, wishes[i]], [frame.right + 12, y]], ends[i].color),
    el("text", { x: frame.right + 15, y: round(y), dy: "0.35em", class: "direct" }, ends[i].text),
  ]);
}

function ruleMark(rule, frame, sx) {
  const at = round(sx(rule.x));
  return el("line", { x1: at, y1: frame.top, x2: at, y2: frame.bottom, class: "rule", ...strokeOf(rule.stroke) });
}

const heightOf = (pixels) => (onPaper() ? PAPER * pixels : pixels);

// -- the picture -----------------------------------------------------------------------------------------------------

// x, y: {title, range, log, ticks, labels}.
function plot(node, marks, layout) {
  const { x, y, notes = [], rules = [], labels = [], ends = [] } = layout;
  const frame = frameOf(node, { height: heightOf(340), ...layout });
  const { width, height, left, right, top, bottom } = frame;
  const sx = scaleOf(x, left, right);
  const sy = scaleOf(y, bottom, top);
  const axes = axisParts(frame, layout, sx, sy);
  const drawn = marks.map((m) => ({ m, node: markOf(m, sx, sy), sy }));
  const cut = { x: left, y: top, width: right - left, height: bottom - top };
  const view = `${cut.x} ${cut.y} ${cut.width} ${cut.height}`;
  const inside = el("svg", { ...cut, viewBox: view, class: "inside" }, drawn.map((d) => d.node));
  const svg = el(
    "svg",
    { class: "drawn", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    axes.grid,
    inside,
    axes.labels,
    axes.titles,
    rules.map((rule) => ruleMark(rule, frame, sx)),
    notes.map((note) => noteMark(note, frame, sx, sy)),
    labelMarks(labels, notes, frame, sx, sy),
    endMarks(ends, frame, sy),
  );
  pictures.set(node, { marks, ...layout });
  fill(node, svg);
  tellAtPointer(node, svg, drawn, sx);
}

function empty(node, text) {
  pictures.delete(node);
  fill(node, el("p", { class: "empty" }, text));
  // a picture hides its content from screen readers
  node.setAttribute("aria-label", `${node.getAttribute("aria-label")}: ${plain(text)}`);
}
