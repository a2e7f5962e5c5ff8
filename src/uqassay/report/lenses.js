// Section 4: one question per section. A lens of the payload is drawn by the function registered under its id.

const lenses = {};
const FEW = 30; // instances in a bin below which its accuracy says little

lenses.calibration = (section, lens) => {
  const rows = lens.models.map((bins) => {
    const n = bins.count.reduce((a, b) => a + b, 0);
    const mean = (key) => bins[key].reduce((sum, v, i) => sum + v * bins.count[i], 0) / n;
    return { key: bins.model, j: page.models.findIndex((m) => m.name === bins.model), confidence: mean("confidence"), accuracy: finding(bins.model, "accuracy"), ece: finding(bins.model, "ece") };
  });
  const places = decimalsFor(rows.map((r) => [r.accuracy.low, r.accuracy.high]));
  const gap = (r) => r.confidence - number(r.accuracy.estimate);
  const judged = (r) => {
    const half = (number(r.accuracy.high) - number(r.accuracy.low)) / 2;
    return !(half > 0) ? "no interval to judge by" : Math.abs(gap(r)) <= half ? "within the interval" : gap(r) > 0 ? "too confident" : "too timid";
  };
  const columns = [
    { title: "Model", text: true, cls: "name", value: (r) => r.key, cell: (r) => nameCell(r.j) },
    { title: "Accuracy", define: "accuracy", value: (r) => r.accuracy.estimate, cell: (r) => interval(r.accuracy.estimate, r.accuracy.low, r.accuracy.high, places) },
    { title: "Mean confidence", define: "confidence", value: (r) => r.confidence, cell: (r) => fixed(r.confidence, places) },
    { title: "Gap", value: gap, cell: (r) => el("span", {}, fixed(gap(r), places).replace(/^(?=\d)/, gap(r) > 0 ? "+" : ""), el("span", { class: "i" }, judged(r))) },
    { title: "ECE", define: "ece", value: (r) => r.ece.estimate, cell: (r) => el("span", { title: r.ece.note }, fixed(r.ece.estimate, places)) },
  ];
  const votes = page.facts.distributions ? " The labels are distributions, so accuracy is the share of the votes for the predicted class, and confidence is held against that share." : "";
  section.append(el("div", { class: "figures beside" },
    el("figure", {}, el("div", { class: "chart", id: "reliability" }), el("figcaption", {}, `Accuracy in ten bins of confidence with its ${levelText()} interval, drawn at the bin's mean confidence; a calibrated model follows the diagonal. Open markers: fewer than ${FEW} instances. Bars below: where the instances are.`)),
    el("div", {}, el("div", { class: "scroll" }, table(columns, rows)), el("p", { class: "note" }, "Gap: mean confidence minus accuracy. A model can be too confident in one place and too timid in another; then the gap is small and the ECE is not.", votes))));
  chart("reliability", (node) => {
    const traces = [{ x: [0, 1], y: [0, 1], mode: "lines", line: { color: css("--faint"), width: 1, dash: "dot" }, hoverinfo: "skip" }];
    const visible = shown();
    const total = Math.max(...visible.map((m) => Math.max(...lens.models.find((b) => b.model === m.name).count) / lens.models.find((b) => b.model === m.name).count.reduce((a, b) => a + b, 0)));
    visible.forEach((m, i) => {
      const bins = lens.models.find((b) => b.model === m.name);
      const n = bins.count.reduce((a, b) => a + b, 0);
      const firm = bins.count.map((c) => c >= FEW);
      traces.push({ x: bins.confidence, y: bins.accuracy, mode: "lines+markers", line: { color: colour(m.j), width: 1.5, dash: dash(m.j) }, hoverinfo: "text",
        marker: { color: firm.map((f) => (f ? colour(m.j) : css("--page"))), size: 7, symbol: marker(m.j), line: { color: colour(m.j), width: 1.5 } },
        hovertext: bins.count.map((c, b) => `<b>${esc(m.name)}</b><br>confidence ${fixed(bins.edges[0][b], 1)} to ${fixed(bins.edges[1][b], 1)}: accuracy ${fixed(bins.accuracy[b])} (${fixed(bins.low[b])} to ${fixed(bins.high[b])})<br>${c} instances`),
        error_y: { type: "data", symmetric: false, array: bins.high.map((h, b) => h - bins.accuracy[b]), arrayminus: bins.low.map((l, b) => bins.accuracy[b] - l), color: tinted(colour(m.j), 0.7), thickness: 1.2, width: 3 } });
      const w = 0.08 / visible.length;
      traces.push({ type: "bar", x: bins.edges[0].map((e) => e + 0.01 + (i + 0.5) * w), y: bins.count.map((c) => c / n / total), width: w, yaxis: "y2", marker: { color: tinted(colour(m.j), 0.75) }, hoverinfo: "text",
        hovertext: bins.count.map((c) => `<b>${esc(m.name)}</b><br>${c} of ${n} instances (${percent(c / n)})`) });
    });
    const least = Math.min(...visible.flatMap((m) => lens.models.find((b) => b.model === m.name).edges[0]));
    plot(node, traces, { height: 400, xaxis: { title: "confidence", range: [least - 0.01, 1.01], anchor: "y2", zeroline: false }, yaxis: { title: "accuracy", range: [-0.02, 1.02], domain: [0.2, 1], zeroline: false },
      yaxis2: { domain: [0, 0.15], range: [0, 1.05], showticklabels: false, showgrid: false, fixedrange: true, linecolor: css("--line") }, bargap: 0 });
  });
};

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
