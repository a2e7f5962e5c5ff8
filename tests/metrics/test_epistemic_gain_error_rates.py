"""Measured type-I error, power and coverage of the metrics of the epistemic gain.

Run as a script, this file prints the tables in docs/evidence-gain.md (those whose name begins with the word given, if there
is one); as a test it measures fewer samples and asserts what the tables say.
"""

import sys
from functools import partial

import numpy as np
import pytest
from tests.metrics.gain_worlds import CALIBRATED, GROUPS, MISCALIBRATED, skewed, zero_one

from uqassay.calibration import cross_fitted_map
from uqassay.metrics import delay_curve_of_gains, epistemic_calibration_error, epistemic_correlation_score

SIZES = (200, 2000, 20_000)
SHARES = (0.05, 0.2, 0.5)
ORDERED = {
    "unrelated, 5 % other than 0": partial(zero_one, mean=0.05 / 1.5, slope=0.0),
    "related, 5 % other than 0": partial(zero_one, mean=0.05 / 1.5),
    "related, 5 %, 10 levels": partial(zero_one, mean=0.05 / 1.5, levels=10),
    "related, 5 %, 50 groups": partial(zero_one, mean=0.05 / 1.5, groups=GROUPS),
    "related, 1 %": partial(zero_one, mean=0.01 / 1.5),
    "log loss": skewed,
}


def scored(draw, rng, n):
    """A test set whose estimate is random where it would be constant."""
    drawn = draw(rng, n)
    constant = (drawn.epistemic == drawn.epistemic[0]).all()
    return drawn, rng.random(n) if constant else drawn.epistemic


def large_sample(draw, n):
    """For true values: without groups, which change no marginal distribution and would leave few independent instances."""
    return scored(partial(draw, groups=0), np.random.default_rng(1), n)


RISING = {
    "zero-one": zero_one,
    "zero-one, rare": partial(zero_one, mean=0.02 / 1.5),
    "zero-one, 10 levels": partial(zero_one, levels=10),
    "zero-one, unrelated": partial(zero_one, slope=0.0),
    "zero-one, 50 groups": partial(zero_one, groups=GROUPS),
    "zero-one, rare, 50 groups": partial(zero_one, mean=0.02 / 1.5, groups=GROUPS),
    "log loss": skewed,
    "log loss, 50 groups": partial(skewed, groups=GROUPS),
    "falling": partial(zero_one, slope=-1.0),
    "falling, 50 groups": partial(zero_one, slope=-1.0, groups=GROUPS),
}


def inside(found):
    """Whether the error lies in the null band; nan where there is no test."""
    return np.nan if np.isnan(found.pvalue) else float(found.null_band[0] <= found.error <= found.null_band[1])


def eece(draw, n, *, n_samples, seed):
    """Shares of rejections, of values inside the null band and of covering intervals; mean errors against the truth."""
    rng = np.random.default_rng(seed)
    rows, plug_in = [], []
    for _ in range(n_samples):
        drawn = draw(rng, n)
        found = epistemic_calibration_error(drawn.gain, drawn.epistemic, groups=drawn.groups, rng=rng)
        place = np.searchsorted(found.edges[1:-1], drawn.epistemic, side="right")
        d = np.bincount(place, drawn.true - drawn.epistemic, minlength=found.n_bins)
        truth = float(np.abs(d).sum() / n)
        square = float((d**2 / np.maximum(found.count, 1)).sum() / n)
        gains = np.bincount(place, drawn.true, minlength=found.n_bins) / found.count
        rows.append(
            {
                "rejected": found.reject(0.05),
                "in band": inside(found),
                "debiased covers": found.debiased.low <= truth <= found.debiased.high,
                "bins cover": np.mean((found.gain_low <= gains) & (gains <= found.gain_high)),
                "plug-in": float(found.error),
                "null mean": found.null_mean,
                "debiased": float(found.debiased),
                "truth": truth,
                "square": found.debiased_square - square,
            }
        )
        plug_in.append((found.error.low, found.error.high))
    means = {name: float(np.nanmean([row[name] for row in rows])) for name in rows[0]}
    ends = np.array(plug_in)
    means["plug-in covers"] = float(np.mean((ends[:, 0] <= means["plug-in"]) & (means["plug-in"] <= ends[:, 1])))
    means["error of debiased"] = float(np.std([row["debiased"] for row in rows]) / np.sqrt(n_samples))
    means["error of square"] = float(np.std([row["square"] for row in rows]) / np.sqrt(n_samples))
    return means


