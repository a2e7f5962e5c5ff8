"""Tables of docs/many-data-sets.md."""

from tests.statistics import data_set_worlds

from benchmarks.measured.registry import measured, printed_rows
from benchmarks.stored_tables import Table


@measured(
    "data-sets-false",
    "data-sets-power",
    "data-sets-practical",
    function="tests.statistics.data_set_worlds:false_claims",
)
def data_sets(size: int = 1000) -> tuple[Table, Table, Table]:
    """Comparisons over data sets: false pairs, power, and the Bayesian test."""
    false = printed_rows(data_set_worlds.print_false_claims, size)
    power = printed_rows(data_set_worlds.print_power, size)
    practical = printed_rows(data_set_worlds.print_practical_claims, size)
    return (
        Table(("models", "N", "sentence", "Nemenyi", "Friedman's F"), false),
        Table(("gap", "N", "sentence", "Nemenyi"), power),
        Table(("rope", "N", "gap 0", "0.5", "1", "2"), practical),
    )
