"""Kernels of the decompositions against their formulas, on every shape and on values that sums and logarithms get wrong."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.measures.entropies import label_wise_parts
from uqassay.measures.proper import REFERENCES, proper_score_decomposition
from uqassay.native import kernel

SCORES = ("log", "brier", "spherical", "zero-one")
SHAPES = (
    *((11, 10, k) for k in range(2, 17)),
    *((n, 3, 4) for n in range(1, 18)),
    *((9, m, 3) for m in (1, 2, 100, 300)),
    *((5, 4, k) for k in (31, 33, 100, 128, 129)),
)
KERNELS = {
    "member_means": (0, 1),
    "member_regrets": (0, 2),
    "label_wise_sums": (0, 3),
    "member_variances": (1, 2),
    "member_entropies": (1, 2),
    "member_divergences": (1, 2),
    "member_spheres": (1, 2),
}


@pytest.fixture
def native(compiled):
    if kernel("member_means") is None:
        pytest.skip("the kernels are switched off")
    return compiled


def awkward_members(rng, n, m, k):
    """Members (n, M, K), named by what is awkward about them."""
    anyone = rng.dirichlet(np.ones(k), (n, m))
    one_hot = np.eye(k)[rng.integers(k, size=(n, m))]
    one = rng.dirichlet(np.ones(k), (n, 1))
    close = one * (1.0 + 1e-6 * rng.normal(size=(n, m, k)))
    confident = rng.dirichlet(np.full(k, 0.02), (n, m))
    ties = np.zeros((n, m, k))
    ties[..., :2] = 0.5
    halves = rng.multinomial(4, np.full(k, 1.0 / k), (n, m)) / 4.0
    tiny = np.where(one_hot > 0.0, 1.0, rng.integers(0, 3, (n, m, k)) * 5e-324)
    small = np.where(one_hot > 0.0, 1.0, 10.0 ** rng.uniform(-320, -17, (n, m, k)))
    outside = anyone + rng.choice([-5e-7, 5e-7], (n, m, k)) / k
    return {
        "any": anyone,
        "rows of 0 and 1": one_hot,
        "equal members": np.repeat(one, m, axis=1),
        "close members": close / close.sum(axis=-1, keepdims=True),
        "confident": confident,
        "two tied classes": ties,
        "quarters": halves,
        "denormals": tiny,
        "every magnitude": small,
        "sums and values within the tolerance": outside,
    }


def every_part(prediction):
    """All arrays of all decompositions, by name."""
    found = {}
    for score in SCORES:
        for reference in REFERENCES:
            parts = proper_score_decomposition(prediction, score, reference=reference)
            found |= {f"{score}, {reference}, {part}": getattr(parts, part) for part in vars(parts)}
    whole = label_wise_parts(prediction)
    found |= {f"label-wise, {part}": getattr(whole, part) for part in vars(whole)}
    return found | {"mean": prediction.mean_probs(), "variance": uq.measures.probability_moments(prediction).variance}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_kernels_agree_with_the_formulas(native, shape, monkeypatch, random_generator):
    n, m, k = shape
    weights = None, np.arange(1.0, m + 1.0), random_generator.integers(0, 3, (n, m)) + np.eye(1, m)
    kinds = list(awkward_members(random_generator, n, m, k).items())
    for j, (name, probs) in enumerate(kinds if m < 300 else kinds[::4]):  # formulas loop over the members
        # both for the first kind, and by turns for the others: each kind has both among the shapes
        for dtype in (np.float64, np.float32) if j == 0 else ((np.float64, np.float32)[(j + n + m + k) % 2],):
            prediction = uq.Members(probs.astype(dtype), weights[j % 3])
            with monkeypatch.context() as pure:
                found = every_part(prediction)
                pure.setenv("UQASSAY_PURE", "1")
                expected = every_part(prediction)
            for part, values in expected.items():
                np.testing.assert_allclose(
                    found[part], values, rtol=1e-12, atol=1e-30, err_msg=f"{name}, {dtype.__name__}, {part}"
                )
            np.testing.assert_array_equal(found["mean"], expected["mean"])
            np.testing.assert_array_equal(found["zero-one, mean, epistemic"], expected["zero-one, mean, epistemic"])


@pytest.mark.parametrize("name", KERNELS)
def test_an_instance_has_the_same_bits_in_every_lane_and_at_every_width_of_vectors(native, name, random_generator):
    n, m, k = 37, 5, 11
    probs, weights = random_generator.dirichlet(np.full(k, 0.3), (n, m)), random_generator.dirichlet(np.ones(m), n)
    given, outputs = KERNELS[name]
    mean = [probs.mean(axis=1)] * given
    found = getattr(native, name)(probs, weights, *mean)
    assert len(found) == outputs
    try:
        for lanes in (2, 4, 8):
            native.yardsticks.use_lanes(lanes)
            for start in range(9):
                rows = slice(start, start + 20)
                part = getattr(native, name)(probs[rows], weights[rows], *(one[rows] for one in mean))
                for one, whole in zip(part, found, strict=True):
                    np.testing.assert_array_equal(one, whole[rows])
    finally:
        native.yardsticks.use_lanes(8)


@pytest.mark.parametrize("name", KERNELS)
def test_the_order_of_the_members_changes_no_bit(native, name, random_generator):
    probs, weights = random_generator.dirichlet(np.full(4, 0.3), (50, 6)), random_generator.dirichlet(np.ones(6), 50)
    mean, order = [probs.mean(axis=1)] * KERNELS[name][0], random_generator.permutation(6)
    found = getattr(native, name)(probs, weights, *mean)
    permuted = getattr(native, name)(probs[:, order].copy(), weights[:, order].copy(), *mean)
    for one, other in zip(found, permuted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_logarithms_against_extended_precision(native, random_generator):
    exponents = np.arange(-1021, 1)
    p = np.concatenate([np.ldexp(random_generator.uniform(0.5, 1.0, (200, 1)), exponents).ravel(), [0.0, 1.0]])
    p = np.concatenate([p, 1.0 - np.ldexp(1.0, -np.arange(1, 54)), np.nextafter(np.sqrt([0.5, 0.5]), [0.0, 1.0])])
    exact = np.abs(p * np.log(np.where(p > 0.0, p, 1.0).astype(np.longdouble)))
    found = native.entropy_terms(p)
    np.testing.assert_allclose(found, exact.astype(float), rtol=5e-16, atol=1e-322)
    assert found[p == 1.0].tolist() == found[p == 0.0].tolist() == [0.0]


def test_shapes_and_dtypes_are_checked(native):
    probs, shares = np.full((2, 3, 2), 0.5), np.full((1, 3), 1 / 3)
    with pytest.raises(ValueError, match="needs members"):
        native.member_means(probs, np.ones((1, 2)))
    with pytest.raises(ValueError, match="needs members"):
        native.member_means(probs[:, :0].copy(), np.ones((1, 0)))
    with pytest.raises(ValueError, match="needs a mean"):
        native.member_entropies(probs, shares, np.ones((2, 3)))
    with pytest.raises(ValueError, match="at most 128"):
        native.label_wise_sums(np.full((1, 3, 129), 1 / 129), shares)
    with pytest.raises(TypeError):
        native.member_means(probs[:, ::2], shares)
    with pytest.raises(TypeError):
        native.member_means(probs.astype(np.float16), shares)
