"""Entropies of predictions: total, aleatoric, epistemic, credal, label-wise, and of the largest probabilities."""

from dataclasses import dataclass
from itertools import permutations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from tests.credal.random_sets import boxes, enumerate_vertices, flat_boxes, member_sets
from tests.credal.random_sets import entropy as plain_entropy
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
import uqassay.credal.entropy as module
from uqassay.credal import permutation_vertices
from uqassay.credal.entropy import box_lower_entropy, box_upper_entropy, hull_lower_entropy, hull_upper_entropy
from uqassay.measures import (
    credal_uncertainty,
    entropy,
    entropy_decomposition,
    label_wise_decomposition,
    label_wise_parts,
    least_confidence,
    lower_entropy,
    margin_uncertainty,
    uncertainty_score,
    upper_entropy,
    variance_decomposition,
)
from uqassay.measures.entropies import (
    agreeing_rows,
    is_two_class_gaussian,
    second_order_members,
    two_class_parts,
    two_class_regrets,
    two_class_votes,
    varied_members,
)
from uqassay.measures.variance import predicted_class_variance, variation_ratio, vote_shares

# Entropies and their parts against definitions in long arithmetic and against sampling.


def test_entropy_against_long_arithmetic(random_generator):
    probs = random_generator.dirichlet(np.full(6, 0.2), 30)
    for p, found in zip(probs, entropy(probs), strict=True):
        exact = -sum(mpmath.mpf(float(x)) * mpmath.log(mpmath.mpf(float(x))) for x in p if x > 0)
        assert found == pytest.approx(float(exact), rel=1e-13)
    assert entropy(np.array([1.0, 0.0, 0.0])) == 0.0
    assert not np.signbit(entropy(np.array([1.0, 0.0])))


@pytest.mark.parametrize("kind", KINDS)
def test_entropy_of_a_prediction_is_that_of_its_mean(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=20, n_classes=4)
    np.testing.assert_array_equal(entropy(prediction), entropy(prediction.mean_probs()))


def test_entropy_of_an_array_is_that_of_every_distribution_and_of_a_mapping_that_of_the_mean(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (5, 2))
    assert entropy(probs).shape == (5, 2)
    np.testing.assert_array_equal(entropy({"probs": probs}), entropy(uq.Members(probs).mean_probs()))
    assert entropy([[0.5, 0.5]]).tolist() == [np.log(2)]


@pytest.mark.parametrize("given", ["half", None, object(), 0.5, [["a", "b"]], [[0.5, 0.5], [1.0]]])
def test_entropy_refuses_what_has_no_distributions(given):
    with refuses("probs"):
        entropy(given)


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_of_members_against_their_definitions(weighted, random_generator):
    probs = random_generator.dirichlet(np.ones(4), (25, 3))
    weights = np.array([1.0, 2.0, 5.0]) if weighted else np.ones(3)
    found = entropy_decomposition(uq.Members(probs, weights=weights if weighted else None))
    share = weights / weights.sum()
    mean = np.einsum("m,nmk->nk", share, probs)
    np.testing.assert_allclose(found.total, entropy(mean), rtol=1e-12)
    np.testing.assert_allclose(found.aleatoric, entropy(probs) @ share, rtol=1e-12)
    np.testing.assert_allclose(found.epistemic, entropy(mean) - entropy(probs) @ share, atol=1e-12)


def test_tiny_disagreement_is_not_lost_in_the_difference_of_entropies():
    """A spread of 1e-9 gives a mutual information near 1e-18, below the rounding of either entropy."""
    spread = 1e-9
    probs = np.array([[[0.3 + spread, 0.7 - spread], [0.3 - spread, 0.7 + spread]]])
    found = float(entropy_decomposition(uq.Members(probs)).epistemic[0])
    with mpmath.workdps(60):
        p = [mpmath.mpf(float(x)) for x in probs[0, :, 0]]
        q = [mpmath.mpf(float(x)) for x in probs[0, :, 1]]
        mean = (sum(p) / 2, sum(q) / 2)
        exact = sum(a * mpmath.log(a / mean[0]) + b * mpmath.log(b / mean[1]) for a, b in zip(p, q, strict=True)) / 2
    assert found == pytest.approx(float(exact), rel=1e-2)


@pytest.mark.parametrize("pure", ["0", "1"])
def test_the_epistemic_part_of_close_members_against_fifty_digits(pure, monkeypatch):
    """Formula and kernel: no digit is lost to the difference of entropies or of p ln(p / p̄) and p − p̄."""
    monkeypatch.setenv("UQASSAY_PURE", pure)
    for gap in (2.0**-4, 2.0**-12, 2.0**-20, 2.0**-27):
        probs = np.array([[[0.5 - gap, 0.5 + gap], [0.5 + gap, 0.5 - gap]]])
        with mpmath.workdps(50):
            exact = float(sum(mpmath.mpf(p) * mpmath.log(mpmath.mpf(p) / 0.5) for p in probs[0, 0]))
        found = entropy_decomposition(uq.Members(probs)).epistemic[0]
        assert found == pytest.approx(exact, rel=1e-15)


