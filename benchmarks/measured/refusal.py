"""Tables of docs/coverage-refusal.md."""

from tests.metrics.risk import test_error_rates as risk

from benchmarks.measured.registry import measured, percents, printed
from benchmarks.stored_tables import Table

FUNCTION = "tests.metrics.risk.test_error_rates:shares_covered"
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


@measured("coverage-risk-areas", function=FUNCTION)
def areas(size: int = 4000) -> Table:
    """Intervals of areas under the curve of risk and coverage."""
    found = _rows(size, risk.CELLS, risk.SCORES, risk.Population.areas, risk.area_estimates)
    return Table(("n, error rate", *AREAS), _named(found, [f"{n}, {rate}" for n, rate in risk.CELLS]))


@measured("coverage-risk-ties", function=FUNCTION)
def ties(size: int = 400) -> Table:
    """The same where scores are tied."""
    found = _rows(size, risk.TIED_CELLS, risk.TIES, risk.Population.areas, risk.area_estimates)
    return Table(("n, instances tied", *AREAS), _named(found, [f"{n:,}" for n, _ in risk.TIED_CELLS]))


@measured("coverage-accuracy", "coverage-gain-of-refusal", function=FUNCTION)
def selective(size: int = 4000) -> tuple[Table, Table]:
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
