"""Seconds until the page shows its first picture, an opened section and its findings in Chromium; size and time of writing.

    python benchmarks/bench_page.py                              the shapes below
    python benchmarks/bench_page.py "30 x 2000 x 5 x 10" --repeats 5
    python benchmarks/bench_page.py --source OTHER_CHECKOUT/src  the page of another checkout
    python benchmarks/bench_page.py --page report.html           a page that is there already

Needs selenium (`pip install selenium`), and chromium and chromedriver on the path. A shape is models × instances × members
× classes, as in `benchmarks/speed/assays.py`. Times are the least of the repeats, each in a new tab. The sections of a page
are closed at first, and charts are drawn when their section opens. The first picture is timed from the start of a navigation
to the section "Why" (the address ends in #why) to the frame that shows its first chart; the opened section from the click on
the heading of "Why", on a page whose sections are all closed, to the frame that shows its first chart; the findings from the
click to the frame that shows their rows. In parentheses is the ratio to a yardstick of the same tab, a sort of a million
numbers by the browser, because a busy machine changes seconds more than ratios. The page is written without tests of
calibration, which take no time of the page.
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

SHAPES = {  # aims in megabytes
    "6 x 900 x 10 x 10": 1.5,
    "10 x 10000 x 10 x 10": 5.0,
    "30 x 2000 x 5 x 10": None,
    "100 x 10000 x 1 x 10": 6.0,
}
AIM_SECONDS = 1.0  # of the first picture of every page, of an opened section, and of the findings of 30 models
FLAGS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
# notes when a chart has appeared: the frame after its drawing (svg.inside) came into the document
WATCH = """
window.addEventListener("DOMContentLoaded", () => {
  const seen = new MutationObserver(() => {
    if (!document.querySelector("main svg.inside")) return;
    seen.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.firstPicture = performance.now() / 1000; }));
  });
  seen.observe(document.body, { childList: true, subtree: true });
});
"""
OPEN_SECTION = """
const done = arguments[0];
const start = performance.now();
const seen = new MutationObserver(() => {
  if (!document.querySelector("#why svg.inside")) return;
  seen.disconnect();
  requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000)));
});
seen.observe(document.getElementById("why"), { childList: true, subtree: true });
document.querySelector("#why > summary").click();
"""
OPEN_FINDINGS = """
const [done, rows] = [arguments[0], () => document.querySelectorAll("#findings tr").length];
document.getElementById("how").open = true;
const start = performance.now();
const seen = new MutationObserver(() => {
  if (rows() < 2) return;
  seen.disconnect();
  requestAnimationFrame(() => setTimeout(() => done([(performance.now() - start) / 1000, rows()])));
});
seen.observe(document.getElementById("findings"), { childList: true, subtree: true });
document.getElementById("findings").closest("details").querySelector("summary").click();
"""
YARDSTICK = """
let state = 1;
const numbers = Float64Array.from({ length: 1e6 }, () => (state = (state * 48271) % 2147483647));
const start = performance.now();
numbers.sort();
return (performance.now() - start) / 1000;
"""


class Seen(NamedTuple):
    """Seconds of one visit, and the rows of the table of findings."""

    first_picture: float
    ready: float
    opened: float
    findings: float
    rows: int
    yardstick: float


def browser(folder: str) -> Any:
    """Headless Chromium."""
    from selenium import webdriver

    program, helper = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if program is None or helper is None:
        sys.exit("bench_page.py needs chromium and chromedriver on the path")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(helper))
    driver.set_script_timeout(120)
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    return driver


def load(driver: Any, address: str) -> None:
    """Open the page in a new entry of the history, and wait until it is ready."""
    driver.get("about:blank")
    driver.get(address)
    end = time.monotonic() + 120
    while driver.execute_script("return document.documentElement.dataset.ready") != "yes":
        if time.monotonic() > end:
            sys.exit(f"{address} is not ready after two minutes")
        time.sleep(0.02)


def visit(driver: Any, address: str) -> Seen:
    """Open the page at "Why"; then with all sections closed, open that section and the findings."""
    load(driver, f"{address}#why")
    first, ready = driver.execute_script("return [window.firstPicture, performance.now() / 1000]")
    load(driver, address)
    opened = driver.execute_async_script(OPEN_SECTION)
    findings, rows = driver.execute_async_script(OPEN_FINDINGS)
    return Seen(first, ready, opened, findings, rows, driver.execute_script(YARDSTICK))


def written(shape: str, path: Path) -> float:
    """Write the page of a shape; the seconds that it took."""
    import uqassay as uq

    sys.path.append(str(Path(__file__).resolve().parents[1]))
    from benchmarks.speed.assays import models

    predictions, y = models(shape, quick=False)
    found = uq.assay(predictions, y, calibration=())
    start = time.perf_counter()
    found.to_html(path)
    return time.perf_counter() - start


def line(name: str, size: float, aim: float | None, seconds: float | None, seen: list[Seen]) -> str:
    """One line of the output."""
    best = min(seen, key=lambda one: one.first_picture)
    section = min(seen, key=lambda one: one.opened)
    told = min(seen, key=lambda one: one.findings)
    parts = [
        f"{size:.2f} MB{'' if aim is None else f' (aim {aim:g})'}",
        *([] if seconds is None else [f"written in {seconds:.1f} s"]),
        f"first picture {best.first_picture:.2f} s ({best.first_picture / best.yardstick:.1f}; aim {AIM_SECONDS:g} s)",
        f"ready {min(one.ready for one in seen):.2f} s",
        f"section opened in {section.opened:.2f} s ({section.opened / section.yardstick:.1f}; aim {AIM_SECONDS:g} s)",
        f"{told.rows:,} rows of findings shown in {told.findings:.2f} s ({told.findings / told.yardstick:.1f}; "
        f"aim {AIM_SECONDS:g} s for 30 models)",
        f"yardstick {min(one.yardstick for one in seen):.2f} s",
    ]
    return f"{name}: {', '.join(parts)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", help="models x instances x members x classes")
    parser.add_argument("--page", type=Path, action="append", help="a page that is there already")
    parser.add_argument("--source", type=Path, help="folder src of another checkout, whose pages are measured")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    if given.source is not None:
        sys.path.insert(0, str(given.source.resolve()))
    with tempfile.TemporaryDirectory() as folder:
        pages: list[tuple[str, Path, float | None]] = [(str(page), page, None) for page in given.page or ()]
        for shape in given.shapes or (() if pages else SHAPES):
            path = Path(folder) / f"{shape.replace(' ', '')}.html"
            pages.append((shape, path, written(shape, path)))
        driver = browser(f"{folder}/profile")
        try:
            for name, path, seconds in pages:
                seen = [visit(driver, path.resolve().as_uri()) for _ in range(given.repeats)]
                print(line(name, path.stat().st_size / 1e6, SHAPES.get(name), seconds, seen), flush=True)
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
