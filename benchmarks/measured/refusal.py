"""Refusing the uncertain cases: areas, accuracies, certified thresholds, costs."""

import itertools

from tests.metrics.calibration import test_score_calibration as score_maps
from tests.metrics.risk import test_certified_refusal as certified
from tests.metrics.risk import test_critical_class as critical
from tests.metrics.risk import test_error_rates as risk
from tests.metrics.risk import test_expected_cost as costs

from benchmarks.measured.registry import measured, percents
from benchmarks.stored_tables import Table

AREAS = ("AURC", "E-AURC", "AUGRC", "ratio", "selective ratio")
AUCS = (0.6, 0.8, 0.95)


def _rows(size: int, cells: list[tuple[int, float]], kinds: dict[str, str], truths, estimates) -> list[list[list[str]]]:
    """For each size and error rate the rows of the kinds: label, and coverage at the three areas."""
    found = []
    for n, rate in cells:
        rows = []
        for kind, label in kinds.items():
            worlds = [risk.Population(rate, auc, kind) for auc in AUCS]
            shares = [risk.shares_covered(w, truths(w), estimates, n=n, n_samples=size, seed=n) for w in worlds]
            rows.append([label, *(percents(column) for column in zip(*shares, strict=True))])
        found.append(rows)
    return found


def _named(found: list[list[list[str]]], names: list[str]) -> list[list[str]]:
    return [[f"{name}, {row[0]}", *row[1:]] for name, rows in zip(names, found, strict=True) for row in rows]


@measured("coverage-risk-areas", page="ranking")
def areas(size: int = 1000) -> Table:
    """Areas under risk-coverage curves: 95 % intervals that hold the truth, UQ-AUC .6 / .8 / .95."""
    found = _rows(size, risk.CELLS, risk.SCORES, risk.Population.areas, risk.area_estimates)
    return Table(("n, error rate", *AREAS), _named(found, [f"{n}, {rate}" for n, rate in risk.CELLS]))


@measured("coverage-rejection-in-part", page="ranking")
def rejection_in_part(size: int = 500) -> Table:
    """Prediction-rejection ratio up to a rejection of .5: 95 % intervals that hold the truth, UQ-AUC .6 / .8 / .95."""
    found = _rows(size, risk.PART_CELLS, risk.SCORES, risk.Population.ratios_in_part, risk.estimates_in_part)
    names = [f"{n:,}, {rate}" for n, rate in risk.PART_CELLS]
    return Table(("n, error rate", "generalised", "selective"), _named(found, names))


@measured("coverage-score-calibration", page="ranking")
def score_bands(size: int = 500) -> Table:
    """Error rate at each score: 95 % bands that hold the true rates at all scores, and intervals of single bins."""
    rows = []
    for n, truth in itertools.product((100, 300, 2000), score_maps.TRUTHS):
        found = [score_maps.covered(truth, n, size, **options) for options in score_maps.KINDS.values()]
        rows.append([f"{n:,}, {truth}", *(f"{100 * x:.1f} / {100 * y:.1f}" for x, y in found)])
    return Table(("n, true rate", *score_maps.KINDS), rows)


@measured("coverage-critical-class", page="ranking")
def critical_class(size: int = 2000) -> Table:
    """Refusing 10 %, for the class that matters: 95 % intervals that hold the truth."""
    rows = []
    for n, n_groups in critical.CELLS:
        shares = critical.shares_covered(n, n_groups, size, seed=0)
        rows.append([f"{n:,}, {n_groups or 'none'}", *(f"{100 * share:.1f}" for share in shares)])
    return Table(("n, groups", *(name.replace("_", " ") for name in critical.CRITICAL_SHARES)), rows)


@measured("coverage-accuracy", page="ranking")
def selective(size: int = 500) -> Table:
    """Accuracy of the cases kept: 95 % intervals that hold the truth, UQ-AUC .6 / .8 / .95."""
    found = _rows(size, risk.CELLS, risk.SCORES, risk.Population.selective, risk.selective_estimates)
    rows = _named(found, [f"{n}, {rate}" for n, rate in risk.CELLS])
    columns = ("n, error rate", "accuracy at .5", "at .8", "at .9", "gain at .8", "at .9", "coverage at risk")
    return Table(columns, rows)


KEPT = (
    "n",
    "data",
    "above the limit",
    "certified",
    "kept",
    "interval of kept",
    "above, uncertified",
    "kept, uncertified",
)


def _certified_rows(worlds, size: int) -> list[list[str]]:
    """For each size and world the shares in percent."""
    return [
        [f"{n:,}", name, *(percent_of(share) for share in certified.rates(world, n, n_sets=size, seed=n))]
        for name, world in worlds.items()
        for n in certified.SIZES
    ]


def percent_of(share: float) -> str:
    """A share in percent; a dash where it is undefined."""
    return "–" if share != share else f"{100 * share:.1f}"


@measured("certified-refusal", page="ranking")
def certified_refusals(size: int = 2000) -> Table:
    """Certified refusal: how often the true error rate is above the limit, where 5 is allowed."""
    return Table(KEPT, _certified_rows(certified.WORLDS, size))


@measured("certified-refusal-groups", page="ranking")
def certified_refusals_of_groups(size: int = 2000) -> Table:
    """Certified refusal with groups."""
    return Table(KEPT, _certified_rows(certified.GROUPED, size))


@measured("expected-cost", page="ranking")
def expected_costs(size: int = 1000) -> Table:
    """Expected cost for a price: 95 % intervals that hold the truth."""
    rows = []
    for name, world in costs.WORLDS.items():
        for n in costs.SIZES:
            (held, bias, plain), said = costs.measured_costs(world, n, n_sets=size, seed=n)
            off = (" / ".join(f"{1000 * x:.1f}".replace("-", "−") for x in row) for row in (bias, plain))
            rows.append([f"{n:,}", name, percents(held), *off, percent_of(said)])
    return Table(("n", "data", "coverage", "estimate off by", "on the same instances", "called worthwhile"), rows)
