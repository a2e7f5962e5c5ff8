"""Sets with their spread scaled: geometry against brute force, both terms of E against the losses of the scaled sets."""

import numpy as np
import pytest
from tests.kinds import lower_of_every_event, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.scale import SCALES, check_scales, scale_models, scaled_prediction

pytestmark = pytest.mark.usefixtures("without_calibration")

SETS = ("Members", "Dirichlet", "Intervals", "Masses", "Vertices", "GaussianLogits", "passes of GaussianLogits")
OFF = {"calibration": (), "n_draws": 10}


def lower_and_centre(prediction):
    """Lower probability of every event, and the probability of every event under the mean prediction."""
    k = prediction.n_classes
    events = (np.arange(2**k)[:, None] >> np.arange(k)) & 1 > 0
    return lower_of_every_event(prediction), prediction.credal().mean_probs() @ events.T


@pytest.mark.parametrize("kind", SETS)
def test_one_leaves_the_set_and_zero_its_centre(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 6, 4)
    same, clipped = scaled_prediction(prediction, 1.0)
    np.testing.assert_allclose(lower_of_every_event(same), lower_of_every_event(prediction), atol=1e-12)
    assert not clipped.any()
    point, clipped = scaled_prediction(prediction, 0.0)
    np.testing.assert_allclose(point.lower_probs(), prediction.credal().mean_probs(), atol=1e-12)
    np.testing.assert_allclose(point.upper_probs(), prediction.credal().mean_probs(), atol=1e-12)
    assert not clipped.any()


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("scale", [0.3, 0.8, 1.2, 4.0])
def test_lower_probabilities_move_by_the_scale_where_nothing_is_clipped(kind, scale, random_generator):
    prediction = random_prediction(kind, random_generator, 40, 3)
    if kind == "Members":
        prediction = uq.Members(0.9 * prediction.probs.mean(axis=1, keepdims=True) + 0.1 * prediction.probs)
    lower, centre = lower_and_centre(prediction)
    moved, clipped = scaled_prediction(prediction, scale)
    expected = centre + scale * (lower - centre)
    free = ~clipped
    assert free.any() or scale > 1
    np.testing.assert_allclose(lower_of_every_event(moved)[free], expected[free], atol=1e-9)
    if clipped.any():
        assert scale > 1
        assert (expected[clipped].min(axis=1) < 0).all()  # it would have left the simplex


@pytest.mark.parametrize("kind", ["Intervals", "Masses"])
def test_intervals_and_masses_grow_inside_each_other(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 50, 4)
    before = lower_of_every_event(prediction)
    for scale in (1.5, 3.0, 1e6):
        after = lower_of_every_event(scaled_prediction(prediction, scale)[0])
        assert (after <= before + 1e-9).all()
        before = after
    if kind == "Intervals":
        wide = scaled_prediction(uq.Intervals([[0.2, 0.3, 0.2]], [[0.4, 0.5, 0.4]]), 1e6)[0]
        np.testing.assert_allclose(wide.lower_probs(), 0.0)
        np.testing.assert_allclose(wide.upper_probs(), 1.0)


def test_clipped_members_by_hand():
    members = uq.Members([[[0.8, 0.2, 0.0], [0.6, 0.2, 0.2]]])  # centre (.7, .2, .1)
    moved, clipped = scaled_prediction(members, 4.0)  # (1.1, .2, −.3) and (.3, .2, .5)
    np.testing.assert_allclose(moved.probs, [[[1.1 / 1.3, 0.2 / 1.3, 0.0], [0.3, 0.2, 0.5]]], atol=1e-12)
    assert clipped.tolist() == [True]


def test_repeated_vertices_and_weights_do_not_move_the_centre(random_generator):
    three = random_generator.dirichlet(np.ones(3), (5, 3))
    padded = uq.Vertices(np.concatenate([three, three[:, :1]], axis=1))
    a, b = scaled_prediction(uq.Vertices(three), 2.0)[0], scaled_prediction(padded, 2.0)[0]
    np.testing.assert_allclose(a.upper_probs(), b.upper_probs(), atol=1e-12)
    weighted = uq.Members(three, weights=[0, 1, 3])
    centre = scaled_prediction(weighted, 0.0)[0]
    np.testing.assert_allclose(centre.mean_probs(), weighted.mean_probs(), atol=1e-12)


def test_masses_of_a_family_without_single_classes():
    m = uq.Masses([[0.4, 0.6]], [[0, 1], [0, 1, 2]], n_classes=3)
    same, clipped = scaled_prediction(m, 5.0)  # single classes have belief 0 already: it cannot grow
    assert clipped.tolist() == [True]
    np.testing.assert_allclose(lower_of_every_event(same), lower_of_every_event(m), atol=1e-12)
    half = scaled_prediction(m, 0.5)[0]
    np.testing.assert_allclose(half.lower_probs(), [[0.2, 0.2, 0.1]], atol=1e-12)


