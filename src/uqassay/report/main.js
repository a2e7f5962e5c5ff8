// Sections 1 and 6, the colour scheme, and the order in which everything starts.

const KINDS = { Point: "point prediction", Members: "members", Dirichlet: "Dirichlet", Intervals: "probability intervals", Masses: "belief function", Vertices: "vertices", GaussianLogits: "Gaussian logits" };

function kindOf(m) {
  const kind = KINDS[m.kind] ?? m.kind;
  if (m.kind === "Members") return count(m.points, "member");
  if (m.kind === "Vertices") return `${m.points} vertices`;
  return m.points > 1 ? `${kind}, ${m.points} draws` : kind;
}

function drawSummary() {
  const distance = page.facts.distance_metric;
  const accuracies = candidates.map((m) => m.accuracy);
  const [least, most] = [Math.min(...accuracies), Math.max(...accuracies)];
  const groups = page.facts.groups ? ` (${count(page.facts.groups, "group")}, resampled whole)` : "";
  const labels = page.facts.distributions ? ", labelled by distributions" : "";
  byId("compared").textContent = `${count(candidates.length, "model")} and ${count(page.models.length - candidates.length, "baseline")} on ${count(page.facts.instances, "instance")}${groups} of ${count(page.facts.classes, "class", "classes")}${labels}; accuracy ${fixed(least)}${most > least ? ` to ${fixed(most)}` : ""}.`;
  const metrics = [["accuracy", "Accuracy"], ["log-loss", "Log loss"], ["brier", "Brier"], ["ece", "ECE"], [distance, "Distance d", "distance"], ["nonspecificity", "NS"],
    ...page.facts.measures.map((m) => [m, page.definitions[m].title])];
  const rows = page.models.map((m, j) => ({ ...m, j, key: m.name }));
  const get = (row, metric) => finding(row.name, metric);
  const columns = [
    { title: "Model", text: true, cls: "name", value: (r) => r.name, cell: (r) => el("span", {}, nameCell(r.j), r.baseline ? what(r.name) : null, el("span", { class: "i" }, r.baseline ? "baseline" : kindOf(r), r.runs > 1 ? ` · ${r.runs} runs` : null)) },
    ...metrics.map(([metric, title, define]) => {
      const places = decimalsFor(rows.filter((r) => !r.baseline).map((r) => get(r, metric)).filter(Boolean).map((f) => [f.low, f.high]));
      return { title, define: define ?? metric, value: (r) => get(r, metric)?.estimate, cell: (r) => {
        const f = get(r, metric);
        return f ? interval(f.estimate, f.low, f.high, places, noteText(f.notes) || "not defined") : el("span", { title: "a baseline makes no single prediction" }, "–");
      } };
    }),
  ];
  fill(byId("summary"), table(columns, rows, { rowClass: (r) => (r.baseline ? "baseline" : null) }));
}

