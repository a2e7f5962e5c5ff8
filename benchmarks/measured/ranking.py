"""Ranking metrics, backward scores, and detection of inputs out of distribution."""

from functools import partial

import numpy as np
from tests.evidence import test_backward
from tests.metrics.ood import test_error_rates as ood
from tests.metrics.ood import test_scod_error_rates as scod
from tests.metrics.ranking import test_error_rates as ranking

from benchmarks.measured.registry import measured, percents
from benchmarks.stored_tables import Table
from uqassay.metrics import uq_c_index_score

AREAS = [  # errors, right predictions, levels
    *((2, 198, None), (4, 196, None), (4, 196, 5), (10, 190, None), (20, 20, None), (20, 180, None), (20, 180, 5)),
    *((20, 980, None), (20, 980, 5), (60, 140, None), (300, 700, None)),
]
GROUPED = {  # n, error rate, options
    "200 in 20 groups, 30 % positive": (200, 0.3, {}),
    "200 in 20 groups, 10 % positive": (200, 0.1, {}),
    "1,000 in 100 groups, 10 %": (1000, 0.1, {}),
    "the same, unequal groups": (1000, 0.1, {"unequal": True}),
    "the same, groups ignored": (1000, 0.1, {"use_groups": False}),
}
CONCORDANCE = {
    "binary, hard": "binary, probabilities spread by 1",
    "binary": "binary, spread by 2.5",
    "binary, easy": "binary, spread by 6 (nearly all gaps 0 or 1)",
    "binary, tied": "binary, probabilities rounded to tenths",
    "10 classes": "10 classes",
}
TESTS = [  # n, error rate, area
    *((200, 0.05, 0.8), (200, 0.05, 0.95), (200, 0.1, 0.8), (200, 0.1, 0.6), (200, 0.3, 0.8)),
    *((1000, 0.02, 0.8), (1000, 0.1, 0.8), (1000, 0.1, 0.95)),
]
UNEQUAL = {"400, 20 and 200 errors": ((20, 200), 400, 0.9), "1,000, 10 and 200 errors": ((10, 200), 1000, 0.8)}
OTHERS = ("uq-c-index", "aurc", "e-aurc", "augrc", "prediction-rejection")
BACKWARD = {  # rows of the guide, and the cells of which each is the greatest
    "1 × 1, 200, 10 %": [0],
    "10 × 10, 200, 5 %": [1],
    "10 × 10, 2,000, 5 %": [2],
    "10 × 10, 2,000, 30 %": [3],
    "5 × 5, 200 and 2,000, 5 %, 97 % tied at either end": [4, 5, 6, 7],
    "5 × 5, 300, 20 %, 30 groups": [9],
    "5 × 5, 300, 20 %, 10 groups": [8],
    "5 × 5, 200, 10 %, 3 runs": [10],
}


def _short(value: float) -> str:
    return f"{value:g}".removeprefix("0")