def test_points_and_bad_scales_are_refused():
    for prediction in (uq.Point([[0.5, 0.5]]), uq.Members([[[0.5, 0.5]]])):
        with refuses("prediction", "undefined"):
            scaled_prediction(prediction, 2.0)
    assert check_scales(()) == ()
    assert check_scales([2, 1, 2]) == (1.0, 2.0)
    for bad in ([-1.0], [np.nan], [np.inf]):
        with refuses("scales", "range"):
            check_scales(bad)
    with refuses("scales"):
        uq.assay({"m": uq.Members([[[0.5, 0.5], [0.4, 0.6]]])}, [0], scales=["wide"], **OFF)


# -- both terms of E -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"nonspecificity": "korner", "distance": "js"},
        {"nonspecificity": "pal", "distance": "brier"},
        {"nonspecificity": "credal-uncertainty", "distance": "tv"},
        {"convention": "paper"},
    ],
)
def test_scaled_terms_are_those_of_the_scaled_sets(kind, options, random_generator):
    prediction = random_prediction(kind, random_generator, 7, 3)
    y = random_generator.integers(3, size=7)
    found = uq.assay({"m": prediction}, y, scales=(0.5, 2.0), **options, **OFF)
    scaled = found.scaled["m"]
    assert scaled.scales.tolist() == [0.5, 1.0, 2.0]
    assert scaled.rows.tolist() == list(range(7))
    for s, scale in enumerate(scaled.scales):
        moved, clipped = scaled_prediction(prediction, scale)
        loss = uq.losses.unified_loss(y, moved, floor=found["m"].floor, **options)
        np.testing.assert_allclose(scaled.distance[0, s], loss.distance, atol=2e-6)
        np.testing.assert_allclose(scaled.nonspecificity[0, s], loss.nonspecificity, atol=1e-9)
        assert scaled.clipped[s] == pytest.approx(clipped.mean())


def test_many_classes_share_their_orders(random_generator):
    members = uq.Members(random_generator.dirichlet(np.full(20, 0.3), (12, 4)))
    y = random_generator.integers(20, size=12)
    found = uq.assay({"m": members}, y, scales=(0.5, 3.0), **OFF)
    scaled = found.scaled["m"]
    assert scaled.order_deviations.shape == (3, 32)
    np.testing.assert_allclose(scaled.order_deviations[0], 0.5 * scaled.order_deviations[1])
    half = scaled_prediction(members, 0.5)[0]
    np.testing.assert_allclose(
        scaled.nonspecificity[0, 0], uq.measures.generalised_hartley(half, rng=0).values, rtol=1e-9
    )


def test_votes_and_single_precision_keep_the_floor(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (9, 3)).astype(np.float32)
    probs[0] = [1, 0, 0]
    votes = random_generator.integers(0, 5, (9, 3)) + 1
    for y in (np.array([2] * 9), votes):
        found = uq.assay({"m": uq.Members(probs)}, y, scales=(0.5, 2), **OFF)
        assert np.isfinite(found.scaled["m"].distance).all()
    labels = uq.assay({"m": uq.Members(probs)}, [2] * 9, scales=(0.5, 2), **OFF)
    np.testing.assert_allclose(labels.scaled["m"].distance[0, :, 0], -np.log(np.finfo(np.float64).eps))


def test_costly_models_are_scaled_on_whole_groups_that_they_share(random_generator, monkeypatch):
    monkeypatch.setattr("uqassay.evidence.scale.FEWEST_ROWS", 30)
    monkeypatch.setattr("uqassay.evidence.scale.WORK", 6e4)
    n = 200
    y, groups = random_generator.integers(3, size=n), random_generator.integers(25, size=n)
    models = {
        "few": uq.Members(random_generator.dirichlet(np.ones(3), (n, 3))),
        "many": uq.Members(random_generator.dirichlet(np.ones(3), (n, 40))),
        "runs": [uq.Members(random_generator.dirichlet(np.ones(3), (n, 20))) for _ in range(2)],
        "point": uq.Point(random_generator.dirichlet(np.ones(3), n)),
    }
    for given in (None, groups):
        found = uq.assay(models, y, groups=given, **OFF)
        assert list(found.scaled) == ["few", "many", "runs"]
        few, many, runs = (set(s.rows.tolist()) for s in found.scaled.values())
        assert len(few) == n
        assert len(many) < n
        assert many <= runs or runs <= many
        if given is not None:
            for rows in (many, runs):
                assert set(np.flatnonzero(np.isin(groups, groups[list(rows)]))) == rows
        alone = uq.assay({"many": models["many"]}, y, groups=given, **OFF)
        assert set(alone.scaled["many"].rows.tolist()) == many
    assert uq.assay(models, y, scales=(), **OFF).scaled == {}
    assert scale_models(found.candidates, {}, y, found.settings, SCALES) == {}
