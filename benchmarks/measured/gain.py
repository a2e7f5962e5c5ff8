"""Tables of docs/coverage-epistemic-gain.md, and the error rates of docs/epistemic-gain.md."""

from dataclasses import astuple

from tests.evidence import gain_claims
from tests.metrics import test_epistemic_gain_error_rates as gain

from benchmarks.measured.registry import measured, percents, printed_rows
from benchmarks.stored_tables import Table

FUNCTION = "tests.metrics.test_epistemic_gain_error_rates:"


@measured("gain-calibrated", function=FUNCTION + "eece")
def calibrated(size: int = 500) -> Table:
    """Calibrated estimates of the gain."""
    columns = ("world", "rejected", "in band", "`error`", "`debiased`", "gain of a bin", "mean EECE", "mean debiased")
    return Table(columns, printed_rows(gain.print_calibrated, size))


@measured("gain-groups", function=FUNCTION + "rejections")
def groups(size: int = 100) -> Table:
    """Zero-one gains in groups."""
    columns = ("gains of ±1", "groups", "correlation 0", ".5", "1", "2 · EU, .5")
    return Table(columns, printed_rows(gain.print_groups, size))


@measured("gain-miscalibrated", function=FUNCTION + "eece")
def miscalibrated(size: int = 500) -> Table:
    """Estimates of the gain that are not calibrated."""
    columns = ("estimate", "rejected", "`error`", "`debiased`", "mean EECE", "mean debiased", "truth")
    return Table(columns, printed_rows(gain.print_miscalibrated, size))


@measured("gain-cross-fitted", function=FUNCTION + "cross_fit")
def cross_fitted(size: int = 100) -> Table:
    """Cross-fitted maps."""
    columns = ("world", "rejected", "in band", "`debiased`", "mean EECE", "mean debiased", "truth", "null mean")
    return Table(columns, printed_rows(gain.print_cross_fit, size))


@measured("gain-correlation", function=FUNCTION + "correlation_coverage")
def correlation(size: int = 2000) -> Table:
    """Intervals of Spearman's ρ."""
    return Table(("estimates and gains", "true ρ", "coverage"), printed_rows(gain.print_correlation, size))


@measured("gain-delay", function=FUNCTION + "delay_coverage")
def delay(size: int = 500) -> Table:
    """Intervals of the gain of waiting."""
    columns = ("estimates and gains", "gain, 5 %", "20 %", "50 %", "above random, 5 %", "20 %", "50 %")
    return Table(columns, printed_rows(gain.print_delay, size))


@measured("gain-sentences", function="tests.evidence.gain_claims:claim_rates")
def sentences(size: int = 400) -> Table:
    """How often sentences on the gain are false where there is nothing to find."""
    rows = []
    for runs, n in ((1, 300), (1, 2000), (6, 500)):
        found = astuple(gain_claims.claim_rates(size, n_runs=runs, n=n))
        rows.append([f"{runs} × {n:,}", *(percents([share]) for share in found)])
    lists = gain_claims.list_rates(size // 2, n_methods=8, n_runs=1, n=300)
    maps = gain_claims.map_rates(size // 2, n_runs=1, n=300)
    order, delay, raw, large = (percents([lists[name]]) for name in ("order", "delay", "not calibrated", "size"))
    words = (
        f"Of {size // 2} studies of 8 methods (1 × 300), false names stood in {order} % of the lists on the order, {delay} % "
        f"on the delay, {raw} % on the calibration and {large} % on the size. Of {size // 2} studies with a cross-fitted map "
        "(1 × 300), "
        f"{percents([maps['no rising map']])} % denied a rising map where there is one."
    )
    columns = ("runs × instances", "order", "delay", "not calibrated", "too large or small", "more data help or harm")
    return Table(columns, rows, [words])
