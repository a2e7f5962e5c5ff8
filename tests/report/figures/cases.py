"""Axes, bands and hostile assays that tests of the figures share."""

from functools import cache

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from tests.kinds import random_prediction

import uqassay as uq

KINDS = ("Point", "Members", "Intervals", "Masses")
HOSTILE = (
    *("one model", "twelve models", "two classes", "ten classes", "one instance", "constant values", "perfect"),
    *("infinite losses", "all infinite", "names", "groups and runs", "label distributions"),
)


def blank():
    """Axes of a figure that pyplot knows nothing of."""
    figure = Figure(dpi=50)
    FigureCanvasAgg(figure)
    return figure.subplots()


def members(rng, n=60, k=4, m=3, sharp=1.0):
    return uq.Members(rng.dirichlet(np.full(k, sharp), (n, m)))


def band(collection):
    """x, lower edge and upper edge of a filled band."""
    v = collection.get_paths()[0].vertices
    n = (len(v) - 3) // 2
    below, above = v[1 : n + 1], v[n + 2 : 2 * n + 2][::-1]
    np.testing.assert_array_equal(below[:, 0], above[:, 0])
    return below[:, 0], below[:, 1], above[:, 1]


def texts(ax):
    return [t.get_text() for t in ax.texts]


def legend_texts(ax):
    return [t.get_text() for t in ax.get_legend().get_texts()]


@cache
def hostile(kind):
    """An assay that figures must survive, made once."""
    rng = np.random.default_rng(11)
    n, k, floor, groups = 40, 3, None, None
    models = {"m": members(rng, n, k)}
    y = rng.integers(k, size=n)
    match kind:
        case "twelve models":
            models = {f"model {j}": members(rng, n, k, sharp=0.2 + 0.2 * j) for j in range(12)}
        case "two classes":
            y, models = y % 2, {"m": members(rng, n, 2), "p": uq.Point(rng.dirichlet([1, 1], n))}
        case "ten classes":
            models = {name: random_prediction(name, rng, n, 10) for name in ("Members", "Intervals", "Dirichlet")}
        case "one instance":
            y, models = y[:1], {"m": members(rng, 1, k), "p": uq.Point(rng.dirichlet(np.ones(k), 1))}
        case "constant values":
            y, models = np.zeros(n, dtype=int), {"m": uq.Point(np.full((n, 3), [0.5, 0.25, 0.25]))}
        case "perfect":
            models = {"m": uq.Point(np.eye(k)[y]), "v": uq.Intervals(np.zeros((n, k)), np.ones((n, k)))}
        case "infinite losses":
            floor, zero = 0.0, uq.Point(np.eye(k)[(y + (np.arange(n) % 5 == 0)) % k])
            models = {"infinite": zero, "m": members(rng, n, k)}
        case "all infinite":
            floor, models = 0.0, {"infinite": uq.Point(np.eye(k)[(y + 1) % k])}
        case "names":
            names = ("$x_1$", "_hidden", r"\alpha $", "two lines", "%s {0} \\", "n" * 90)
            models = {name: members(rng, n, k) for name in names}
        case "groups and runs":
            groups, models = np.arange(n) // 4, {"m": [members(rng, n, k) for _ in range(2)], "v": members(rng, n, k)}
        case "label distributions":
            y = rng.dirichlet(np.ones(k), n)
    return uq.assay(models, y, floor=floor, groups=groups, n_draws=20, tradeoffs=(0.5, 1.0), calibration=())


def drawn(ax):
    """The axes, drawn."""
    ax.figure.canvas.draw()
    return ax