def test_equal_members_have_no_epistemic_part_at_all():
    probs = np.tile(np.random.default_rng(1).dirichlet(np.ones(7), (50, 1)), (1, 9, 1))
    found = entropy_decomposition(uq.Members(probs))
    assert (found.epistemic == 0).all()
    np.testing.assert_array_equal(found.aleatoric, found.total)
    np.testing.assert_array_equal(agreeing_rows(uq.Members(probs), found.epistemic), np.arange(50))


def test_subnormal_probabilities_have_finite_parts():
    """1 / 1e-310 is infinite; 1e-310 ln 1e-310 adds nothing to the entropy of the other classes."""
    with np.errstate(all="raise", under="ignore"):
        d = entropy_decomposition(
            uq.Members([[[1e-310, 0.4, 0.6], [3e-310, 0.6, 0.4]], [[0.0, 0.5, 0.5], [5e-324, 0.5, 0.5]]])
        )
    expected = entropy_decomposition(uq.Members([[[0.4, 0.6], [0.6, 0.4]], [[0.5, 0.5], [0.5, 0.5]]]))
    for part in ("total", "aleatoric", "epistemic"):
        np.testing.assert_allclose(getattr(d, part), getattr(expected, part), rtol=1e-12, atol=1e-300)


def test_dirichlet_against_sampling():
    alpha = np.array([[0.5, 2.0, 3.0], [40.0, 1.0, 0.2], [1e-3, 1e-3, 5.0]])
    found = entropy_decomposition(uq.Dirichlet(alpha))
    rng = np.random.default_rng(0)
    for i, a in enumerate(alpha):
        draws = entropy(rng.dirichlet(a, 200_000))
        assert found.aleatoric[i] == pytest.approx(draws.mean(), abs=5 * draws.std() / np.sqrt(len(draws)) + 1e-12)
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic, rtol=1e-12)


def test_dirichlets_of_great_concentration_keep_a_small_positive_epistemic_part():
    found = entropy_decomposition(uq.Dirichlet(np.array([[3e9, 7e9]])))
    assert float(found.epistemic[0]) == pytest.approx(1 / (2 * 1e10), rel=1e-6)  # (K − 1) / (2 α₀)


@pytest.mark.parametrize("kind", ["Intervals", "Masses", "Vertices"])
def test_sets_without_a_distribution_are_refused(kind, random_generator):
    for function in (entropy_decomposition, second_order_members, varied_members):
        with refuses("prediction", "no-distribution", got=f"got {kind}"):
            function(random_prediction(kind, random_generator))


def test_a_point_has_no_members_that_could_differ(random_generator):
    point = random_prediction("Point", random_generator)
    with refuses("prediction", "no-members", got="got Point"):
        varied_members(point)
    assert (entropy_decomposition(point).epistemic == 0).all()
    assert (entropy_decomposition(point.probs).epistemic == 0).all()


@pytest.mark.parametrize(
    ("values", "code", "got"),
    [
        (np.zeros((3, 4), dtype=int), "sum", r"row 0"),
        (np.array([[0.5, 0.5], [2.0, -1.0]]), "not-probabilities", r"row 1"),
        (np.array([[0.5, 0.5], [0.5, np.nan]]), "finite", r"row 1"),
    ],
)
def test_what_is_no_distribution_has_no_entropy(values, code, got):
    with refuses("probs", code, got=got):
        entropy(values)


# Least confidence and margin against sorting.


@pytest.mark.parametrize("kind", KINDS)
def test_largest_probabilities_against_sorting(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=20, n_classes=5)
    top = np.sort(prediction.mean_probs(), axis=1)
    np.testing.assert_array_equal(least_confidence(prediction), 1 - top[:, -1])
    np.testing.assert_array_equal(margin_uncertainty(prediction), 1 - (top[:, -1] - top[:, -2]))


def test_ties_and_certainty_with_two_classes():
    probs = np.array([[0.5, 0.5], [1.0, 0.0]])
    assert least_confidence(probs).tolist() == [0.5, 0.0]
    assert margin_uncertainty(probs).tolist() == [1.0, 0.0]
    assert margin_uncertainty(uq.Point(probs.astype(np.float16))).tolist() == [1.0, 0.0]


# Upper and lower entropy: exact against enumeration and general solvers, and untouched by chunks and class order.


@dataclass(frozen=True)
class Members:
    """Stand-in for a prediction made of members (n, M, K)."""

    probs: np.ndarray

    def lower_probs(self):
        return self.probs.min(axis=1)

    def upper_probs(self):
        return self.probs.max(axis=1)

    def hull_points(self):
        return self.probs


@dataclass(frozen=True)
class Bounds:
    """Stand-in for lower and upper probabilities of the classes."""

    lower: np.ndarray
    upper: np.ndarray

    def lower_probs(self):
        return self.lower

    def upper_probs(self):
        return self.upper


