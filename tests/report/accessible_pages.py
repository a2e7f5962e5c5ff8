"""Every kind of page, small, for the tests of accessibility."""

from collections.abc import Callable

import numpy as np
from tests.report.cases import softmax
from tests.report.static_cases import COMMAND, STATIC_CASES

import uqassay as uq
from uqassay.report.page import render


def _data(n, k, *, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng, y, 2.0 * np.eye(k)[y] + rng.normal(size=(n, k))


def _members(rng, z, m, spread=0.6):
    return uq.Members(softmax(z[:, None] + spread * rng.normal(size=(len(z), m, z.shape[1]))))


def _two():
    rng, y, z = _data(60, 4)
    return uq.assay({"ensemble": _members(rng, z, 4), "softmax": uq.Point(softmax(z))}, y, n_draws=20)


def _six():
    rng, y, z = _data(80, 4)
    p = softmax(z)
    models = {
        "runs": [_members(rng, z, 3) for _ in range(2)],
        "other runs": [_members(rng, 0.7 * z, 3) for _ in range(2)],
        "ensemble": _members(rng, 1.3 * z, 5),
        "a name of many words, which tells apart only at its end: temperature 0.7": uq.Point(p),
        "a name of many words, which tells apart only at its end: temperature 1.0": uq.Point(softmax(0.7 * z)),
        "box": uq.Intervals(np.maximum(p - 0.1, 0), np.minimum(p + 0.1, 1)),
    }
    site = np.where(rng.random(80) < 0.5, "north", "south")
    return uq.assay(
        models, y, groups=np.arange(80) // 2, subgroups={"site": site}, n_draws=20, calibration=("kuiper-confidence",)
    )


def _twelve():
    rng, y, z = _data(40, 3)
    models = {f"model {i:02d}": _members(rng, (0.5 + 0.05 * i) * z, 3) for i in range(12)}  # more than ten
    return uq.assay(models, y, n_draws=20, calibration=("ece-confidence", "ece-classwise"))


def _votes():
    rng, y, z = _data(60, 3)
    votes = rng.multinomial(9, 0.7 * np.eye(3)[y] + 0.3 * rng.dirichlet(np.ones(3), 60))
    return uq.assay({"ensemble": _members(rng, z, 4), "softmax": uq.Point(softmax(z))}, votes, n_draws=20)


def _static(name):
    case = STATIC_CASES[name]
    return lambda: case.render(case.subjects, command=COMMAND)


def _report(made):
    return lambda: render(made(), command=COMMAND)


REPORTS: dict[str, Callable[[], str]] = {
    "two": _report(_two),
    "six": _report(_six),
    "twelve": _report(_twelve),
    "votes": _report(_votes),
}
PAGES = {**REPORTS, **{name: _static(name) for name in STATIC_CASES}}
