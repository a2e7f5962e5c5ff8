// Drawings that were made beforehand, whose parts have the classes m0, m1, … of their models: which models they show, and the
// words at the pointer.

// The figure of a section, with its control of models where it follows them. `shows(m, part)`: whether a part of a model shown
// is drawn. The markup is made by Python, which escapes all text from data.
function drawnFigure(lens, id, { follows = true, shows = () => true } = {}) {
  const figure = el("figure", { id });
  figure.append(...new DOMParser().parseFromString(lens.figures[id], "text/html").body.childNodes);
  const svg = figure.querySelector("svg");
  tellWords(figure.querySelector(".drawing"));
  const update = () => {
    const places = shownPlaces();
    svg.classList.toggle("many", places.size > MOST_BANDS);
    for (const m of candidates) {
      for (const part of svg.getElementsByClassName(`m${m.j}`)) {
        const drawn = shows(m, part);
        part.classList.toggle("off", !drawn || !places.has(m.j));
        part.classList.toggle("other", drawn && candidates.length > MANY && !places.has(m.j));
      }
    }
  };
  if (follows && candidates.length > 1) {
    figure.querySelector(".drawing").before(modelControl({ grey: true }));
  }
  charts.push(update);
  return Object.assign(figure, { follow: update });
}

// Words at the pointer, of the nearest part that has any. Without this script the browser shows them as titles.
function tellWords(holder) {
  const parts = [...holder.querySelectorAll("title")].map((title) => {
    const [node, words] = [title.parentNode, title.textContent];
    title.remove();
    return { node, words };
  });
  const tip = el("div", { class: "tip", role: "presentation", hidden: true });
  holder.append(tip);
  const show = ({ clientX, clientY }) => {
    let [best, least] = [null, [NEAR, 0]];
    for (const part of parts) {
      const { left, right, top, bottom, width, height } = part.node.getBoundingClientRect();
      if (!width && !height) continue; // hidden
      const across = Math.max(left - clientX, clientX - right, 0);
      const along = Math.max(top - clientY, clientY - bottom, 0);
      const far = [Math.hypot(across, along), width * height]; // of parts that are as near, the smallest
      if (far[0] < least[0] || (far[0] === least[0] && far[1] < least[1])) [best, least] = [part, far];
    }
    tip.hidden = !best;
    if (!best) return;
    tip.textContent = plain(best.words);
    const box = holder.getBoundingClientRect();
    putTip(tip, holder, [clientX - box.left, clientY - box.top]);
  };
  for (const event of ["pointermove", "pointerdown"]) holder.addEventListener(event, show);
  holder.addEventListener("pointerleave", () => {
    tip.hidden = true;
  });
}
