// Section 3: the statistical charts, drawn by Plotly, which reads a little HTML in its texts; so `esc` all that is data.

const esc = (text) => plain(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const short = (text, length = 20) => esc(text.length > length ? `${text.slice(0, length - 1)}…` : text);
const NARROW = 480;
const POINTS = 4000; // markers in one scatter plot
const charts = [];

function chart(id, draw, { follows = false } = {}) {
  const node = byId(id);
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", node.closest("figure")?.querySelector("h3, h4")?.textContent.replace(/ \?$/, "") ?? "Reliability diagram");
  const run = () => { try { draw(node); } catch (problem) { node.textContent = `This chart could not be drawn: ${problem.message}`; console.error(problem); } };
  charts.push(run);
  if (follows) {
    let waiting = false;
    listeners.push(() => {
      if (waiting || !window.Plotly) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; run(); });
    });
  }
}

function plot(node, traces, layout) {
  const axis = { gridcolor: css("--grid"), linecolor: css("--line"), zerolinecolor: css("--line"), automargin: true, fixedrange: true, ticks: "outside", tickcolor: css("--line"), ticklen: 4 };
  const { xaxis, yaxis, ...others } = layout;
  const merged = {
    margin: { l: 56, r: 14, t: 8, b: 44 }, height: 340, width: node.clientWidth, showlegend: false, hovermode: "closest", dragmode: false,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif", size: 12, color: css("--ink") },
    hoverlabel: { bgcolor: css("--card"), bordercolor: css("--faint"), font: { color: css("--ink"), size: 12 }, align: "left" },
    ...others,
    xaxis: { ...axis, ...xaxis, title: { text: esc(xaxis.title ?? ""), standoff: 8 } },
    yaxis: { ...axis, ...yaxis, title: { text: esc(yaxis.title ?? ""), standoff: 8 } },
  };
  if (node.querySelector(".empty")) node.replaceChildren();
  window.Plotly.react(node, traces, merged, { displayModeBar: false });
}

function empty(node, text) {
  if (window.Plotly && node.classList.contains("js-plotly-plot")) window.Plotly.purge(node);
  fill(node, el("p", { class: "empty" }, text));
}

function tinted(hex, alpha) {
  const c = toHex(hex);
  return `rgba(${parseInt(c.slice(1, 3), 16)},${parseInt(c.slice(3, 5), 16)},${parseInt(c.slice(5, 7), 16)},${alpha})`;
}

// -- distance against non-specificity ----------------------------------------------------------------------------------

function ellipse(region) {
  const [a, b] = region.half_widths.map(number);
  const c = number(region.covariance);
  if (!(a >= 0 && b >= 0)) return null;
  const slant = a > 0 ? c / a : 0;
  const rest = Math.sqrt(Math.max(0, b * b - slant * slant));
  const turns = Array.from({ length: 61 }, (_, i) => (i * Math.PI) / 30);
  return {
    x: turns.map((t) => number(region.nonspecificity[0]) + slant * Math.cos(t) + rest * Math.sin(t)),
    y: turns.map((t) => number(region.distance[0]) + a * Math.cos(t)),
  };
}

// Puts each label beside its point where no earlier label or point lies.
function placeLabels(points, xRange, yRange, width, height) {
  const px = (p) => [((p.x - xRange[0]) / (xRange[1] - xRange[0])) * width, (1 - (p.y - yRange[0]) / (yRange[1] - yRange[0])) * height];
  const reach = (p) => [(p.rx / (xRange[1] - xRange[0])) * width, (p.ry / (yRange[1] - yRange[0])) * height];
  const boxes = points.map((p) => { const [x, y] = px(p); const [a, b] = reach(p); return [x - Math.max(6, a), y - Math.max(6, b), x + Math.max(6, a), y + Math.max(6, b)]; });
  const overlaps = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  return points.map((p, i) => {
    const [x, y] = px(p);
    const w = 7 * p.text.length + 4;
    const [a, b] = reach(p).map((r) => Math.max(6, r) + 4);
    const options = [[a, 0], [-a, 0], [0, -b - 8], [0, b + 8], [a, -16], [a, 16], [-a, -16], [-a, 16], [a, -32], [a, 32]];
    const boxFor = ([dx, dy]) => {
      const left = dx > 0 ? x + dx : dx < 0 ? x + dx - w : x - w / 2;
      return [left, y + dy - 8, left + w, y + dy + 8];
    };
    const fits = (box) => box[0] >= 0 && box[2] <= width && box[1] >= 0 && box[3] <= height && boxes.every((other, k) => k === i || !overlaps(box, other));
    const [dx, dy] = options.find((o) => fits(boxFor(o))) ?? options[0];
    boxes.push(boxFor([dx, dy]));
    return { x: p.x, y: p.y, text: esc(p.text), showarrow: false, xshift: dx, yshift: -dy, xanchor: dx > 0 ? "left" : dx < 0 ? "right" : "center", bgcolor: css("--page"), opacity: 0.9, borderpad: 0, font: { color: p.color, size: 12 } };
  });
}

