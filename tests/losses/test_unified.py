"""The unified loss against the published numbers, against brute force for all kinds, and at its edges."""

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.losses import unified_loss

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


# -- brute force ------------------------------------------------------------------------------------------------------


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