function drawHow() {
  const s = page.assay.settings;
  const p = page.assay.provenance;
  const facts = (entries) => el("dl", { class: "facts" }, entries.filter(([, value]) => value !== null && value !== undefined).flatMap(([term, value]) => [el("dt", {}, term), el("dd", {}, value)]));
  const words = { "student-t": "Student t", hall: "Student t corrected for skewness (Hall)", wilson: "Wilson" };
  const methods = [...new Set(page.assay.findings.filter((r) => r.low !== null && r.metric !== "accuracy").map((r) => words[r.method] ?? r.method))];
  const hash = (text) => el("span", { class: "hash" }, text);
  const repaired = page.models.some((m) => m.notes.some((note) => note.includes("repaired")));
  const small = (x) => (number(x) === 0 ? "none" : Number(number(x).toPrecision(3)).toExponential().replace("-", "−"));
  const floors = [...new Set(candidates.map((m) => small(m.floor)))];
  fill(byId("settings"),
    facts([
      ["distance", page.definitions.distance.title.replace(/^d, the distance /, "").replace(/[()]/g, "")], ["non-specificity", s.nonspecificity],
      ["convention", s.convention === "exact" ? (repaired ? "exact, but negative masses of some rows were repaired on the way in (see below)" : "exact: masses are never clipped") : "paper: negative masses set to 0, rows renormalised"],
      ["focal sets", s.focal_sets ? `${s.focal_sets.length} sets` : "all events"],
      ["floor of probabilities", s.floor !== null ? String(s.floor) : floors.length > 1 ? "by the precision of each input (see below)" : `${floors[0]}, ${s.convention === "paper" ? "that of the paper's code" : "by the precision of the inputs"}`],
      ["measures beside", s.measures.join(", ") || "none"],
      ["λ of the findings", page.assay.tradeoff.map((t) => lambdaText(t.tradeoff)).join(", ")],
    ]),
    facts([
      ["intervals", `${levelText()}; means: ${listed(methods) || "none"}${page.facts.groups ? `, over ${count(page.facts.groups, "group")}` : ""}; shares: Wilson`], ["winning probability", `${s.n_draws.toLocaleString("en")} paired bootstrap draws`],
      ["tests", "paired t test against the best model, Holm"], ["seed", String(s.seed)],
      ["versions", `uqassay ${p.uqassay}, Python ${p.python}, NumPy ${p.numpy}, SciPy ${p.scipy}`],
      ["SHA-256 of the label array", hash(p.labels_sha256)], ["time taken", p.seconds === undefined ? null : p.seconds < 0.1 ? "less than 0.1 s" : `${fixed(p.seconds, 1)} s`],
    ]));
  const models = page.assay.models.map((m, j) => ({ ...m, j, key: m.model }));
  fill(byId("inputs"), table([
    { title: "Model", text: true, cls: "name", value: (r) => r.model, cell: (r) => nameCell(r.j) },
    { title: "Kind", text: true, value: (r) => r.kind, cell: (r) => r.kind },
    { title: "Runs", value: (r) => r.runs, cell: (r) => r.runs },
    { title: "Points per set", value: (r) => r.points, cell: (r) => r.points ?? el("span", { title: "the set is given by lower probabilities, not by points" }, "–") },
    { title: "Rows floored", value: (r) => r.floored, cell: (r) => r.floored.toLocaleString("en") },
    { title: "Floor", value: (r) => r.floor, cell: (r) => small(r.floor) },
    ...(page.models.some((m) => m.notes.length) ? [{ title: "Changed on the way in", text: true, cls: "name", cell: (r) => page.models[r.j].notes.join("; ") || "–" }] : []),
    { title: "SHA-256 of the arrays", text: true, cell: (r) => el("span", { class: "hash", title: r.sha256 }, `${r.sha256.slice(0, 16)}…`) },
  ], models));
  if (page.command) {
    const copy = el("button", { type: "button", id: "copy", on: { click: () => copyCommand(copy) } }, "Copy");
    fill(byId("command"), el("h3", {}, "Make this page again"), el("pre", { id: "command-text", tabindex: "0" }, page.command), copy);
  }
  const columns = ["model", "run", "metric", "score", "tradeoff", "estimate", "low", "high", "n", "method", "notes"];
  const text = new Set(["model", "run", "metric", "score", "method", "notes"]);
  byId("findings").closest("details").addEventListener("toggle", () => fill(byId("findings"), table(columns.map((name) => ({
    title: name, text: text.has(name), cls: name === "notes" || name === "model" ? "name" : "", value: (r) => (name === "notes" ? noteText(r.notes) : r[name] ?? NaN),
    cell: (r) => (name === "notes" ? noteText(r.notes) : text.has(name) ? r[name] : name === "n" ? r.n.toLocaleString("en") : name === "tradeoff" ? (r.tradeoff === null ? "" : lambdaText(r.tradeoff)) : fixed(r[name], 4)),
  })), page.assay.findings)), { once: true });
  byId("csv").addEventListener("click", () => download("findings.csv", "text/csv", csvText(page.assay.findings)));
  byId("json").addEventListener("click", () => download("findings.json", "application/json", JSON.stringify(page.assay, null, 1)));
  fill(byId("glossary"), Object.values(page.definitions).filter((d, i, all) => all.findIndex((e) => e.title === d.title) === i).flatMap((d) => [
    el("dt", {}, d.title), el("dd", {}, d.sentence, d.equation ? el("div", { class: "equation" }, d.equation) : null, d.source ? el("span", { class: "i" }, d.source) : null)]));
}