# -- the set that is meant --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["Point", "Members", "Dirichlet", "Vertices", "GaussianLogits"])
def test_a_set_given_by_points_is_their_hull(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 20, 4)
    points = np.asarray(prediction.hull_points())
    mixtures = random_generator.dirichlet(np.full(points.shape[1], 0.5), (20, 500)) @ points
    for measure in (upper_entropy, lower_entropy, credal_uncertainty):
        np.testing.assert_array_equal(measure(prediction), measure(prediction, over="hull"))
    assert (plain_entropy(mixtures) <= upper_entropy(prediction)[:, None] + 1e-12).all()
    np.testing.assert_allclose(lower_entropy(prediction), plain_entropy(points).min(axis=1), rtol=1e-9, atol=1e-12)
    over_box = credal_uncertainty(prediction, over="box")
    assert (credal_uncertainty(prediction) <= over_box + 1e-11).all()
    if kind != "Point":
        assert credal_uncertainty(prediction).mean() < 0.97 * over_box.mean()


def test_intervals_are_their_box_and_masses_their_core(random_generator):
    intervals, masses = (random_prediction(kind, random_generator, 20, 4) for kind in ("Intervals", "Masses"))
    vertices = permutation_vertices(
        masses.masses, masses.focal_sets, permutations=np.array(list(permutations(range(4))))
    )
    for measure in (upper_entropy, lower_entropy, credal_uncertainty):
        np.testing.assert_array_equal(measure(intervals), measure(intervals, over="box"))
        np.testing.assert_allclose(measure(masses), measure(uq.Vertices(vertices)), rtol=0, atol=1e-10)
    assert (credal_uncertainty(masses) <= credal_uncertainty(masses, over="box") + 1e-12).all()
    many = uq.Masses([[0.5, 0.5]], [[0], list(range(17))], n_classes=17)
    with refuses("over", "size", got="K = 17"):
        credal_uncertainty(many)
    assert credal_uncertainty(many, over="box") > 0


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_largest_entropy_of_a_hull_against_a_fine_grid_of_mixtures(n_classes, random_generator):
    members = random_generator.dirichlet(np.full(n_classes, 0.6), (8, 3))
    i, j = np.meshgrid(np.arange(401), np.arange(401))
    weights = np.stack([i, j, 400 - i - j], axis=-1)[i + j <= 400] / 400
    found = upper_entropy(uq.Members(members))
    best = plain_entropy(weights @ members).max(axis=1)
    assert (best <= found + 1e-12).all()
    np.testing.assert_allclose(found, best, rtol=0, atol=1e-4)


def test_scores_and_nonspecificities_say_box_where_they_mean_it(random_generator):
    members = uq.Members(random_generator.dirichlet(np.ones(3), (30, 4)))
    for name, measure in (
        ("upper-entropy", upper_entropy),
        ("lower-entropy", lower_entropy),
        ("credal-uncertainty", credal_uncertainty),
    ):
        np.testing.assert_array_equal(uncertainty_score(members, name), measure(members, over="hull"))
        np.testing.assert_array_equal(uncertainty_score(members, f"{name}-box"), measure(members, over="box"))
    for name, over in (("credal-uncertainty", "hull"), ("credal-uncertainty-box", "box")):
        loss = uq.losses.unified_loss(np.zeros(30, int), members, nonspecificity=name)
        np.testing.assert_array_equal(loss.nonspecificity, credal_uncertainty(members, over=over))


def test_repeated_points_and_their_order_change_no_bit(random_generator):
    P = random_generator.dirichlet(np.ones(4), (40, 3))
    P[::4, 1] = P[::4, 0]
    expected = hull_upper_entropy(P)
    for order in ([2, 0, 1], [0, 1, 2, 2, 1], [1, 1, 1, 0, 2]):
        found = hull_upper_entropy(P[:, order])
        np.testing.assert_array_equal(found.values, expected.values)
        np.testing.assert_array_equal(found.steps, expected.steps)


def test_equal_votes_have_equal_entropies(random_generator):
    labels = random_generator.integers(0, 5, (500, 9))
    different = np.array([len(set(row)) for row in labels.tolist()])
    found = upper_entropy(uq.Members(np.eye(5)[labels]))
    np.testing.assert_array_equal(np.unique(found), np.unique(found[np.unique(different, return_index=True)[1]]))
    np.testing.assert_allclose(found, np.log(different), rtol=1e-13)


# -- properties that hold for all -------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(member_sets(), st.integers(0, 2**31))
def test_every_point_of_the_set_lies_between(members, seed):
    prediction = Members(members[None])
    mixtures = np.random.default_rng(seed).dirichlet(np.full(len(members), 0.5), size=100) @ members
    h = plain_entropy(mixtures)
    low_box, low_hull = (lower_entropy(prediction, over=over)[0] for over in ("box", "hull"))
    high_box, high_hull = (upper_entropy(prediction, over=over)[0] for over in ("box", "hull"))
    assert low_box <= low_hull + 1e-12  # the box holds the hull
    assert low_hull <= h.min() + 1e-12
    assert h.max() <= high_hull + 1e-9
    assert high_hull <= high_box + 1e-12
    assert high_box <= np.log(members.shape[1]) + 1e-12


