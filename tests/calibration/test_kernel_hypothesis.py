"""p-values and intervals of the kernel calibration error."""

import itertools
import sys

import numpy as np
import pytest

import uqassay as uq
from tests.calibration.made_up_data import draw_labels
from tests.metrics.calibration.kernel_definitions import FORMULAS, predictions, term
from tests.notes import said
from tests.refusals import refuses
from uqassay.calibration.kernel_tests import kernel_calibration_estimate, skce_pvalue
from uqassay.calibration.mixtures import IN_GROUPS
from uqassay.metrics.kernel_error import kernel_calibration_error, settle_kernel

LEVELS = np.array([0.01, 0.05, 0.1, 0.2])

TESTS = {
    "quadratic": {"n_draws": 199},
    "quadratic, h = 0.2": {"n_draws": 199, "bandwidth": 0.2},
    "block": {"estimator": "block"},
    "linear": {"estimator": "linear"},
    "quadratic, bound": {"method": "bound"},
    "biased, bound": {"estimator": "biased", "method": "bound"},
}


def sharpened(truth):
    """Overconfident predictions: temperature ½."""
    probs = truth**2
    return probs / probs.sum(axis=-1, keepdims=True)


def rejections(n, n_classes, calibrated, tests, *, n_sets, seed):
    """Share of data sets in which each test rejects, (tests, levels); truths are uniform on the simplex."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((len(tests), len(LEVELS)))
    for _ in range(n_sets):
        truth = rng.dirichlet(np.ones(n_classes), n)
        probs, labels = truth if calibrated else sharpened(truth), draw_labels(rng, truth)
        for row, options in zip(counts, tests.values(), strict=True):
            row += skce_pvalue(labels, probs, rng=rng, **options).pvalue <= LEVELS
    return counts / n_sets


def coverage(n, n_classes, calibrated, sizes, *, n_sets, seed):
    """Share of 95 % intervals that hold the true error, for blocks of several sizes."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(n_classes), 2000)
    probs = truth if calibrated else sharpened(truth)
    products = settle_kernel("tv", None, None).table(probs, probs) * ((probs - truth) @ (probs - truth).T)
    aim = (products.sum() - np.trace(products)) / (2000 * 1999)
    covered = np.zeros(len(sizes))
    for _ in range(n_sets):
        truth = rng.dirichlet(np.ones(n_classes), n)
        probs, labels = truth if calibrated else sharpened(truth), draw_labels(rng, truth)
        for i, size in enumerate(sizes):
            found = kernel_calibration_estimate(labels, probs, block_size=size)
            covered[i] += found.low <= aim <= found.high
    return covered / n_sets


def test_wild_bootstrap_against_loops():
    rng = np.random.default_rng(14)
    probs, labels = predictions(rng, 9, 3), rng.integers(0, 3, 9)
    found = skce_pvalue(labels, probs, n_draws=200, rng=3)
    signs = np.random.default_rng(3).integers(0, 2, (9, 200), dtype=np.int8) * 2.0 - 1
    k = lambda p, q: FORMULAS["tv"](p, q, 1.0)  # noqa: E731
    pairs = list(itertools.combinations(range(9), 2))
    h = np.array([term(probs[i], labels[i], probs[j], labels[j], k) for i, j in pairs])
    drawn = np.array([[s[i] * s[j] for i, j in pairs] for s in signs.T]) @ h
    assert found.statistic == pytest.approx(h.mean(), abs=1e-15)
    assert found.pvalue == (1 + (drawn >= h.sum() - 1e-12).sum()) / 201
    biased = skce_pvalue(labels, probs, estimator="biased", n_draws=200, rng=3)
    assert biased.pvalue == found.pvalue
    assert biased.statistic == pytest.approx(kernel_calibration_error(labels, probs, estimator="biased"), abs=1e-15)