function csvText(rows) {
  const columns = Object.keys(rows[0]);
  const quote = (value) => { const text = Array.isArray(value) ? noteText(value) : String(value ?? ""); return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text; };
  return [columns, ...rows.map((row) => columns.map((c) => row[c]))].map((cells) => cells.map(quote).join(",")).join("\r\n") + "\r\n";
}

function download(name, type, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function copyCommand(button) {
  try {
    await navigator.clipboard.writeText(page.command);
  } catch {
    getSelection().selectAllChildren(byId("command-text")); // without the clipboard, copying is one key away
    button.textContent = "Selected: press Ctrl+C";
    return;
  }
  button.textContent = "Copied";
}

// -- colour scheme -----------------------------------------------------------------------------------------------------

const system = matchMedia("(prefers-color-scheme: dark)");
let scheme = "auto";
try { scheme = localStorage.getItem("uqassay-scheme") ?? "auto"; } catch { /* pages from a file may have no storage */ }

function paint(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = { auto: "◐ auto", light: "☀ light", dark: "☾ dark" }[scheme];
  byId("theme").setAttribute("aria-label", `Colour scheme: ${scheme === "auto" ? "as the system" : scheme}`);
}

const chosenTheme = () => (scheme === "auto" ? (system.matches ? "dark" : "light") : scheme);

function repaint(theme) {
  paint(theme);
  drawSummary();
  drawStrip();
  for (const node of document.querySelectorAll("#filter .model")) {
    node.querySelector(".swatch").style.background = colour(candidates[[...node.parentElement.querySelectorAll(".model")].indexOf(node)].j);
  }
  for (const listener of listeners) listener();
  redraw();
}

// -- start -------------------------------------------------------------------------------------------------------------

async function start() {
  paint(chosenTheme());
  document.title = plain(document.title);
  for (const node of document.querySelectorAll("h1, .warnings li")) node.textContent = plain(node.textContent);
  for (const node of document.querySelectorAll("[data-level]")) node.textContent = levelText();
  for (const node of document.querySelectorAll("[data-draws]")) node.textContent = page.facts.draws.toLocaleString("en");
  for (const node of document.querySelectorAll("button[data-define]")) {
    node.setAttribute("aria-label", `What is ${page.definitions[node.dataset.define].title}?`);
    node.addEventListener("click", () => define(node.dataset.define));
  }
  page.instances = await unpack(page.instances);
  drawSummary();
  startRanking();
  drawStrip();
  startCharts();
  startLenses();
  startInstances();
  drawHow();
  setIndex(ranking.reference);
  byId("theme").addEventListener("click", () => {
    scheme = { auto: "light", light: "dark", dark: "auto" }[scheme];
    try { localStorage.setItem("uqassay-scheme", scheme); } catch { /* kept for this visit only */ }
    repaint(chosenTheme());
  });
  system.addEventListener("change", () => repaint(chosenTheme()));
  const printing = (on) => { document.documentElement.classList.toggle("printing", on); repaint(on ? "light" : chosenTheme()); };
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));
  let [width, waiting] = [innerWidth, null];
  addEventListener("resize", () => {
    if (innerWidth === width) return; // a phone's address bar comes and goes
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(() => { drawStrip(); redraw(); }, 120);
  });
  const source = new TextDecoder().decode(await inflate(byId("plotly").textContent));
  document.head.append(el("script", {}, source));
  for (const run of charts) {
    run();
    await new Promise((done) => { setTimeout(done); });
  }
  document.documentElement.dataset.ready = "yes";
}

start().catch((problem) => {
  console.error(problem);
  byId("failed").hidden = false;
  byId("failed").textContent = typeof DecompressionStream === "undefined" ? "This browser is too old for the rest of the page; Chrome 80, Firefox 113 or Safari 16.4 show it."
    : `The rest of the page could not be drawn: ${problem.message}`;
});
