"""Photograph the page as its readers see it: many kinds of data, three widths, light, dark and printed.

Run: python docs/make_screens.py FOLDER [--case NAME ...] [--width PIXELS ...] [--guide]

FOLDER takes the pages and their pictures, NAME-WIDTH-light.png, NAME-WIDTH-dark.png (with -2, -3, … below each other for a
long page) and NAME-print.pdf; where pypdfium2 is installed, every printed page becomes a picture too. --guide also makes the
pictures of docs/first-use.md. Needs Chromium, its driver, selenium and Pillow. All data are drawn from a fixed seed.
"""

import argparse
import base64
import io
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import numpy as np

import uqassay as uq

WIDTHS = (1400, 900, 400)
SCHEMES = ("light", "dark")
SLICE = 6000  # pixels of one picture of a long page
PRINT_SCALE = 1.3  # pixels of a picture to a point of the printed page
DRAWN = 20  # seconds to wait for the last chart
PAUSE = 0.4  # seconds in which a page that is not yet drawn grows
GUIDE = {"use-shell": "six", "use-forest": "groups"}  # pictures of docs/first-use.md, and the case that each shows
PICTURES = Path(__file__).parent / "pictures"
GUIDE_SIZE = (900, 620)

Case = dict[str, Any]


def probabilities(rng: np.random.Generator, y: Any, k: int, m: int, skill: float, spread: float) -> Any:
    """Softmax vectors (n, m, k) of members that agree but for `spread`; the true class has `skill` more."""
    logits = rng.normal(size=(len(y), 1, k)) + skill * np.eye(k)[y][:, None]
    logits = logits + spread * rng.normal(size=(len(y), m, k))
    logits -= logits.max(axis=2, keepdims=True)
    return np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)


def several(n_models: int, names: str, *, n: int = 1000, k: int = 10, m: int = 5) -> Case:
    """Models of rising skill and disagreement."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    skills, spreads = np.linspace(2, 3.2, n_models), np.linspace(0.3, 0.9, n_models)
    every = [probabilities(rng, y, k, m, skill, spread) for skill, spread in zip(skills, spreads, strict=True)]
    return {"predictions": {names.format(i): one for i, one in enumerate(every)}, "y_true": y}


def six() -> Case:
    """Six kinds of models, as in a paper."""
    case = several(6, "{}")
    named = ("ensemble", "dropout", "laplace", "swag", "single network", "temperature")
    found = dict(zip(named, reversed(case["predictions"].values()), strict=True))
    for name in named[4:]:
        found[name] = found[name].mean(axis=1)
    return case | {"predictions": found}


def binary() -> Case:
    """Two classes, many rows of each patient, two sites."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 700)
    models = {
        "forest": probabilities(rng, y, 2, 20, 2.0, 0.8),
        "logistic": probabilities(rng, y, 2, 1, 1.8, 0.1)[:, 0],
        "boosting": probabilities(rng, y, 2, 1, 2.3, 0.1)[:, 0],
    }
    site = np.array(["north", "south", "east"])[rng.integers(0, 3, 700)]
    return {"predictions": models, "y_true": y, "groups": rng.integers(0, 90, 700), "subgroups": {"site": site}}


def votes() -> Case:
    """Labels that are numbers of votes."""
    case = several(2, "model {}")
    rng = np.random.default_rng(2)
    others = rng.dirichlet(np.full(10, 0.3), len(case["y_true"]))
    shares = 0.7 * np.eye(10)[case["y_true"]] + 0.3 * others
    return case | {"y_true": rng.multinomial(20, shares / shares.sum(axis=1, keepdims=True))}


def runs() -> Case:
    """Five training runs of each of three methods."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 5, 600)
    methods = (("ensemble", 2.5), ("dropout", 2.2), ("evidential", 2.4))
    return {
        "predictions": {
            name: [probabilities(rng, y, 5, 5, skill + 0.1 * run, 0.6) for run in range(5)] for name, skill in methods
        },
        "y_true": y,
    }


LONG = (
    "resnet50-imagenet21k-pretrained-finetuned-cifar10-augmix-sgd-cosine-lr-0.01-seed-{:03d}"  # 80 characters and more
)
CASES: dict[str, Callable[[], Case]] = {
    "two": lambda: several(2, "model {}", m=10),
    "six": six,
    "thirty": lambda: several(30, "model {:02d}"),
    "hundred": lambda: several(100, "configuration {:03d}", m=2),
    "long-names": lambda: several(6, LONG),
    "two-classes": lambda: several(3, "model {}", k=2),
    "hundred-classes": lambda: several(2, "model {}", n=2000, k=100),
    "votes": votes,
    "groups": binary,
    "runs": runs,
}


# -- pictures ----------------------------------------------------------------------------------------------------------


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window."""
    from selenium import webdriver

    browser, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if browser is None or driver is None:
        raise SystemExit("Chromium and its driver are needed")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    with tempfile.TemporaryDirectory() as profile:
        for argument in ("headless=new", "no-sandbox", "hide-scrollbars", f"user-data-dir={profile}"):
            options.add_argument(f"--{argument}")
        window = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        try:
            yield window
        finally:
            window.quit()


