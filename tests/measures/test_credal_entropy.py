"""Upper and lower entropy: exact against enumeration and general solvers, and untouched by chunks and class order."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.credal.random_sets import boxes, entropy, enumerate_vertices, flat_boxes, member_sets
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq
import uqassay.credal.entropy as module
from uqassay.credal import permutation_vertices
from uqassay.credal.entropy import box_lower_entropy, box_upper_entropy, hull_lower_entropy, hull_upper_entropy
from uqassay.measures import credal_uncertainty, lower_entropy, uncertainty_score, upper_entropy


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
    assert (entropy(mixtures) <= upper_entropy(prediction)[:, None] + 1e-12).all()
    np.testing.assert_allclose(lower_entropy(prediction), entropy(points).min(axis=1), rtol=1e-9, atol=1e-12)
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
    best = entropy(weights @ members).max(axis=1)
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


# -- the hull ---------------------------------------------------------------------------------------------------------


# -- properties that hold for all -------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(member_sets(), st.integers(0, 2**31))
def test_every_point_of_the_set_lies_between(members, seed):
    prediction = Members(members[None])
    mixtures = np.random.default_rng(seed).dirichlet(np.full(len(members), 0.5), size=100) @ members
    h = entropy(mixtures)
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
    h = entropy(np.random.default_rng(seed).dirichlet(np.full(len(vertices), 0.3), size=50) @ vertices)
    assert box_lower_entropy(l, u).values[0] <= h.min() + 1e-11
    assert box_upper_entropy(l, u)[0] >= h.max() - 1e-11


def test_relabelling_classes_changes_nothing(random_generator):
    P = random_generator.dirichlet(np.ones(4) * 0.5, size=(5, 3))
    for order in permutations(range(4)):
        for over in ("box", "hull"):
            for measure in (upper_entropy, lower_entropy, credal_uncertainty):
                np.testing.assert_allclose(
                    measure(Members(P[:, :, order]), over=over), measure(Members(P), over=over), rtol=0, atol=3e-9
                )
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
    assert (entropy(mixtures) <= found.values[:, None] + 1e-8).all()


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
        np.testing.assert_allclose(upper_entropy(prediction, over=over), entropy(members), rtol=0, atol=1e-12)
        np.testing.assert_allclose(lower_entropy(prediction, over=over), entropy(members), rtol=0, atol=1e-12)
        np.testing.assert_allclose(credal_uncertainty(prediction, over=over), 0.0, atol=1e-12)


def test_two_classes_against_theory(random_generator):
    a = np.sort(random_generator.uniform(0, 1, size=(200, 2)), axis=1)
    l, u = np.stack([a[:, 0], 1 - a[:, 1]], axis=1), np.stack([a[:, 1], 1 - a[:, 0]], axis=1)
    ends = entropy(np.stack([a, 1 - a], axis=2))  # (n, 2): the set is a segment
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
