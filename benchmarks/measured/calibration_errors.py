"""Calibration errors with intervals, and bands of the reliability diagram."""

from tests.metrics.calibration import test_error_coverage as module

from benchmarks.measured.registry import measured, percents
from benchmarks.stored_tables import Table


def _golden_errors() -> object:
    cells = (
        ("calibrated", 2.0, 300, None),
        ("strongly overconfident", 6.0, 300, None),
        ("underconfident", 2.0, 300, 0.5),
    )
    return [module.coverage(name, scale, n, 1, correlation=c) for name, scale, n, c in cells]


@measured("coverage-calibration-errors", "band-error-rates", page="calibration", golden=_golden_errors)
def calibration_errors(size: int = 200) -> tuple[Table, Table]:
    """Calibration errors ECE / RMS: 95 % intervals that hold the truth (median width).

    Bands of the reliability diagram: truth missed / false claim / any claim.
    """
    intervals, bands = [], []
    for name, accuracy, groups, cells in module.rows(size):
        start = [name, accuracy.removeprefix("accuracy "), groups.removeprefix("correlation ")]
        covered = [percents([c["l1"], c["l2"]]) for c in cells]
        widths = [" / ".join(f"{c[f'{norm} width']:.3f}".removeprefix("0") for norm in ("l1", "l2")) for c in cells]
        intervals.append([*start, *(f"{a} ({w})" for a, w in zip(covered, widths, strict=True))])
        bands.append([*start, *(percents([c["missed"], c["false"], c["claimed"]]) for c in cells)])
    columns = ("classifier", "accuracy", "groups", *(f"n = {n:,}" for n in module.SIZES))
    return Table(columns, intervals), Table(columns, bands)