function drawPlane(node) {
  const regions = (page.regions[state.part] ?? []).filter((r) => r !== null);
  const points = shown().map((m) => ({ m, region: regions.find((r) => r.model === m.name) })).filter((p) => p.region && Number.isFinite(number(p.region.distance[0])));
  if (!points.length) { empty(node, "No instances of this kind."); return; }
  const outer = (key, i) => points.map((p) => number(p.region[key][i])).map((v, k) => (Number.isFinite(v) ? v : number(points[k].region[key][0])));
  const xTop = (Math.max(...outer("nonspecificity", 2)) || 0.1) * 1.18;
  const xRange = [-0.05 * xTop, xTop];
  const [yLow, yTop] = [Math.min(...outer("distance", 1)), Math.max(...outer("distance", 2))];
  const yPad = 0.1 * (yTop - yLow || yTop || 1);
  const yRange = [yLow < 0.45 * yTop ? -0.02 * yTop : yLow - yPad, yTop + yPad];
  const at = lambda();
  const loss = (p) => number(p.region.distance[0]) + at * number(p.region.nonspecificity[0]);
  const best = points.reduce((a, b) => (loss(b) < loss(a) ? b : a));
  const traces = [];
  const iso = (e, line, text) => traces.push({ x: xRange, y: xRange.map((x) => e - at * x), mode: "lines", line, hoverinfo: "skip", cliponaxis: true, text });
  const step = niceCeil((yRange[1] - yRange[0] + at * xTop) / 9, [1, 2, 2.5, 5, 10]);
  const notes = [];
  for (let e = Math.ceil(yRange[0] / step) * step; e < yRange[1] + at * xTop; e += step) {
    if (e < 1e-12) continue;
    iso(e, { color: css("--line"), width: 1 });
    const atRight = e - at * xRange[1];
    if (atRight > yRange[0] && atRight < yRange[1]) notes.push({ x: xRange[1], y: atRight, text: `E ${Number(e.toPrecision(3))}`, showarrow: false, xanchor: "right", yanchor: "bottom", font: { size: 10, color: css("--faint") } });
  }
  iso(loss(best), { color: colour(best.m.j), width: 2, dash: "dash" });
  for (const { m, region } of points) {
    const oval = ellipse(region);
    if (oval) traces.push({ ...oval, mode: "lines", fill: "toself", fillcolor: tinted(colour(m.j), 0.22), line: { color: colour(m.j), width: 1 }, hoverinfo: "skip" });
    const [d, dl, dh] = region.distance; const [n, nl, nh] = region.nonspecificity;
    traces.push({ x: [number(n)], y: [number(d)], mode: "markers", marker: { color: colour(m.j), size: 9, symbol: marker(m.j) }, hoverinfo: "text",
      hovertext: `<b>${esc(m.name)}</b><br>d ${fixed(d)} (${fixed(dl)} to ${fixed(dh)})<br>NS ${fixed(n)} (${fixed(nl)} to ${fixed(nh)})<br>n = ${region.n}` });
  }
  const absent = shown().filter((m) => !points.some((p) => p.m.j === m.j));
  if (absent.length) notes.push({ x: 0.5, y: 1, xref: "paper", yref: "paper", yanchor: "bottom", text: esc(`not here (${regions.some((r) => r.model === absent[0].name) ? "infinite" : "no such instances"}): ${absent.map((m) => m.name).join(", ")}`), showarrow: false, font: { size: 11, color: css("--soft") } });
  const labels = placeLabels(points.map(({ m, region }) => ({ x: number(region.nonspecificity[0]), y: number(region.distance[0]), rx: number(region.half_widths[1]) || 0, ry: number(region.half_widths[0]) || 0, text: m.name.length > 20 ? `${m.name.slice(0, 19)}…` : m.name, color: colour(m.j) })),
    xRange, yRange, node.clientWidth - 70, 288);
  plot(node, traces, { annotations: [...notes, ...labels], ...(absent.length ? { margin: { l: 56, r: 14, t: 22, b: 44 } } : {}), xaxis: { title: "mean NS", range: xRange, zeroline: false }, yaxis: { title: "mean distance d", range: yRange, zeroline: false } });
}

