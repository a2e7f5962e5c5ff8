"""From a pair of predictions to gains and estimates."""

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence import sample_of_pair


@pytest.fixture
def pair():
    """Labels, five members without and with more data, for 40 instances of three classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 40)
    members = rng.dirichlet([1.0, 1.0, 1.0], (40, 5))
    after = 0.7 * np.eye(3)[y] + 0.3 * rng.dirichlet([1.0, 1.0, 1.0], 40)
    return y, uq.Members(members), uq.Point(after)


def test_gains_and_scores_against_their_definitions(pair):
    y, before, after = pair
    found = sample_of_pair(y, before, after, losses=["zero-one", "brier"])
    right = before.mean_probs().argmax(axis=1) == y
    np.testing.assert_array_equal(found.correct_before, right)
    np.testing.assert_array_equal(found.gain["zero-one"], (after.probs.argmax(axis=1) == y) * 1.0 - right)
    brier = [((p - np.eye(3)[y]) ** 2).sum(axis=1) for p in (before.mean_probs(), after.probs)]
    np.testing.assert_allclose(found.gain["brier"], brier[0] - brier[1])
    assert list(found.epistemic) == ["mutual-information", "entropy"]
    p = before.mean_probs()
    np.testing.assert_allclose(found.epistemic["entropy"], -(p * np.log(p)).sum(axis=1))
    expected = -(before.probs * np.log(before.probs)).sum(axis=2).mean(axis=1)
    np.testing.assert_allclose(found.epistemic["mutual-information"], found.epistemic["entropy"] - expected)


def test_rows_and_columns_are_put_into_one_order(pair):
    y, before, after = pair
    names, ids, order = ("a", "b", "c"), np.arange(40) + 100, np.random.default_rng(1).permutation(40)
    first = uq.Members(before.probs, class_names=names, ids=ids, groups=np.arange(40) // 4)
    second = uq.Point(after.probs[order][:, [2, 0, 1]], class_names=("c", "a", "b"), ids=ids[order])
    found, plain = (
        sample_of_pair(pd.Series(np.array(names)[y], index=ids), first, second),
        sample_of_pair(y, before, after),
    )
    np.testing.assert_array_equal(found.gain["zero-one"], plain.gain["zero-one"])
    np.testing.assert_array_equal(found.groups, np.arange(40) // 4)


@pytest.mark.parametrize("side", ["before", "after"])
def test_class_names_of_one_prediction_alone_are_refused(pair, side):
    y, before, after = pair
    both = {"before": before, "after": after}
    both[side] = both[side].with_metadata(class_names=("a", "b", "c"))
    other = "after" if side == "before" else "before"
    with refuses(f"models['{other}']", "missing", got="the other has a, b and c"):
        sample_of_pair(y, both["before"], both["after"])
    both[other] = both[other].with_metadata(class_names=("a", "b", "d"))
    with refuses("models['after'].class_names", "mismatch", got="'(c|d)', number 3"):
        sample_of_pair(y, both["before"], both["after"])


def test_scores_by_name_or_as_arrays(pair):
    y, before, after = pair
    assert list(sample_of_pair(y, after, before).epistemic) == ["entropy"]  # the mutual information of a point is 0
    named = sample_of_pair(y, before, after, scores=["margin", "epistemic-entropy", "margin"])
    assert list(named.epistemic) == ["margin", "epistemic-entropy"]
    own = sample_of_pair(y, before, after, scores={"mine": np.arange(40)})
    assert own.epistemic["mine"].tolist() == list(range(40))
    box = uq.Intervals(np.zeros((40, 3)), np.ones((40, 3)))
    with refuses("scores", "choice", got="'mutual-information'"):
        sample_of_pair(y, box, before, scores=["mutual-information"])
    with refuses("scores", "type"):
        sample_of_pair(y, before, after, scores="entropy")
    with refuses("losses", "duplicate"):
        sample_of_pair(y, before, after, losses=["log", "log"])


def test_known_label_probabilities(pair):
    y, before, after = pair
    truth = sample_of_pair(y, before, after, label_probs=after.probs).truth
    p = after.probs
    chosen = np.take_along_axis(p, before.mean_probs().argmax(axis=1)[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(truth.epistemic, p.max(axis=1) - chosen)


def test_pairs_that_do_not_fit(pair):
    y, before, after = pair
    with refuses("models['after']", "mismatch", got="39 instances"):
        sample_of_pair(y, before, after[:39])
    with refuses("y_true", "shape", got="votes"):
        sample_of_pair(np.eye(3)[y], before, after)