def test_limits_and_bounds_against_formulas():
    from scipy import stats

    rng = np.random.default_rng(15)
    probs, labels = rng.dirichlet([1, 1, 1], 61), np.zeros(61, dtype=int)
    k = lambda p, q: FORMULAS["tv"](p, q, 1.0)  # noqa: E731
    terms = [term(probs[i], 0, probs[i + 1], 0, k) for i in range(0, 60, 2)]
    found = skce_pvalue(labels, probs, estimator="linear")
    assert found.statistic == pytest.approx(np.mean(terms))
    assert found.pvalue == pytest.approx(stats.norm.sf(np.mean(terms) / stats.sem(terms)))
    bound = skce_pvalue(labels, probs, estimator="linear", method="bound")
    assert bound.pvalue == pytest.approx(np.exp(-30 * np.mean(terms) ** 2 / 8))
    quadratic = skce_pvalue(labels, probs, method="bound")
    assert quadratic.pvalue == pytest.approx(np.exp(-30 * quadratic.statistic**2 / 8))
    assert quadratic.statistic == kernel_calibration_error(labels, probs)
    block = skce_pvalue(labels, probs, estimator="block", block_size=5, method="bound")
    assert block.pvalue == pytest.approx(np.exp(-12 * 2 * block.statistic**2 / 8))
    assert block.statistic == pytest.approx(
        kernel_calibration_error(labels, probs, estimator="block", block_size=5), abs=1e-15
    )
    biased = skce_pvalue(labels, probs, estimator="biased", method="bound")
    assert biased.pvalue == pytest.approx(np.exp(-((np.sqrt(61 * biased.statistic / 2) - 1) ** 2) / 2))
    negative = skce_pvalue([1, 0], [[1.0, 0.0], [0.0, 1.0]], method="bound")
    assert (negative.statistic < 0, negative.pvalue) == (True, 1.0)


def test_levels_that_the_draws_of_signs_cannot_reach_are_refused():
    rng = np.random.default_rng(16)
    probs, labels = predictions(rng, 20, 3), rng.integers(0, 3, 20)
    found = skce_pvalue(labels, probs, n_draws=9)
    assert (found.n_draws, found.smallest_pvalue) == (9, 0.1)
    with refuses("alpha", "needs-draws", got="got 0.05"):
        found.reject(0.05)
    with refuses("alpha", "range", got="got 1"):
        found.reject(1)
    assert found.reject(0.1) == (found.pvalue <= 0.1 + 1e-12)
    for options in ({"estimator": "linear"}, {"estimator": "block"}, {"method": "bound"}):
        other = skce_pvalue(labels, probs, n_draws=9, **options)
        assert (other.n_draws, other.smallest_pvalue, other.reject(1e-9)) == (0, 0.0, False)


def test_undefined_pvalues_say_why():
    for estimator in ("quadratic", "linear"):
        found = skce_pvalue([0], [[0.5, 0.5]], estimator=estimator)
        assert np.isnan(found.pvalue)
        assert np.isnan(found.statistic)
        assert "cases" in said(found)
    one = skce_pvalue([0, 1], [[0.5, 0.5]] * 2, estimator="linear")
    assert (np.isnan(one.pvalue), said(one)) == (True, "too few cases for a p-value")
    right = skce_pvalue([0, 1] * 5, np.tile(np.eye(2), (5, 1)), estimator="linear")
    assert (right.statistic, right.pvalue) == (0.0, 1.0)
    assert skce_pvalue([0, 1] * 5, np.tile(np.eye(2), (5, 1))).pvalue == 1.0
    same = skce_pvalue([1] * 10, [[0.5, 0.5]] * 10, estimator="linear")
    assert np.isnan(same.pvalue)
    assert "equal" in said(same)
    with refuses("kernel", "conflict"):
        skce_pvalue([0, 1], [[0.5, 0.5]] * 2, kernel=lambda p, q: (p * q).sum(-1), method="bound")
    with refuses("method", "choice", got="got 'exact'"):
        skce_pvalue([0, 1], [[0.5, 0.5]] * 2, method="exact")
    with refuses("probs", "shape", got=r"got shape \(2, 2, 2, 2\)"):
        skce_pvalue([0, 1], np.full((2, 2, 2, 2), 0.5))


