"""Tables of docs/coverage-ranking.md and docs/coverage-backward-and-ood.md."""

from tests.evidence import test_backward
from tests.metrics.ood import test_error_rates as ood
from tests.metrics.ood import test_scod_error_rates as scod
from tests.metrics.ranking import equal_rankings, tied_rankings
from tests.metrics.ranking import test_error_rates as ranking

from benchmarks.measured.registry import measured, percents, printed_rows
from benchmarks.stored_tables import Table

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
TIES = ((100, 3), (300, 10), (2000, 10), (2000, 100))  # n, errors
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


@measured("coverage-areas", function="tests.metrics.ranking.test_error_rates:coverage")
def areas(size: int = 4000) -> Table:
    """Intervals of areas under the ROC curve."""
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


@measured("coverage-ties", function="tests.metrics.ranking.tied_rankings:beside_delong")
def ties(size: int = 2000) -> Table:
    """Intervals of areas where scores are tied; a tenth of the samples in each cell."""
    shown = {f"{n:,}, {wrong}" for n, wrong in TIES}
    cells = printed_rows(tied_rankings.print_ties, size)
    adjusted, plain = (min(float(share) for row in cells for share in row[at].split(" / ")) for at in (2, 3))
    words = (
        f"Over all {len(cells)} rows of the command (also 100 instances with 10 errors, and 300 with 3 and 30) the adjusted "
        f"interval covers as few as {adjusted} %, plain DeLong as few as {plain} %."
    )
    columns = ("instances, errors", "instances tied", "adjusted", "delong", "ratio of widths")
    return Table(columns, [row for row in cells if row[0] in shown], [words])


@measured("coverage-concordance", function="tests.metrics.ranking.test_error_rates:c_index_coverage")
def concordance(size: int = 2000) -> Table:
    """Intervals of the UQ-C-index."""
    rows = [
        [label, percents(ranking.c_index_coverage(kind, n, size, 6) for n in (40, 200, 1000))]
        for kind, label in CONCORDANCE.items()
    ]
    return Table(("predictions", "coverage"), rows)


@measured("paired-ranking-tests", function="tests.metrics.ranking.test_error_rates:rejections")
def paired_tests(size: int = 4000) -> Table:
    """Type-I error of the paired tests."""
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