def open_page(
    window: Any, page: Path, *, width: int, height: int = 1000, dark: bool = False, whole: bool = True
) -> int:
    """Show the page with every section open, wait until it is drawn, and return its height."""
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": scheme})
    window.get(page.resolve().as_uri())
    if whole:
        window.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true; })")
        settled = _height(window)
        size["height"] = min(settled, 2 * SLICE)  # charts that are drawn when they come into view
        window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for top in range(0, settled, SLICE):
            window.execute_script("window.scrollTo(0, arguments[0])", top)
            _height(window)
        window.execute_script("window.scrollTo(0, 0)")
    return _height(window)


def _height(window: Any) -> int:
    """The height of the document when it no longer grows."""
    before, until = -1, time.monotonic() + DRAWN
    while time.monotonic() < until:
        height = int(window.execute_script("return document.documentElement.scrollHeight"))
        if height == before:
            break
        before = height
        time.sleep(PAUSE)
    return before


def photograph(window: Any, folder: Path, name: str, width: int, scheme: str) -> list[Path]:
    """The whole page at one width and in one colour scheme, in slices."""
    height = open_page(window, folder / f"{name}.html", width=width, dark=scheme == "dark")
    made = []
    for part, top in enumerate(range(0, height, SLICE), 1):
        clip = {"x": 0, "y": top, "width": width, "height": min(SLICE, height - top), "scale": 1}
        shot = window.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
        path = folder / f"{name}-{width}-{scheme}{'' if part == 1 else f'-{part}'}.png"
        path.write_bytes(base64.b64decode(shot["data"]))
        made.append(path)
    return made


def printed(window: Any, folder: Path, name: str) -> list[Path]:
    """The page as it is printed on A4, and each of its sheets as a picture where pypdfium2 is installed."""
    open_page(window, folder / f"{name}.html", width=1000, whole=False)
    window.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    paper = {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": True}
    path = folder / f"{name}-print.pdf"
    path.write_bytes(base64.b64decode(window.execute_cdp_cmd("Page.printToPDF", paper)["data"]))
    try:
        import pypdfium2
    except ModuleNotFoundError:
        return [path]
    made = [path]
    for number, sheet in enumerate(pypdfium2.PdfDocument(path), 1):
        made.append(folder / f"{name}-print-{number:02d}.png")
        sheet.render(scale=PRINT_SCALE).to_pil().save(made[-1])
    return made


def guide_picture(window: Any, page: Path, path: Path) -> None:
    """The top of a page, small."""
    from PIL import Image

    width, height = GUIDE_SIZE
    open_page(window, page, width=width, height=height, whole=False)
    shot = Image.open(io.BytesIO(window.get_screenshot_as_png())).convert("RGB")
    shot.save(path, optimize=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Make what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--case", action="append", choices=CASES, help="repeatable; all unless given")
    parser.add_argument("--width", action="append", type=int, help=f"repeatable; {WIDTHS} unless given")
    parser.add_argument("--guide", action="store_true", help="the pictures of docs/first-use.md alone")
    given = parser.parse_args(argv)
    given.folder.mkdir(parents=True, exist_ok=True)
    pictures = {name: picture for picture, name in GUIDE.items()} if given.guide else {}
    with chromium() as window:
        for name in pictures or given.case or CASES:
            page = uq.assay(**CASES[name]()).to_html(given.folder / f"{name}.html")
            if given.guide:
                made = [PICTURES / f"{pictures[name]}.png"]
                guide_picture(window, page, made[0])
            else:
                shots = product(given.width or WIDTHS, SCHEMES)
                made = [path for shot in shots for path in photograph(window, given.folder, name, *shot)]
                made += printed(window, given.folder, name)
            print(*made, sep="\n", flush=True)


if __name__ == "__main__":
    main()
