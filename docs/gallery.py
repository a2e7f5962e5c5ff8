"""The pictures of docs/figures.md: its calls on fixed, made-up results, drawn in one style; how far two pictures differ."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import uqassay as uq
from uqassay.evidence import (
    CoverageCurve,
    DataSetComparison,
    DisentanglementStudy,
    GainResult,
    GainRun,
    GainSample,
    GainStudy,
    compare_table,
    contenders_of,
    coverage_curve,
    rank_disentanglement,
)
from uqassay.evidence.disentanglement_runs import Measured
from uqassay.measures import Decomposition
from uqassay.report import figures

PAGE = Path(__file__).parent / "figures.md"
PICTURES = Path(__file__).parent / "pictures" / "figures"
ENTRY = re.compile(r"^`(?P<call>figures\.(?P<name>plot_\w+)\(.*\))`", re.MULTILINE)
DPI = 120
TILE, QUARTER = 24, 4  # pixels of a side of squares in which pictures are compared
CLASSES = ("cat", "dog", "fox", "owl")


@cache
def calls() -> dict[str, str]:
    """The call of each figure function on the page, by the function's name."""
    return {found["name"]: found["call"] for found in ENTRY.finditer(PAGE.read_text(encoding="utf-8"))}


def drawn(name: str) -> np.ndarray:
    """The picture of one figure as an array of bytes (height, width, 3), in the style of matplotlib's defaults."""
    import matplotlib
    from matplotlib import pyplot, style

    with matplotlib.rc_context(), style.context("default"):
        pyplot.switch_backend("agg")
        axes = eval(calls()[name], results())  # of the page in this folder
        axes.figure.set_dpi(DPI)
        axes.figure.canvas.draw()
        pixels = np.asarray(axes.figure.canvas.buffer_rgba())[..., :3].copy()
        pyplot.close(axes.figure)
    return pixels


