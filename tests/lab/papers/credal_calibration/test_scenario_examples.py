"""Figure 1, left: the truths of S1 lie in the credal set, boundary points on it, and the truths of S2 and S3 outside."""

import numpy as np
import pytest
from scipy.optimize import linprog

from uqassay.credal.hull import in_hull
from uqassay.lab.papers.credal_calibration.scenarios import (
    N_CANDIDATES,
    SCENARIOS,
    SHOWN_SETTING,
    CredalSetting,
    draw_ensemble,
    draw_examples,
)


@pytest.fixture(scope="module", params=[0, 7])
def examples(request):
    return draw_examples(n_truths=60, seed=request.param)


def holds(members, p):
    """Whether weights exist that mix the members to p: a linear programme of SciPy's."""
    equal = np.vstack([members.T, np.ones(len(members))])
    found = linprog(np.zeros(len(members)), A_eq=equal, b_eq=np.append(p, 1.0), bounds=(0, None), method="highs")
    return found.status == 0


def farthest(members, start, corner):
    """The greatest t with (1 − t) start + t e_corner in the hull: a linear programme over the weights and t."""
    direction = np.eye(members.shape[1])[corner] - start
    equal = np.vstack([np.column_stack([members.T, -direction]), np.append(np.ones(len(members)), 0.0)])
    cost = np.append(np.zeros(len(members)), -1.0)
    bounds = [(0, None)] * len(members) + [(0, 1)]
    found = linprog(cost, A_eq=equal, b_eq=np.append(start, 1.0), bounds=bounds, method="highs")
    assert found.status == 0
    return found.x[-1]


def test_one_instance_in_three_scenarios(examples):
    assert [example.scenario for example in examples] == list(SCENARIOS)
    for example in examples:
        np.testing.assert_array_equal(example.members, examples[0].members)
        np.testing.assert_array_equal(example.centre, examples[0].centre)
        assert example.members.shape == (SHOWN_SETTING.n_members, 3)
        np.testing.assert_allclose(example.truths.sum(axis=1), 1.0)
    assert holds(examples[0].members, examples[0].centre)


def test_truths_of_s1_lie_in_the_hull(examples):
    assert all(holds(examples[0].members, p) for p in examples[0].truths)
    assert len(examples[0].corners) == len(examples[0].boundary) == 0
    assert len(np.unique(examples[0].truths.round(9), axis=0)) == 60  # each has its own weights


@pytest.mark.parametrize("place", [1, 2])
def test_boundary_points_lie_on_the_hull_and_truths_beyond_it(examples, place):
    example = examples[place]
    for boundary, corner in zip(example.boundary, example.corners, strict=True):
        direction = np.eye(3)[corner] - example.centre
        t = farthest(example.members, example.centre, corner)
        np.testing.assert_allclose(boundary, example.centre + t * direction, atol=1e-8)
        assert holds(example.members, boundary - 1e-6 * direction)
        assert not holds(example.members, boundary + 1e-6 * direction)
    assert not any(holds(example.members, p) for p in example.truths)
    ends = example.boundary[:, None], np.eye(3)[example.corners][:, None]
    shares = (example.truths - ends[0])[..., 0] / (ends[1] - ends[0])[..., 0]  # along each segment, by the first class
    away = np.abs(ends[0] + shares[..., None] * (ends[1] - ends[0]) - example.truths).max(axis=-1)
    nearest = away.argmin(axis=0)
    assert away.min(axis=0).max() < 1e-9  # every truth lies on one of the segments
    on = shares[nearest, np.arange(60)]
    assert (on >= 0).all()
    assert (on <= 1).all()
    assert 0.3 < on.mean() < 0.7


def test_s2_has_the_closest_corner_and_s3_all(examples):
    assert examples[1].corners.tolist() == [examples[1].centre.argmax()]
    assert examples[2].corners.tolist() == [0, 1, 2]


def test_the_widest_set_that_holds_its_centre_is_shown():
    shown = draw_examples(n_truths=1, seed=7)[0]
    drawn = draw_ensemble(CredalSetting(N_CANDIDATES, 10, 3, SHOWN_SETTING.spread), np.random.default_rng(7))
    inside = in_hull(drawn.members, drawn.centre)
    scatter = drawn.members.var(axis=1).sum(axis=1)
    assert 0 < inside.sum() < N_CANDIDATES
    assert shown.members.var(axis=0).sum() == pytest.approx(scatter[inside].max())


def test_sets_that_hold_no_centre_are_drawn_as_well():
    s1, s2, s3 = draw_examples(CredalSetting(n_members=2, n_classes=3, spread=0.1), n_truths=5)
    assert not in_hull(s1.members[None], s1.centre[None])[0]
    assert in_hull(s2.members[None], s2.boundary).all()
    assert len(s3.truths) == 5
