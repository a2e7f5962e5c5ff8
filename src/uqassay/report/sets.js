// The classes that sets leave, the coverage of wider and narrower sets, and votes against the sets.

lenses.sets = (section, lens) => {
  modelScores(section, lens);
  if (lens.curves.length) section.append(coverageFigure(lens));
};

lenses.votes = (section, lens) => modelScores(section, lens);

// A table with one row for each model and one column for each score: [estimate, low, high].
function modelScores(section, lens) {
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": lens.title });
  section.append(el("p", { class: "note" }, lens.text.note), holder);
  const draw = () => {
    const rows = lens.models.map((m) => ({ ...m, key: m.model, j: placeOf(m.model) }));
    fillModelTable(holder, scoreColumns(lens, rows), rows);
  };
  charts.push(() => whenOpen(holder, draw));
}

function scoreColumns(lens, rows) {
  const { heads, none } = lens.text;
  const name = { title: heads.model, text: true, cls: "name", value: (r) => r.key, cell: (r) => nameCell(r.j) };
  const scores = Object.keys(heads).filter((score) => score !== "model");
  const columns = scores.map((score) => {
    const ends = rows.map((r) => r[score].slice(1));
    const isShare = lens.shares.includes(score);
    const places = isShare ? percentPlaces(ends) : decimalsFor(ends);
    const cell = (r) => (isShare ? shareCell(r[score], places, none) : interval(...r[score], places, none));
    return { title: heads[score], value: (r) => r[score][0], cell };
  });
  return [name, ...columns];
}

// -- coverage of scaled sets -----------------------------------------------------------------------------------------

function coverageFigure(lens) {
  const { text } = lens;
  const node = el("div", { class: "chart", id: "sets-curve" });
  const caption = el("figcaption");
  const legend = candidates.length > 1 ? modelControl({ grey: true }) : null;
  const figure = el("figure", {}, el("h3", {}, text.curve_title), legend, node, caption);
  const draw = () => {
    const places = shownPlaces();
    const every = lens.curves.map((c) => ({ ...c, j: placeOf(c.model) }));
    const drawn = every.filter((c) => places.has(c.j));
    fill(caption, text.curve_note, drawn.length > MOST_BANDS ? page.text.models.without_bands : null);
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", text.curve_title);
    if (!drawn.length) {
      empty(node, page.text.models.no_model);
      noChartTable(figure);
      return;
    }
    drawCoverage(node, lens, drawn, candidates.length > MANY ? every.filter((c) => !drawn.includes(c)) : []);
    coverageTable(figure, lens, drawn);
  };
  charts.push(() => whenOpen(node, draw));
  return figure;
}

function drawCoverage(node, lens, drawn, others) {
  const pale = { color: tinted(css("--faint"), 0.35), width: 1 };
  const banded = drawn.length <= MOST_BANDS;
  const marks = [
    ...others.map((c) => ({ line: true, x: c.size, y: c.coverage, stroke: pale })),
    ...drawn.flatMap((c) => coverageMarks(lens, c).slice(banded ? 0 : 1)),
  ];
  const ends = drawn.flatMap((c) => [...c.coverage, ...(banded ? c.low : [])]).filter((v) => v !== null);
  const least = Math.min(...ends);
  const [xTitle, yTitle] = lens.text.curve_axes;
  plot(node, marks, {
    height: heightOf(360),
    x: { title: xTitle, range: [0, 1.03 * Math.max(...drawn.flatMap((c) => c.size), 1e-6)] },
    y: { title: yTitle, percent: true, range: [Math.max(0, least - 0.05 * (1 - least) - 0.005), 1.01] },
  });
}

// The band, the line, a point at each scale, and a greater one at the sets as they are.
function coverageMarks(lens, c) {
  const color = colour(c.j);
  const at = { x: c.size, y: c.coverage };
  const says = (i) =>
    hover(
      c.model,
      fillTemplate(lens.text.curve_hover, {
        scale: wording.general(lens.scales[i], 3),
        coverage: wording.percent(c.coverage[i]),
        coverages: wording.percentInterval(c.low[i], c.high[i]),
        size: wording.general(c.size[i], 3),
      }),
    );
  const own = (values) => [values[lens.own]];
  return [
    { band: tinted(color, 0.16), x: c.size, low: c.low, high: c.high },
    { line: true, ...at, stroke: { color, width: 2, dash: dash(c.j) } },
    { points: true, free: true, ...at, marker: { color, size: 5, symbol: "circle" }, says },
    {
      points: true,
      x: own(c.size),
      y: own(c.coverage),
      marker: { color: css("--page"), size: 12, symbol: marker(c.j), edge: { color, width: 2.5 } },
      says: () => says(lens.own),
    },
  ];
}

function coverageTable(figure, lens, drawn) {
  const places = percentPlaces(drawn.flatMap((c) => c.low.map((low, i) => [low, c.high[i]])));
  const size = (c, i) => aside(fillTemplate(lens.text.curve_size, { size: wording.general(c.size[i], 3) }));
  const column = (c) => ({
    title: nameCell(c.j),
    cell: (i) => {
      const cell = shareCell([c.coverage[i], c.low[i], c.high[i]], places);
      cell.append(size(c, i));
      return cell;
    },
  });
  const scale = { title: "s", text: true, rowHeader: true, cell: (i) => wording.general(lens.scales[i], 3) };
  chartTable(figure, lens.text.curve_data, [scale, ...drawn.map(column)], () => lens.scales.map((_, i) => i));
}
