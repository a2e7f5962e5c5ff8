"""Make the pictures of the README and of this guide: from the demo's models, and the gallery of figures from made-up results.

Run: python docs/make_pictures.py [--demo FOLDER | --figures]
(a minute; the page needs Chromium and its driver, else it is left out)

FOLDER is what `uqassay demo --output FOLDER` wrote; without it the models are trained into a temporary one. With --figures only
the gallery is made (fifteen seconds).
"""

import argparse
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

from docs import gallery

import uqassay as uq
from uqassay.lab.demo import COMMON_MEMBERS, prepare_demo
from uqassay.report import figures

PICTURES = Path(__file__).parent / "pictures"
WIDTH, HEIGHT = 1000, 3000  # of the browser's window, in pixels
MARGIN = 16
COLOURS = 128  # of the page in a picture, so that it stays small


def draw_tradeoff(assay: uq.Assay, path: Path) -> None:
    """Mean E against λ with the winner above it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.6, 4.4), layout="constrained")
    figures.plot_tradeoff(assay, ax=figure.subplots())
    figure.savefig(path, dpi=100)


def draw_top_group(assay: uq.Assay, path: Path) -> None:
    """For each model the λ at which no model is shown to be better."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.6, 2.8), layout="constrained")
    figures.plot_top_group(assay, ax=figure.subplots())
    figure.savefig(path, dpi=100)


def photograph(page: Path, name: str, path: Path) -> bool:
    """One section of the page as a browser shows it; False where there is no browser."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        return False
    from PIL import Image
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("headless=new", "no-sandbox", "hide-scrollbars", f"window-size={WIDTH},{HEIGHT}"):
        options.add_argument(f"--{argument}")
    window = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        window.get(f"{page.resolve().as_uri()}#{name}")
        drawn = "return document.querySelector('#ranking tbody tr') !== null"
        WebDriverWait(window, 30).until(lambda w: w.execute_script(drawn))
        place = window.find_element("id", name).rect
        everything = Image.open(io.BytesIO(window.get_screenshot_as_png()))
    finally:
        window.quit()
    left, top = place["x"] - MARGIN, place["y"]
    section = everything.crop((left, top, left + place["width"] + 2 * MARGIN, top + place["height"]))
    section.convert("RGB").quantize(COLOURS).save(path, optimize=True)
    return True


def main() -> None:
    """Make every picture."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--demo", type=Path)
    parser.add_argument("--figures", action="store_true")
    options = parser.parse_args()
    made = [gallery.store(name) for name in gallery.calls()]
    if not options.figures:
        made += of_the_demo(options.demo)
    for path in made:
        print(f"{path}: {os.path.getsize(path) / 1000:.0f} kB")


def of_the_demo(folder: Path | None) -> list[Path]:
    """The pictures of the demo's models; those of the page if there is a browser."""
    made = [PICTURES / "tradeoff.png", PICTURES / "top-group.png"]
    with tempfile.TemporaryDirectory() as scratch:
        files = prepare_demo(folder or Path(scratch, "demo"))
        models = {name: uq.load(path) for name, path in files.predictions.items()}
        assay = uq.assay(models, uq.load_labels(files.labels), common_members=COMMON_MEMBERS)
        PICTURES.mkdir(exist_ok=True)
        draw_tradeoff(assay, made[0])
        draw_top_group(assay, made[1])
        if photograph(assay.to_html(Path(scratch, "report.html")), "choose", PICTURES / "choose.png"):
            made.append(PICTURES / "choose.png")
    return made


if __name__ == "__main__":
    main()
