"""Kernels over the points of hulls: the same bits as the formulas, for every input and every width of vectors."""

from itertools import permutations

import numpy as np
import pytest
from tests.kinds import masses_of_every_event

import uqassay as uq
from uqassay.measures import nonspecificity
from uqassay.measures.imprecision import for_each_hull, hull_kernel
from uqassay.native import kernel

needs_kernels = pytest.mark.skipif(kernel("clipped_hull") is None, reason="uqassay-native is absent or switched off")
SIZES = ((2, 1), (2, 1000), (3, 4), (4, 40), (5, 7), (7, 3), (10, 15), (10, 300), (13, 2), (16, 3), (3, 20_001))  # K, M


def hard_members(rng, n, n_members, n_classes, dtype=np.float64):
    """Members with exact ties, zeros and ones, denormals, rounded sums and values slightly below 0."""
    p = rng.dirichlet(np.full(n_classes, 0.3), (n, n_members)).astype(dtype)
    p[0] = p[0, :1]  # one point
    p[1] = np.eye(n_classes)[rng.integers(n_classes, size=n_members)]
    p[2] = np.full(n_classes, 1 / n_classes)
    p[3, :, 0] = np.nextafter(p.dtype.type(0), p.dtype.type(1))  # a denormal
    p[3, :, 1:] = rng.dirichlet(np.ones(n_classes - 1), n_members)
    p[4, :, 0] -= 2e-7
    p[4, :, 1] += 3e-7
    p[5] = rng.multinomial(4, np.full(n_classes, 1 / n_classes), n_members) / 4
    return p


def all_numbers(members, y):
    """Every number that a kernel contributes to, by name."""
    found = {"hartley": nonspecificity(members).values, "pal": nonspecificity(members, "pal").values}
    for measure in ("hartley", "korner", "pal"):
        found[f"clipped {measure}"] = nonspecificity(members, measure, convention="paper").values
    for convention in ("exact", "paper"):
        loss = uq.losses.unified_loss(y, members, convention=convention)
        found |= {f"{convention} distance": loss.distance, f"{convention} total": loss.total}
    found["hellinger"] = uq.losses.unified_loss(y, members, distance="hellinger").distance
    return found


def by_formulas(monkeypatch, *args):
    with monkeypatch.context() as patch:
        patch.setenv("UQASSAY_PURE", "1")
        return all_numbers(*args)


def assert_same(found, expected):
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@needs_kernels
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n_classes", "n_members"), SIZES)
def test_bits_of_the_formulas(n_classes, n_members, dtype, monkeypatch, random_generator):
    members = uq.Members(hard_members(random_generator, 11, n_members, n_classes, dtype))
    y = random_generator.integers(n_classes, size=11)
    assert_same(all_numbers(members, y), by_formulas(monkeypatch, members, y))


@needs_kernels
def test_every_layout_and_dtype(monkeypatch, random_generator):
    p = hard_members(random_generator, 24, 6, 5)
    p[4] = p[6]
    y = random_generator.integers(5, size=24)
    frozen = p.copy()
    frozen.flags.writeable = False
    layouts = {
        "read-only": uq.Members(frozen),
        "members first": uq.Members(np.ascontiguousarray(p.transpose(1, 0, 2)), member_axis=0),
        "Fortran": uq.Members(np.asfortranarray(p)),
        "every second class": uq.Members(np.repeat(p, 2, axis=2)[:, :, ::2]),
        "big-endian": uq.Members(p.astype(">f8")),
        "float16": uq.Members(p.astype(np.float16)),
    }
    for name, members in layouts.items():
        assert_same(all_numbers(members, y), by_formulas(monkeypatch, members, y))
        if name != "float16":
            assert_same(all_numbers(members, y), all_numbers(uq.Members(p), y))
    np.testing.assert_array_equal(frozen, p)


@needs_kernels
@pytest.mark.parametrize("kind", ["Dirichlet", "GaussianLogits", "Vertices"])
def test_other_kinds_that_are_given_by_points(kind, monkeypatch, random_generator):
    rng = random_generator
    prediction = {
        "Dirichlet": lambda: uq.Dirichlet(rng.gamma(1.0, size=(9, 4)) + 0.1, n_draws=12),
        "GaussianLogits": lambda: uq.GaussianLogits(
            rng.normal(size=(9, 4)), np.full((9, 4), 0.5), variance_is="epistemic", n_draws=12
        ),
        "Vertices": lambda: uq.Vertices(rng.dirichlet(np.ones(4), (9, 5))),
    }[kind]()
    y = rng.integers(4, size=9)
    assert_same(all_numbers(prediction, y), by_formulas(monkeypatch, prediction, y))


@needs_kernels
def test_a_row_does_not_depend_on_its_neighbours_or_on_the_width_of_vectors(random_generator):
    import _uqassay_native

    p = hard_members(random_generator, 37, 9, 6)
    y = random_generator.integers(6, size=37)
    whole = all_numbers(uq.Members(p), y)
    order = random_generator.permutation(37)
    try:
        for most in (2, 4, 8):
            _uqassay_native.yardsticks.use_lanes(most)
            assert_same(all_numbers(uq.Members(p), y), whole)
            assert_same(all_numbers(uq.Members(p[order]), y[order]), {k: v[order] for k, v in whole.items()})
            for one in (0, 5, 36):
                found = all_numbers(uq.Members(p[one : one + 1]), y[one : one + 1])
                assert_same(found, {name: values[one : one + 1] for name, values in whole.items()})
    finally:
        _uqassay_native.yardsticks.use_lanes(8)


