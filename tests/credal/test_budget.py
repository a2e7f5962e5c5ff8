"""Families of focal sets: validation, budgets against exhaustive scoring, and overlap of confidence regions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refuses

from uqassay.arrays import as_bfloat16
from uqassay.credal.budget import best_overlapping_sets, ellipsoid_cells, overlaps
from uqassay.credal.events import (
    MAX_ENUMERATED_CLASSES,
    all_focal_sets,
    as_focal_sets,
    budget_from_confusion,
    budget_from_embeddings,
    paper_masses,
)
from uqassay.errors import TooManyClassesError

# Overlapping sets of classes by brute force, and classes of embeddings with a known covariance.

CROSS = {d: np.concatenate([np.eye(d), -np.eye(d)]) for d in (1, 2, 3)}  # covariance 2/(2d−1)·I


def exhaustive(u, weights, n_sets, max_size):
    scored = []
    for size in range(2, max_size + 1):
        for classes in combinations(range(len(u)), size):
            rows = np.asarray(u, dtype=float)[list(classes)]
            intersection = (rows.min(axis=0) * weights).sum()
            if intersection > 0:
                union = (rows.max(axis=0) * weights).sum()
                scored.append((-round(float(intersection / union), 12), size, classes))
    return [classes for _, _, classes in sorted(scored)[:n_sets]]


# Families of focal sets: validation, budgets against exhaustive scoring, and the paper's repair on real beliefs.


def members(sets):
    return [tuple(np.flatnonzero(row).tolist()) for row in sets]


def random_probs(seed, n, k, concentration=0.5):
    return np.random.default_rng(seed).dirichlet(np.full(k, concentration), size=n)


# ---- families -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.float32, np.float64])
def test_as_focal_sets_reads_matrices_of_any_type(dtype):
    matrix = np.array([[1, 0, 0], [0, 1, 1]], dtype=dtype)
    matrix.flags.writeable = False
    sets = as_focal_sets(np.asfortranarray(matrix))
    assert sets.dtype == bool
    np.testing.assert_array_equal(sets, matrix.astype(bool))


def test_as_focal_sets_reads_lists_of_indices():
    expected = np.array([[1, 0, 0, 0], [0, 1, 0, 1], [1, 1, 1, 1]], dtype=bool)
    for family in ([[0], [3, 1], range(4)], [{0}, {1, 3}, {0, 1, 2, 3}], ((0,), np.array([1, 3]), (0, 1, 2, 3))):
        np.testing.assert_array_equal(as_focal_sets(family, n_classes=4), expected)


def test_as_focal_sets_reads_lists_of_zeros_and_ones_as_indices():
    np.testing.assert_array_equal(as_focal_sets([[0, 1], [0, 0]], n_classes=2), [[True, True], [True, False]])


def test_as_focal_sets_returns_a_copy():
    matrix = np.eye(2, dtype=bool)
    as_focal_sets(matrix)[0, 1] = True
    assert not matrix[0, 1]


@pytest.mark.parametrize(
    ("family", "n_classes", "refusal"),
    [
        ([[0], []], 2, ("focal_sets", "empty", "set 1 is empty")),
        (np.array([[1, 0], [0, 0]]), None, ("focal_sets", "empty", "set 1 is empty")),
        ([[0], [1], [0, 2], [2, 0]], 3, ("focal_sets", "duplicate", "sets 2 and 3 are the same")),
        (
            np.array([[0, 1], [1, 0], [0, 1]], dtype=bool),
            None,
            ("focal_sets", "duplicate", "sets 0 and 2 are the same"),
        ),
        ([[0], [1, 3]], 3, ("focal_sets", "range", "set 1 holds 3")),
        ([[-1]], 3, ("focal_sets", "range", "set 0 holds -1")),
        ([[0], [1]], None, ("n_classes", "missing", "n_classes=2")),
        ([[True, False]], 2, ("focal_sets", "type", "set 0 holds True")),
        ([[0.5]], 2, ("focal_sets", "type", r"set 0 holds 0\.5")),
        (np.eye(3), 4, ("focal_sets", "shape")),
        (np.array([[1, 0], [0, 2]]), None, ("focal_sets", "type", "row 1 holds 2")),
        (np.array([[1.0, np.nan]]), None, ("focal_sets", "type", "row 0 holds nan")),
        (np.array([1, 0]), None, ("focal_sets", "shape")),
        (np.array([["a"]]), None, ("focal_sets", "shape")),
        ([], 3, ("focal_sets", "empty")),
        (np.empty((0, 3)), None, ("focal_sets", "empty")),
        (np.empty((1, 0)), None, ("focal_sets", "empty", "set 0 is empty")),
        (None, 3, ("focal_sets", "type", "got None")),
        (3, 3, ("focal_sets", "type", "got 3")),
        ("01", 3, ("focal_sets", "type", "got '01'")),
        ({0: [0]}, 3, ("focal_sets", "type", "got {0")),
        (None, None, ("focal_sets", "type", "got None")),
        ([[0], 1], 3, ("focal_sets", "type", "set 1 is 1")),
        ([[0], None], 3, ("focal_sets", "type", "set 1 is None")),
        (["01"], 3, ("focal_sets", "type", "set 0 is '01'")),
        ([np.array(1)], 3, ("focal_sets", "type", "set 0 is array")),
        ([[0]], 0, ("n_classes", "range")),
        ([[0]], 2.0, ("n_classes", "type")),
    ],
)
def test_as_focal_sets_errors_are_one_sentence(family, n_classes, refusal):
    with refuses(*refusal) as caught:
        as_focal_sets(family, n_classes)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("k", [1, 2, 3, 5, 9])
def test_all_focal_sets_against_binary_codes(k):
    sets = all_focal_sets(k)
    assert sets.shape == (2**k - 1, k)
    assert sets.dtype == bool
    np.testing.assert_array_equal(sets @ 2 ** np.arange(k), np.arange(1, 2**k))


def test_all_focal_sets_limit():
    assert all_focal_sets(MAX_ENUMERATED_CLASSES).shape == (65535, 16)
    with refuses("n_classes", "size", got="got 17", error=TooManyClassesError):
        all_focal_sets(17)


# ---- overlap of ellipsoids ------------------------------------------------------------------------------------------


def test_budget_of_three_overlapping_and_one_far_class():
    shifts = [[0, 0, 0], [0.5, 0, 0], [0, 1.5, 0], [100, 0, 0]]
    x = np.concatenate([CROSS[3] + np.array(s) for s in shifts])
    y = np.repeat([0, 1, 2, 3], 6)
    sets = budget_from_embeddings(x, y, 20)
    assert members(sets[:4]) == [(0,), (1,), (2,), (3,)]
    assert members(sets[4:]) == [(0, 1), (0, 2), (1, 2), (0, 1, 2)]  # closer centres overlap more; none with class 3
    assert members(budget_from_embeddings(x, y, 2)[4:]) == [(0, 1), (0, 2)]
    assert members(budget_from_embeddings(x, y, 20, max_size=2)[4:]) == [(0, 1), (0, 2), (1, 2)]
    assert len(budget_from_embeddings(x, y, 0)) == 4


def test_budget_from_embeddings_with_ties():
    x = np.concatenate([CROSS[2]] * 3)
    assert members(budget_from_embeddings(x, np.repeat([0, 1, 2], 4), 4)[3:]) == [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
    assert members(budget_from_embeddings(x, np.repeat([0, 1, 2], 4), 2)[3:]) == [(0, 1), (0, 2)]


def test_budget_from_embeddings_repeats_itself_and_ignores_row_order(random_generator):
    x, y = random_generator.normal(size=(120, 3)), np.tile(np.arange(6), 20)
    x += 0.8 * y[:, None]
    x.flags.writeable = False
    order = random_generator.permutation(120)
    first = budget_from_embeddings(x, y, 8)
    np.testing.assert_array_equal(first, budget_from_embeddings(x, y, 8, rng=0))
    np.testing.assert_array_equal(first, budget_from_embeddings(x[order], y[order], 8))
    assert first.shape == (14, 6)


def test_budget_of_one_class():
    np.testing.assert_array_equal(budget_from_embeddings(CROSS[2], np.zeros(4, dtype=int), 3), [[True]])
    np.testing.assert_array_equal(budget_from_confusion([[1.0]], None, 3), [[True]])


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"labels": np.array([0, 0, 0, 1, 1, 1, 1, 1])}, None),
        ({"labels": np.array([0, 0, 1, 1, 1, 1, 1, 1])}, ("embeddings", "empty", "class 0 has 2")),
        ({"n_classes": 3}, ("embeddings", "empty", "class 2 has 0")),
        ({"embeddings": np.outer(np.arange(8.0), [1, 2])}, ("embeddings", "undefined", " class 0")),
        ({"embeddings": np.zeros((8, 2))}, ("embeddings", "undefined", " class 0")),
        ({"embeddings": np.full((8, 2), np.nan)}, ("embeddings", "finite", "row 0 holds nan or inf")),
        ({"embeddings": np.empty((0, 2)), "labels": np.empty(0, dtype=int)}, ("embeddings", "shape")),
        ({"embeddings": np.zeros(8)}, ("embeddings", "shape", r"\(8,\)")),
        ({"labels": np.zeros(7, dtype=int)}, ("labels", "shape")),
        ({"labels": np.zeros(8)}, ("labels", "shape")),
        ({"n_classes": 1}, ("labels", "range", "row 4 holds 1")),
        ({"labels": np.array([0, 0, 0, 0, 1, 1, 1, -1])}, ("labels", "range", "row 7 holds -1")),
        ({"level": 1.0}, ("level", "range")),
        ({"n_sets": -1}, ("n_sets", "range")),
        ({"max_size": 1}, ("max_size", "range")),
        ({"n_points": 0}, ("n_points", "range")),
    ],
)
def test_budget_from_embeddings_errors(change, refusal, random_generator):
    given = {"embeddings": random_generator.normal(size=(8, 2)), "labels": np.repeat([0, 1], 4), "n_sets": 1} | change
    arguments = [given.pop(name) for name in ("embeddings", "labels", "n_sets")]
    if refusal is None:
        assert budget_from_embeddings(*arguments, **given).shape == (3, 2)
    else:
        with refuses(*refusal):
            budget_from_embeddings(*arguments, **given)


# ---- the search -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_budget_from_embeddings_against_brute_force(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(6), 15)
    x = rng.normal(size=(90, 2)) * rng.uniform(0.5, 2, size=2) + rng.normal(scale=2.5, size=(6, 2))[y]
    inside, volumes = ellipsoid_cells(x, y, 6, 0.95, 5_000, np.random.default_rng(seed))
    for n_sets in (3, 12, 100):
        got = budget_from_embeddings(x, y, n_sets, n_points=5_000, rng=seed)
        assert members(got[6:]) == exhaustive(inside, volumes, n_sets, 6)


@pytest.mark.parametrize("labelled", [False, True])
def test_budget_from_confusion_against_brute_force(labelled):
    probs = random_probs(3, 40, 6)
    labels = np.random.default_rng(4).integers(0, 6, size=40) if labelled else None
    u = probs.copy()
    if labelled:
        u[np.arange(40), labels] = 1
    for n_sets in (4, 20, 100):
        got = budget_from_confusion(probs, labels, n_sets)
        assert members(got[:6]) == [(c,) for c in range(6)]
        assert members(got[6:]) == exhaustive(u.T, np.ones(40), n_sets, 4)


def test_confusion_with_hard_predictions_against_theory():
    # 0 and 1: two instances confused, five that are or are taken for either; 1 and 2: one of four; 0 and 2: none.
    truth, predicted = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 0, 0, 2, 2])
    u = np.maximum(np.eye(3)[predicted], np.eye(3)[truth]).T
    np.testing.assert_allclose(
        overlaps(u, np.ones(6), np.array([[0, 1], [0, 2], [1, 2]])), [2 / 5, 0, 1 / 4], rtol=1e-15
    )
    sets = budget_from_confusion(np.eye(3)[predicted], truth, 9)
    assert members(sets[3:]) == [(0, 1), (1, 2)]
    assert len(budget_from_confusion(np.eye(3)[predicted], None, 9)) == 3  # without labels nothing overlaps


def test_budget_from_confusion_on_real_predictions(cifar10):
    probs = cifar10["three"].mean(axis=1)
    names = [set(cifar10["classes"][row]) for row in budget_from_confusion(probs, cifar10["labels"], 20)[10:]]
    assert names[0] == {"cat", "dog"}
    assert {"automobile", "truck"} in names[:4]
    assert len(names) == 20


def test_budget_from_confusion_keeps_its_input():
    probs = random_probs(0, 5, 3)
    probs.flags.writeable = False
    budget_from_confusion(probs, np.zeros(5, dtype=int), 2)
    writeable = random_probs(0, 5, 3)
    budget_from_confusion(writeable, np.zeros(5, dtype=int), 2)
    np.testing.assert_array_equal(writeable, probs)


@pytest.mark.parametrize(
    ("probs", "labels", "refusal"),
    [
        ([[0.5, 0.5], [0.5, 0.7]], None, ("mean_probs", "sum", r"row 1 has minimum 0\.5 and sum 1\.2")),
        ([[1.5, -0.5]], None, ("mean_probs", "sum", r"row 0 has minimum -0\.5")),
        ([[np.nan, 1.0]], None, ("mean_probs", "finite", "row 0 holds nan or inf")),
        ([0.5, 0.5], None, ("mean_probs", "shape")),
        ([[0.5, 0.5]], [2], ("labels", "range", "row 0 holds 2")),
        ([[0.5, 0.5]], [0, 1], ("labels", "shape")),
    ],
)
def test_budget_from_confusion_errors(probs, labels, refusal):
    with refuses(*refusal):
        budget_from_confusion(probs, labels, 1)


# ---- the paper's repair ---------------------------------------------------------------------------------------------


def moebius_inside_family(beliefs, sets):
    masses = np.array(beliefs, dtype=np.float64)
    order = np.argsort(sets.sum(axis=1), kind="stable")
    for a in order:
        for b in order:
            if a != b and not (sets[b] & ~sets[a]).any():
                masses[:, a] -= masses[:, b]
    return masses


def test_repair_against_paper_table(cifar10):
    sets, y = cifar10["focal_sets"], cifar10["labels"]
    raw = moebius_inside_family(cifar10["beliefs"], sets)
    total = raw.sum(axis=1)
    np.testing.assert_allclose([total.min(), total.max()], [-0.0699, 2.4017], atol=5e-5)

    masses, family, repaired = paper_masses(raw, sets)
    assert family.shape == (31, 10)
    assert family[-1].all()
    np.testing.assert_allclose(masses.sum(axis=1), 1, rtol=1e-12)
    assert masses.min() >= 0
    plausibility = np.einsum("nf,nf->n", masses, family.T[y])
    kl = -np.log(np.maximum(plausibility, 1e-10))
    ns = masses @ np.log(family.sum(axis=1))
    np.testing.assert_allclose([kl.mean(), kl.std()], [0.3983, 1.8950], atol=5e-5)
    np.testing.assert_allclose([ns.mean(), ns.std()], [0.00894, 0.05222], atol=5e-6)
    np.testing.assert_array_equal(repaired, (np.abs(np.c_[raw, np.zeros(len(raw))] - masses) > 1e-6).any(axis=1))


def test_repair_adds_to_omega_where_the_family_has_it():
    # The authors' code appends a second entry for Ω; one entry with the sum has the same plausibilities and NS.
    sets = all_focal_sets(3)
    m = np.random.default_rng(0).normal(0.2, 0.3, size=(50, 7))
    masses, family, _ = paper_masses(m, sets)
    assert family.shape == (7, 3)
    clipped = np.maximum(m, 0)
    theirs = np.c_[clipped, np.maximum(0, 1 - clipped.sum(axis=1))]
    theirs /= theirs.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(masses[:, :6], theirs[:, :6], rtol=1e-14)
    np.testing.assert_allclose(masses[:, 6], theirs[:, 6] + theirs[:, 7], rtol=1e-14)


def test_repair_leaves_belief_functions_alone():
    m = random_probs(1, 30, 7)
    masses, _, repaired = paper_masses(m, all_focal_sets(3))
    np.testing.assert_allclose(masses, m, atol=1e-14)
    assert not repaired.any()


def test_repaired_rows_by_the_tolerance_of_the_type():
    m = np.array([[0.5, 0.5], [0.5, 0.49995], [0.5, 0.4]])
    assert paper_masses(m, np.eye(2))[2].tolist() == [False, True, True]
    assert paper_masses(m.astype(np.float32), np.eye(2))[2].tolist() == [False, False, True]
    assert paper_masses(m.astype(np.float16), np.eye(2))[2].tolist() == [False, False, True]


def test_repair_makes_a_row_without_mass_vacuous():
    masses, family, repaired = paper_masses([[0.0, 0.0], [-1.0, -2.0]], np.eye(2))
    np.testing.assert_array_equal(masses, [[0, 0, 1], [0, 0, 1]])
    assert family[2].all()
    assert repaired.all()


@pytest.mark.parametrize(
    ("masses", "refusal"),
    [
        ([[0.5, np.inf]], ("masses", "finite", "row 0")),
        ([[0.5, 0.25, 0.25]], ("masses", "shape")),
        ([0.5, 0.5], ("masses", "shape")),
    ],
)
def test_repair_errors(masses, refusal):
    with refuses(*refusal):
        paper_masses(masses, np.eye(2))


def test_sums_may_miss_one_by_the_tolerance_of_the_precision():
    probs = np.array([[0.6, 0.396, 0.0], [0.5, 0.4, 0.1]], dtype=np.float32)  # the first row misses 1 by 0.004
    assert budget_from_confusion(as_bfloat16(probs), None, 1).shape == (4, 3)
    with refuses("mean_probs", "sum"):
        budget_from_confusion(probs, None, 1)
    masses = np.array([[0.6, 0.404], [0.5, 0.5]], dtype=np.float32)
    assert paper_masses(as_bfloat16(masses), np.eye(2, dtype=bool))[2].tolist() == [False, False]
    assert paper_masses(masses, np.eye(2, dtype=bool))[2].tolist() == [True, False]


# Overlap of confidence regions, and the search for the sets of classes that overlap most.


def test_one_dimensional_overlap_against_theory():
    # Two intervals of half width r at distance d: (2r − d) / (2r + d); χ²_1(0.95) = 1.959963984540054².
    x = np.array([0.0, 1.0, 1.25, 2.25])[:, None]
    r = np.sqrt(0.5) * 1.959963984540054
    inside, volumes = ellipsoid_cells(x, np.array([0, 0, 1, 1]), 2, 0.95, 400_000, np.random.default_rng(1))
    np.testing.assert_allclose(
        overlaps(inside, volumes, np.array([[0, 1]])), [(2 * r - 1.25) / (2 * r + 1.25)], atol=0.004
    )


@pytest.mark.parametrize(("dimension", "quantile"), [(2, 5.991464547107979), (3, 7.814727903251179)])
@pytest.mark.parametrize("distance", [0.5, 1.5, 3.0])
def test_overlap_of_two_balls_against_theory(dimension, quantile, distance):
    r = np.sqrt(2 / (2 * dimension - 1) * quantile)
    shift = np.zeros(dimension)
    shift[0] = distance
    x = np.concatenate([CROSS[dimension], CROSS[dimension] + shift])
    y = np.repeat([0, 1], 2 * dimension)
    inside, volumes = ellipsoid_cells(x, y, 2, 0.95, 400_000, np.random.default_rng(0))
    got = overlaps(inside, volumes, np.array([[0, 1]]))[0]
    if dimension == 2:
        ball = np.pi * r**2
        lens = 2 * r**2 * np.arccos(distance / (2 * r)) - distance / 2 * np.sqrt(4 * r**2 - distance**2)
    else:
        ball = 4 / 3 * np.pi * r**3
        lens = np.pi * (4 * r + distance) * (2 * r - distance) ** 2 / 12
    np.testing.assert_allclose(got, lens / (2 * ball - lens), atol=0.005)


def test_overlap_of_a_small_ellipsoid_within_a_large_one_against_theory():
    # The ratio of the volumes, though the small one would receive no point from a common box: 1e-3 cubed.
    x = np.concatenate([CROSS[3], 1e-3 * CROSS[3] + 0.1])
    inside, volumes = ellipsoid_cells(x, np.repeat([0, 1], 6), 2, 0.95, 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(overlaps(inside, volumes, np.array([[0, 1]])), [1e-9], rtol=1e-6)


def test_ellipsoids_are_true_ellipsoids_against_theory(random_generator):
    # Under any invertible linear map of the embeddings every volume is scaled alike: the overlaps stay.
    x = np.concatenate([random_generator.normal(size=(50, 2)) * [3, 0.2] + c for c in ([0, 0], [1, 0.1], [2, 0])])
    y = np.repeat([0, 1, 2], 50)
    turn = np.array([[1.0, 2.0], [-0.5, 0.3]])
    sets = np.array([[0, 1], [0, 2], [1, 2]])
    before, after = (
        overlaps(*ellipsoid_cells(points, y, 3, 0.9, 400_000, np.random.default_rng(0)), sets)
        for points in (x, x @ turn.T)
    )
    assert before.min() > 0.05
    np.testing.assert_allclose(after, before, atol=0.005)


@settings(deadline=None, max_examples=150)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.integers(1, 12),
    st.integers(0, 60),
    st.integers(2, 6),
    st.booleans(),
)
def test_search_against_brute_force(seed, k, n_cells, n_sets, max_size, boolean):
    # Few levels of membership and small whole weights, so that ties and empty intersections abound.
    rng = np.random.default_rng(seed)
    u = rng.random((k, n_cells)) < 0.6 if boolean else rng.integers(0, 4, size=(k, n_cells)) / 3
    weights = rng.integers(1, 3, size=n_cells).astype(float)
    assert best_overlapping_sets(u, weights, n_sets, max_size) == exhaustive(u, weights, n_sets, min(max_size, k))


def test_search_in_blocks_against_one_pass(monkeypatch, random_generator):
    u, weights = random_generator.random((9, 50)), random_generator.random(50)
    whole = best_overlapping_sets(u, weights, 60, 4)
    monkeypatch.setattr("uqassay.credal.budget._BLOCK", 120)
    assert best_overlapping_sets(u, weights, 60, 4) == whole
    assert whole == exhaustive(u, weights, 60, 4)
