"""Comparisons over many data sets."""

from tests.statistics import data_set_worlds

from benchmarks.measured.registry import measured, printed_rows
from benchmarks.stored_tables import Table


@measured("data-sets-false", "data-sets-power", page="comparisons")
def data_sets(size: int = 1000) -> tuple[Table, Table]:
    """Many data sets: comparisons with a false pair.

    Many data sets: the share of true pairs that are named.
    """
    false = printed_rows(data_set_worlds.print_false_claims, size)
    power = printed_rows(data_set_worlds.print_power, size)
    return (
        Table(("models", "N", "sentence", "Nemenyi", "Friedman's F"), false),
        Table(("gap", "N", "sentence", "Nemenyi"), power),
    )
