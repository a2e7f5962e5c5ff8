"""Verdicts with a margin, and the detectable difference."""

from tests.statistics import margin_worlds, test_equivalence

from benchmarks.measured.registry import measured, printed_rows
from benchmarks.stored_tables import Table

ERROR_HEADS = (
    *("differences", "margin δ", "no worse, Student alone", "no worse", "equivalent, a worse by δ", "a better by δ"),
    *("any false verdict", "told, of equal means"),
)


def _table(heads: tuple[str, ...], rows: list[list[str]]) -> Table:
    """Without the first row, which has the heads as the command prints them."""
    return Table(heads, rows[1:])


@measured("equivalence-error-rates", page="comparisons")
def error_rates(size: int = 1000) -> Table:
    """Verdicts with a margin: false ones."""
    return _table(ERROR_HEADS, printed_rows(margin_worlds.print_rates, size))


@measured("power-of-detectable-difference", page="comparisons")
def power(size: int = 500) -> Table:
    """The detectable difference: how often the next data set shows it, where 80 is right."""
    return _table(("differences", "a is worse", "a is better"), printed_rows(margin_worlds.print_power, size))


@measured("no-worse-than-the-best", page="comparisons")
def several(size: int = 300) -> Table:
    """No worse than the best of several models: false statements."""
    return _table(("models", "false", "told, of equal means"), printed_rows(test_equivalence.print_several, size))
