"""Epistemic gain: calibration error, cross-fitted maps, the gain of waiting, sentences."""

from dataclasses import astuple

import numpy as np
from tests.evidence import gain_claims
from tests.metrics import test_epistemic_gain_error_rates as gain

from benchmarks.measured.registry import measured, percents, printed_rows
from benchmarks.stored_tables import Table


@measured("gain-calibrated", page="gain")
def calibrated(size: int = 200) -> Table:
    """Calibrated estimates of the gain: rejections at 5 %, and intervals that hold the truth."""
    columns = ("world", "rejected", "in band", "`error`", "`debiased`", "gain of a bin", "mean EECE", "mean debiased")
    return Table(columns, printed_rows(gain.print_calibrated, size))


@measured("gain-cross-fitted", page="gain")
def cross_fitted(size: int = 50) -> Table:
    """Cross-fitted maps."""
    columns = ("world", "rejected", "in band", "`debiased`", "mean EECE", "mean debiased", "truth", "null mean")
    return Table(columns, printed_rows(gain.print_cross_fit, size))


def _golden_delay() -> object:
    drawn = [gain.scored(draw, np.random.default_rng(0), 300) for draw in gain.ORDERED.values()]
    return [gain.delay_curve_of_gains(one.gain, u, shares=gain.SHARES, groups=one.groups) for one, u in drawn]


@measured("gain-delay", page="gain", golden=_golden_delay)
def delay(size: int = 200) -> Table:
    """Gain of waiting: 95 % intervals that hold the truth."""
    columns = ("estimates and gains", "gain, 5 %", "20 %", "50 %", "above random, 5 %", "20 %", "50 %")
    return Table(columns, printed_rows(gain.print_delay, size))


def _golden_sentences() -> object:
    return [gain_claims.claim_rates(2, n_runs=runs, n=200) for runs in (1, 3)]


@measured("gain-sentences", page="gain", golden=_golden_sentences)
def sentences(size: int = 200) -> Table:
    """Sentences on the gain that are false where there is nothing to find, %."""
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
