// Short names of models in pictures and tables: what the names have in common becomes "…", what tells them apart stays.

const LABEL = 28; // characters; where a name is longer, names are shortened
const WORD = 12; // characters of a word that is kept whole
const LEAST_CUT = 3; // characters that are worth a "…"
const SEPARATOR = /[\s\-_./:|,;()[\]+=]/;
let labels = []; // by the place of the model

const label = (j) => labels[j];

// A short name that shows and says the whole one.
function nameText(j) {
  const { name } = page.models[j];
  if (label(j) === plain(name)) return el("bdi", {}, name);
  const [seen, said] = [el("span", { "aria-hidden": "true" }, label(j)), el("span", { class: "visually-hidden" }, name)];
  return el("bdi", { class: "elided", title: name }, seen, said);
}

function startLabels() {
  const names = page.models.map((m) => plain(m.name));
  const short = shortNames(candidates.map((m) => names[m.j]));
  labels = [...names];
  candidates.forEach((m, i) => {
    labels[m.j] = short[i];
  });
  const elided = labels.some((text, j) => text !== names[j]);
  if (elided) byId("elided").textContent = page.text.models.elided;
  for (const node of document.querySelectorAll("#verdict dd, .numbers, .finding")) shortenNames(node);
}

// Puts short names into sentences that were written with whole ones.
function shortenNames(root) {
  const long = page.models.map((m, j) => ({ j, name: plain(m.name) })).filter(({ j, name }) => label(j) !== name);
  if (!long.length) return;
  const first = (text) => {
    const found = long.map((m) => ({ ...m, at: text.indexOf(m.name) })).filter((m) => m.at >= 0);
    return found.sort((a, b) => a.at - b.at || b.name.length - a.name.length)[0];
  };
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const node of texts) {
    const parts = [];
    let rest = plain(node.data);
    for (let hit = first(rest); hit; hit = first(rest)) {
      parts.push(rest.slice(0, hit.at), nameText(hit.j));
      rest = rest.slice(hit.at + hit.name.length);
    }
    if (parts.length) node.replaceWith(...parts, rest);
  }
}

// Distinct short forms of distinct names, in their order.
function shortNames(names, most = LABEL) {
  const short = shortened(names.map((name) => [...name]), most).map((chars) => chars.join(""));
  const twice = (list) => list.map((text) => list.indexOf(text) !== list.lastIndexOf(text));
  const whole = twice(short);
  const found = short.map((text, i) => (whole[i] ? names[i] : text));
  return twice(found).some(Boolean) ? names : found;
}

// Lists of characters, of which those of a group share neither their beginning nor their end.
function shortened(names, most) {
  if (names.every((chars) => chars.length <= most)) return names;
  if (names.length === 1) return [middleCut(names[0], most)];
  const start = commonStart(names);
  const rests = names.map((chars) => chars.slice(start));
  const end = commonStart(rests.map((chars) => [...chars].reverse()));
  const inner = rests.map((chars) => chars.slice(0, chars.length - end));
  const room = Math.max(8, most - Number(start > 0) - Number(end > 0));
  const words = inner.map(firstWord);
  const found = inner.slice();
  for (const word of new Set(words)) {
    const places = words.flatMap((w, i) => (w === word ? [i] : []));
    const length = [...word].length;
    const after = shortened(places.map((i) => inner[i].slice(length)), Math.max(8, room - length));
    places.forEach((i, k) => {
      found[i] = inner[i].length > room ? [...inner[i].slice(0, length), ...after[k]] : inner[i];
    });
  }
  return found.map((chars) => [...(start ? ["…"] : []), ...chars, ...(end ? ["…"] : [])]);
}

// Characters that all begin with, up to the end of a word; never all characters of one of them.
function commonStart(names) {
  const [first] = names;
  const shortest = Math.min(...names.map((chars) => chars.length));
  let same = 0;
  while (same < shortest && names.every((chars) => chars[same] === first[same])) same += 1;
  let cut = Math.min(same, shortest - 1);
  while (cut > 0 && cut > same - WORD && !SEPARATOR.test(first[cut - 1])) cut -= 1;
  if (cut > 0 && !SEPARATOR.test(first[cut - 1])) cut = Math.min(same, shortest - 1);
  return cut < LEAST_CUT ? 0 : cut;
}

function firstWord(chars) {
  const end = chars.findIndex((c) => SEPARATOR.test(c));
  return chars.slice(0, Math.min(WORD, end < 0 ? WORD : end + 1)).join("");
}

function middleCut(chars, most) {
  if (chars.length <= most) return chars;
  const head = Math.ceil((most - 1) / 2);
  return [...chars.slice(0, head), "…", ...chars.slice(chars.length - (most - 1 - head))];
}

const elided = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text); // names of classes