@settings(deadline=None, max_examples=60)
@given(boxes(), st.integers(0, 2**31))
def test_random_points_of_a_box_lie_between(box, seed):
    l, u = module._as_box(box[0][None], box[1][None])
    vertices = enumerate_vertices(l[0], u[0])
    h = plain_entropy(np.random.default_rng(seed).dirichlet(np.full(len(vertices), 0.3), size=50) @ vertices)
    assert box_lower_entropy(l, u).values[0] <= h.min() + 1e-11
    assert box_upper_entropy(l, u)[0] >= h.max() - 1e-11


def test_relabelling_classes_of_a_hard_box_changes_nothing(random_generator):
    l, u = flat_boxes(20, 40)
    order = random_generator.permutation(40)
    np.testing.assert_allclose(
        box_lower_entropy(l[:, order], u[:, order]).values, box_lower_entropy(l, u).values, rtol=0, atol=3e-12
    )


KERNELS = {
    "box upper": lambda P: box_upper_entropy(P.min(axis=1), P.max(axis=1)),
    "box lower": lambda P: box_lower_entropy(P.min(axis=1), P.max(axis=1)).values,
    "hull upper": lambda P: hull_upper_entropy(P).values,
    "hull lower": hull_lower_entropy,
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("n", "V", "K"), [(60, 4, 10), (60, 15, 3), (25, 3, 33), (3, 2, 9000)])
def test_no_row_depends_on_another_bit_for_bit(random_generator, kernel, n, V, K):
    measure = KERNELS[kernel]
    P = random_generator.dirichlet(np.full(K, min(0.7, 50 / K)), size=(n, V))
    whole = measure(P)
    np.testing.assert_array_equal(np.concatenate([measure(P[i : i + 1]) for i in range(n)]), whole)
    np.testing.assert_array_equal(measure(P[::-1]), whole[::-1])
    np.testing.assert_array_equal(measure(P[1 : 2 + n // 3]), whole[1 : 2 + n // 3])


@pytest.mark.parametrize("kernel", KERNELS)
def test_chunks_and_rounds_change_nothing_bit_for_bit(random_generator, monkeypatch, kernel):
    measure = KERNELS[kernel]
    e = random_generator.uniform(0, 0.02, size=(10, 1, 16))
    hard = np.concatenate([1 / 16 - e, 1 / 16 + e], axis=1)  # not distributions, but their box is a hard one
    P = random_generator.dirichlet(np.ones(16), size=(50, 6))
    sets = [P] if kernel.startswith("hull") else [P, np.concatenate([P[:, :2], hard])]
    before = [measure(s) for s in sets]
    monkeypatch.setattr(module, "CHUNK_BYTES", 3000)
    for s, expected in zip(sets, before, strict=True):
        np.testing.assert_array_equal(measure(s), expected)
    monkeypatch.setattr(module, "CHUNK_BYTES", 2**30)
    monkeypatch.setattr(module, "ELEMENTS_PER_ROUND", 1)  # one instance after another
    for s, expected in zip(sets, before, strict=True):
        np.testing.assert_array_equal(measure(s), expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_precision_and_memory_layout_of_the_input(random_generator, dtype):
    P = random_generator.dirichlet(np.ones(5), size=(30, 4)).astype(dtype)
    P.flags.writeable = False
    awkward = np.asfortranarray(np.repeat(P, 2, axis=0))[::2]
    for measure in KERNELS.values():
        expected = measure(P.astype(np.float64))
        assert expected.dtype == np.float64
        np.testing.assert_array_equal(measure(P), expected)
        np.testing.assert_array_equal(measure(awkward), expected)
    found = hull_upper_entropy(P)
    assert (found.gap <= 1e-9).all()  # also where members sum to 1 only to half precision
    mixtures = np.einsum("nsv,nvk->nsk", random_generator.dirichlet(np.ones(4), size=(30, 300)), P.astype(np.float64))
    assert (plain_entropy(mixtures) <= found.values[:, None] + 1e-8).all()


# -- ordinary extremes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 10, 500])
def test_vacuous_set_against_theory(K):
    vacuous = uq.Intervals(np.zeros((1, K)), np.ones((1, K)))
    np.testing.assert_allclose(upper_entropy(vacuous), np.log(K), rtol=1e-13)
    np.testing.assert_array_equal(lower_entropy(vacuous), [0.0])
    np.testing.assert_allclose(credal_uncertainty(vacuous), np.log(K), rtol=1e-13)


@settings(deadline=None, max_examples=40)
@given(member_sets())
def test_single_distribution_has_no_credal_uncertainty(members):
    prediction = Members(members[:, None, :])
    for over in ("box", "hull"):
        np.testing.assert_allclose(upper_entropy(prediction, over=over), plain_entropy(members), rtol=0, atol=1e-12)
        np.testing.assert_allclose(lower_entropy(prediction, over=over), plain_entropy(members), rtol=0, atol=1e-12)
        np.testing.assert_allclose(credal_uncertainty(prediction, over=over), 0.0, atol=1e-12)


def test_two_classes_against_theory(random_generator):
    a = np.sort(random_generator.uniform(0, 1, size=(200, 2)), axis=1)
    l, u = np.stack([a[:, 0], 1 - a[:, 1]], axis=1), np.stack([a[:, 1], 1 - a[:, 0]], axis=1)
    ends = plain_entropy(np.stack([a, 1 - a], axis=2))  # (n, 2): the set is a segment
    np.testing.assert_allclose(box_lower_entropy(l, u).values, ends.min(axis=1), rtol=0, atol=1e-12)
    top = np.where((a[:, 0] <= 0.5) & (a[:, 1] >= 0.5), np.log(2), ends.max(axis=1))
    np.testing.assert_allclose(box_upper_entropy(l, u), top, rtol=0, atol=1e-12)


def test_unreachable_bounds_are_made_reachable():
    # class 1 cannot exceed 0.4, as class 0 keeps 0.6; so the set is that of the tightened bounds
    wide = ([[0.6, 0.0]], [[1.0, 1.0]])
    tight = ([[0.6, 0.0]], [[1.0, 0.4]])
    np.testing.assert_allclose(box_upper_entropy(*wide), box_upper_entropy(*tight), rtol=0, atol=1e-13)
    np.testing.assert_allclose(box_lower_entropy(*wide).values, box_lower_entropy(*tight).values, rtol=0, atol=1e-13)


# -- the paper's convention -------------------------------------------------------------------------------------------


def test_paper_convention_against_theory():
    l = np.array([[0.25] * 4, [0.1, 0.0, 0.0, 0.0], [0.3, 0.3, 0.0, 0.0], [0.0] * 4])
    found = credal_uncertainty(Bounds(l, np.ones_like(l)), convention="paper")
    np.testing.assert_allclose(found, [0.0, 2.0, 1.0, np.nan], atol=1e-14)  # bits; large for confident predictions


def test_paper_convention_against_paper_table(cifar10):
    # Table 6, RS-NN, trade-off 1: E with CU is 3.671, and its KL divergence is 0.398, both rounded to 0.0005.
    beliefs, focal_sets = cifar10["beliefs"].astype(np.float64), cifar10["focal_sets"].astype(bool)
    size = focal_sets.sum(axis=1)
    masses = np.zeros_like(beliefs)
    for b in np.argsort(size, kind="stable"):
        inside = [a for a in range(len(size)) if a != b and not (focal_sets[a] & ~focal_sets[b]).any()]
        masses[:, b] = beliefs[:, b] - masses[:, inside].sum(axis=1)
    masses = np.maximum(masses, 0.0)
    whole = np.maximum(0.0, 1.0 - masses.sum(axis=1))
    singletons = masses[:, size == 1] / (masses.sum(axis=1) + whole)[:, None]
    found = credal_uncertainty(Bounds(singletons, np.ones_like(singletons)), convention="paper").mean()
    assert abs(found - (3.671 - 0.398)) <= 0.001


# -- errors -----------------------------------------------------------------------------------------------------------


def test_errors_name_the_argument_and_the_remedy():
    prediction = Members(np.full((1, 2, 2), 0.5))
    with refuses("over", "choice", got="got 'ball'"):
        upper_entropy(prediction, over="ball")
    with refuses("over", "choice"):
        lower_entropy(prediction, over="ball")
    with refuses("convention", "choice"):
        credal_uncertainty(prediction, convention="Paper")
    with refuses("over", "conflict", got='must not be "hull" with convention="paper"'):
        credal_uncertainty(prediction, over="hull", convention="paper")
    with refuses("over", "undefined"):
        lower_entropy(uq.Intervals(np.zeros((1, 2)), np.ones((1, 2))), over="hull")


def test_errors_of_the_kernels():
    good = [0.2, 0.8]
    with refuses("lower, upper", "range", got=r".* row 1 has lower probabilities that sum to 1\.4"):
        box_upper_entropy([good, [0.7, 0.7]], [good, [0.8, 0.8]])
    with refuses("lower, upper", "range", got=r"row 0 .* upper ones to 0\.4"):
        box_lower_entropy([[0.1, 0.1]], [[0.2, 0.2]])
    with refuses("lower, upper", "range", got=r"max\(lower - upper\) 0.3"):
        box_lower_entropy([[0.6, 0.0]], [[0.3, 1.0]])
    with refuses("upper", "shape"):
        box_upper_entropy([good], [good, good])
    with refuses("lower", "finite", got="row 0"):
        box_upper_entropy([[np.nan, 0.0]], [good])
    with refuses("upper", "not-probabilities", got="row 0"):
        box_upper_entropy([good], [[1.5, 0.8]])
    with refuses("max_nodes", "range", got="got 0"):
        box_lower_entropy([good], [good], max_nodes=0)
    with refuses("tolerance", "range", got="got 0"):
        hull_upper_entropy([[good]], tolerance=0)
    with refuses("points", "sum", got="each row must sum to 1"):
        hull_lower_entropy([[[0.2, 0.2]]])
    with refuses("points", "shape"):
        hull_upper_entropy(np.empty((2, 0, 3)))


# The label-wise decomposition: loops, K = 2, one_versus_rest, Beta distributions, and exact zeros.


PARTS = ("total", "aleatoric", "epistemic")


def binary_entropy(p):
    return 0.0 if p in (0.0, 1.0) else float(-p * np.log(p) - (1 - p) * np.log1p(-p))


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.0], "own"])
def test_parts_against_brute_force(weights, random_generator):
    probs = random_generator.dirichlet(np.ones(4), (20, 3))
    probs[0] = np.eye(4)[:3]
    weights = random_generator.random((20, 3)) if isinstance(weights, str) else weights
    found = label_wise_parts(uq.Members(probs, weights))
    share = np.broadcast_to(1.0 if weights is None else weights, (20, 3))
    for i in range(20):
        w = [float(x) / float(sum(share[i])) for x in share[i]]
        for k in range(4):
            total = binary_entropy(sum(w[m] * probs[i, m, k] for m in range(3)))
            aleatoric = sum(w[m] * binary_entropy(probs[i, m, k]) for m in range(3))
            assert found.total[i, k] == pytest.approx(total, rel=1e-12, abs=1e-15)
            assert found.aleatoric[i, k] == pytest.approx(aleatoric, rel=1e-12, abs=1e-15)
            assert found.epistemic[i, k] == pytest.approx(total - aleatoric, abs=1e-14)


@pytest.mark.parametrize("kind", [uq.Members, uq.Dirichlet, uq.Point])
def test_each_label_is_the_two_class_problem(kind, random_generator):
    if kind is uq.Dirichlet:
        prediction = uq.Dirichlet(random_generator.gamma(1.0, 3.0, (30, 5)) + 0.01)
    else:
        prediction = kind(random_generator.dirichlet(np.ones(5), (30, 4) if kind is uq.Members else 30))
    parts, summed = label_wise_parts(prediction), label_wise_decomposition(prediction)
    for part in PARTS:
        each = [getattr(entropy_decomposition(prediction.one_versus_rest(k)), part) for k in range(5)]
        np.testing.assert_allclose(getattr(parts, part), np.stack(each, axis=1), rtol=1e-9, atol=1e-16)
        np.testing.assert_allclose(getattr(summed, part), np.sum(each, axis=0), rtol=1e-9, atol=1e-15)


def test_two_classes_have_twice_the_entropies(random_generator):
    for prediction in (
        uq.Members(random_generator.dirichlet([0.3, 0.3], (50, 6))),
        uq.Dirichlet(random_generator.gamma(1.0, 1.0, (50, 2)) + 0.01),
    ):
        found, half = label_wise_decomposition(prediction), entropy_decomposition(prediction)
        for part in PARTS:
            np.testing.assert_allclose(getattr(found, part), 2 * getattr(half, part), rtol=1e-9, atol=1e-16)


@pytest.mark.parametrize("unit", [False, True])
def test_beta_marginals_of_a_dirichlet_against_quadrature(unit):
    alpha = np.array([[0.7, 2.0, 3.5], [12.0, 1.0, 1.5]])
    found = label_wise_parts(uq.Dirichlet(alpha, unit_concentration=unit))
    used = alpha / alpha.sum(axis=1, keepdims=True) if unit else alpha
    for i, a in enumerate(used):
        for k in range(3):
            beta = stats.beta(a[k], a.sum() - a[k])
            expected = integrate.quad(lambda u, beta=beta: binary_entropy(float(beta.ppf(u))), 0, 1, limit=200)[0]
            assert found.aleatoric[i, k] == pytest.approx(expected, abs=1e-5)
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic, rtol=1e-12)


