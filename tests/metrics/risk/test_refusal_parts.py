"""The division of the data into two parts, and how many more instances are needed."""

import numpy as np
import pytest
from scipy import stats
from tests.refusals import refuses

from uqassay.metrics.certified_thresholds import divide, needed, plan_refusal, whole_errors
from uqassay.statistics.units import make_units


@pytest.mark.parametrize(("n", "share", "expected"), [(10, 0.3, 3), (2, 0.01, 1), (2, 0.99, 1), (3, 0.5, 2)])
def test_sizes_of_the_parts(n, share, expected):
    parts = divide(n, None, None, share, 0)
    assert parts.choosing.sum() == expected
    assert (parts.groups, parts.largest) == (None, 1)


def test_whole_groups_lie_in_one_part():
    groups = np.array(["a", "b", "a", "c", "c", "d", "a"])
    for seed in range(5):
        parts = divide(7, groups, None, 0.5, seed)
        assert all(len(set(parts.choosing[groups == g])) == 1 for g in "abcd")
        assert parts.largest == 3
        assert parts.units_of(parts.choosing).n_units == 2


def test_divisions_are_random_and_repeat():
    masks = [divide(100, None, None, 0.3, seed).choosing.tolist() for seed in (None, 0, 1)]
    assert masks[0] == masks[1] != masks[2]


def test_masks_that_are_refused():
    with refuses("choosing", "shape"):
        divide(3, None, [1, 0, 1], 0.3, None)
    with refuses("choosing", "shape"):
        divide(3, None, [True, False], 0.3, None)
    with refuses("choosing", "empty", got="all 2 are True"):
        divide(2, None, [True, True], 0.3, None)
    with refuses("choosing", "mismatch", got="1 group in both, the first that of row 1"):
        divide(3, ["a", "b", "b"], [True, False, True], 0.3, None)
    with refuses("errors", "shape", got="got 1 instance"):
        divide(1, None, None, 0.3, None)
    with refuses("groups", "shape", got="got 1 group"):
        divide(3, ["a"] * 3, None, 0.3, None)


def test_errors_are_whole():
    errors, scores = whole_errors([True, False], np.array([1, 2], dtype=np.float16))
    assert (errors.tolist(), scores.dtype) == ([1.0, 0.0], np.float64)


@pytest.mark.parametrize("wrong", [0, 1])
def test_so_many_more_would_be_enough(wrong):
    errors, scores = np.zeros(60), np.arange(60.0)
    parts = divide(60, None, np.arange(60) < 30, 0.3, None)
    plan = plan_refusal(errors[:30], scores[:30], make_units(30, None, None), risk=0.06, alpha=0.05, n_other=30)
    errors[30 : 30 + wrong] = 1
    tested = plan.test(errors[30:], scores[:30], make_units(30, None, None))
    more = needed(plan, tested, errors[30:], scores[:30], parts)
    kept = tested.kept[0] * (30 + more.number / 2) / 30
    rate = tested.errors[0] / tested.kept[0]
    assert stats.binom.cdf(np.ceil(rate * kept), np.ceil(kept), 0.06) <= 0.05
    assert stats.binom.cdf(np.ceil(rate * kept * 0.9), np.floor(kept * 0.9), 0.06) > 0.05
    assert "more instances would be needed" in more.text


def test_no_instance_kept_and_a_rate_that_is_too_high():
    errors, scores = np.zeros(40), np.arange(40.0)
    parts = divide(40, None, np.arange(40) < 20, 0.3, None)
    plan = plan_refusal(errors[:20], scores[:20], make_units(20, None, None), risk=0.1, alpha=0.05, n_other=20)
    units = make_units(20, None, None)
    above = needed(plan, plan.test(errors[20:] + 1, scores[:20], units), errors[20:] + 1, scores[:20], parts)
    assert above.number is None
    assert "no number of instances is enough" in above.text
    nothing = plan.thresholds[:-1].size
    if nothing:
        far = scores[:20] + 100
        assert needed(plan, plan.test(errors[20:], far, units), errors[20:], far, parts).number is None


def test_absurd_numbers_are_not_named():
    errors, scores = np.zeros(400), np.arange(400.0)
    errors[200:219] = 1  # 9.5 % of the certifying ones, and a limit of 9.55 %
    parts = divide(400, None, np.arange(400) < 200, 0.3, None)
    plan = plan_refusal(errors[:200], scores[:200], make_units(200, None, None), risk=0.0955, alpha=0.05, n_other=200)
    tested = plan.test(errors[200:], scores[:200], make_units(200, None, None))
    more = needed(plan, tested, errors[200:], scores[:200], parts)
    assert more.number > 100 * 200
    assert more.text == "at this error rate it would take more than 100 times as many instances"
