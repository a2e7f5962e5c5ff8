"""Means, their paired tests, and rank sets of models."""

import re

from tests.statistics import rank_worlds, test_error_rates

from benchmarks.measured.registry import joined, measured, numbers, printed
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


@measured("coverage-means", page="comparisons", golden=lambda: means(20))
def means(size: int = 5000) -> Table:
    """Means: 95 % intervals that hold the truth, n = 30 / 200 / 1,000."""
    first = [name for name in MEANS if not any(name != other and name.startswith(other) for other in MEANS)]
    found = _named([line for name in first for line in printed(test_error_rates.print_tables, name, size)], MEANS)
    rows = {name: list(joined(cells, 3)) for name, cells in found.items()}
    return Table(("values", "student-t", "hall", "bca"), [[MEANS[name], *cells] for name, cells in rows.items()])


@measured("coverage-paired-means", page="comparisons")
def paired_means(size: int = 20_000) -> Table:
    """Paired tests of equal means: rejections at 1 / 5 / 10 %."""
    lines = printed(test_error_rates.print_tables, "pairs", size)
    found = [re.findall(r"[\d.]+ / [\d.]+ / [\d.]+", line) for line in lines]
    rows = [[label, *cells] for label, cells in zip(PAIRS.values(), found, strict=True)]
    return Table(("differences", "student-t", "permutation"), [[*row, ""][:3] for row in rows])


def _golden_rank_sets() -> object:
    return [rank_worlds.errors(world, 3, n_samples=1, seed=0) for world in rank_worlds.worlds().values()]


@measured("coverage-rank-sets", page="comparisons", golden=_golden_rank_sets)
def rank_sets(size: int = 100) -> Table:
    """Rank sets: data sets with a false pair of equal means at 5 %, by the number of models J."""
    rows = []
    for number, (name, world) in enumerate(rank_worlds.worlds().items()):
        found = (rank_worlds.errors(world, j, n_samples=size, seed=[number, j]) for j in rank_worlds.MODELS)
        rows.append([name, *(f"{100 * false:.1f}" for false, _ in found)])
    return Table(("values", "J = 2", "3", "5", "10", "20"), rows)