def test_label_wise_dirichlets_of_great_concentration_keep_a_small_positive_epistemic_part():
    found = label_wise_parts(uq.Dirichlet([[3e9, 6e9, 1e9]]))
    np.testing.assert_allclose(found.epistemic, 1 / (2 * 1e10), rtol=1e-5)


@pytest.mark.parametrize("spread", [1e-3, 1e-9, 1e-13])
def test_small_differences_of_confident_members_keep_their_digits(spread, random_generator):
    small = spread * random_generator.uniform(0.1, 1.0, (10, 3, 2))
    probs = np.concatenate([1.0 - small.sum(axis=2, keepdims=True), small], axis=2)
    found = label_wise_parts(uq.Members(probs)).epistemic
    with mpmath.workdps(60):
        for i in range(10):
            rest = [mpmath.mpf(float(a)) + mpmath.mpf(float(b)) for a, b in small[i]]  # of class 0
            events = [[1 - q for q in rest], *([mpmath.mpf(float(x)) for x in small[i, :, k]] for k in range(2))]
            for k, event in enumerate(events):
                mean = sum(event) / 3
                exact = sum(p * mpmath.log(p / mean) + (1 - p) * mpmath.log((1 - p) / (1 - mean)) for p in event) / 3
                assert found[i, k] == pytest.approx(float(exact), rel=max(1e-9, 1e-15 / spread))


