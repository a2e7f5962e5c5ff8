import importlib
import itertools
from functools import partial

import numpy as np
import pytest
from tests.calibration.made_up_data import draw_labels
from tests.metrics.calibration.kernel_definitions import ESTIMATORS, FORMULAS, defined, predictions, term
from tests.refusals import refuses

from uqassay.calibration.kernel_tests import skce_pvalue
from uqassay.metrics.kernel_error import (
    CALIBRATION_KERNELS,
    PrepareKernel,
    kernel_bandwidth,
    kernel_calibration_error,
    prepare_biased,
    prepare_linear,
    prepare_quadratic,
    settle_kernel,
)

# -- kernel error ----------------------------------------------------------------------------------------------------
#
# Kernel calibration error against its definition, published values, and what theory says of its distribution.
#
# Run as a script, this file prints the tables in the docstrings of `skce_pvalue` and `kernel_calibration_estimate`.


# -- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", FORMULAS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimators_against_brute_force_with_ties(kernel, estimator):
    rng = np.random.default_rng(1)
    for n, n_classes in ((2, 2), (7, 3), (12, 5)):
        probs = predictions(rng, n, n_classes)
        labels = rng.integers(0, n_classes, n)
        size = {"block_size": min(n, 3)} if estimator == "block" else {}
        got = kernel_calibration_error(labels, probs, estimator=estimator, kernel=kernel, bandwidth=0.6, **size)
        want = defined(labels, probs, lambda p, q: FORMULAS[kernel](p, q, 0.6), estimator, min(n, 3))
        assert isinstance(got, float)
        assert got == pytest.approx(want, abs=1e-13)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_kernel_function_equals_the_named_kernel(estimator):
    rng = np.random.default_rng(3)
    probs, labels = predictions(rng, 11, 4, lead=(2, 1)), rng.integers(0, 4, (3, 11))
    error = partial(kernel_calibration_error, labels, probs, estimator=estimator, batched=True)
    assert error(kernel=lambda p, q: np.exp(-np.abs(p - q).sum(axis=-1) / 2)) == pytest.approx(error(), abs=1e-14)


def test_quadratic_against_published_values_of_pycalibration():
    """Printed in the README of devmotion/pycalibration, which calls CalibrationErrors.jl (kernel exp(−distance))."""
    rng = np.random.default_rng(1234)
    shares, outcomes = rng.random(100), rng.choice([True, False], 100)
    binary = np.stack([1 - shares, shares], axis=1)  # |p − p'| of the shares is the total variation distance
    assert kernel_calibration_error(outcomes.astype(int), binary) == pytest.approx(0.03320398246523166, abs=1e-14)
    rng = np.random.default_rng(1234)
    probs, outcomes = rng.dirichlet((3, 2, 5), 100), rng.integers(low=1, high=4, size=100)
    got = kernel_calibration_error(outcomes - 1, probs, kernel="exponential", bandwidth=1.0)
    assert got == pytest.approx(0.02015240706950358, abs=1e-14)
    pair = [[0.1, 0.8, 0.1], [0.2, 0.5, 0.3]]
    got = kernel_calibration_error([1, 2], pair, kernel="exponential", bandwidth=1.0)
    assert got == pytest.approx(-0.10317943453412069, abs=1e-14)