def store(name: str) -> Path:
    """Draw one figure into its file, with a palette of 256 colours."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    PICTURES.mkdir(parents=True, exist_ok=True)
    path = PICTURES / f"{name}.png"
    few = Image.fromarray(drawn(name)).quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    made_by = PngInfo()
    made_by.add_text("matplotlib", version())
    few.save(path, optimize=True, pnginfo=made_by)
    return path


def stored(name: str) -> np.ndarray:
    """The stored picture of one figure as an array of bytes (height, width, 3)."""
    from PIL import Image

    with Image.open(PICTURES / f"{name}.png") as picture:
        return np.asarray(picture.convert("RGB"))


def version() -> str:
    """Major and minor version of matplotlib: others place texts differently."""
    import matplotlib

    return ".".join(matplotlib.__version__.split(".")[:2])


def stored_by(name: str) -> str:
    """The version of matplotlib that drew a stored picture."""
    from PIL import Image

    with Image.open(PICTURES / f"{name}.png") as picture:
        return str(picture.info["matplotlib"])


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """Greatest difference of two pictures over tiles of 24 × 24 pixels, out of 255: root mean square within the tile.

    Pictures are compared at a quarter of their size, so that the edges of letters and lines, which other versions of a
    rasteriser draw differently, count little; a mark or a word that moved fills a part of its tile. Pictures of other sizes
    differ by 255.
    """
    if a.shape != b.shape:
        return 255.0
    quarter = [_means(picture.astype(float), QUARTER) for picture in (a, b)]
    squares = ((quarter[0] - quarter[1]) ** 2).mean(axis=-1, keepdims=True)
    return float(np.sqrt(_means(squares, TILE // QUARTER).max()))


def coarse_difference(a: np.ndarray, b: np.ndarray) -> float:
    """Root mean square of the differences between mean colours of tiles: for pictures whose texts may be elsewhere."""
    if a.shape != b.shape:
        return 255.0
    return float(np.sqrt(((_means(a.astype(float), TILE) - _means(b.astype(float), TILE)) ** 2).mean()))


def _means(picture: np.ndarray, side: int) -> np.ndarray:
    """Means over squares of pixels; the rest at the right and at the bottom is repeated to fill its squares."""
    height, width, colours = picture.shape
    full = np.pad(picture, ((0, -height % side), (0, -width % side), (0, 0)), mode="edge")
    return full.reshape(full.shape[0] // side, side, -1, side, colours).mean(axis=(1, 3))


# ---- results, by the names that the page uses --------------------------------------------------------------------------


@cache
def results() -> dict[str, Any]:
    """Every name that the calls use."""
    models, labels = classifiers()
    methods = {"deep ensemble": 0.3, "MC dropout": 0.15, "single network": 0.05}
    contenders = [contenders_of(benchmarked(*one, seed))[0] for seed, one in enumerate(methods.items())]
    gains = tuple(gain_of(method, noise) for method, noise in (("deep ensemble", 0.05), ("MC dropout", 0.3)))
    trained = on_shares()
    assay = uq.assay(models, labels, calibration=("kuiper-confidence",))
    return {
        "figures": figures,
        "a": assay,
        "compared": over_data_sets(),
        "ensemble": models["deep ensemble"],
        "by_members": {m: uq.assay(models, labels, common_members=m, calibration=()) for m in (2, 4, 8)},
        "correlations": uq.metrics.estimate_correlations(estimates(models["deep ensemble"])),
        "contender": contenders[0],
        "ranked": rank_disentanglement(contenders),
        "trend": uq.metrics.epistemic_trend_test(trained["epistemic"], trained["shares"]),
        "doubts": uq.metrics.doubt_sources(**trained),
        "gain": gains[0],
        "gains": gains,
        "second_order": second_order(),
        "cost": assay.expected_cost("deep ensemble"),
        "curves": coverage_curves(models, labels),
    }


def softmax(logits: np.ndarray) -> np.ndarray:
    """Distributions over the last axis."""
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@cache
def classifiers(n: int = 800) -> tuple[dict[str, uq.Prediction], np.ndarray]:
    """Five classifiers of the same instances, and the labels."""
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=n)
    hard = rng.gamma(2.0, 0.5, (n, 1))  # how hard an instance is
    signal = 2.5 * np.eye(4)[labels] + hard * rng.normal(size=(n, 4))

    def seen(noise: float, members: int) -> np.ndarray:
        own = signal + noise * hard * rng.normal(size=(n, 4))
        return softmax(1.4 * (own[:, None] + noise * hard[:, None] * rng.normal(size=(n, members, 4))))

    mean = seen(0.5, 1)[:, 0]
    reach = 0.12 * hard * rng.uniform(0.5, 1.5, (n, 1))
    return {
        "deep ensemble": uq.Members(seen(0.5, 8), class_names=CLASSES),
        "MC dropout": uq.Members(seen(0.3, 8), class_names=CLASSES),
        "single network": uq.Point(seen(0.8, 1)[:, 0], class_names=CLASSES),
        "evidential": uq.Dirichlet(1 + 25 * mean / (1 + hard), class_names=CLASSES),
        "intervals": uq.Intervals(np.maximum(mean - reach, 0), np.minimum(mean + reach, 1), class_names=CLASSES),
    }, labels


def coverage_curves(models: dict[str, uq.Prediction], labels: np.ndarray) -> dict[str, CoverageCurve]:
    """Coverage against size of the models with sets."""
    named = ("deep ensemble", "intervals")
    return {name: coverage_curve(labels, models[name], scales=(0, 0.25, 0.5, 1, 1.5, 2, 3, 5)) for name in named}


def over_data_sets() -> DataSetComparison:
    """The accuracy of six models on twenty data sets."""
    rng = np.random.default_rng(7)
    names = ("deep ensemble", "MC dropout", "single network", "evidential", "intervals", "random-set network")
    values = rng.uniform(0.75, 0.9, (20, 1)) + np.array([0.05, 0.03, 0.0, 0.015, 0.035, 0.04])
    values += 0.02 * rng.normal(size=values.shape)
    return compare_table(values, models=names, greater_is_better=True, label="accuracy")


def estimates(ensemble: uq.Prediction) -> dict[str, np.ndarray]:
    """Five uncertainty estimates of an ensemble."""
    names = ("total-entropy", "aleatoric-entropy", "epistemic-entropy", "nonspecificity", "margin")
    return {name.replace("-", " "): uq.measures.uncertainty_score(ensemble, name)[None] for name in names}


def benchmarked(method: str, strength: float, seed: int) -> DisentanglementStudy:
    """A study of the disentanglement benchmark whose estimates follow what they should as strongly as stated."""
    rng = np.random.default_rng(seed)
    runs, n, shares, noise = 5, 60, (0.05, 0.1, 0.25, 0.5, 1.0), tuple(np.linspace(0, 1, 6).tolist())
    accuracies = {
        "dataset-size": (shares, np.linspace(0.6, 0.92, 5), "epistemic"),
        "label-noise": (noise, np.linspace(0.92, 0.3, 6), "aleatoric"),
        "left-out-class": (tuple(range(4)), np.full(4, 0.6), "epistemic"),
    }
    measured = {}
    for experiment, (conditions, accuracy, moving) in accuracies.items():
        shape = (runs, len(conditions), n)
        labels = np.broadcast_to(np.arange(n) % 4, shape).copy()
        right = rng.random(shape) < accuracy[:, None]
        probs = np.where(np.arange(4) == np.where(right, labels, (labels + 1) % 4)[..., None], 0.7, 0.1)
        wrong = 1 - right.mean(axis=-1, keepdims=True)
        parts = {}
        for kind in ("aleatoric", "epistemic"):
            follows = strength if kind == moving else 0.05
            parts[kind] = 0.3 + follows * wrong + 0.01 * rng.normal(size=(*shape[:2], 1)) + np.zeros(shape)
            if experiment == "left-out-class":
                out = labels == np.arange(4)[:, None]
                parts[kind] = parts[kind] + 0.2 * rng.normal(size=shape) + follows * out
        whole = Decomposition(parts["aleatoric"] + parts["epistemic"], parts["aleatoric"], parts["epistemic"])
        measured[experiment] = Measured(conditions, labels, probs, {"information-theoretic": whole})
    return DisentanglementStudy(method, "animals", tuple(range(runs)), CLASSES, measured)


def on_shares() -> dict[str, Any]:
    """Predictions and epistemic estimates of runs trained on shares of the data; the estimates follow seed and few data."""
    rng = np.random.default_rng(3)
    n, shares = 200, np.array([0.1, 0.25, 0.5, 1.0])
    seed, data = rng.uniform(0, [[0.04], [0.05]], (2, n))
    truth = rng.uniform(0.4, 0.6, n)
    few = data * np.sqrt(1 / shares - 1)[:, None]
    noise = rng.normal(size=(2, 6, 4, n))
    to_one = truth + rng.uniform(0, 0.06, n) + seed * noise[0] + few * noise[1]
    epistemic = 2 * (seed**2 + few**2) * np.exp(0.3 * rng.normal(size=(6, 4, n)))
    distributions = np.stack([1 - truth, truth], axis=1)
    probs = np.stack([1 - to_one, to_one], axis=-1)
    return {"probs": probs, "epistemic": epistemic, "labels": distributions, "shares": shares}


def gain_of(method: str, noise: float) -> GainResult:
    """Gains of more data in three runs, and estimates of them with so much noise."""
    rng = np.random.default_rng(5)

    def sample(n: int = 500) -> GainSample:
        expected = 0.4 * rng.beta(1.0, 3.0, n)
        won = rng.random(n) < expected
        before = ~won & (rng.random(n) < 0.8)
        after = won | before
        epistemic = np.clip(expected + noise * rng.normal(size=n), 0.0, None)
        return GainSample({"zero-one": after.astype(float) - before}, {"mutual-information": epistemic}, before, after)

    runs = tuple(GainRun(r, sample(), sample(), {"train": 500, "test": 500}) for r in range(3))
    return GainStudy(method, "animals", runs).result(bins=10)


def second_order() -> dict[str, uq.calibration.SecondOrderTest]:
    """One model that states the variance of the truth, and one that states half of it."""
    rng = np.random.default_rng(6)
    members = rng.dirichlet(np.ones(3), (400, 5)) * rng.uniform(0.2, 1.0, (400, 1, 1))
    members[..., 0] += 1 - members.sum(axis=-1)
    truth = members[np.arange(400), rng.integers(5, size=400)]
    votes = rng.multinomial(5, truth)
    mean = members.mean(axis=1, keepdims=True)
    stated = {"calibrated": members, "too narrow": mean + np.sqrt(0.5) * (members - mean)}
    tests = {name: uq.calibration.second_order_test(votes, uq.Members(m), buckets=6) for name, m in stated.items()}
    return tests