@measured("coverage-areas", page="ranking", golden=lambda: areas(4))
def areas(size: int = 4000) -> Table:
    """Areas under the ROC curve (UQ-AUC): 95 % intervals that hold the truth, areas .6 / .8 / .95."""
    rows = []
    for wrong, right, levels in AREAS:
        cells = [
            percents(
                ranking.coverage(lambda r: ranking.binormal(r, wrong, right, auc, levels), size, 3, method=method)[0]  # noqa: B023
                for auc in ranking.AUCS
            )
            for method in ("adjusted", "delong")
        ]
        rows.append([f"{wrong}, {right}" + (", five levels" if levels else ""), *cells])
    for name, (n, rate, options) in GROUPED.items():
        found = (ranking.grouped_coverage(n, rate, auc, size // 2, 5, **options) for auc in ranking.AUCS)
        rows.append([name, percents(found), ""])
    found = (ranking.whole_group_coverage(20, 180, auc, size // 4, 15) for auc in ranking.AUCS)
    rows.append(["20 and 180 groups of one kind", percents(found), ""])
    return Table(("positive, negative instances", "adjusted", "delong"), rows)


def _golden_concordance() -> object:
    rng = np.random.default_rng(0)
    return [uq_c_index_score(*ranking.gaps(rng, 60, kind)) for kind in CONCORDANCE]


@measured("coverage-concordance", page="ranking", golden=_golden_concordance)
def concordance(size: int = 2000) -> Table:
    """UQ-C-index: 95 % intervals that hold the truth, n = 40 / 200 / 1,000."""
    rows = [
        [label, percents(ranking.c_index_coverage(kind, n, size, 6) for n in (40, 200, 1000))]
        for kind, label in CONCORDANCE.items()
    ]
    return Table(("predictions", "coverage"), rows)


@measured("paired-ranking-tests", page="ranking")
def paired_tests(size: int = 4000) -> Table:
    """Paired tests of equally good rankings: rejections at 1 / 5 / 10 %."""
    rows = []
    for n, rate, auc in TESTS:
        cells = [
            percents(ranking.rejections(lambda r: draw(r, n, rate, (auc, auc), 0.5), size, 7))  # noqa: B023
            for draw in (ranking.two_scores, ranking.two_models)
        ]
        rows.append([f"{n:,}, {100 * rate:g} %, {_short(auc)}", *cells])
    rows.append(["1,000, 20 %, .8, groups", percents(ranking.grouped_rejections(1000, 0.2, size // 2, 9)), ""])
    for name, (wrong, n, auc) in UNEQUAL.items():
        found = ranking.rejections(lambda r: ranking.unequal_models(r, wrong, n, auc), size // 2, 12)  # noqa: B023
        rows.append([name, "", percents(found)])
    others = []
    for metric in OTHERS:
        found = ranking.rejections(
            lambda r: ranking.two_scores(r, 1000, 0.1, (0.8, 0.8), 0.5), size // 2, 8, metric=metric
        )
        others.append(f'"{metric}" {percents(found)}')
    words = f"Other metrics at 1,000 instances, 10 % errors, area .8, two scores: {', '.join(others)}."
    return Table(("instances, errors, area", "two scores of one model", "two models"), rows, [words])


def _golden_backward() -> object:
    cells = test_backward.CHANCE[0], test_backward.POWER[2]
    return [test_backward.drawn(np.random.default_rng(0), **cell).backward for cell in cells]


@measured("backward-false", page="ranking", golden=_golden_backward)
def backward_false(size: int = 60) -> Table:
    """Backward scores: assays that call a score backward although it is random."""
    found = [test_backward.rates(size, 1, **cell)[0] for cell in test_backward.CHANCE]
    rows = [[name, percents([max(found[i] for i in cells)])] for name, cells in BACKWARD.items()]
    small, large = (percents([test_backward.rates(size, 1, **cell)[1]]) for cell in test_backward.COSTLESS)
    words = (
        "Where a random tenth has the greatest scores and the others are ranked backwards (UQ-AUC .3 before; 5 × 5 scores, "
        f"20 % errors), refusing the tenth changes nothing on average. Any score was said to cost accuracy in {small} % (n = "
        f"300) and {large} % (n = 2,000) of {size} data sets."
    )
    return Table(("J × S, n, error rate", "any called backward"), rows, [words])


def _golden_ood(metric: str) -> object:
    rng, found = np.random.default_rng(0), []
    for options in ({}, {"levels": 5}, {"grouped": True}):
        samples, groups = ood.draw(rng, 60, 50, 0.8, **options)
        found.append(ood.METRICS[metric](*ood.sides(*samples), **groups))
    return found


def _golden_scod() -> object:
    return [scod.coverage(name, 60, 50, -1.6, 1, 1, **o) for name in scod.SCOD_METRICS for o in scod.SETTINGS.values()]


def _ood(metric: str, size: int) -> Table:
    rows = []
    for m, n in ood.SIZES:
        cells = [
            percents(ood.coverage(metric, m, n, auc, size, 11, **options)[0] for auc in ood.AUCS)
            for options in ({}, {"levels": 5}, {"grouped": True})
            if not ("grouped" in options and m == 50)
        ]
        rows.append([str(m), str(n), *cells, *[""] * (3 - len(cells))])
    return Table(("m", "n", "continuous", "5 distinct scores", "groups"), rows)


@measured("coverage-ood-auc", page="ranking", golden=partial(_golden_ood, "ROC-AUC"))
def ood_auc(size: int = 4000) -> Table:
    """Out of distribution, ROC-AUC: 95 % intervals that hold the truth, areas .6 / .8 / .95."""
    return _ood("ROC-AUC", size)


@measured("coverage-ood-fpr", page="ranking", golden=partial(_golden_ood, "FPR95"))
def ood_fpr(size: int = 10_000) -> Table:
    """Out of distribution, FPR95: 95 % intervals that hold the truth, areas .6 / .8 / .95."""
    return _ood("FPR95", size)


@measured("coverage-scod", page="ranking", golden=_golden_scod)
def scod_coverage(size: int = 500) -> Table:
    """Errors and out-of-distribution inputs together: 95 % intervals that hold the truth."""
    rows = []
    for name in scod.SCOD_METRICS:
        for m, n in scod.SIZES if name == "scod-aurc" else scod.SIZES[:1] + scod.SIZES[-1:]:
            cells = [
                percents(scod.coverage(name, m, n, at, size, 1, **options)[0] for at in scod.RATES.values())
                for options in scod.SETTINGS.values()
            ]
            rows.append([name, str(m), str(n), *cells])
    return Table(("metric", "m", "n", *scod.SETTINGS), rows)