@pytest.mark.parametrize(
    ("labels", "unbiased", "biased"),
    [((0, 1), 0, 0), ((0, 0), 0, 0.5), ((1, 0), -2 * np.exp(-1), 1 - np.exp(-1)), ((1, 1), 0, 0.5)],
)
def test_two_certain_predictions_against_calibration_errors_jl(labels, unbiased, biased):
    """test/skce.jl of devmotion/CalibrationErrors.jl: predictions (1, 0) and (0, 1), squared exponential kernel."""
    probs, options = np.eye(2), {"kernel": "rbf", "bandwidth": 1.0}
    assert kernel_calibration_error(labels, probs, **options) == pytest.approx(unbiased, abs=1e-15)
    assert kernel_calibration_error(labels, probs, estimator="biased", **options) == pytest.approx(biased, abs=1e-15)
    many = {"probs": np.tile(probs, (10, 1)), "y_true": np.tile(labels, 10)}
    for estimator in ("linear", "block"):
        size = {"block_size": 2} if estimator == "block" else {}
        got = kernel_calibration_error(**many, estimator=estimator, **options, **size)
        assert got == pytest.approx(unbiased, abs=1e-15)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_exact_expectation_by_enumeration(n_classes, estimator):
    """Over all label vectors of three instances, weighted by their probability under the predictions."""
    probs = predictions(np.random.default_rng(4), 3, n_classes)
    vectors = np.array(list(itertools.product(range(n_classes), repeat=3)))
    chances = np.prod([probs[i, vectors[:, i]] for i in range(3)], axis=0)
    values = kernel_calibration_error(vectors, probs, estimator=estimator, batched=True)
    # the diagonal of the biased one: E ‖p − e_y‖² = 1 − ‖p‖², n of n² pairs
    want = float((1 - (probs**2).sum(axis=1)).sum()) / 9 if estimator == "biased" else 0.0
    assert chances.sum() == pytest.approx(1)
    assert float(chances @ values) == pytest.approx(want, abs=1e-15)


@pytest.mark.parametrize("kernel", ["tv", "rbf"])
def test_unbiased_by_simulation(kernel):
    rng = np.random.default_rng(5)
    probs = rng.dirichlet([0.5] * 4, 30)
    labels = draw_labels(rng, np.broadcast_to(probs, (20_000, 30, 4)))
    for estimator in ("quadratic", "linear", "block"):
        values = kernel_calibration_error(labels, probs, estimator=estimator, kernel=kernel, batched=True)
        assert values.shape == (20_000,)
        assert abs(values.mean()) < 4 * values.std() / np.sqrt(len(values))
    values = kernel_calibration_error(labels, probs, estimator="biased", kernel=kernel, batched=True)
    want = (1 - (probs**2).sum(axis=1)).mean() / 30
    assert (values > 0).all()
    assert abs(values.mean() - want) < 4 * values.std() / np.sqrt(len(values))


def test_estimators_agree_in_expectation_when_miscalibrated():
    rng = np.random.default_rng(6)
    probs = rng.dirichlet([1.0] * 3, 40)
    truth = np.roll(probs, 1, axis=1)
    labels = draw_labels(rng, np.broadcast_to(truth, (20_000, 40, 3)))
    gaps = probs - truth
    k = settle_kernel("tv", None, None).table(probs, probs)
    products = k * (gaps @ gaps.T)
    want = (products.sum() - np.trace(products)) / (40 * 39)  # the conditional expectation given the predictions
    values = kernel_calibration_error(labels, probs, batched=True)
    assert want > 0.01
    assert abs(values.mean() - want) < 4 * values.std() / np.sqrt(len(values))


# -- batches, chunks, layouts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["tv", "rbf", "exponential"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_batch_equals_loop(estimator, kernel):
    rng = np.random.default_rng(7)
    probs, labels = predictions(rng, 10, 3, lead=(4, 1)), rng.integers(0, 3, (5, 10))
    options = {"estimator": estimator, "kernel": kernel}  # the median is found for each set of predictions
    got = kernel_calibration_error(labels, probs, **options, batched=True)
    want = [[kernel_calibration_error(y, p[0], **options) for y in labels] for p in probs]
    assert got.shape == (4, 5)
    assert got == pytest.approx(np.array(want), abs=1e-14)


