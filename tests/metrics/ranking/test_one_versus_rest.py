"""One class against the rest: the same as the binary problem written out by hand; macro average and its interval."""

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction
from tests.notes import said, texts
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics.ranking import uq_auc_score, uq_c_index_score
from uqassay.metrics.truths import one_versus_rest_scores


def by_hand(y, f, k):
    """Errors, gap and entropy of the answer "class k or not"."""
    p = f[:, k]
    errors = ((p > 0.5) != (y == k)).astype(float)
    gap = np.where(y == k, 1 - p, p)
    both = np.stack([p, 1 - p])
    entropy = -np.where(both > 0, both * np.log(np.maximum(both, 1e-300)), 0.0).sum(axis=0)
    return errors, gap, entropy


@pytest.mark.parametrize("metric", ["uq-auc", "uq-c-index"])
def test_every_class_by_hand(metric, random_generator):
    f = random_generator.dirichlet(np.full(4, 0.5), 300)
    y = (f.cumsum(axis=1) < random_generator.random((300, 1))).sum(axis=1)
    groups = np.arange(300) // 3
    found = one_versus_rest_scores(y, uq.Point(f), metric=metric, groups=groups)
    values = []
    for k in range(4):
        errors, gap, entropy = by_hand(y, f, k)
        function, truth = (uq_auc_score, errors) if metric == "uq-auc" else (uq_c_index_score, gap)
        expected = function(truth, entropy, groups=groups)
        mine = found.classes[k]
        assert [float(mine), mine.low, mine.high] == pytest.approx(
            [float(expected), expected.low, expected.high], abs=1e-9
        )
        values.append(float(expected))
    assert float(found.macro) == pytest.approx(np.mean(values), abs=1e-12)
    assert found.macro.low < found.macro < found.macro.high


def test_two_classes_are_the_problem_itself(random_generator):
    f = random_generator.dirichlet(np.ones(2), 200)
    y = random_generator.integers(0, 2, 200)
    found = one_versus_rest_scores(y, uq.Point(f), score="least-confidence")
    direct = uq_auc_score((f.argmax(axis=1) != y).astype(float), 1 - f.max(axis=1))
    assert [float(e) for e in found.classes] == pytest.approx([float(direct)] * 2, abs=1e-12)
    assert (found.macro.low, found.macro.high) == pytest.approx((direct.low, direct.high), abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_and_votes(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=40)
    votes = random_generator.integers(0, 5, (40, 4))
    votes[:, 0] += 1
    for y in (random_generator.integers(0, 4, 40), votes):
        found = one_versus_rest_scores(y, prediction, metric="uq-c-index")
        assert all(0 <= e <= 1 for e in found.classes)
        assert min(found.classes) <= found.macro <= max(found.classes)


def test_the_macro_interval_covers(random_generator):
    """The macro average of overlapping problems, against its value in a large sample."""

    def draw(n):
        logits = random_generator.normal(0, 1.5, (n, 3))
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        y = (p.cumsum(axis=1) < random_generator.random((n, 1))).sum(axis=1)
        f = np.exp(1.5 * logits)
        return y, uq.Point(f / f.sum(axis=1, keepdims=True))

    truth = float(one_versus_rest_scores(*draw(200_000)).macro)
    intervals = [one_versus_rest_scores(*draw(250)).macro for _ in range(300)]
    covered = np.mean([e.low <= truth <= e.high for e in intervals])
    assert 0.91 <= covered <= 0.985


def test_absent_classes_are_named():
    f = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.6, 0.3, 0.1]])
    found = one_versus_rest_scores([0, 1, 1], uq.Point(f, class_names=["cat", "dog", "owl"]))
    assert np.isnan(found.classes[2])
    assert "no errors" in said(found.classes[2])
    assert "mean over 2 of 3 classes, undefined for owl" in said(found.macro)
    none = one_versus_rest_scores([0], uq.Point([[0.9, 0.1]]))
    assert np.isnan(none.macro)
    assert texts(none.macro) == ["undefined for every class"]


def test_arrays_are_points_and_members(random_generator):
    y, members = random_generator.integers(0, 3, 60), random_generator.dirichlet(np.ones(3), (60, 4))
    for array, kind in ((members, uq.Members), (members[:, 0], uq.Point)):
        assert repr(one_versus_rest_scores(y, array)) == repr(one_versus_rest_scores(y, kind(array)))
    with refuses("prediction", "shape"):
        one_versus_rest_scores(y, members[0, 0])


@pytest.mark.parametrize("names", [["7", "8"], ["0", "1"], ["b", "a"]])
def test_names_of_classes_do_not_matter(names, random_generator):
    probs, y = random_generator.dirichlet(np.ones(2), 60), random_generator.integers(0, 2, 60)
    named = one_versus_rest_scores([names[k] for k in y], uq.Point(probs, class_names=names))
    assert named.class_names == tuple(names)
    assert repr(named.classes) == repr(one_versus_rest_scores(y, probs).classes)


def test_bad_input_is_refused():
    p = uq.Intervals([[0.1, 0.3, 0.1]], [[0.5, 0.8, 0.6]])
    with refuses("score", "choice"):
        one_versus_rest_scores([0], p, score="entropy")
    with refuses("metric", "choice"):
        one_versus_rest_scores([0], p, metric="roc")
    with refuses("score", "choice", got="Intervals.*'variation-ratio'"):
        one_versus_rest_scores([0], p, score="variation-ratio")
