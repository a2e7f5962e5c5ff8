"""Prepared pairs of predictions: chunks, memory layout and many classes."""

import importlib

import numpy as np
import pytest
from tests.metrics.calibration.kernel_definitions import ESTIMATORS, FORMULAS, predictions, term

from uqassay.calibration.single import skce_pvalue
from uqassay.metrics.kernel_error import (
    CALIBRATION_KERNELS,
    PrepareKernel,
    kernel_calibration_error,
    prepare_biased,
    prepare_linear,
    prepare_quadratic,
    settle_kernel,
)

# functions of these names stand before the modules in uqassay.metrics
module = importlib.import_module("uqassay.metrics.kernel_error")


pvalues = importlib.import_module("uqassay.calibration.single")


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
