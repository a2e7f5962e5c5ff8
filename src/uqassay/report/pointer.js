// Words at the pointer over a picture: those of the nearest point, else of the area under it. Where a click on a
// point does something, the arrow keys move from point to point, and Enter is the click.

function tellAtPointer(node, svg, drawn, sx) {
  const speaking = drawn.filter(({ m }) => m.says);
  if (!speaking.length) return;
  const points = speaking.filter(({ m }) => !m.area).map((d) => ({ ...d, at: placed(d.m.x, d.m.y, sx, d.sy) }));
  const areas = speaking.filter(({ m }) => m.area);
  const picks = points.some(({ m }) => m.pick);
  const tip = el("div", { class: "tip", role: picks ? "status" : "presentation", hidden: true });
  node.append(tip);
  const found = (event) => {
    const place = placeIn(svg, event);
    return nearestPoint(points, place) ?? areaUnder(areas, event.target, place);
  };
  const tell = (hit) => {
    tip.hidden = !hit;
    if (!hit) return;
    fill(tip, hit.m.says(hit.i).map((line) => el("div", {}, line)));
    putTip(tip, node, hit.place);
  };
  const show = (event) => {
    const hit = found(event);
    svg.style.cursor = hit?.m.pick ? "pointer" : "";
    tell(hit);
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", show);
  svg.addEventListener("pointerleave", () => {
    tip.hidden = true;
  });
  svg.addEventListener("click", (event) => {
    const hit = found(event);
    hit?.m.pick?.(hit.i);
  });
  if (picks) walkPoints(node, svg, points.filter(({ m }) => m.pick), tell);
}

// Left and right go through the points by x, up and down by y.
function walkPoints(node, svg, marks, tell) {
  const places = marks.flatMap(({ m, at }) => at.flatMap((place, i) => (place ? [{ m, i, place }] : [])));
  const orders = [0, 1].map((axis) => [...places].sort((a, b) => a.place[axis] - b.place[axis]));
  const ring = el("circle", { class: "walked", r: 7, visibility: "hidden" });
  svg.append(ring);
  let here = null;
  const stand = (place) => {
    here = place;
    ring.setAttribute("visibility", here ? "visible" : "hidden");
    if (here) ["cx", "cy"].forEach((name, axis) => ring.setAttribute(name, here.place[axis]));
    tell(here);
  };
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, -1], ArrowDown: [1, 1] };
  node.tabIndex = 0;
  node.setAttribute("role", "application");
  node.setAttribute("aria-label", fillTemplate(page.text.charts.walk, { title: node.getAttribute("aria-label") }));
  node.onblur = () => stand(null);
  node.onkeydown = (event) => {
    if (event.key === "Enter" && here) here.m.pick(here.i);
    const [axis, by] = steps[event.key] ?? [];
    if (axis === undefined || !places.length) return;
    event.preventDefault();
    const order = orders[axis];
    stand(here ? order[Math.min(order.length - 1, Math.max(0, order.indexOf(here) + by))] : orders[0][0]);
  };
}

function placeIn(svg, event) {
  const box = svg.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function nearestPoint(marks, [x, y]) {
  let [best, least] = [null, NEAR ** 2];
  for (const { m, at } of marks) {
    at.forEach((p, i) => {
      if (!p) return;
      const distance = (p[0] - x) ** 2 + (p[1] - y) ** 2;
      if (distance < least) [best, least] = [{ m, i, place: p }, distance];
    });
  }
  return best;
}

function areaUnder(marks, target, place) {
  const hit = marks.find((d) => d.node === target);
  return hit ? { m: hit.m, i: 0, place } : null;
}

// Above the place, and inside the picture.
function putTip(tip, node, [x, y]) {
  const { offsetWidth: w, offsetHeight: h } = tip;
  const left = Math.min(Math.max(0, x + 12), Math.max(0, node.clientWidth - w));
  const over = x + 12 + w > node.clientWidth; // then beside the point would be on it
  tip.style.left = `${over ? Math.max(0, Math.min(x - w - 12, left)) : left}px`;
  tip.style.top = `${Math.max(0, y - h / 2)}px`;
}