def test_a_class_in_which_the_members_agree_has_no_epistemic_part():
    some = np.array([[[0.3, 0.5, 0.2], [0.3, 0.1, 0.6]]])
    parts = label_wise_parts(uq.Members(some))
    assert parts.epistemic[0, 0] == 0.0
    assert parts.aleatoric[0, 0] == parts.total[0, 0]
    assert (parts.epistemic[0, 1:] > 0.01).all()
    other = label_wise_parts(uq.Members(some, weights=[0, 1]))
    assert (other.epistemic == 0).all()


def test_with_the_variance_it_would_be_the_variance_decomposition(random_generator):
    """The reason why label-wise means entropy here: Σ_k Var[k or not] is the variance of the one-hot label."""
    probs = random_generator.dirichlet(np.ones(4), (20, 5))
    found = variance_decomposition(uq.Members(probs))
    np.testing.assert_allclose(found.epistemic, sum(probs[..., k].var(axis=1) for k in range(4)), rtol=1e-12)


def test_rows_of_16_bits_that_do_not_sum_to_1(random_generator):
    probs = random_generator.dirichlet(np.full(5, 0.5), (200, 4)).astype(np.float16)
    found = label_wise_decomposition(uq.Members(probs))
    assert (found.epistemic >= 0).all()
    wide = probs.astype(np.float64)
    rest = 1 - wide
    with np.errstate(divide="ignore", invalid="ignore"):
        h = -np.where(wide > 0, wide * np.log(wide), 0) - np.where(rest > 0, rest * np.log(rest), 0)
    np.testing.assert_allclose(found.aleatoric, h.mean(axis=1).sum(axis=1), atol=1e-5)
    np.testing.assert_allclose(found.aleatoric + found.epistemic, found.total, atol=1e-12)