def test_estimate_against_mean_of_blocks():
    rng = np.random.default_rng(16)
    probs = rng.dirichlet([1, 1, 1], 100)
    labels = draw_labels(rng, probs)
    for size in (2, 7):
        found = kernel_calibration_estimate(labels, probs, block_size=size)
        want = kernel_calibration_error(labels, probs, estimator="block", block_size=size)
        assert float(found) == pytest.approx(want, abs=1e-15)
        assert found.low < found < found.high
        assert found.n == 100 // size
    assert "fewer than two cases" in said(kernel_calibration_estimate([0], [[0.5, 0.5]]))


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 10])
def test_type_one_error(n_classes):
    n_sets = 120
    tests = {name: {**options, "n_draws": 99} for name, options in TESTS.items()}
    shares = dict(zip(TESTS, rejections(60, n_classes, True, tests, n_sets=n_sets, seed=17), strict=True))
    above = LEVELS + 3 * np.sqrt(LEVELS * (1 - LEVELS) / n_sets)
    for name in ("quadratic", "quadratic, h = 0.2"):
        assert (shares[name] <= above).all()
        assert shares[name][3] > 0.1
    for name in ("linear", "block"):
        assert (shares[name] <= above + 0.02).all()
    assert (shares["quadratic, bound"] == 0).all()
    assert (shares["biased, bound"] <= LEVELS).all()


@pytest.mark.slow
def test_power_orders_the_estimators():
    tests = {name: {**options, "n_draws": 99} for name, options in TESTS.items()}
    shares = dict(zip(TESTS, rejections(300, 3, False, tests, n_sets=60, seed=18)[:, 1], strict=True))
    assert shares["quadratic, h = 0.2"] > 0.9
    assert shares["quadratic, h = 0.2"] > shares["quadratic"] > shares["linear"] + 0.2
    assert shares["linear"] >= shares["quadratic, bound"]


@pytest.mark.slow
def test_interval_coverage():
    shares = coverage(200, 3, False, (2, 5), n_sets=150, seed=19)
    assert (np.abs(shares - 0.95) < 3 * np.sqrt(0.95 * 0.05 / 150) + 0.015).all()


def print_tables(n_sets=1000):
    print("rejected in percent at α = 1 / 5 / 10 / 20 %")
    for calibrated, n_classes, n in itertools.product((True, False), (2, 10), (50, 100, 1000)):
        shares = rejections(
            n, n_classes, calibrated, TESTS, n_sets=n_sets if n < 1000 else max(n_sets // 5, 1), seed=20
        )
        print("calibrated" if calibrated else "temperature ½", f"K = {n_classes}, n = {n}")
        for name, row in zip(TESTS, 100 * shares, strict=True):
            print(f"  {name:20s}" + " / ".join(f"{value:.1f}" for value in row), flush=True)
    print("coverage of 95 % intervals in percent, blocks of 2 / 5 / 10")
    for calibrated, n_classes, n in itertools.product((True, False), (2, 10), (100, 1000)):
        shares = 100 * coverage(n, n_classes, calibrated, (2, 5, 10), n_sets=2 * n_sets, seed=21)
        state = "calibrated" if calibrated else "temperature ½"
        print(f"  {state}, K = {n_classes}, n = {n}: " + " / ".join(f"{value:.1f}" for value in shares), flush=True)


def test_groups_are_noted(random_generator):
    probs = random_generator.dirichlet(np.ones(3), 20)
    labels = random_generator.integers(0, 3, 20)
    grouped = skce_pvalue(labels, uq.Point(probs, groups=np.arange(20) // 2), n_draws=19)
    plain = skce_pvalue(labels, probs, n_draws=19)
    assert (grouped.pvalue, grouped.notes) == (plain.pvalue, (*plain.notes, IN_GROUPS))


if __name__ == "__main__":
    sys.exit(print_tables())
