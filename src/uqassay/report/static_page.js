"use strict";

const page = JSON.parse(document.getElementById("payload").textContent);
const system = matchMedia("(prefers-color-scheme: dark)");
const button = document.getElementById("theme");
let scheme = "auto";
try {
  scheme = localStorage.getItem("uqassay-scheme") || "auto";
} catch {
  /* kept for this visit only */
}
if (!(scheme in page.schemes)) scheme = "auto";

function paint(printing) {
  const dark = scheme === "dark" || (scheme === "auto" && system.matches);
  document.documentElement.dataset.theme = dark && !printing ? "dark" : "light";
  button.textContent = page.schemes[scheme];
  button.setAttribute("aria-label", page.scheme_labels[scheme]);
}

button.addEventListener("click", () => {
  scheme = { auto: "light", light: "dark", dark: "auto" }[scheme];
  try {
    localStorage.setItem("uqassay-scheme", scheme);
  } catch {
    /* kept for this visit only */
  }
  paint(false);
});
system.addEventListener("change", () => paint(false));
addEventListener("beforeprint", () => paint(true));
addEventListener("afterprint", () => paint(false));
paint(false);

const download = document.getElementById("json");
download.hidden = false;
download.addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(page.rows, null, 1)], { type: "application/json" }));
  link.download = page.download;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});