def test_ordinary_inputs():
    probs, labels = [[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]], [0, 1, 0]
    want = kernel_calibration_error(labels, probs)
    for dtype in (np.float16, np.float32):
        assert kernel_calibration_error(labels, np.array(probs, dtype)) == pytest.approx(want, abs=1e-12)
    readonly = np.array(probs)
    readonly.flags.writeable = False
    assert kernel_calibration_error(np.array(labels, float), readonly[::-1][::-1]) == want
    constant = np.full((6, 3), 1 / 3)
    for kernel in CALIBRATION_KERNELS:  # every pair has kernel value 1, for any median
        got = kernel_calibration_error([0, 1, 2, 0, 1, 2], constant, kernel=kernel, estimator="biased")
        assert got == pytest.approx(0, abs=1e-15)
    for estimator in ("quadratic", "linear", "block"):
        assert np.isnan(kernel_calibration_error([0], [[0.5, 0.5]], estimator=estimator))
    assert kernel_calibration_error([0], [[0.5, 0.5]], estimator="biased") == 0.5


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"estimator": "cubic"}, ("estimator", "choice")),
        ({"kernel": "sinc"}, ("kernel", "choice")),
        ({"kernel": 3}, ("kernel", "type")),
        ({"kernel": lambda p, q: p * q}, ("kernel", "shape")),
        ({"kernel": lambda p, q: np.log((p - q).sum(axis=-1) * 0)}, ("kernel", "finite")),
        ({"kernel": lambda p, q: 0.0, "bandwidth": 1.0}, ("bandwidth", "conflict", "got 1.0")),
        ({"bandwidth": -1.0}, ("bandwidth", "range")),
        ({"bandwidth": "mean"}, ("bandwidth", "type")),
        ({"block_size": 2}, ("block_size", "conflict", "got 2")),
        ({"estimator": "block", "block_size": 1}, ("block_size", "range", "got 1")),
        ({"estimator": "block", "block_size": 9}, ("block_size", "range", "got 9")),
        ({"y_true": [0, 1]}, ("y_true", "mismatch")),
        ({"y_true": [0, 1, 5]}, ("y_true", "range", "row 2 holds 5")),
        ({"y_true": np.zeros((4, 3)), "probs": np.full((2, 3, 2), 0.5)}, ("y_true", "shape")),
        ({"probs": [0.5, 0.5]}, ("probs", "shape")),
        ({"probs": [[0.5, np.nan]] * 3}, ("probs", "finite", "row 0 holds nan")),
        ({"probs": [[0.5, 0.6]] * 3}, ("probs", "sum")),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_invalid_input_is_refused(change, refusal):
    options = {"y_true": [0, 1, 0], "probs": [[0.5, 0.5], [0.3, 0.7], [0.9, 0.1]], **change}
    with refuses(*refusal):
        kernel_calibration_error(**options)


def test_prepared_kernels_need_a_number_as_bandwidth():
    with refuses("bandwidth", "type", got="must be a number here.* got None for kernel 'rbf'"):
        PrepareKernel("quadratic", kernel="rbf")
    with refuses("block_size", "conflict"):
        PrepareKernel("linear", block_size=3)
    assert PrepareKernel("block", block_size=3) == PrepareKernel("block", block_size=3) != PrepareKernel("block")
    rng = np.random.default_rng(13)
    probs, labels = predictions(rng, 8, 3), rng.integers(0, 3, 8)
    got = PrepareKernel("quadratic", kernel="rbf", bandwidth=kernel_bandwidth(probs))(probs).values(labels)
    assert float(got) == pytest.approx(kernel_calibration_error(labels, probs, kernel="rbf"), abs=1e-15)


# -- kernel pairs ----------------------------------------------------------------------------------------------------
#
# Prepared pairs of predictions: chunks, memory layout and many classes.


# functions of these names stand before the modules in uqassay.metrics
module = importlib.import_module("uqassay.metrics.kernel_error")


pvalues = importlib.import_module("uqassay.calibration.kernel_tests")


kernels = importlib.import_module("uqassay.metrics.kernel_error")


@pytest.mark.parametrize("kernel", ["tv", "rbf", "own"])
def test_chunk_size_does_not_change_results(monkeypatch, kernel):
    rng = np.random.default_rng(8)
    probs, labels = predictions(rng, 57, 4, lead=(2, 1)), rng.integers(0, 4, (3, 57))
    chosen = (lambda p, q: (p * q).sum(axis=-1)) if kernel == "own" else kernel

    def all_of_them():
        values = [kernel_calibration_error(labels, probs, estimator=e, kernel=chosen, batched=True) for e in ESTIMATORS]
        return np.array(values), skce_pvalue(labels[0], probs[0, 0], kernel=chosen, n_draws=99)

    values, test = all_of_them()
    for tile, kept in ((2**10, 2**26), (2**11, 0), (2**21, 0)):
        monkeypatch.setattr(module, "TILE_BYTES", tile)
        monkeypatch.setattr(module, "KEPT_BYTES", kept)
        monkeypatch.setattr(pvalues, "TILE_BYTES", tile)
        other, other_test = all_of_them()
        assert other == pytest.approx(values, abs=1e-14)
        assert other_test.statistic == pytest.approx(test.statistic, abs=1e-14)
        assert other_test.pvalue == test.pvalue


