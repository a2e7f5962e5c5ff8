// Places of labels inside a picture, in pixels. A box is [left, top, right, bottom].

const LINE = 16; // height of a label
const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
const within = (a, b) => a[0] >= b[0] && a[1] >= b[1] && a[2] <= b[2] && a[3] <= b[3];

// Puts each label at the nearest free place to its point, the first labels first. labels: {text, at, reach, must}, where
// `reach` are the half-axes of what is drawn around the point. No label lies on another, on a point, or on a box of `taken`;
// it lies on what is drawn around other points only where nothing else is left. A label without a place is left out, but one
// that `must` be there is put into the nearest gap of the whole panel.
function placedLabels(labels, panel, taken) {
  const around = labels.map(({ at: [x, y], reach: [a, b] }) => [x - a, y - b, x + a, y + b]);
  const hard = [...taken, ...labels.map(({ at: [x, y] }) => [x - 6, y - 6, x + 6, y + 6])];
  const found = [];
  labels.forEach((one, i) => {
    const free = (box) => within(box, panel) && !hard.some((other) => overlap(box, other));
    const uncrossed = (box) => !stepsAlong(leaderTo(box, one)).some((step) => found.some((other) => overlap(step, other.box)));
    const clear = (box) => free(box) && !around.some((other, k) => k !== i && overlap(box, other)) && uncrossed(box);
    const near = nearBoxes(one);
    const everywhere = one.must ? gapBoxes(one, panel) : [];
    const box = near.find(clear) ?? near.find(free) ?? everywhere.find(free);
    if (!box) return;
    const leader = leaderTo(box, one);
    hard.push(box, ...stepsAlong(leader));
    found.push({ ...one, box, leader });
  });
  return found;
}

// Places beside a point, then on rings around it.
function nearBoxes({ text, at: [x, y], reach }) {
  const width = textWidth(text) + 4;
  const [a, b] = reach.map((r) => Math.max(6, r) + 3);
  const boxAt = (cx, cy) => [cx - width / 2, cy - LINE / 2, cx + width / 2, cy + LINE / 2];
  const [side, stack] = [a + width / 2, b + LINE / 2];
  const beside = [[side, 0], [-side, 0], [0, -stack], [0, stack], [side, -12], [side, 12], [-side, -12], [-side, 12]];
  const rings = [14, 28, 44, 62, 84].flatMap((r) =>
    Array.from({ length: 16 }, (_, k) => (k * Math.PI) / 8).map((t) => [
      Math.cos(t) * (a + r) + Math.sign(Math.round(10 * Math.cos(t))) * (width / 2),
      Math.sin(t) * (b + r + LINE / 2),
    ]),
  );
  return [...beside, ...rings].map(([dx, dy]) => boxAt(x + dx, y + dy));
}

// All places of a grid over the panel, the nearest first.
function gapBoxes({ text, at: [x, y] }, [left, top, right, bottom]) {
  const width = textWidth(text) + 4;
  const boxes = [];
  for (let x0 = left; x0 + width <= right; x0 += 8) {
    for (let y0 = top; y0 + LINE <= bottom; y0 += 4) boxes.push([x0, y0, x0 + width, y0 + LINE]);
  }
  const far = (box) => Math.hypot((box[0] + box[2]) / 2 - x, (box[1] + box[3]) / 2 - y);
  return boxes.sort((a, b) => far(a) - far(b));
}

// From the edge of a point to a label that does not touch it.
function leaderTo([left, top, right, bottom], { at: [x, y], reach }) {
  const end = [Math.min(right - 2, Math.max(left + 2, x)), Math.min(bottom - 3, Math.max(top + 3, y))];
  const [dx, dy] = [end[0] - x, end[1] - y];
  const length = Math.hypot(dx, dy);
  const [a, b] = reach.map((r) => Math.max(6, r));
  if (length < 12 || (dx / (a + 8)) ** 2 + (dy / (b + 8)) ** 2 < 1) return null;
  return [[x + (5 * dx) / length, y + (5 * dy) / length], end];
}

// A line as small boxes.
function stepsAlong(line) {
  if (!line) return [];
  const [[x0, y0], [x1, y1]] = line;
  const n = Math.ceil(Math.hypot(x1 - x0, y1 - y0) / 5);
  const at = (k) => [x0 + ((x1 - x0) * k) / n, y0 + ((y1 - y0) * k) / n];
  return Array.from({ length: n + 1 }, (_, k) => at(k)).map(([x, y]) => [x - 1, y - 1, x + 1, y + 1]);
}

// Heights of labels in a column, in the order of their wishes, none nearer to another than a line; none if they have no room.
function stackedHeights(wishes, top, bottom) {
  if (wishes.length * LINE > bottom - top) return null;
  const order = wishes.map((_, i) => i).sort((a, b) => wishes[a] - wishes[b]);
  const heights = [...wishes];
  order.forEach((i, k) => {
    heights[i] = Math.max(wishes[i], k ? heights[order[k - 1]] + LINE : top + LINE / 2);
  });
  let floor = bottom - LINE / 2;
  for (const i of order.toReversed()) {
    heights[i] = Math.min(heights[i], floor);
    floor = heights[i] - LINE;
  }
  return heights;
}