def cross_fit(draw, n, *, n_samples, seed):
    """Shares of rejections, of values in the null band and of covering intervals of cross-fitted maps, and mean errors."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_samples):
        drawn, estimates = scored(draw, rng, n)
        found = cross_fitted_map(drawn.gain, estimates, groups=drawn.groups, rng=rng)
        own = found.calibration
        wide = np.searchsorted(own.edges[1:-1], estimates, side="right")
        d = np.bincount(found.folds * own.n_bins + wide, drawn.true - found.mapped)
        truth = float(np.abs(d).sum() / n)
        rows.append(
            {
                "rejected": own.reject(0.05),
                "in band": inside(own),
                "debiased covers": own.debiased.low <= truth <= own.debiased.high,
                "plug-in": float(own.error),
                "debiased": float(own.debiased),
                "truth": truth,
                "null mean": own.null_mean,
            }
        )
    return {name: float(np.nanmean([row[name] for row in rows])) for name in rows[0]}


def rejections(draw, n, *, n_samples, seed):
    """Share of samples whose calibration is rejected, and share of those that have a test."""
    rng, pvalues = np.random.default_rng(seed), []
    for _ in range(n_samples):
        drawn = draw(rng, n)
        found = epistemic_calibration_error(drawn.gain, drawn.epistemic, groups=drawn.groups, rng=rng)
        pvalues.append(found.pvalue)
    return float(np.mean(np.array(pvalues) <= 0.05)), float(np.mean(~np.isnan(pvalues)))


def correlation_coverage(draw, n, *, n_samples, seed, large=2_000_000):
    """True correlation, and the share of intervals that cover it; a sample without an interval does not."""
    drawn, scores = large_sample(draw, large)
    true = float(epistemic_correlation_score(drawn.gain, scores))
    rng, covered = np.random.default_rng(seed), 0
    for _ in range(n_samples):
        drawn, scores = scored(draw, rng, n)
        found = epistemic_correlation_score(drawn.gain, scores, groups=drawn.groups)
        covered += found.low <= true <= found.high
    return true, covered / n_samples


def delay_coverage(draw, n, *, n_samples, seed, large=2_000_000):
    """Shares of intervals that cover the gain, and the gain above random, at each of `SHARES`."""
    drawn, scores = large_sample(draw, large)
    whole = delay_curve_of_gains(drawn.gain, scores, shares=SHARES)
    true = np.array([whole.gained, whole.gained - whole.random])
    rng, covered = np.random.default_rng(seed), np.zeros((2, len(SHARES)))
    for _ in range(n_samples):
        drawn, scores = scored(draw, rng, n)
        curve = delay_curve_of_gains(drawn.gain, scores, shares=SHARES, groups=drawn.groups)
        paired = [curve.above_random(share) for share in SHARES]
        low = np.array([curve.low, [one.low for one in paired]])
        high = np.array([curve.high, [one.high for one in paired]])
        covered += (low <= true) & (true <= high)
    return covered / n_samples


# with 3.3 standard errors a correct interval or test fails with probability .0005


def at_most(share, expected, n_samples, errors=3.3):
    return share <= expected + errors * np.sqrt(expected * (1 - expected) / n_samples)


def at_least(share, expected, n_samples, errors=3.3):
    return share >= expected - errors * np.sqrt(expected * (1 - expected) / n_samples)


# -- tests -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("world", ["zero-one, rare", "zero-one, 50 groups", "log loss"])
def test_calibrated_estimates_are_rejected_at_the_level(world):
    n_samples = 60  # a rate of .30 exceeds the bound with probability .99
    found = eece(CALIBRATED[world], 500, n_samples=n_samples, seed=1)
    assert at_most(found["rejected"], 0.07, n_samples)
    assert at_least(found["in band"], 0.95, n_samples)
    assert at_least(found["debiased covers"], 0.95, n_samples)
    assert at_least(found["bins cover"], 0.95, n_samples)


def test_calibrated_estimates_of_few_groups_are_rejected_at_the_level():
    """Groups whose gains go together: without the refusal a quarter of the samples of 10 groups were rejected."""
    draw = partial(zero_one, mean=0.02 / 1.5, groups=10, correlation=1.0)
    rejected, told = rejections(draw, 1000, n_samples=42, seed=6)
    assert at_most(rejected, 0.05, 42)
    assert told < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("world", ["zero-one", "zero-one, 50 groups", "log loss"])
def test_cross_fitted_maps_of_rising_gains_are_rejected_at_the_level(world):
    n_samples = 20  # a rate of .5 exceeds the bound with probability .99
    found = cross_fit(RISING[world], 500, n_samples=n_samples, seed=7)
    assert at_most(found["rejected"], 0.05, n_samples)
    assert at_least(found["in band"], 0.95, n_samples)
    assert at_least(found["debiased covers"], 0.95, n_samples)


@pytest.mark.slow
def test_falling_gains_are_refused():
    assert cross_fit(RISING["falling"], 3000, n_samples=10, seed=8)["rejected"] > 0.6


def test_debiased_error_of_calibrated_estimates_has_mean_0():
    found = eece(CALIBRATED["zero-one"], 2000, n_samples=40, seed=2)
    assert abs(found["debiased"]) < 4 * found["error of debiased"]
    assert found["plug-in"] > 0.01  # the excess that it removes
    assert abs(found["square"]) < 4 * found["error of square"]


@pytest.mark.slow
@pytest.mark.parametrize("world", MISCALIBRATED)
def test_miscalibrated_estimates_are_found_and_measured(world):
    found = eece(MISCALIBRATED[world], 5000, n_samples=25, seed=3)
    assert at_least(found["rejected"], 0.9, 25)
    assert at_least(found["debiased covers"], 0.95, 25)
    assert abs(found["square"]) < 4 * found["error of square"]
    assert found["debiased"] <= found["truth"] + 4 * found["error of debiased"]


@pytest.mark.parametrize("world", list(ORDERED)[:4])
def test_correlation_is_covered(world):
    _, covered = correlation_coverage(ORDERED[world], 2000, n_samples=60, seed=4, large=200_000)
    assert at_least(covered, 0.93, 60)


@pytest.mark.slow
@pytest.mark.parametrize("world", list(ORDERED)[1:])
def test_delay_curve_is_covered(world):
    assert at_least(delay_coverage(ORDERED[world], 2000, n_samples=45, seed=5, large=80_000).min(), 0.92, 45)


# -- the tables of the guide -------------------------------------------------------------------------------------------


def percent(share):
    return f"{100 * share:.1f}"


def milli(value):
    return f"{round(1000 * value, 2) + 0.0:.2f}".replace("-", "−")


def joined(found, name, style=percent):
    return " / ".join(style(one[name]) for one in found)


def print_calibrated(n_samples=500):
    for name, draw in CALIBRATED.items():
        found = [eece(draw, n, n_samples=n_samples, seed=n) for n in SIZES]
        columns = [
            joined(found, key) for key in ("rejected", "in band", "plug-in covers", "debiased covers", "bins cover")
        ]
        columns += [joined(found, key, milli) for key in ("plug-in", "debiased")]
        print(f"| {name} | {' | '.join(columns)} |", flush=True)


def print_miscalibrated(n_samples=500):
    for name, draw in MISCALIBRATED.items():
        found = [eece(draw, n, n_samples=n_samples, seed=n) for n in SIZES]
        columns = [joined(found, key) for key in ("rejected", "plug-in covers", "debiased covers")]
        columns += [joined(found, key, milli) for key in ("plug-in", "debiased", "truth")]
        print(f"| {name} | {' | '.join(columns)} |", flush=True)


def print_correlation(n_samples=2000):
    for name, draw in ORDERED.items():
        found = [correlation_coverage(draw, n, n_samples=n_samples, seed=n) for n in SIZES[:2]]
        print(f"| {name} | {found[0][0]:.3f} | {' / '.join(percent(share) for _, share in found)} |", flush=True)


def print_delay(n_samples=500):
    for name, draw in ORDERED.items():
        found = [delay_coverage(draw, n, n_samples=n_samples, seed=n) for n in SIZES]
        columns = [" / ".join(percent(one[k, i]) for one in found) for k in (0, 1) for i in range(len(SHARES))]
        print(f"| {name} | {' | '.join(columns)} |", flush=True)


def print_groups(n_samples=100):
    for rate, mean in (("6 %", 0.04), ("2 %", 0.02 / 1.5)):
        for n_groups in (10, 30, 50, 200):
            cells = []
            for slope, correlation in ((1.0, 0.0), (1.0, 0.5), (1.0, 1.0), (2.0, 0.5)):
                draw = partial(zero_one, mean=mean, slope=slope, groups=n_groups, correlation=correlation)
                found = [rejections(draw, n, n_samples=n_samples, seed=n) for n in SIZES[1:]]
                cells.append(" / ".join(f"{percent(rejected)} ({percent(told)})" for rejected, told in found))
            print(f"| {rate} | {n_groups} | {' | '.join(cells)} |", flush=True)


def print_cross_fit(n_samples=100):
    for name, draw in RISING.items():
        found = [cross_fit(draw, n, n_samples=n_samples, seed=n) for n in (200, 1000, 5000)]
        columns = [joined(found, key) for key in ("rejected", "in band", "debiased covers")]
        columns += [joined(found, key, milli) for key in ("plug-in", "debiased", "truth", "null mean")]
        print(f"| {name} | {' | '.join(columns)} |", flush=True)


TABLES = {
    "groups": print_groups,
    "calibrated": print_calibrated,
    "miscalibrated": print_miscalibrated,
    "cross-fit": print_cross_fit,
    "correlation": print_correlation,
    "delay": print_delay,
}

if __name__ == "__main__":
    for wanted, table in TABLES.items():
        if not sys.argv[1:] or wanted.startswith(sys.argv[1]):
            table()