@pytest.mark.parametrize("prepare", [prepare_linear, prepare_quadratic, prepare_biased, PrepareKernel("block")])
def test_prepared_protocol_and_memory_layout(prepare):
    """Class-first memory, draws shared by all mixtures, and draws with separate mixtures."""
    rng = np.random.default_rng(9)
    plain = predictions(rng, 9, 3, lead=(5, 2))
    swapped = np.swapaxes(np.ascontiguousarray(np.swapaxes(plain, -1, -2)), -1, -2)
    own, shared = rng.integers(0, 3, (5, 1, 9)), rng.integers(0, 3, (6, 1, 1, 9))
    for labels in (own, shared):
        got = prepare(swapped).values(labels)
        want = np.empty(np.broadcast_shapes(labels.shape[:-1], (5, 2)))
        full = np.broadcast_to(labels, (*want.shape, 9))
        for at in np.ndindex(want.shape):
            want[at] = prepare(plain[at[-2:]]).values(full[at])
        assert got.shape == want.shape
        assert got == pytest.approx(want, abs=1e-14)
    assert prepare(swapped[:, :1]).values(own) == pytest.approx(prepare(plain[:, :1]).values(own), abs=1e-14)


@pytest.mark.parametrize("kernel", CALIBRATION_KERNELS)
def test_large_tables_are_those_of_single_pairs(kernel):
    rng = np.random.default_rng(17)
    p, q = predictions(rng, 40, 6, lead=(2, 3)), predictions(rng, 50, 6, lead=(2, 3))
    assert kernels.MANY_TERMS <= 40 * 50 * 6
    table = settle_kernel(kernel, 0.3, None).table(np.asfortranarray(p), q)
    want = [[FORMULAS[kernel](a, b, 0.3) for b in q[1, 2]] for a in p[1, 2]]
    assert table.shape == (2, 3, 40, 50)
    np.testing.assert_allclose(table[1, 2], want, rtol=1e-13)


@pytest.mark.parametrize("biased", [True, False])
def test_many_classes_and_few_and_draws_one_by_one_agree(biased, monkeypatch):
    rng = np.random.default_rng(18)
    prepare = prepare_biased if biased else prepare_quadratic
    probs, labels = predictions(rng, 37, 5, lead=(4,)), rng.integers(0, 5, (6, 1, 37))
    few = prepare(probs).values(labels)
    alone = np.array([[prepare(p).values(y[0]) for p in probs] for y in labels])
    np.testing.assert_allclose(few, alone, rtol=0, atol=1e-15)
    monkeypatch.setattr(module, "FEW_CLASSES", 0)
    np.testing.assert_allclose(prepare(probs).values(labels), few, rtol=0, atol=1e-15)
    k, pairs = lambda p, q: FORMULAS["tv"](p, q, 1.0), list(zip(probs[2], labels[3, 0], strict=True))
    h = np.array([[term(p, y, q, z, k) for q, z in pairs] for p, y in pairs])
    want = h.mean() if biased else (h.sum() - np.trace(h)) / (37 * 36)
    assert few[3, 2] == pytest.approx(want, abs=1e-15)


# -- kernels ---------------------------------------------------------------------------------------------------------
#
# Kernels on probabilities and their bandwidths.


