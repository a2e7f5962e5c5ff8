"""The disentanglement error and its tests."""

import numpy as np
from tests.metrics import test_disentanglement_error_rates as disentanglement

from benchmarks.measured.registry import measured, printed_rows
from benchmarks.stored_tables import Table
from uqassay.metrics import disentanglement_error


def _signed(cell: str) -> str:
    if not cell.strip("-0."):
        return cell.lstrip("-")  # what rounds to 0 has no sign
    return cell.replace("-0", "−0") if cell.startswith("-") else cell


def _golden_coverage() -> object:
    rng = np.random.default_rng(0)
    curves = [
        disentanglement.simulated(rng, runs, shapes) for shapes in disentanglement.METHODS.values() for runs in (2, 5)
    ]
    return [disentanglement_error(*one, n_draws=50) for one in curves]


@measured("coverage-disentanglement", page="disentanglement", golden=_golden_coverage)
def coverage(size: int = 1000) -> Table:
    """Disentanglement error: 95 % intervals that hold the truth."""
    rows = printed_rows(disentanglement.print_coverage, size)[1:]
    at = next(i for i, row in enumerate(rows) if len(row) == 1)  # what follows is of one run
    several = [
        [row[0], "", "", "", row[1]] if len(row) == 2 else [row[0], _signed(row[1]), *row[2:]] for row in rows[:at]
    ]
    columns = ("method, conditions: estimate, shape", "mean r", "Fisher's z", "bootstrap", "deviation")
    return Table(columns, [[row[0].replace("near -1", "near −1"), *row[1:]] for row in several])


@measured("below-chance", page="disentanglement")
def below_chance(size: int = 1000) -> Table:
    """Test against chance: rejections at 5 %."""
    columns = ("curves", '`permuted="conditions"`', '`permuted="runs"`')
    return Table(columns, printed_rows(disentanglement.print_chance, size))


@measured("swap-test", page="disentanglement")
def swap(size: int = 1000) -> Table:
    """Test of the names: rejections at 5 %."""
    columns = ("method", "names exchanged at random", "names as given")
    return Table(columns, printed_rows(disentanglement.print_swap, size))


@measured("paired-disentanglement", page="disentanglement")
def paired(size: int = 4000) -> Table:
    """Paired test of two methods: rejections at 5 %."""
    return Table(("errors", "t test", "sign flips"), printed_rows(disentanglement.print_paired, size))
