"""Tables of docs/coverage-calibration-further.md on calibration errors with intervals."""

from tests.metrics.calibration import test_error_coverage as module

from benchmarks.measured.registry import measured, percents
from benchmarks.stored_tables import Table


@measured(
    "coverage-calibration-errors",
    "band-error-rates",
    function="tests.metrics.calibration.test_error_coverage:coverage",
    cost="a quarter of an hour of a core",
)
def calibration_errors(size: int = 200) -> tuple[Table, Table]:
    """Coverage and widths of the intervals, and error rates of bands and claims."""
    intervals, bands = [], []
    for name, accuracy, groups, cells in module.rows(size):
        start = [name, accuracy.removeprefix("accuracy "), groups.removeprefix("correlation ")]
        covered = [percents([c["l1"], c["l2"]]) for c in cells]
        widths = [" / ".join(f"{c[f'{norm} width']:.3f}".removeprefix("0") for norm in ("l1", "l2")) for c in cells]
        intervals.append([*start, *(f"{a} ({w})" for a, w in zip(covered, widths, strict=True))])
        bands.append([*start, *(percents([c["missed"], c["false"], c["claimed"]]) for c in cells)])
    columns = ("classifier", "accuracy", "groups", *(f"n = {n:,}" for n in module.SIZES))
    return Table(columns, intervals), Table(columns, bands)
