// The colour scheme of a page: as the system has it, light or dark; on paper light.

const NEXT_SCHEME = { auto: "light", light: "dark", dark: "auto" };
const system = matchMedia("(prefers-color-scheme: dark)");
let scheme = "auto";
try {
  scheme = localStorage.getItem("uqassay-scheme");
} catch {
  /* pages from a file may have no storage */
}
if (!(scheme in NEXT_SCHEME)) scheme = "auto";

function paint(theme) {
  const text = page.text.general;
  const button = document.getElementById("theme");
  document.documentElement.dataset.theme = theme;
  button.textContent = text.schemes[scheme];
  button.setAttribute("aria-label", scheme === "auto" ? text.scheme_auto : text.scheme.replace("{scheme}", scheme));
}

function chosenTheme() {
  if (scheme !== "auto") return scheme;
  return system.matches ? "dark" : "light";
}

// Calls `repaint` with the theme, and whether it is for paper, whenever the reader, the system or the printer changes it.
function followScheme(repaint) {
  const changed = () => repaint(chosenTheme(), false);
  document.getElementById("theme").addEventListener("click", () => {
    scheme = NEXT_SCHEME[scheme];
    try {
      localStorage.setItem("uqassay-scheme", scheme);
    } catch {
      /* kept for this visit only */
    }
    changed();
  });
  system.addEventListener("change", changed);
  addEventListener("beforeprint", () => repaint("light", true));
  addEventListener("afterprint", changed);
}