// -- E against λ -------------------------------------------------------------------------------------------------------

function drawLines(node) {
  const x = ranking.grid;
  const values = (j, key) => ranking.models[j][key].map(number).map((v) => (Number.isFinite(v) ? v : null));
  const traces = [];
  const models = shown();
  for (const m of models) {
    const line = { color: colour(m.j), width: 2, dash: dash(m.j) };
    traces.push({ x, y: values(m.j, "low"), mode: "lines", line: { width: 0 }, hoverinfo: "skip" });
    traces.push({ x, y: values(m.j, "high"), mode: "lines", line: { width: 0 }, fill: "tonexty", fillcolor: tinted(colour(m.j), 0.18), hoverinfo: "skip" });
    traces.push({ x, y: values(m.j, "estimate"), mode: "lines", line, hoverinfo: "text",
      hovertext: x.map((t, i) => `<b>${esc(m.name)}</b><br>λ ${lambdaText(t)}: E ${fixed(ranking.models[m.j].estimate[i])} (${fixed(ranking.models[m.j].low[i])} to ${fixed(ranking.models[m.j].high[i])})`) });
  }
  const yTop = 1.08 * Math.max(1e-6, ...models.flatMap((m) => values(m.j, "high").concat(values(m.j, "estimate"))).filter((v) => v !== null));
  for (const [j, b] of page.models.entries()) {
    if (b.baseline) traces.push({ x, y: values(j, "estimate"), mode: "lines", line: { color: colour(j), width: 1.5, dash: "dot" }, hoverinfo: "text", hovertext: x.map((t, i) => `${esc(b.name)} (baseline)<br>λ ${lambdaText(t)}: E ${fixed(ranking.models[j].estimate[i])}`) });
  }
  // names at the right end, pushed apart, and those of the baselines where they leave the picture
  const ends = models.map((m) => ({ text: short(m.name, 16), y: values(m.j, "estimate").at(-1), color: colour(m.j) })).filter((e) => e.y !== null).sort((a, b) => a.y - b.y);
  const gap = (yTop / 288) * 14;
  ends.forEach((e, i) => { e.at = i ? Math.max(e.y, ends[i - 1].at + gap) : e.y; });
  for (let i = ends.length - 1, ceiling = yTop; i >= 0; i -= 1) { ends[i].at = Math.min(ends[i].at, ceiling); ceiling = ends[i].at - gap; }
  const annotations = ends.map((e) => ({ x: 1, xref: "paper", xanchor: "left", xshift: 4, y: e.at, text: e.text, showarrow: false, font: { color: e.color, size: 12 } }));
  for (const [j, b] of page.models.entries()) {
    if (!b.baseline) continue;
    const y = values(j, "estimate");
    const last = y.findLastIndex((v) => v !== null && v <= 0.94 * yTop);
    if (last > 0) annotations.push({ x: x[last], y: y[last], text: b.name, showarrow: false, xanchor: last > 0.8 * x.length ? "right" : "left", xshift: last > 0.8 * x.length ? -4 : 6, yshift: last > 0.8 * x.length ? 9 : 0, font: { color: css("--faint"), size: 11 } });
  }
  const longest = Math.max(...ends.map((e) => e.text.length), 4);
  plot(node, traces, { annotations, margin: { l: 52, r: Math.min(130, 7 * longest + 10), t: 8, b: 44 },
    shapes: [{ type: "line", x0: lambda(), x1: lambda(), yref: "paper", y0: 0, y1: 1, line: { color: css("--ink"), width: 1.5 } }],
    xaxis: { title: "λ", range: [0, top_] }, yaxis: { title: "mean E", range: [0, yTop] } });
}

// -- densities by correctness ------------------------------------------------------------------------------------------

