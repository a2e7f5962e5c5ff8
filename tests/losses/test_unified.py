"""The unified loss against the published numbers, against brute force for all kinds, and at its edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics import accuracy_score, zero_one_loss
from tests.kinds import KINDS, PREDICTING, lower_of_every_event, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.credal import outermost_permutations, permutation_vertices
from uqassay.losses import brier_loss, is_correct, log_loss, prediction_errors, probability_gap, unified_loss

# -- published numbers ------------------------------------------------------------------------------------------------


def test_snn_and_ensemble_average_against_the_paper_table(cifar10):
    snn = unified_loss(cifar10["labels"], uq.Point(cifar10["snn"]), convention="paper")
    assert (round(snn.distance.mean(), 4), round(snn.distance.std(), 4)) == (0.4806, 1.7965)
    average = unified_loss(cifar10["labels"], uq.Point(cifar10["de_avg"]), convention="paper")
    assert (round(average.distance.mean(), 4), round(average.distance.std(), 4)) == (0.1951, 0.7631)
    assert (snn.nonspecificity == 0).all()
    np.testing.assert_array_equal(snn.total, snn.distance)


def test_rs_nn_against_the_paper_table(cifar10):
    y = cifar10["labels"]
    rs = uq.Masses.from_beliefs(cifar10["beliefs"], cifar10["focal_sets"])
    loss = unified_loss(y, rs, convention="paper")
    assert (round(loss.distance.mean(), 4), round(loss.distance.std(), 4)) == (0.3983, 1.8950)
    assert (round(loss.nonspecificity.mean(), 5), round(loss.nonspecificity.std(), 5)) == (0.00894, 0.05222)
    assert round(np.mean(rs.repaired().labels() == y), 4) == 0.9299
    cu = unified_loss(y, rs, convention="paper", nonspecificity="credal-uncertainty")
    assert round(cu.nonspecificity.mean(), 3) == 3.272
    js = unified_loss(y, rs, convention="paper", distance="js_distance")
    assert round(js.distance.mean(), 5) == 0.06437
    assert loss.floored == 8


def test_exact_convention_on_the_predictions_of_the_paper(cifar10):
    rs = uq.Masses.from_beliefs(cifar10["beliefs"], cifar10["focal_sets"])
    with refuses("beliefs", "not-belief-functions", got=r"2843 of 10000 rows .*first row 2"):
        unified_loss(cifar10["labels"], rs)
    exact = unified_loss(cifar10["labels"], rs.repaired())
    paper = unified_loss(cifar10["labels"], rs, convention="paper")
    # the same set; only the floor differs, and it is reported
    np.testing.assert_allclose(exact.nonspecificity, paper.nonspecificity, atol=1e-12)
    assert exact.floored <= paper.floored
    members = uq.Members(cifar10["three"])
    clipped = unified_loss(cifar10["labels"], members, convention="paper")
    free = unified_loss(cifar10["labels"], members)
    assert free.nonspecificity.mean() < clipped.nonspecificity.mean()


# -- edges ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("convention", ["exact", "paper"])
def test_slices_and_a_single_instance_change_no_bit(kind, convention, random_generator):
    prediction = random_prediction(kind, random_generator, 9, 4)
    y = random_generator.integers(4, size=9)
    whole = unified_loss(y, prediction, convention=convention)
    for rows in (slice(3, 4), np.array([8, 0, 0])):
        part = unified_loss(y[rows], prediction[rows], convention=convention)
        np.testing.assert_array_equal(part.distance, whole.distance[rows])
        np.testing.assert_array_equal(part.nonspecificity, whole.nonspecificity[rows])


def test_one_floor_for_all_number_types_is_reported():
    for dtype in (np.float16, np.float32, np.float64):
        loss = unified_loss([0, 1], uq.Point(np.array([[0, 1], [0, 1]], dtype=dtype)))
        assert loss.distance[0] == pytest.approx(52 * np.log(2))
        assert loss.floored == 1
    assert unified_loss([0], uq.Point([[0.0, 1.0]]), floor=0).distance[0] == np.inf
    assert unified_loss([0], uq.Point([[0.0, 1.0]]), convention="paper").distance[0] == pytest.approx(10 * np.log(10))


def test_total_is_linear_in_the_tradeoff(random_generator):
    loss = unified_loss([0, 1, 2, 3, 0], random_prediction("Members", random_generator), tradeoff=0.3)
    np.testing.assert_allclose(loss.total, loss.distance + 0.3 * loss.nonspecificity)
    np.testing.assert_allclose(loss.at(2), loss.distance + 2 * loss.nonspecificity)


def test_hostile_arrays_give_the_same_numbers(random_generator):
    probs = random_generator.dirichlet(np.ones(5), (7, 3))
    y = random_generator.integers(5, size=7)
    expected = unified_loss(y, uq.Members(probs)).total
    wide = np.zeros((14, 3, 10))
    wide[::2, :, ::2] = probs
    strided = wide[::2, :, ::2]
    strided.flags.writeable = False
    np.testing.assert_allclose(unified_loss(y.astype(np.int8), uq.Members(strided)).total, expected, atol=1e-12)
    fortran = np.asfortranarray(probs)
    np.testing.assert_allclose(unified_loss(y.astype(float), uq.Members(fortran)).total, expected, atol=1e-12)
    turned = uq.Members(np.moveaxis(probs, 1, 0), member_axis=0)
    np.testing.assert_allclose(unified_loss(y, turned).total, expected, atol=1e-12)
    half = uq.Members(probs.astype(np.float16))
    np.testing.assert_allclose(unified_loss(y, half).total, expected, atol=0.05)


@pytest.mark.parametrize(
    ("y", "options", "refusal"),
    [
        ([0], {}, ("y_true", "mismatch", "got 1")),
        ([0, 2], {}, ("y_true", "range", "row 1 holds 2")),
        ([0, -1], {}, ("y_true", "range", "row 1 holds -1")),
        ([0, 0.5], {}, ("y_true", "type", "row 1 holds 0.5")),
        ([0, np.nan], {}, ("y_true", "type", "row 1 holds nan")),
        ([[1, 0, 0], [1, 0, 0]], {}, ("y_true", "mismatch", "got 3")),
        ([[1, 0], [0, 0]], {}, ("y_true", "empty", "row 1 has none")),
        ([[1, 0], [-1, 2]], {}, ("y_true", "range", "row 1 holds -1")),
        ([0, 1], {"tradeoff": -1}, ("tradeoff", "range", "got -1")),
        ([0, 1], {"tradeoff": np.inf}, ("tradeoff", "range")),
        ([0, 1], {"tradeoff": 1e101}, ("tradeoff", "range")),
        ([0, 1], {"tradeoff": 10**400}, ("tradeoff", "range")),
        ([0, 1], {"distance": "l2"}, ("distance", "choice")),
        ([0, 1], {"nonspecificity": "size"}, ("nonspecificity", "choice")),
        ([0, 1], {"convention": "code"}, ("convention", "choice")),
        ([0, 1], {"floor": -0.1}, ("floor", "range")),
        (["a", "b"], {}, ("y_true", "class-names")),
    ],
)
def test_bad_input_is_named(y, options, refusal):
    with refuses(*refusal):
        unified_loss(y, uq.Point([[0.5, 0.5], [0.1, 0.9]]), **options)


# The distance of a label to a credal set.

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=6)
@given(seed=seeds, n_classes=st.integers(2, 6))
def test_label_distance_from_the_upper_probability_against_brute_force(kind, seed, n_classes):
    rng = np.random.default_rng(seed)
    prediction = random_prediction(kind, rng, 4, n_classes)
    y = rng.integers(n_classes, size=4)
    lower = lower_of_every_event(prediction)
    complement = (2**n_classes - 1) ^ (1 << y)
    upper = np.maximum(1 - lower[np.arange(4), complement], np.finfo(float).eps)  # the floor, for class sets
    expected = {
        "kl": -np.log(upper),
        "tv": 1 - upper,
        "hellinger": np.sqrt(np.maximum(1 - np.sqrt(upper), 0)),
        "js": 0.5 * (np.log(2 / (1 + upper)) + upper * np.log(2 * upper / (1 + upper)) + (1 - upper) * np.log(2)),
    }
    expected["js_distance"] = np.sqrt(np.maximum(expected["js"], 0))
    for distance, value in expected.items():
        # the square roots amplify the rounding of 1 − upper where the label is certain
        np.testing.assert_allclose(unified_loss(y, prediction, distance=distance).distance, value, atol=3e-8)


def test_kl_from_the_2k_vertices_equals_the_closed_form(cifar10):
    rows = slice(0, 500)
    rs = uq.Masses.from_beliefs(cifar10["beliefs"], cifar10["focal_sets"])[rows]
    clipped = rs.repaired()
    vertices = permutation_vertices(clipped.masses, clipped.focal_sets, permutations=outermost_permutations(10))
    y = cifar10["labels"][rows]
    nearest = -np.log(np.maximum(vertices[np.arange(500), :, y].max(axis=1), 1e-10))
    np.testing.assert_allclose(unified_loss(y, rs, convention="paper").distance, nearest, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("distance", ["kl", "js", "js_distance", "tv", "hellinger", "brier"])
def test_a_one_hot_distribution_is_a_label(kind, distance, random_generator):
    prediction = random_prediction(kind, random_generator, 6, 4)
    y = random_generator.integers(4, size=6)
    hard = unified_loss(y, prediction, distance=distance)
    soft = unified_loss(np.eye(4)[y], prediction, distance=distance)
    slack = 1e-5 + hard.gap + soft.gap
    assert (np.abs(hard.distance - soft.distance) <= slack).all()


def test_votes_are_divided_by_their_sums(random_generator):
    prediction = random_prediction("Members", random_generator)
    votes = random_generator.integers(1, 9, size=(5, 4))
    a = unified_loss(votes, prediction)
    b = unified_loss(votes / votes.sum(axis=1, keepdims=True), prediction)
    np.testing.assert_allclose(a.distance, b.distance, atol=1e-9)
    assert (a.gap <= 1e-5).all()


def test_a_set_that_holds_the_label_distribution_has_distance_zero(random_generator):
    probs = random_generator.dirichlet(np.ones(4), (6, 5))
    inside = probs.mean(axis=1)
    for distance in ("kl", "js", "tv", "hellinger", "brier"):
        assert unified_loss(inside, uq.Members(probs), distance=distance).distance.max() < 2e-3


# Wrong or right, and the gap, against their definitions.


@pytest.mark.parametrize("kind", PREDICTING)
def test_labels_against_another_library(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=40, n_classes=4)
    y = random_generator.integers(0, 4, 40)
    assert is_correct(y, prediction).mean() == accuracy_score(y, prediction.labels())
    assert prediction_errors(y, prediction).mean() == zero_one_loss(y, prediction.labels())
    np.testing.assert_allclose(
        probability_gap(y, prediction), 1 - prediction.mean_probs()[np.arange(40), y], atol=1e-15
    )


def test_votes_are_labels_drawn_by_their_shares(random_generator):
    probs, votes = random_generator.dirichlet(np.ones(3), 30), random_generator.integers(0, 5, (30, 3)) + 1
    shares = votes / votes.sum(axis=1, keepdims=True)
    each = [[is_correct(np.full(30, c), probs), probability_gap(np.full(30, c), probs)] for c in range(3)]
    np.testing.assert_allclose(is_correct(votes, probs), np.einsum("nc,cn->n", shares, [e[0] for e in each]))
    np.testing.assert_allclose(probability_gap(votes, probs), np.einsum("nc,cn->n", shares, [e[1] for e in each]))
    np.testing.assert_allclose(prediction_errors(votes, probs), 1 - is_correct(votes, probs))


def test_arrays_are_taken_as_points_and_members(random_generator):
    members, y = random_generator.dirichlet(np.ones(3), (9, 4)), random_generator.integers(0, 3, 9)
    for function in (is_correct, prediction_errors, probability_gap):
        np.testing.assert_array_equal(function(y, members), function(y, uq.Members(members)))
        np.testing.assert_array_equal(function(y, members[:, 0]), function(y, uq.Point(members[:, 0])))


def test_one_instance_and_certainty():
    assert probability_gap([0], [[1.0, 0.0]]).tolist() == [0.0]
    assert prediction_errors([1], [[1.0, 0.0]]).tolist() == [1.0]
    with refuses("y_true", "range", got="row 0 holds 2"):
        is_correct([2], [[1.0, 0.0]])


# Log loss and Brier loss against scikit-learn.


@pytest.mark.parametrize("kind", KINDS)
def test_means_against_another_library(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=60, n_classes=3)
    y, p = random_generator.integers(0, 3, 60), prediction.mean_probs()
    assert log_loss(y, prediction).mean() == pytest.approx(metrics.log_loss(y, p, labels=[0, 1, 2]), rel=1e-9)
    brier = metrics.brier_score_loss(y, p, labels=[0, 1, 2], scale_by_half=False)
    assert brier_loss(y, prediction).mean() == pytest.approx(brier, rel=1e-9)


def test_label_distributions_are_averages_over_labels(random_generator):
    probs, shares = random_generator.dirichlet(np.ones(4), (2, 20))
    by_class = [log_loss(np.full(20, c), probs) for c in range(4)]
    np.testing.assert_allclose(log_loss(shares, probs), np.einsum("nc,cn->n", shares, by_class))
    np.testing.assert_allclose(brier_loss(shares, probs), ((probs - shares) ** 2).sum(axis=1))


def test_a_zero_costs_the_same_in_all_number_types():
    for dtype in (np.float16, np.float32, np.float64):
        sure = uq.Point(np.array([[1.0, 0.0]], dtype=dtype))
        assert log_loss([1], sure)[0] == pytest.approx(52 * np.log(2))
    assert np.isinf(log_loss([1], [[1.0, 0.0]], floor=0.0)[0])
    assert log_loss([1], [[1.0, 0.0]], floor=1e-3)[0] == pytest.approx(-np.log(1e-3))
    assert brier_loss([1], [[1.0, 0.0]]).tolist() == [2.0]
