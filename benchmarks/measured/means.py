"""Tables of docs/coverage-means.md and docs/coverage-correlations.md."""

import re

from tests.statistics import rank_worlds, test_correlation, test_error_rates, test_weighted_bootstrap

from benchmarks.measured.registry import joined, measured, numbers, printed, printed_rows
from benchmarks.stored_tables import Table

MEANS = {  # as the command names the values, and as the guide does
    "normal": "normal",
    "exponential": "exponential (skewness 2)",
    "log loss": "log loss, p ~ Beta(.5, .1) (4.5)",
    "lognormal": "lognormal (6.2)",
    "heavy tails": "difference of two log losses (0)",
    "Bernoulli .3": "0 or 1, share .3",
    "Bernoulli .05": "0 or 1, share .05",
    "groups": "normal, groups",
    "groups, unequal": "normal, unequal groups",
    "groups, skewed": "skewed groups",
    "weights": "normal, exponential weights",
    "5 runs, sd .05": "5 runs, sd .05 against 1 of instances",
    "5 runs, sd .5": "5 runs, sd .5",
}
CHOSEN = {  # rows that docs/intervals-and-tests.md repeats
    "log loss": "log loss of a good classifier (4.5)",
    **{name: MEANS[name] for name in MEANS if name not in ("log loss", "Bernoulli .3", "groups, skewed", "weights")},
}
PAIRS = {
    "pairs: normal, n 50": "normal, n = 50",
    "pairs: log loss, n 50": "of two log losses, n = 50 (symmetric, heavy tails)",
    "pairs: skewed, n 30": "exponential, n = 30 (skewness 2)",
    "pairs: skewed, n 200": "exponential, n = 200",
    "pairs: 20 groups": "normal, 20 groups of 10, correlation .3",
    "pairs: 5 and 3 runs": "normal, n = 100, 5 against 3 runs",
}


def _named(lines: list[str], names: dict[str, str]) -> dict[str, list[str]]:
    """The numbers of the lines that begin with a name, by name."""
    found = {}
    for name in names:
        (line,) = (line for line in lines if line[: max(16, len(name))].rstrip() == name)
        found[name] = numbers(line[max(16, len(name)) :])
    return found


@measured("coverage-means", "coverage-means-chosen", function="tests.statistics.test_error_rates:share_covered")
def means(size: int = 20_000) -> tuple[Table, Table]:
    """Intervals of means."""
    first = [name for name in MEANS if not any(name != other and name.startswith(other) for other in MEANS)]
    found = _named([line for name in first for line in printed(test_error_rates.print_tables, name, size)], MEANS)
    rows = {name: list(joined(cells, 3)) for name, cells in found.items()}
    whole = Table(("values", "student-t", "hall", "bca"), [[MEANS[name], *cells] for name, cells in rows.items()])
    chosen = [[CHOSEN[name], *cells] for name, cells in rows.items() if name in CHOSEN and "runs" not in name]
    return whole, Table(("values", "`student-t`", "`hall`", "`bca` (bootstrap)"), chosen)


@measured("coverage-paired-means", function="tests.statistics.test_error_rates:pvalues")
def paired_means(size: int = 20_000) -> Table:
    """Paired tests of means."""
    lines = printed(test_error_rates.print_tables, "pairs", size)
    found = [re.findall(r"[\d.]+ / [\d.]+ / [\d.]+", line) for line in lines]
    rows = [[label, *cells] for label, cells in zip(PAIRS.values(), found, strict=True)]
    return Table(("differences", "student-t", "permutation"), [[*row, ""][:3] for row in rows])


@measured(
    "coverage-rank-sets",
    "power-rank-sets",
    "coverage-resamples",
    function="tests.statistics.rank_worlds:errors",
    cost="hours",
)
def rank_sets(size: int = 1000) -> tuple[Table, Table, Table]:
    """Rank sets of means: false pairs, power, and sureness of resamples."""
    rows = printed_rows(rank_worlds.print_error_rates, size)
    worlds = len(rank_worlds.worlds())
    false, sure, power = (
        rows[:worlds],
        rows[worlds : worlds + len(rank_worlds.SURE)],
        rows[worlds + len(rank_worlds.SURE) :],
    )
    columns = ("J, gap, n", "pairs", "Shaffer", "maximum", "winner: all pairs", "Holm", "Holm, 2α/J", "top group")
    return (
        Table(("values", "J = 2", "3", "5", "10", "20"), [row[:6] for row in false]),
        Table(columns, power),
        Table(("values", "percentage"), sure),
    )


@measured("coverage-kendall", function="tests.statistics.test_correlation:share_covered")
def kendall(size: int = 4000) -> Table:
    """Intervals of Kendall's τ-b."""
    lines = printed(test_correlation.print_tables, "tau", size)
    rows = [[line[:27].strip(), *(cell.strip() + ")" for cell in line[27:].split(")")[:-1])] for line in lines]
    return Table(("x, y", "n = 20", "50", "200", "1000"), rows)


@measured("coverage-pearson", function="tests.statistics.test_correlation:share_covered")
def pearson(size: int = 4000) -> Table:
    """Intervals of Pearson's r."""
    lines = printed(test_correlation.print_tables, "pearson", size)
    rows = [[line[:20].strip(), *re.split(" {2,}", line[20:].strip())] for line in lines]
    return Table(("x, y", "jackknife", "fisher", "bca"), rows)


@measured("coverage-weighted-bootstrap", function="tests.statistics.test_weighted_bootstrap:coverage")
def weighted_bootstrap(size: int = 1000) -> Table:
    """Bootstrap intervals of an area; the number of samples without an interval, after the bracket, is left out."""
    lines = printed(test_weighted_bootstrap.print_table, "", size)
    rows = [[line[:31].strip(), *re.findall(r"[\d.]+ \([\d.]+\)", line[31:])] for line in lines]
    return Table(("interval", "AUC .8, 5", "10", "20", "AUC .95, 5", "10", "20"), rows)