def test_sets_are_refused():
    for function in (label_wise_decomposition, label_wise_parts):
        with refuses("prediction", "no-distribution"):
            function(uq.Intervals([[0.1, 0.3]], [[0.5, 0.8]]))


# Exact measures of two-class Gaussian logits, against many draws and against the general formulas at the nodes of a
# rule.


NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(120)
EXACT = ("information-theoretic", "variance", "label-wise", "log", "brier")


def logits(n=7, m=1, variance_is="epistemic", scale=1.0, **options):
    g = np.random.default_rng([n, m])
    mean, variance = 2.0 * g.normal(size=(n, m, 2)), scale * g.gamma(2.0, size=(n, m, 2))
    return uq.GaussianLogits(mean, variance, variance_is=variance_is, **options)


def at_nodes(prediction):
    """The same distribution as weighted members: 120 Gauss-Hermite nodes for each pass."""
    mean, deviation = prediction.two_class_logits()
    z = (mean[..., None] + deviation[..., None] * NODES).reshape(len(mean), -1)
    share = np.tile(WEIGHTS / WEIGHTS.sum(), prediction.n_passes) / prediction.n_passes
    return uq.Members(np.stack([1 / (1 + np.exp(z)), 1 / (1 + np.exp(-z))], axis=2), weights=share)


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("name", EXACT)
def test_decompositions_against_the_members_of_a_rule(name, m):
    prediction = logits(m=m, scale=0.3)
    assert is_two_class_gaussian(prediction)
    found, expected = uq.measures.decompose(prediction, name), uq.measures.decompose(at_nodes(prediction), name)
    for part in ("total", "aleatoric", "epistemic"):
        np.testing.assert_allclose(getattr(found, part), getattr(expected, part), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic, rtol=1e-12)


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("score", ["log", "brier"])
def test_pairwise_scores_against_the_members_of_a_rule(score, m):
    prediction = logits(m=m, scale=0.3)
    found, expected = (
        uq.measures.proper_score_decomposition(p, score, reference="pairwise")
        for p in (prediction, at_nodes(prediction))
    )
    np.testing.assert_allclose(found.epistemic, expected.epistemic, rtol=1e-9)


@pytest.mark.parametrize("m", [1, 3])
def test_everything_against_many_draws(m):
    prediction = logits(m=m)
    many = uq.Members(prediction.sample(4000, 1))  # standard errors of at most 0.008 for values in [0, 1]
    np.testing.assert_allclose(prediction.mean_probs(), many.mean_probs(), atol=0.03)
    for name in (*EXACT, "zero-one"):
        found, expected = uq.measures.decompose(prediction, name), uq.measures.decompose(many, name)
        for part in ("total", "aleatoric", "epistemic"):
            np.testing.assert_allclose(getattr(found, part), getattr(expected, part), atol=0.06)
    np.testing.assert_allclose(predicted_class_variance(prediction), predicted_class_variance(many), atol=0.015)
    np.testing.assert_allclose(vote_shares(prediction), vote_shares(many), atol=0.03)
    np.testing.assert_allclose(variation_ratio(prediction), variation_ratio(many), atol=0.03)
    found, expected = (
        uq.measures.proper_score_decomposition(p, "zero-one", reference="pairwise") for p in (prediction, many)
    )
    np.testing.assert_allclose(found.epistemic, expected.epistemic, atol=0.03)