function ridges(quantity) {
  return (node) => {
    const source = page.densities[quantity];
    let at = null;
    let models = source.models;
    if (quantity === "unified") {
      at = source.tradeoffs.reduce((b, t, i) => (Math.abs(t - lambda()) < Math.abs(source.tradeoffs[b] - lambda()) ? i : b), 0);
      models = source.models[at];
      const t = source.tradeoffs[at];
      byId("ridge-lambda").textContent = `At λ = ${lambdaText(t)}${Math.abs(t - lambda()) < 1e-9 ? "" : ", the nearest for which the page holds it"}.`;
    }
    const rows = shown();
    const traces = [];
    const annotations = [];
    rows.forEach((m, i) => {
      const y0 = rows.length - 1 - i;
      const parts = models[candidates.findIndex((c) => c.j === m.j)];
      if (["correct", "wrong"].every((p) => !parts[p] || parts[p].zero)) {
        annotations.push({ x: 0.5, xref: "paper", y: y0, yanchor: "bottom", text: quantity === "nonspecificity" && m.precise ? "a point prediction: always 0" : nothingBut(m, parts, quantity), showarrow: false, font: { size: 11, color: css("--faint") } });
        return;
      }
      for (const [part, sign] of [["correct", 1], ["wrong", -1]]) {
        const p = parts[part];
        if (!p) continue;
        const peak = Math.max(...p.density) || 1;
        const x = [source.axis[0], ...source.axis, source.axis.at(-1)];
        const y = [y0, ...p.density.map((v) => y0 + (sign * 0.43 * v) / peak), y0];
        if (p.at_end > 0.01) annotations.push({ x: 0, xref: "paper", xanchor: "left", xshift: 2, y: y0 + sign * 0.2, text: `◂${percent(p.at_end)}`, showarrow: false, font: { size: 11, color: css("--soft") } });
        const below = p.at_end > 0.0005 ? `<br>${percent(p.at_end)} at the left end or below` : "";
        traces.push({ x, y, mode: "lines", fill: "toself", hoveron: "fills", hoverinfo: "text", line: { color: colour(m.j), width: 1 },
          fillcolor: tinted(colour(m.j), part === "correct" ? 0.75 : 0.28),
          text: `<b>${esc(m.name)}</b>, ${part} (n = ${p.n}${p.infinite ? `, and ${p.infinite} infinite` : ""})<br>mean ${fixed(p.mean)}, median ${Number(number(p.quartiles[1]).toPrecision(2))}${below}` });
        const median = number(p.quartiles[1]);
        if (median > source.axis[0]) traces.push({ x: [median, median], y: [y0, y0 + sign * 0.36], mode: "lines", line: { color: css("--ink"), width: 2 }, hoverinfo: "skip" });
      }
    });
    const names = { distance: `d${page.facts.distance === "kl" || page.facts.distance === "js" ? " (nats)" : ""}`, nonspecificity: "NS", unified: "E" };
    const beside = quantity !== "distance" && (innerWidth > 900 || document.documentElement.classList.contains("printing")); // the first one names the rows
    const [left, right] = [source.axis[0], source.axis.at(-1)].map(Math.log10);
    const ends = rows.some((m) => Object.values(models[candidates.findIndex((c) => c.j === m.j)]).some((p) => p?.at_end > 0.01));
    const gutter = ((ends ? 48 : 4) / Math.max(120, node.clientWidth - (beside ? 30 : 130))) * (right - left);
    const multiples = right - left > 2.5 ? [1] : right - left > 1 ? [1, 3] : [1, 2, 3, 5, 7];
    const within = Array.from({ length: 12 }, (_, k) => multiples.map((f) => f * 10 ** (k - 8))).flat().filter((t) => t >= source.axis[0] && t <= source.axis.at(-1));
    const every = Math.ceil((40 * within.length) / Math.max(60, node.clientWidth - (beside ? 40 : 140)));
    const ticks = within.filter((_, i) => (within.length - 1 - i) % every === 0);
    plot(node, traces, { annotations, height: 74 + 64 * rows.length, margin: { l: 20, r: 10, t: 6, b: 42 },
      xaxis: { type: "log", title: names[quantity], range: [left - gutter, right], tickvals: ticks, ticktext: ticks.map((t) => String(Number(t.toPrecision(1)))), tickangle: 0 },
      yaxis: { range: [-0.55, rows.length - 0.45], tickvals: rows.map((_, i) => rows.length - 1 - i), ticktext: rows.map((m) => short(m.name, 16)), showticklabels: !beside, zeroline: false, ticks: "", showgrid: true } });
  };
}

