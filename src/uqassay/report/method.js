// Section 6: how it was computed, the findings to download, the glossary.

function drawHow() {
  const text = page.text.method;
  const hash = el("span", { class: "hash" }, page.assay.provenance.labels_sha256);
  const facts = (entries) =>
    el("dl", { class: "facts" }, entries.flatMap(([term, value]) => [el("dt", {}, term), el("dd", {}, value)]));
  const taken = text.seconds ? [[text.time_taken, text.seconds]] : [];
  const procedures = [...text.procedures, [text.labels_hash, hash], ...taken];
  fill(byId("settings"), facts(text.conventions), facts(procedures));
  drawInputs(text);
  if (page.command) {
    const copy = el("button", { type: "button", id: "copy", on: { click: () => copyCommand(copy) } }, text.copy);
    const line = byId("command-text");
    fill(byId("command"), el("h3", {}, text.again), line, copy);
  }
  byId("findings").closest("details").addEventListener("toggle", drawFindings, { once: true });
  byId("csv").addEventListener("click", () => download("findings.csv", "text/csv", csvText(page.assay.findings)));
  const json = () => JSON.stringify(page.assay, null, 1);
  byId("json").addEventListener("click", () => download("findings.json", "application/json", json()));
  drawGlossary();
}

function drawInputs(text) {
  const rows = page.assay.models.map((m, j) => ({ ...m, j, key: m.model }));
  const heads = text.heads;
  const notes = (r) => noteItems(page.models[r.j].notes);
  const noted = (r) => (notes(r).length ? notes(r) : wording.ABSENT);
  const changed = { title: heads.notes, text: true, cls: "name", cell: noted };
  const hash = (r) => el("span", { class: "hash", title: r.sha256 }, `${r.sha256.slice(0, 16)}…`);
  const columns = [
    { title: heads.model, text: true, cls: "name", value: (r) => r.model, cell: (r) => wholeName(r.j) },
    { title: heads.kind, text: true, value: (r) => r.kind, cell: (r) => r.kind },
    { title: heads.runs, value: (r) => r.runs, cell: (r) => r.runs },
    { title: heads.points, value: (r) => r.points, cell: (r) => r.points ?? missing(text.no_points) },
    { title: heads.floored, value: (r) => r.floored, cell: (r) => wording.count(r.floored) },
    ...(rows.some((r) => notes(r).length) ? [changed] : []),
    { title: heads.hash, text: true, cell: hash },
  ];
  fill(byId("inputs"), table(columns, rows));
}

// -- the findings ----------------------------------------------------------------------------------------------------

function drawFindings() {
  const shown_ = {
    notes: (r) => noteItems(r.notes),
    n: (r) => wording.count(r.n),
    tradeoff: (r) => (r.tradeoff === null ? "" : wording.tradeoff(r.tradeoff)),
  };
  for (const name of ["estimate", "low", "high"]) shown_[name] = (r) => fixed(r[name], 4);
  const text = new Set(["model", "run", "metric", "score", "method", "notes"]);
  const names = ["model", "run", "metric", "score", "tradeoff", "estimate", "low", "high", "n", "method", "notes"];
  const columns = names.map((name) => ({
    title: name,
    text: text.has(name),
    cls: name === "notes" || name === "model" ? "name" : "",
    value: (r) => (name === "notes" ? noteLines(r.notes) : (r[name] ?? NaN)),
    cell: (r) => (shown_[name] ? shown_[name](r) : r[name]),
  }));
  fill(byId("findings"), table(columns, page.assay.findings));
}

function csvText(rows) {
  const columns = Object.keys(rows[0]);
  const quote = (value) => {
    const text = Array.isArray(value) ? noteLines(value) : plain(value ?? "");
    return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const lines = [columns, ...rows.map((row) => columns.map((c) => row[c]))];
  return `${lines.map((cells) => cells.map(quote).join(",")).join("\r\n")}\r\n`;
}

function download(name, type, text) {
  const href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = el("a", { href, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

async function copyCommand(button) {
  try {
    await navigator.clipboard.writeText(page.command);
    button.textContent = page.text.general.copied;
  } catch {
    getSelection().selectAllChildren(byId("command-text")); // without the clipboard, copying is one key away
    button.textContent = page.text.general.copy_by_key;
  }
}

function drawGlossary() {
  const all = Object.values(page.definitions);
  const once = all.filter((d, i) => all.findIndex((e) => e.title === d.title) === i);
  const entry = (d) => {
    const equation = d.equation ? el("div", { class: "equation" }, d.equation) : null;
    const source = d.source ? el("span", { class: "i" }, d.source) : null;
    return [el("dt", {}, d.title), el("dd", {}, d.sentence, equation, source)];
  };
  fill(byId("glossary"), once.flatMap(entry));
}
