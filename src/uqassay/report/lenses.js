// Section 4: one question per section. A lens of the payload is drawn by the function registered under its id.

const lenses = {};

lenses.parts = (section, lens) => {
  const metrics = [["unified", "mean E"], ["accuracy", "accuracy"], ["distance", "mean distance"], ["nonspecificity", "mean NS"]];
  const by = el("select", { "aria-label": "Parts" }, lens.tables.map((t, i) => el("option", { value: i }, t.by === "class" ? "true class" : t.by)));
  const metric = el("select", { "aria-label": "Metric" }, metrics.map(([key, name]) => el("option", { value: key }, name)));
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Parts of the test set" });
  const sentence = el("p", {});
  section.append(el("p", { class: "buttons" }, metric, " by ", by), sentence, holder);
  const draw = () => {
    const chosen = lens.tables[Number(by.value)];
    const key = metric.value;
    const tradeoffs = page.assay.tradeoff.map((t) => t.tradeoff);
    const at = tradeoffs.reduce((b, t) => (Math.abs(t - lambda()) < Math.abs(b - lambda()) ? t : b), tradeoffs[0]);
    const cell = (part, m) => {
      const found = part.models[m.name];
      if (!found) return null;
      return key === "unified" ? found.unified.find((u) => u[0] === at).slice(1) : found[key] ?? null;
    };
    const better = (a, b) => (key === "accuracy" ? a > b : a < b);
    const winner = (part) => candidates.reduce((best, m) => (best === null || better(number(cell(part, m)?.[0]), number(cell(part, best)?.[0])) ? m : best), null);
    const rows = chosen.parts.map((part) => ({ ...part, key: part.part, best: winner(part), n: Math.max(...Object.values(part.models).map((m) => m.n)) }));
    const places = decimalsFor(rows.flatMap((r) => candidates.map((m) => (cell(r, m) ?? [null, null, null]).slice(1))));
    const marked = key !== "nonspecificity" && candidates.length > 1; // a small set is good only where the label is in it
    const columns = [
      { title: chosen.by === "class" ? "true class" : chosen.by, text: true, cls: "name", value: (r) => r.part, cell: (r) => r.part },
      { title: "n", value: (r) => r.n, cell: (r) => r.n.toLocaleString("en") },
      ...candidates.map((m) => ({ title: el("span", {}, swatch(m.j), el("bdi", {}, m.name)), value: (r) => cell(r, m)?.[0], cell: (r) => {
        const shownCell = interval(...(cell(r, m) ?? [null, null, null]), places, "no such instances");
        if (marked && r.best === m) shownCell.style.fontWeight = "700";
        return shownCell;
      } })),
    ];
    const overall = marked ? rows.map((r) => r.best.name) : [];
    const tally = candidates.map((m) => [m.name, overall.filter((name) => name === m.name).length]).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
    const what_ = { unified: `the lowest mean E at λ = ${lambdaText(at)}`, accuracy: "the highest accuracy", distance: "the lowest mean distance" }[key];
    fill(sentence, marked ? (tally.length === 1 ? `${tally[0][0]} has ${what_} in all ${rows.length} parts.`
      : `In ${rows.length} parts ${what_} goes to ${listed(tally.map(([name, n]) => `${name} (${n})`))}; bold marks it.`) : "");
    fill(holder, table(columns, rows, { caption: key === "unified" ? `E at λ = ${lambdaText(at)}${at === lambda() ? "" : ", the nearest λ of the findings"}; intervals are not adjusted for the number of parts.` : "Intervals are not adjusted for the number of parts." }));
  };
  by.addEventListener("change", draw);
  metric.addEventListener("change", draw);
  listeners.push(draw);
};

function startLenses() {
  fill(byId("lenses"), page.lenses.filter((lens) => lens.id in lenses).map((lens) => {
    const section = el("section", { id: `lens-${lens.id}`, "aria-labelledby": `lens-${lens.id}-h` }, el("h2", { id: `lens-${lens.id}-h` }, lens.title));
    lens.section = section;
    return section;
  }));
  for (const lens of page.lenses) if (lens.section) lenses[lens.id](lens.section, lens);
}
