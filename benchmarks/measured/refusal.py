"""Tables of docs/coverage-refusal.md and of docs/certified-refusal.md."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.metrics.risk import test_certified_refusal as certified
from tests.metrics.risk import test_error_rates as risk
from tests.metrics.risk import test_expected_cost as costs

from benchmarks.interval_widths import Measured, measure
from benchmarks.measured.registry import measured, percents, printed
from benchmarks.speed.commits import check_out
from benchmarks.stored_tables import ROOT, Table

FUNCTION = "tests.metrics.risk.test_error_rates:shares_covered"
AREAS = ("AURC", "E-AURC", "AUGRC", "ratio", "selective ratio")
AUCS = (0.6, 0.8, 0.95)
WITH_CORRECTIONS = "946a7e7b"  # the last commit that has them
LEAST_CHANGED = {
    False: ("ratio", "accuracy at .5", "gain at .8"),
    True: ("AUGRC",),
}  # by ties; not shown, as a page is short


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


@measured("coverage-risk-areas", function=FUNCTION)
def areas(size: int = 1000) -> Table:
    """Intervals of areas under the curve of risk and coverage."""
    found = _rows(size, risk.CELLS, risk.SCORES, risk.Population.areas, risk.area_estimates)
    return Table(("n, error rate", *AREAS), _named(found, [f"{n}, {rate}" for n, rate in risk.CELLS]))


@measured("corrections-removed", "corrections-removed-ties", function="benchmarks.interval_widths:measure")
def corrections(size: int = 400) -> tuple[Table, Table]:
    """Coverage and mean width of the intervals before and after corrections that bought nothing were removed."""
    with tempfile.TemporaryDirectory() as folder:
        check_out(WITH_CORRECTIONS, ROOT, Path(folder))
        script = [sys.executable, str(ROOT / "benchmarks" / "interval_widths.py"), str(size)]
        paths = {**os.environ, "PYTHONPATH": os.pathsep.join((f"{folder}/src", folder))}
        with subprocess.Popen(script, cwd=folder, env=paths, stdout=subprocess.PIPE, text=True) as other:
            after, printed_before = measure(size), other.communicate()[0]
    return _beside(json.loads(printed_before), after, ties=False), _beside(json.loads(printed_before), after, ties=True)


def _beside(before: Measured, after: Measured, *, ties: bool) -> Table:
    rows = []
    for cell, found in after.items():
        if (": " in cell) != ties:
            continue
        for name in (name for name in found if name not in LEAST_CHANGED[ties]):
            both = (before[cell][name], found[name])
            shares = (percents(share) for share, _ in both)
            widths = (" / ".join(f"{width:.2g}" for width in widths) for _, widths in both)
            rows.append([cell.replace("ties: ", ""), name, *shares, *widths])
    columns = ("n, error rate", "interval of", "coverage before", "after", "width before", "after")
    return Table(columns, rows)


@measured("coverage-accuracy", "coverage-gain-of-refusal", function=FUNCTION)
def selective(size: int = 500) -> tuple[Table, Table]:
    """Intervals of accuracies at a coverage, gains, and coverages at a risk."""
    found = _rows(size, risk.CELLS, risk.SCORES, risk.Population.selective, risk.selective_estimates)
    rows = _named(found, [f"{n}, {rate}" for n, rate in risk.CELLS])
    return (
        Table(("n, error rate", "accuracy at .5", "accuracy at .8", "accuracy at .9"), [row[:4] for row in rows]),
        Table(("n, error rate", "gain at .8", "gain at .9", "at risk"), [[row[0], *row[4:7]] for row in rows]),
    )


@measured("paired-risk-tests", function="tests.metrics.risk.test_error_rates:share_rejected")
def paired(size: int = 2000) -> Table:
    """Paired test of AURC under ties: rejections, and power."""
    rows = []
    for line in printed(risk.print_paired, size):
        equal, power = line[44:].split()
        kinds = line[12:44].strip().replace("%, ", "% ").replace(" | ", ", ")
        rows.append([f"{int(line[:5]):,}, {kinds}", equal.replace("/", " / "), power.partition("/")[2]])
    return Table(("n, ties of the two scores", "equal", "power"), rows)


CERTIFIED = "tests.metrics.risk.test_certified_refusal:rates"
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


@measured("certified-refusal", function=CERTIFIED)
def certified_refusals(size: int = 2000) -> Table:
    """How often the risk of a certified threshold exceeds the limit, and what it keeps."""
    return Table(KEPT, _certified_rows(certified.WORLDS, size))


@measured("certified-refusal-groups", function=CERTIFIED)
def certified_refusals_of_groups(size: int = 2000) -> Table:
    """The same with groups of unequal size."""
    return Table(KEPT, _certified_rows(certified.GROUPED, size))


@measured("certified-refusal-other-tests", function="tests.metrics.risk.test_certified_refusal:shares_above")
def other_tests_of_groups(size: int = 300) -> Table:
    """How often other tests of groups let a threshold pass that is above the limit."""
    rows = []
    for name in list(certified.GROUPED)[2:]:
        for n in certified.SIZES:
            tests = (certified.binomial_pvalue, certified.student_pvalue)
            world = certified.GROUPED[name]
            found = [certified.shares_above(world, n, n_sets=size, seed=n, pvalues=p) for p in tests]
            rows.append([f"{n:,}", name, *map(percent_of, found)])
    return Table(("n", "data", "binomial", "Student's t"), rows)


@measured("expected-cost", function="tests.metrics.risk.test_expected_cost:measured_costs")
def expected_costs(size: int = 1000) -> Table:
    """Coverage and bias of the expected cost for a price."""
    rows = []
    for name, world in costs.WORLDS.items():
        for n in costs.SIZES:
            (held, bias, plain), said = costs.measured_costs(world, n, n_sets=size, seed=n)
            off = (" / ".join(f"{1000 * x:.1f}".replace("-", "−") for x in row) for row in (bias, plain))
            rows.append([f"{n:,}", name, percents(held), *off, percent_of(said)])
    return Table(("n", "data", "coverage", "estimate off by", "on the same instances", "called worthwhile"), rows)