@measured("ranking-power", function="tests.metrics.ranking.test_error_rates:rejections")
def power(size: int = 4000) -> Table:
    """Power of the paired tests; a tenth of the samples."""
    rows = []
    for d in (0.02, 0.05, 0.1):
        cells = [
            percents(
                (
                    ranking.rejections(lambda r: draw(r, n, 0.1, (0.8, 0.8 + d), 0.5), max(size // 10, 20), 11)[1]  # noqa: B023
                    for draw in (ranking.two_scores, ranking.two_models)
                ),
                0,
            )
            for n in (200, 1000, 5000)
        ]
        rows.append([f".{100 * d:02.0f}" + (", scores / models" if d == 0.02 else ""), *cells])
    return Table(("d", "n = 200", "n = 1,000", "n = 5,000"), rows)


@measured("ranking-rank-sets", function="tests.metrics.ranking.equal_rankings:false_pairs", cost="an hour of a core")
def rank_sets(size: int = 100) -> Table:
    """Rank sets of equally good rankings."""
    kept = {
        *(
            f"models, {g} groups, 10 % errors, {ties}"
            for g in (5, 10, 30)
            for ties in ("no ties", "97 % tied, certain")
        ),
        *(
            f"{label}, {cell} errors, {ties}"
            for label in ("scores", "models")
            for cell in ("100, 10", "300, 30")
            for ties in ("no ties", "97 % tied, certain", "two values")
        ),
    }
    rows = []
    for number, (name, world) in enumerate(equal_rankings.worlds().items()):
        if name not in kept:
            continue
        cells = [
            equal_rankings.false_pairs(world, j, equal_rankings.METRICS, n_samples=size, seed=[number, j])
            for j in equal_rankings.RANKINGS
        ]
        rows.append([name, *(percents(column) for column in zip(*cells, strict=True))])
    return Table(("rankings", "UQ-AUC", "UQ-C-index", "AURC"), rows)


@measured("ranking-two-models", function="tests.metrics.ranking.equal_rankings:error_of_two")
def two_models(size: int = 500) -> Table:
    """Two equal models in groups."""
    found = {tuple(row[:3]): ", ".join(row[3:]) for row in printed_rows(equal_rankings.print_groups_of_two, size)}
    sizes = ("equal", "60, 45, …, 1")
    rows = [[g, *(found[g, kind, f"{wrong} %"] for wrong in (10, 30) for kind in sizes)] for g in ("5", "10", "30")]
    return Table(("groups", "10 % errors, equal", "10 %, unequal", "30 %, equal", "30 %, unequal"), rows)


@measured("backward-false", function="tests.evidence.test_backward:rates", cost="an hour of a core")
def backward_false(size: int = 250) -> Table:
    """Scores that are called backward although they are independent of the errors."""
    found = [test_backward.rates(size, 1, **cell)[0] for cell in test_backward.CHANCE]
    rows = [[name, percents([max(found[i] for i in cells)])] for name, cells in BACKWARD.items()]
    small, large = (percents([test_backward.rates(size, 1, **cell)[1]]) for cell in test_backward.COSTLESS)
    words = (
        "Where a random tenth has the greatest scores and the others are ranked backwards (UQ-AUC .3 before; 5 × 5 scores, "
        f"20 % errors), refusing the tenth changes nothing on average. Any score was said to cost accuracy in {small} % (n = "
        f"300) and {large} % (n = 2,000) of {size} data sets."
    )
    return Table(("J × S, n, error rate", "any called backward"), rows, [words])


@measured("backward-power", function="tests.evidence.test_backward:rates")
def backward_power(size: int = 60) -> Table:
    """Power to find backward scores; with 5,000 instances two fifths of the data sets."""
    rows = []
    for auc in (0.45, 0.4, 0.3):
        cells = [cell for cell in test_backward.POWER if cell["auc"] == auc]
        found = [test_backward.rates(size if c["n"] < 5000 else max(size * 2 // 5, 1), 1, **c) for c in cells]
        rows.append([f"{auc:.2f}".removeprefix("0"), *(percents(f[2:]) for f in found)])
    return Table(("UQ-AUC", "n = 300", "n = 1,000", "n = 5,000"), rows)


@measured("ood-paired-tests", function="tests.metrics.ood.test_error_rates:rejections")
def ood_paired(size: int = 10_000) -> Table:
    """Type-I error of the paired tests."""
    shares = {
        name: [
            100 * ood.rejections(name, m, n, (auc, auc), 0.5, size, 12)[1]
            for m, n in ((200, 200), (1000, 200), (1000, 1000))
            for auc in ood.AUCS
        ]
        for name in ("fpr95-out", "ood-auc", "aupr-out")
    }
    both = [*shares["ood-auc"], *shares["aupr-out"]]
    words = (
        "Paired tests of two scores of correlation .5 at nominal 5 % (areas as above, 200 to 1,000 instances a side) rejected "
        f"{min(shares['fpr95-out']):.1f} to {max(shares['fpr95-out']):.1f} % for FPR95 and {min(both):.1f} to "
        f"{max(both):.1f} % for ROC-AUC and average precision."
    )
    return Table(text=[words])


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


@measured("coverage-ood-auc", function="tests.metrics.ood.test_error_rates:coverage")
def ood_auc(size: int = 10_000) -> Table:
    """Intervals of the area, in against out of distribution."""
    return _ood("ROC-AUC", size)


@measured("coverage-ood-fpr", function="tests.metrics.ood.test_error_rates:coverage")
def ood_fpr(size: int = 10_000) -> Table:
    """Intervals of the rate of false positives."""
    return _ood("FPR95", size)


@measured("coverage-ood-fpr-whole", function="tests.metrics.ood.test_error_rates:coverage")
def ood_fpr_whole(size: int = 1000) -> Table:
    """Intervals of the rate of false positives where ties pass whole."""
    (metric,) = ood.WHOLE
    rows = [
        [
            *(str(m), str(n)),
            *(percents(ood.coverage(metric, m, n, auc, size, 11, levels=k)[0] for auc in ood.AUCS) for k in (5, 20)),
        ]
        for m, n in ood.SIZES
    ]
    return Table(("m", "n", "5 distinct scores", "20 distinct scores"), rows)


@measured("coverage-scod", function="tests.metrics.ood.test_scod_error_rates:coverage")
def scod_coverage(size: int = 500) -> Table:
    """Intervals of the areas and the risk that count errors and inputs out of distribution together."""
    rows = []
    for name in scod.SCOD_METRICS:
        for m, n in scod.SIZES if name == "scod-aurc" else scod.SIZES[:1] + scod.SIZES[-1:]:
            cells = [
                percents(scod.coverage(name, m, n, at, size, 1, **options)[0] for at in scod.RATES.values())
                for options in scod.SETTINGS.values()
            ]
            rows.append([name, str(m), str(n), *cells])
    return Table(("metric", "m", "n", *scod.SETTINGS), rows)


@measured("scod-paired-tests", function="tests.metrics.ood.test_scod_error_rates:rejections")
def scod_paired(size: int = 500) -> Table:
    """Type-I error and power of paired tests."""
    rows = [
        [
            name,
            str(m),
            str(n),
            *(f"{100 * scod.rejections(name, m, n, -1.6, size, 2, better=b):.1f}" for b in (0.0, 0.5)),
        ]
        for name in scod.SCOD_METRICS
        for m, n in scod.SIZES[:2]
    ]
    return Table(("metric", "m", "n", "equally good", "half the noise"), rows)


@measured("coverage-ood-aupr", function="tests.metrics.ood.test_error_rates:coverage")
def ood_aupr(size: int = 10_000) -> Table:
    """Intervals of the average precision."""
    return _ood("AUPR", size)