def test_default_bandwidths_against_formulas():
    rng = np.random.default_rng(2)
    probs, labels = predictions(rng, 9, 3), rng.integers(0, 3, 9)
    for kernel, h in (("tv", 1.0), ("tv-squared", 2.0)):  # the printed kernel, and that of the authors' code
        want = defined(labels, probs, lambda p, q, kernel=kernel, h=h: FORMULAS[kernel](p, q, h), "quadratic")
        assert kernel_calibration_error(labels, probs, kernel=kernel) == pytest.approx(want, abs=1e-13)
    distances = [np.linalg.norm(p - q) for p, q in itertools.combinations(probs, 2)]
    want = defined(labels, probs, lambda p, q: FORMULAS["rbf"](p, q, np.median(distances)), "quadratic")
    assert kernel_calibration_error(labels, probs, kernel="rbf") == pytest.approx(want, abs=1e-13)


@pytest.mark.parametrize("kernel", FORMULAS)
def test_kernels_symmetric_and_pairs_equal_table(kernel):
    rng = np.random.default_rng(10)
    probs = predictions(rng, 12, 4, lead=(3,))
    settled = settle_kernel(kernel, 0.4, None)
    table = settled.table(probs, probs)
    assert table == pytest.approx(np.swapaxes(table, -1, -2), abs=1e-15)
    assert np.einsum("...ii->...i", table) == pytest.approx(1.0, abs=1e-15)
    want = [[[FORMULAS[kernel](p, q, 0.4) for q in some] for p in some] for some in probs]
    assert table == pytest.approx(np.array(want), abs=1e-14)
    pairs = settled.pairs(probs, np.roll(probs, 1, axis=1))
    assert pairs == pytest.approx(np.array([[row[i, i - 1] for i in range(12)] for row in table]), abs=1e-14)


@pytest.mark.parametrize("kernel", ["tv", "laplacian", "exponential", "rbf"])
def test_kernels_are_positive_definite(kernel):
    rng = np.random.default_rng(11)
    for n_classes, h in itertools.product((2, 3, 10), (0.05, 0.5, 2.0)):
        probs = rng.dirichlet(np.full(n_classes, 0.5), 25)
        assert np.linalg.eigvalsh(settle_kernel(kernel, h, None).table(probs, probs)).min() > -1e-12


def test_squared_total_variation_is_not_positive_definite():
    """So the biased estimate with the kernel of the authors' code can be negative: two classes are fine, three not."""
    grid = np.array([[a, b, 4 - a - b] for a in range(5) for b in range(5 - a)]) / 4
    values, vectors = np.linalg.eigh(settle_kernel("tv-squared", None, None).table(grid, grid))
    assert values[0] < -0.05
    direction = vectors[:, 0]
    assert direction @ settle_kernel("tv", None, None).table(grid, grid) @ direction > 0
    two = np.stack([np.linspace(0, 1, 25), 1 - np.linspace(0, 1, 25)], axis=1)
    assert np.linalg.eigvalsh(settle_kernel("tv-squared", None, None).table(two, two)).min() > -1e-12


def test_bandwidth_against_brute_force_and_subsample():
    rng = np.random.default_rng(12)
    probs = predictions(rng, 15, 3, lead=(2,))
    for kernel, size in (
        ("tv", lambda p, q: np.abs(p - q).sum() / 2),
        ("tv-squared", lambda p, q: (np.abs(p - q).sum() / 2) ** 2),
        ("laplacian", lambda p, q: np.abs(p - q).sum()),
        ("exponential", lambda p, q: np.linalg.norm(p - q)),
        ("rbf", lambda p, q: np.linalg.norm(p - q)),
    ):
        want = [np.median([size(p, q) for p, q in itertools.combinations(some, 2)]) for some in probs]
        assert kernel_bandwidth(probs, kernel=kernel, batched=True) == pytest.approx(want, abs=1e-14)
    many = rng.dirichlet([0.5] * 3, 900)  # 404,550 pairs
    i, j = np.triu_indices(900, 1)
    exact = np.median(np.linalg.norm(many[i] - many[j], axis=1))
    assert kernel_bandwidth(many) == pytest.approx(exact, rel=0.01)
    assert kernel_bandwidth(many) == kernel_bandwidth(many)
    tied = np.array([[1.0, 0.0]] * 9 + [[0.0, 1.0]])
    assert kernel_bandwidth(tied, kernel="tv") == 1.0  # the positive distances
    assert kernel_bandwidth(np.full((4, 2), 0.5), kernel="tv") == 1.0
