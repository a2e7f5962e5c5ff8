"""Sums over members against exact fractions; layouts, dtypes and the order of members change no bit."""

from fractions import Fraction

import numpy as np
import pytest

from uqassay.predictions import member_rows, member_shares, member_sums


@pytest.mark.parametrize("pure", ["0", "1"])
@pytest.mark.parametrize("weights", [None, (4,), (6, 4)])
def test_sums_against_exact_fractions(weights, pure, monkeypatch, random_generator):
    monkeypatch.setenv("UQASSAY_PURE", pure)
    probs = random_generator.integers(0, 2**20, (6, 4, 3)) / 2.0**20
    shares = None if weights is None else random_generator.integers(0, 8, weights) / 8.0
    [found] = member_sums(probs, shares, lambda p: (p,), "member_means")
    each = np.broadcast_to(0.25 if shares is None else shares, (6, 4))
    exact = [
        [float(sum(Fraction(w) * Fraction(p) for w, p in zip(each[i], probs[i, :, c], strict=True))) for c in range(3)]
        for i in range(6)
    ]
    np.testing.assert_array_equal(found, exact)


def test_terms_of_any_shape_without_a_kernel(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (8, 5))
    top, both = member_sums(probs, None, lambda p: (p.max(axis=1, keepdims=True), np.stack([p, p * p])))
    np.testing.assert_allclose(top[:, 0], probs.max(axis=2).mean(axis=1), rtol=1e-15)
    np.testing.assert_allclose(both, np.stack([probs.mean(axis=1), (probs**2).mean(axis=1)]), rtol=1e-15)


@pytest.mark.parametrize("pure", ["0", "1"])
def test_negative_probabilities_within_the_tolerance_count_as_0(pure, monkeypatch):
    monkeypatch.setenv("UQASSAY_PURE", pure)
    [found] = member_sums(np.array([[[1.0, -1e-8], [0.5, 0.5]]]), None, lambda p: (p,), "member_means")
    assert found.tolist() == [[0.75, 0.25]]


def test_rows_and_shares_are_what_kernels_take(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (2, 5))
    assert member_rows(probs) is probs
    assert member_rows(probs.astype(np.float16)).dtype == np.float64
    assert member_rows(probs.astype(np.float32)).dtype == np.float32
    assert member_rows(probs[:, ::2]).flags.c_contiguous
    assert member_shares(probs, None).tolist() == [[0.2] * 5]
    assert member_shares(probs, np.arange(5.0)).shape == (1, 5)
    assert member_shares(probs, np.ones((2, 5))).shape == (2, 5)


@pytest.mark.parametrize("pure", ["0", "1"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f8"])
def test_layouts_and_dtypes_have_the_bits_of_contiguous_float64(dtype, pure, monkeypatch, random_generator):
    monkeypatch.setenv("UQASSAY_PURE", pure)
    probs = random_generator.dirichlet(np.ones(3), (8, 5)).astype(dtype)
    by_member = np.ascontiguousarray(np.moveaxis(probs, 1, 0))
    by_member.flags.writeable = False
    within = np.zeros((8, 5, 6), dtype)
    within[..., ::2] = probs
    unaligned = np.frombuffer(b"\0" + probs.tobytes(), probs.dtype, offset=1).reshape(probs.shape)
    tolerant = np.ones((8, 5, 1)) * probs.astype(np.float64)
    [expected] = member_sums(tolerant, None, lambda p: (p,), "member_means")
    for one in (probs, np.moveaxis(by_member, 0, 1), within[..., ::2], unaligned):
        [found] = member_sums(one, None, lambda p: (p,), "member_means")
        np.testing.assert_array_equal(found, expected)