// Words for a row without a density.
function nothingBut(m, parts, quantity) {
  const zero = Object.values(parts).some((p) => p?.zero);
  const infinite = quantity !== "nonspecificity" && ["correct", "wrong"].some((p) => (page.regions[p] ?? []).some((r) => r?.model === m.name && number(r.distance[0]) === Infinity));
  return infinite ? (zero ? "0 or infinite" : "infinite in every instance") : "0 in every instance";
}

function drawCorrectness() {
  const part = (name, model) => (page.regions[name] ?? []).find((r) => r && r.model === model) ?? null;
  const rows = candidates.map((m) => ({ m, key: m.name, correct: part("correct", m.name), wrong: part("wrong", m.name) }));
  const e = (region) => (region ? number(region.distance[0]) + lambda() * number(region.nonspecificity[0]) : NaN);
  const ends = (region) => region?.unified.find((u) => Math.abs(u[0] - lambda()) < 1e-9)?.slice(2) ?? [null, null];
  const columns = [{ title: "Model", text: true, cls: "name", value: (r) => r.key, cell: (r) => nameCell(r.m.j) }];
  for (const side of ["correct", "wrong"]) {
    const why = `no ${side} predictions`;
    const places = (key) => decimalsFor(rows.filter((r) => r[side]).map((r) => r[side][key].slice(1)));
    const [dPlaces, nPlaces] = [places("distance"), places("nonspecificity")];
    columns.push({ title: `n ${side}`, value: (r) => r[side]?.n ?? 0, cell: (r) => (r[side]?.n ?? 0).toLocaleString("en") });
    columns.push({ title: `d ${side}`, define: side === "correct" ? "distance" : null, value: (r) => r[side]?.distance[0], cell: (r) => interval(...(r[side]?.distance ?? [null, null, null]), dPlaces, why) });
    columns.push({ title: `NS ${side}`, define: side === "correct" ? "nonspecificity" : null, value: (r) => r[side]?.nonspecificity[0], cell: (r) => interval(...(r[side]?.nonspecificity ?? [null, null, null]), nPlaces, why) });
    columns.push({ title: `E ${side}`, define: side === "correct" ? "unified" : null, value: (r) => e(r[side]), cell: (r) => interval(e(r[side]), ...ends(r[side]), dPlaces, why) });
  }
  fill(byId("by-correctness"), table(columns, rows, { caption: `Means over the instances that each model classifies correctly and over the others; E at λ = ${lambdaText(lambda())}${rows.some((r) => number(ends(r.correct ?? r.wrong)[0]) >= 0) ? "" : ", its interval only at the λ of the findings"}.` }));
}

// -- measures together -------------------------------------------------------------------------------------------------

function scatter(node, models, x, y, axes, lines = null) {
  if (!models.length) { empty(node, "Only point predictions are shown, and their sets have no size."); return; }
  const held = page.instances;
  const each = Math.min(held.sample.length, Math.floor(POINTS / models.length));
  const chosen = held.sample.slice().sort((a, b) => scramble(a) - scramble(b)).slice(0, each);
  const traces = models.map((m) => {
    const [xs, ys] = [x(m), y(m)];
    return { x: chosen.map((i) => xs[i]), y: chosen.map((i) => ys[i]), customdata: chosen, mode: "markers", hoverinfo: "text", cliponaxis: true,
      hovertext: chosen.map((i) => `<b>${esc(m.name)}</b><br>instance ${esc(instanceName(i))}<br>${esc(axes[0])} ${fixed(xs[i])}, ${esc(axes[1])} ${fixed(ys[i])}`),
      marker: { color: tinted(colour(m.j), 0.4), size: 4, symbol: marker(m.j) } };
  });
  for (const m of lines ? models : []) {
    const line = page.confidence[lines][candidates.findIndex((c) => c.j === m.j)];
    traces.push({ x: line.confidence, y: line.mean.map(number), mode: "lines+markers", line: { color: colour(m.j), width: 2.5, dash: dash(m.j) }, hoverinfo: "text",
      hovertext: line.n.map((n, i) => `<b>${esc(m.name)}</b><br>mean ${fixed(line.mean[i])} over ${n} instances<br>mean confidence ${fixed(line.confidence[i], 2)}`),
      marker: { color: colour(m.j), size: 7, symbol: marker(m.j), line: { color: css("--page"), width: 1.5 } } });
  }
  plot(node, traces, { height: 320, xaxis: { title: axes[0], zeroline: false }, yaxis: { title: axes[1], rangemode: "tozero", zeroline: false } });
  if (!node.dataset.clicks) {
    node.dataset.clicks = "1";
    node.on("plotly_click", (event) => {
      const i = event.points[0]?.customdata;
      if (i !== undefined) { pickInstance(i); byId("instances").scrollIntoView(); }
    });
  }
}