@needs_kernels
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_kernels_against_the_definition_on_every_event(n_classes, random_generator):
    p = random_generator.dirichlet(np.ones(n_classes), (5, 4))
    masses = masses_of_every_event(uq.Members(p))
    sizes = np.array([max(a.bit_count(), 1) for a in range(2**n_classes)])
    np.testing.assert_allclose(nonspecificity(uq.Members(p)).values, masses @ np.log(sizes), atol=1e-12)
    clipped = np.maximum(masses, 0)
    clipped[:, -1] += np.maximum(0, 1 - clipped.sum(axis=1))
    clipped /= clipped.sum(axis=1, keepdims=True)
    values, upper = kernel("clipped_hull")(p, np.log(sizes))
    np.testing.assert_allclose(values, clipped @ np.log(sizes), atol=1e-12)
    holds = (np.arange(2**n_classes)[:, None] >> np.arange(n_classes)) & 1
    np.testing.assert_allclose(upper, clipped @ holds, atol=1e-12)


@needs_kernels
@pytest.mark.parametrize(
    ("n_classes", "n_members", "dtype"),
    [
        *((k, m, np.float64) for k, m in [(17, 1), (18, 2), (33, 7), (34, 16), (100, 31)]),
        *[(18, 2, np.float32), (34, 16, np.float32), (17, 1, np.float16), (33, 7, np.float16)],
    ],
)
def test_bits_of_the_estimator(n_classes, n_members, dtype, monkeypatch, random_generator):
    p = hard_members(random_generator, 11, n_members, n_classes, dtype)
    p[4] = p[6]
    members = uq.Members(p)
    order = random_generator.permutation(11)
    found, shuffled = nonspecificity(members), nonspecificity(uq.Members(p[order]))
    fine = nonspecificity(members, "pal", tolerance=0.01, rng=5)
    np.testing.assert_array_equal(shuffled.values, found.values[order])
    monkeypatch.setenv("UQASSAY_PURE", "1")
    for compiled, formula in (
        (found, nonspecificity(members)),
        (fine, nonspecificity(members, "pal", tolerance=0.01, rng=5)),
    ):
        np.testing.assert_array_equal(compiled.values, formula.values)
        np.testing.assert_array_equal(compiled.standard_error, formula.standard_error)
        np.testing.assert_array_equal(compiled.order_deviations, formula.order_deviations)


@needs_kernels
def test_estimator_over_all_orders_is_exact(random_generator):
    # four classes have 24 orders; their mean is the exact measure
    p = random_generator.dirichlet(np.ones(4), (6, 3))
    orders = np.array(list(permutations(range(4))))
    draws = kernel("hull_orders")(p, orders, uq.measures.hartley_weights(4))
    np.testing.assert_allclose(draws.mean(axis=0), nonspecificity(uq.Members(p)).values, rtol=1e-12)


@needs_kernels
def test_wrong_calls_are_refused():
    points = np.full((2, 3, 2), 0.5)
    with pytest.raises(ValueError, match="one weight for each event"):
        kernel("clipped_hull")(points, np.ones(3))
    with pytest.raises(ValueError, match="one weight for each event"):
        kernel("hull_imprecision")(points, np.ones(2), np.ones(4))
    with pytest.raises(ValueError, match="1 to 16 classes"):
        kernel("clipped_hull")(np.zeros((1, 1, 17)), np.ones(2**17))
    orders = np.array([[0, 1]])
    with pytest.raises(ValueError, match="orders of 0"):
        kernel("hull_orders")(points, orders + 1, np.ones(1))
    with pytest.raises(ValueError, match="orders \\(R, K\\)"):
        kernel("hull_orders")(points, orders, np.ones(2))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernel("clipped_hull")(points.astype(np.float16), np.ones(4))


def test_one_class_and_no_row():
    if (compiled := kernel("hull_imprecision")) is None:
        pytest.skip("uqassay-native is absent or switched off")
    values, upper = compiled(np.ones((3, 2, 1)), np.zeros(1), np.zeros(1))
    assert (values.tolist(), upper.tolist()) == ([0.0] * 3, [[1.0]] * 3)
    values, upper = compiled(np.ones((0, 2, 1)), np.zeros(1), np.zeros(1))
    assert (values.shape, upper.shape) == ((0,), (0, 1))


def test_kinds_without_points_keep_their_formulas():
    assert hull_kernel("clipped_hull", uq.Intervals([[0.2, 0.3]], [[0.7, 0.8]])) is None


def test_chunks_cover_the_rows_and_come_as_plain_arrays(random_generator):
    members = uq.Members(random_generator.dirichlet(np.ones(100), (300, 40)).astype(np.float16))
    found = np.zeros((300, 40, 100))

    def keep(rows, points):
        assert points.flags.c_contiguous
        assert points.dtype == np.float64
        found[rows] += points

    for_each_hull(members, keep)
    np.testing.assert_array_equal(found, members.probs)
