"use strict";
// How numbers, shares, p-values and lists are written: the twin of uqassay.wording, function by function. A test compares the
// two on a grid of values. Nothing here or elsewhere on the page writes sentences: those come from Python.

const wording = (() => {
  const ABSENT = "–";
  const ROUNDING = 1e-12;
  const LEAST_SHARE = 0.001;
  const minus = (text) => text.replace("-", "−");
  const power = (decimals) => Number(`1e-${decimals}`);

  // x ≥ 0 with a fixed count of decimals. toFixed takes a tie up; Python takes it to the even neighbour.
  function rounded(x, decimals) {
    const halves = x * 2 ** (decimals + 1); // exact; an odd whole number where x lies half-way between two neighbours
    if (halves % 2 !== 1) return x.toFixed(decimals);
    const below = (halves * 5 ** decimals - 1) / 2;
    return ((below % 2 === 0 ? below : below + 1) / 10 ** decimals).toFixed(decimals);
  }

  function grouped(text) {
    const [whole, part] = text.split(".");
    const groups = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return part === undefined ? groups : `${groups}.${part}`;
  }

  // As Python's format "g": significant digits without trailing zeros.
  function general(x, digits) {
    if (x === 0) return "0";
    const [mantissa, exponent] = Math.abs(x).toExponential(digits - 1).split("e");
    const sign = x < 0 ? "-" : "";
    const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
    const e = Number(exponent);
    if (e >= -4 && e < digits) return sign + trimmed(rounded(Math.abs(x), digits - 1 - e));
    return `${sign}${trimmed(mantissa)}e${e < 0 ? "-" : "+"}${String(Math.abs(e)).padStart(2, "0")}`;
  }

  function number(value, decimals = 3, bounded = false) {
    if (Number.isNaN(value)) return ABSENT;
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    const least = power(decimals);
    if (bounded && ROUNDING < size && size < 0.5 * least) return `${value > 0 ? "<" : ">−"}${least.toFixed(decimals)}`;
    if (size < 0.5 * least) return (0).toFixed(decimals);
    return `${value < 0 ? "−" : ""}${grouped(rounded(size, decimals))}`;
  }

  function tradeoff(value) {
    if (value === Infinity) return "∞";
    const text = value >= 0.1 || value === 0 ? rounded(value, 2) : general(value, 2);
    const exact = general(value, 6);
    return exact.length < text.length ? exact : text;
  }

  function percent(share, decimals = 1) {
    if (share === null || Number.isNaN(share)) return ABSENT;
    const half = 0.5 * power(decimals + 2);
    if (share > 0 && share <= half) return `<${(100 * 2 * half).toFixed(decimals)} %`;
    if (share >= 1 - half && share < 1) return `>${(100 * (1 - 2 * half)).toFixed(decimals)} %`;
    return `${share < 0 ? "−" : ""}${rounded(Math.abs(100 * share), decimals)} %`;
  }

  function percentInterval(low, high, decimals = 1) {
    if (Number.isNaN(low) || Number.isNaN(high) || low === high) return ABSENT;
    const [first, second] = [low, high].map((end) => percent(end, decimals));
    return `${first.replace(/ %$/, "")} to ${second}`;
  }

  function shareOfDraws(share, draws) {
    if (share === null || Number.isNaN(share)) return ABSENT;
    const least = Math.ceil(1000 * Math.max(LEAST_SHARE, 1 / draws) - 1e-9); // per mille
    if (1000 * share > 1000 - least) return `>${((1000 - least) / 10).toFixed(1)} %`;
    if (1000 * share < least) return `<${(least / 10).toFixed(1)} %`;
    return percent(share);
  }

  function pvalue(p) {
    if (Number.isNaN(p)) return ABSENT;
    if (p < 0.001) return "<.001";
    return rounded(p, p < 0.0095 ? 3 : 2).replace(/^0/, "");
  }

  function pvalueText(p) {
    if (Number.isNaN(p)) return "p undefined";
    const text = pvalue(p);
    return text.startsWith("<") ? `p < ${text.slice(1)}` : `p = ${text}`;
  }

  const rankRange = (low, high) => (low === high ? `${low}` : `${low}–${high}`);

  const count = (n) => grouped(String(n));

  // A name in a list: in quotes where it is empty, has a comma, or begins or ends with a space.
  function named(name) {
    if (name && name === name.trim() && !name.includes(",")) return name;
    const mark = name.includes("'") && !name.includes('"') ? '"' : "'";
    return `${mark}${name}${mark}`;
  }

  function listed(names, last = "and") {
    return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${last} ${names[names.length - 1]}`;
  }

  const shares = { percent, percentInterval, pvalue, pvalueText, shareOfDraws };
  return Object.freeze({ ABSENT, count, general, listed, minus, named, number, rankRange, tradeoff, ...shares });
})();
