"""Coverage, size and utility of class sets against loops, a printed formula, and proportions."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics import class_set_scores, mean_set_size, set_coverage_score, set_utility_score
from uqassay.metrics.sets import CLASS_SET_SCORES, scores_of_columns
from uqassay.statistics import mean_estimate, proportion_estimate

SETS = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 0, 0]], dtype=bool)
Y = np.array([0, 1, 2, 0, 1])


def test_scores_against_a_loop(random_generator):
    sets = random_generator.random((200, 5)) < 0.4
    y = random_generator.integers(5, size=200)
    found = class_set_scores(y, sets)
    hit = [bool(s[c]) for s, c in zip(sets, y, strict=True)]
    size = [int(s.sum()) for s in sets]
    single = [h for h, s in zip(hit, size, strict=True) if s == 1]
    several = [h for h, s in zip(hit, size, strict=True) if s > 1]
    expected = {
        "coverage": np.mean(hit),
        "size": np.mean(size),
        "determinacy": size.count(1) / 200,
        "single_accuracy": np.mean(single),
        "set_accuracy": np.mean(several),
        "u65": np.mean([1.6 / s - 0.6 / s**2 if h else 0.0 for h, s in zip(hit, size, strict=True)]),
        "u80": np.mean([2.2 / s - 1.2 / s**2 if h else 0.0 for h, s in zip(hit, size, strict=True)]),
    }
    assert {name: float(getattr(found, name)) for name in CLASS_SET_SCORES} == pytest.approx(expected)
    assert (found.single_accuracy.n, found.set_accuracy.n) == (len(single), len(several))
    assert found.to_dict()["size"]["estimate"] == float(found.size)


def test_utilities_are_those_of_the_paper():
    """Zaffalon, Corani, Mauá (2012): u65(1/2) = .65, u80(1/2) = .80, and both are 1 at 1."""
    pair, one = np.array([[True, True, False]]), np.array([[True, False, False]])
    for name, worth in {"u65": 0.65, "u80": 0.8, "discounted": 0.5}.items():
        assert float(set_utility_score([1], pair, utility=name)) == pytest.approx(worth, abs=1e-12)
        assert float(set_utility_score([0], one, utility=name)) == 1.0
        assert float(set_utility_score([2], pair, utility=name)) == 0.0
    log = set_utility_score(Y, SETS, utility=lambda size: 1 - np.log(size) / np.log(3))
    assert float(log) == pytest.approx((1 + 1 - np.log(2) / np.log(3)) / 5)


def test_single_scores_agree_with_the_record(random_generator):
    p = random_generator.dirichlet(np.ones(4), size=(60, 3))
    y = random_generator.integers(4, size=60)
    groups = np.repeat(np.arange(20), 3)
    for rule in uq.credal.CLASS_RULES:
        found = class_set_scores(y, p, rule=rule, groups=groups, level=0.9)
        assert repr(set_coverage_score(y, p, rule=rule, groups=groups, level=0.9)) == repr(found.coverage)
        assert repr(mean_set_size(p, rule=rule, groups=groups, level=0.9)) == repr(found.size)
        assert repr(set_utility_score(y, p, rule=rule, groups=groups, level=0.9, utility="u80")) == repr(found.u80)


def test_groups_names_and_ids_of_the_prediction_are_used():
    probs = np.tile([[0.6, 0.4], [0.3, 0.7]], (4, 1))
    groups = np.repeat(list("abcd"), 2)
    p = uq.Point(probs, groups=groups, class_names=["x", "y"])
    found = set_coverage_score(list("xyxxxyyx"), p)
    expected = proportion_estimate([1, 1, 1, 0, 1, 1, 0, 0], groups=groups)
    assert repr(found) == repr(expected)
    assert repr(mean_set_size(p)) == repr(mean_estimate(np.ones(8), groups=groups))


def test_label_distributions_count_by_the_share_that_is_not_ruled_out():
    votes = np.array([[3, 1, 0], [0, 2, 2]])
    sets = np.array([[1, 1, 0], [0, 0, 1]], dtype=bool)
    assert float(set_coverage_score(votes / 4, sets)) == pytest.approx(0.75)


def test_parts_without_instances_are_undefined_with_a_reason():
    found = class_set_scores([0, 1], [[0.7, 0.3], [0.2, 0.8]])
    assert np.isnan(found.set_accuracy)
    assert found.set_accuracy.notes[0].code == "undefined"
    assert float(found.single_accuracy) == 1.0
    vacuous = class_set_scores([0, 1], np.ones((2, 3), dtype=bool))
    assert np.isnan(vacuous.single_accuracy)
    one = class_set_scores([0], [[0.7, 0.3]])
    assert np.isnan(one.coverage.low)


def test_runs_are_pooled_where_they_differ_in_their_single_classes(random_generator):
    covered = (random_generator.random((2, 30)) < 0.7).astype(float)
    size = random_generator.integers(1, 3, size=(2, 30)).astype(float)
    found = scores_of_columns(covered, size)
    units = np.broadcast_to(np.arange(30), (2, 30))
    expected = proportion_estimate(covered[size == 1], groups=units[size == 1])
    assert repr(found.single_accuracy) == repr(expected)
    assert repr(found.coverage) == repr(proportion_estimate(covered))
    same = scores_of_columns(covered, np.repeat(size[:1], 2, axis=0))
    assert repr(same.single_accuracy) == repr(proportion_estimate(covered[:, size[0] == 1]))


def test_refusals():
    with refuses("prediction", "shape", r"\(3,\)"):
        class_set_scores([0], np.ones(3, dtype=bool))
    with refuses("y_true"):
        class_set_scores([0, 3], np.ones((2, 3), dtype=bool))
    with refuses("utility", "choice", "u70"):
        set_utility_score(Y, SETS, utility="u70")
    with refuses("utility", "shape"):
        set_utility_score(Y, SETS, utility=lambda size: size[:2])