def test_neither_seed_nor_number_of_draws_matters_but_to_the_set():
    one, other = logits(n_draws=100, seed=0), logits(n_draws=17, seed=5)
    np.testing.assert_array_equal(one.mean_probs(), other.mean_probs())
    np.testing.assert_array_equal(two_class_parts(one), two_class_parts(other))
    assert not np.array_equal(one.upper_probs(), other.upper_probs())
    assert not np.array_equal(
        uq.measures.decompose(one, "spherical").epistemic, uq.measures.decompose(other, "spherical").epistemic
    )


def test_aleatoric_passes_are_exact_points():
    prediction = logits(m=4, variance_is="aleatoric")
    each = [
        uq.GaussianLogits(prediction.mean[:, t], prediction.variance[:, t], variance_is="epistemic") for t in range(4)
    ]
    np.testing.assert_array_equal(prediction.hull_points(), np.stack([one.mean_probs() for one in each], axis=1))
    assert not is_two_class_gaussian(prediction)
    d = uq.measures.entropy_decomposition(prediction)
    np.testing.assert_allclose(d.total, uq.measures.entropy(prediction), rtol=1e-12)


def test_equal_passes_are_one_and_their_order_does_not_matter():
    one = logits()
    three = uq.GaussianLogits(one.mean.repeat(3, axis=1), one.variance.repeat(3, axis=1), variance_is="epistemic")
    np.testing.assert_allclose(two_class_parts(three), two_class_parts(one), rtol=1e-14)
    mixed = logits(m=5)
    turned = uq.GaussianLogits(mixed.mean[:, ::-1], mixed.variance[:, ::-1], variance_is="epistemic")
    np.testing.assert_array_equal(turned.mean_probs(), mixed.mean_probs())
    np.testing.assert_allclose(two_class_parts(turned), two_class_parts(mixed), rtol=1e-13)
    np.testing.assert_array_equal(two_class_votes(turned), two_class_votes(mixed))


def test_relabelling_the_classes_changes_nothing():
    prediction = logits(m=2)
    swapped = uq.GaussianLogits(prediction.mean[..., ::-1], prediction.variance[..., ::-1], variance_is="epistemic")
    np.testing.assert_array_equal(swapped.mean_probs(), prediction.mean_probs()[:, ::-1])
    np.testing.assert_allclose(two_class_parts(swapped), two_class_parts(prediction), rtol=1e-12)
    np.testing.assert_array_equal(two_class_regrets(swapped)[1], two_class_regrets(prediction)[1][:, ::-1])
    np.testing.assert_array_equal(two_class_votes(swapped), two_class_votes(prediction)[:, ::-1])
    assert uq.GaussianLogits([[1.0, 1.0]], [[2.0, 3.0]], variance_is="epistemic").mean_probs().tolist() == [[0.5, 0.5]]


def test_certain_impossible_and_extreme_logits():
    mean = [[2.0, 0.0], [0.0, 0.0], [-np.inf, 1.0], [1e300, -1e300], [0.0, 0.0]]
    variance = [[0.0, 0.0], [0.0, 0.0], [4.0, 4.0], [1e300, 1e300], [1e300, 1e300]]
    prediction = uq.GaussianLogits(mean, variance, variance_is="epistemic")
    parts = two_class_parts(prediction)
    assert np.isfinite(np.stack(parts)).all()
    assert parts.epistemic[:4].tolist() == parts.among[:4].tolist() == [0.0] * 4
    np.testing.assert_array_equal(parts.total[:4], parts.aleatoric[:4])
    np.testing.assert_allclose([parts.total[4], parts.epistemic[4]], np.log(2), rtol=1e-12)  # p is 0 or 1
    assert vote_shares(prediction).tolist() == [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]
    mixed = uq.GaussianLogits([[[-np.inf, 0.0], [0.0, 0.0]]], np.ones((1, 2, 2)), variance_is="epistemic")
    assert two_class_parts(mixed).pairwise.tolist() == [np.inf]
    both = uq.GaussianLogits([[[-np.inf, 0.0], [-np.inf, 0.0]]], np.ones((1, 2, 2)), variance_is="epistemic")
    assert np.stack(two_class_parts(both)).tolist() == [[0.0]] * 6


def test_one_versus_rest_of_two_classes_is_the_same_distribution():
    prediction = logits(class_names=("no", "yes"))
    first, second = prediction.one_versus_rest("no"), prediction.one_versus_rest(1)
    assert first.class_names == ("not no", "no")
    np.testing.assert_array_equal(first.mean_probs(), prediction.mean_probs()[:, ::-1])
    np.testing.assert_array_equal(second.mean_probs(), prediction.mean_probs())
    np.testing.assert_array_equal(first.upper_probs(), prediction.upper_probs()[:, ::-1])
    with pytest.raises(uq.InputError, match="must have two classes"):
        uq.GaussianLogits(np.zeros((1, 3)), np.ones((1, 3)), variance_is="epistemic").two_class_logits()