const scramble = (i) => ((i + 1) * 2654435761) % 4294967296;

function startCharts() {
  fill(byId("filter"), el("span", { class: "note" }, "Show"),
    candidates.map((m) => el("button", { type: "button", class: "model", "aria-pressed": "true", title: m.name, on: { click: (event) => toggle(m, event.currentTarget) } }, swatch(m.j), el("bdi", {}, m.name))),
    el("label", { class: "lambda" }, "λ ", el("span", { "data-lambda": "" }), el("input", { type: "range", min: 0, step: 1, "aria-label": "λ" })));
  slider(byId("filter").querySelector("input"));
  const parts = [["all", "all instances"], ["correct", "correct"], ["wrong", "wrong"]].filter(([part]) => page.regions[part]);
  const buttons = parts.map(([part, label]) => el("button", { type: "button", "aria-pressed": String(part === "all"), on: { click: () => {
    state.part = part;
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(parts[i][0] === part)));
    drawPlane(byId("plane"));
  } } }, label));
  fill(byId("plane-part"), buttons);
  for (const node of document.querySelectorAll("h4[data-title]")) fill(node, page.definitions[node.dataset.title].title, " ", what(node.dataset.title));
  chart("plane", drawPlane, { follows: true });
  chart("lines", drawLines, { follows: true });
  chart("ridge-distance", ridges("distance"));
  chart("ridge-nonspecificity", ridges("nonspecificity"));
  chart("ridge-unified", ridges("unified"), { follows: true });
  listeners.push(drawCorrectness);
  if (page.instances) {
    const column = (name) => (m) => page.instances.columns[m.name][name];
    const confidence = (m) => page.instances.confidences[m.name];
    const sets = () => shown().filter((m) => !m.precise);
    const has = (name) => candidates.every((m) => name in page.instances.columns[m.name]);
    const n = Math.min(page.instances.sample.length, Math.floor(POINTS / candidates.length));
    const whole = n === page.facts.instances ? (n === 1 ? "the only instance" : `all ${n} instances`) : `a random sample of ${n.toLocaleString("en")} of the ${page.facts.instances.toLocaleString("en")} instances, the same for every model`;
    byId("sample-note").textContent = `Points: ${whole}${candidates.some((m) => m.runs > 1) ? ", first training run" : ""}. Lines: means over all instances in ten bins of confidence. A click on a point opens the instance.`;
    chart("width", (node) => (has("credal-width") ? scatter(node, sets(), column("nonspecificity"), column("credal-width"), ["NS", "credal width"]) : empty(node, "The credal width was not among the measures asked for.")));
    chart("ns-confidence", (node) => scatter(node, sets(), confidence, column("nonspecificity"), ["confidence", "NS"], "nonspecificity"));
    chart("entropy-confidence", (node) => (has("total-entropy") ? scatter(node, shown(), confidence, column("total-entropy"), ["confidence", "entropy (nats)"], "total-entropy") : empty(node, "The entropy was not among the measures asked for.")));
  } else for (const id of ["width", "ns-confidence", "entropy-confidence"]) chart(id, (node) => empty(node, "This assay keeps no single instances."));
}

function toggle(m, button) {
  if (state.hidden.has(m.j)) state.hidden.delete(m.j);
  else if (shown().length > 1) state.hidden.add(m.j);
  button.setAttribute("aria-pressed", String(!state.hidden.has(m.j)));
  redraw();
}

function redraw() {
  if (window.Plotly) for (const run of charts) run();
}
