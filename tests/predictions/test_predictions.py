"""What the constructors refuse, by parameter, code and what was found."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq

HALF = np.full((2, 2, 2), 0.5)

BAD = [
    (lambda: uq.Point([[0.5, 0.6]]), "probs", "sum", r"within 1e-06; row 0 sums to 1\.1; pass normalise=True"),
    (lambda: uq.Point([[0.5, 0.5], [1.2, -0.2]]), "probs", "not-probabilities", r"row 1 holds 1\.2 at \[1, 0\]"),
    (lambda: uq.Point([[2.0, -1.0]]), "probs", "not-probabilities", r"Point\.from_logits"),
    (lambda: uq.Point([[0.5, np.nan]]), "probs", "finite", "row 0 holds nan"),
    (lambda: uq.Point([[0.5, np.inf]]), "probs", "finite", "row 0 holds inf"),
    (lambda: uq.Point([0.5, 0.5]), "probs", "one-column", r"Members\.from_binary"),
    (lambda: uq.Point([[0.5], [0.5]]), "probs", "one-column", "got 1; .*from_binary"),
    (lambda: uq.Point(np.zeros((0, 3))), "probs", "shape", r"at least one instance; got shape \(0, 3\)"),
    (lambda: uq.Point([["a", "b"]]), "probs", "type", "got dtype <U1"),
    (lambda: uq.Point(np.array([[0.5, 0.5]], dtype=object)), "probs", "type", "got dtype object"),
    (lambda: uq.Point([[0.5, 0.5], [1.0]]), "probs", "ragged", "rectangular"),
    (lambda: uq.Point([[0.5, 0.5]], class_names=["a"]), "class_names", "mismatch", "2 classes; got 1"),
    (lambda: uq.Point([[0.5, 0.5]], ids=[1, 2]), "ids", "mismatch", r"1 instances; got shape \(2,\)"),
    (lambda: uq.Point([[0.5, 0.5]] * 2, ids=[1, 1]), "ids", "duplicate", "1 occurs 2 times"),
    (lambda: uq.Point([[0.0, 0.0]], normalise=True), "probs", "not-probabilities", "all of row 0 is 0"),
    (lambda: uq.Point([[1.0, -0.5]], normalise=True), "probs", "not-probabilities", r"row 0 holds -0\.5"),
    (lambda: uq.Point.from_logits([[0.0, np.nan]]), "logits", "finite", r"row 0 holds nan at \[0, 1\]"),
    (lambda: uq.Members(np.ones((2, 3))), "probs", "shape", r"got shape \(2, 3\)"),
    (lambda: uq.Members(np.full((2, 3, 2), 0.5), [1, 2]), "weights", "shape", r"got shape \(2,\)"),
    (lambda: uq.Members(HALF, [1, -1]), "weights", "range", "row 0 holds -1"),
    (lambda: uq.Members(HALF, [0, 0]), "weights", "range", "all of row 0 is 0"),
    (lambda: uq.Members(HALF, member_axis=2), "member_axis", "choice", "the last axis holds the classes"),
    (lambda: uq.Members(HALF, member_axis=3), "member_axis", "choice", "got 3"),
    (lambda: uq.Members(np.zeros((2, 0, 2))), "probs", "shape", "at least one member"),
    (lambda: uq.Members.from_binary([[0.1, 0.2]]), "member_axis", "member-axis", r"got shape \(1, 2\)"),
    (lambda: uq.Members.from_binary([1.5]), "probs", "not-probabilities", r"row 0 holds 1\.5"),
    (lambda: uq.Dirichlet([[0.0, 1.0]]), "alpha", "range", "row 0 holds 0"),
    (lambda: uq.Dirichlet(np.array([[0.0, 1.0]], np.float32)), "alpha", "range", "row 0 holds 0"),
    (lambda: uq.Dirichlet([[-1.0, 1.0]]), "alpha", "range", "row 0 holds -1"),
    (lambda: uq.Dirichlet([[1e308, 1e308]]), "alpha", "range", r"row 0 holds 1e\+308"),
    (lambda: uq.Dirichlet([[1.0, 1.0]], n_draws=0), "n_draws", "range", "got 0"),
    (lambda: uq.Dirichlet([[1.0, 1.0]], n_draws=True), "n_draws", "range", "got True"),
    (lambda: uq.Intervals([[0.6, 0.6]], [[0.7, 0.7]]), "lower", "bounds", r"row 0 sums to 1\.2"),
    (lambda: uq.Intervals([[0.1, 0.1]], [[0.3, 0.3]]), "upper", "bounds", r"row 0 sums to 0\.6"),
    (lambda: uq.Intervals([[0.6, 0.3]], [[0.5, 0.7]]), "lower", "bounds", r"row 0 has lower 0\.6 > upper 0\.5"),
    (lambda: uq.Intervals([[0.1, 0.1]], [[0.9, 0.9, 0.9]]), "upper", "shape", r"got \(1, 3\)"),
    (lambda: uq.Masses([[0.5, 0.4]], [[0], [1]], n_classes=2), "masses", "sum", r"row 0 sums to 0\.9"),
    (lambda: uq.Masses([[0.5, 0.5]], [[0], []], n_classes=2), "focal_sets", "empty", "set 1 is empty"),
    (lambda: uq.Masses([[0.5, 0.5]], [[0], [0]], n_classes=2), "focal_sets", "duplicate", ""),
    (lambda: uq.Masses([[0.5, 0.5]], [[0], [2]], n_classes=2), "focal_sets", None, "2"),
    (lambda: uq.Masses([[0.5, 0.5]], None), "focal_sets", "type", "got None"),
    (lambda: uq.Masses([[0.5, 0.5]], [0, 1], n_classes=2), "focal_sets", "type", "set 0 is 0"),
    (lambda: uq.Masses([[0.5, 0.5]], [[0], [1], [0, 1]], n_classes=2), "masses", "mismatch", "3 focal sets; got 2"),
    (
        lambda: uq.Masses.from_beliefs([[0.5, 1.5]], [[0], [0, 1]], n_classes=2),
        "beliefs",
        "not-probabilities",
        r"row 0 holds 1\.5",
    ),
    (lambda: uq.Vertices([[[0.5, 0.6]]]), "vertices", "sum", r"row 0 \(index 0 of that row\) sums to 1\.1"),
    (
        lambda: uq.GaussianLogits([[0.0, 1.0]], [[0.0, -1.0]], variance_is="epistemic"),
        "variance",
        "range",
        "row 0 holds -1",
    ),
    (lambda: uq.GaussianLogits([[0.0, 1.0]], [[0.0]], variance_is="epistemic"), "variance", "shape", r"got \(1, 1\)"),
    (lambda: uq.Point([[0.5, 0.5]])[3], "rows", "range", "got 3"),
    (lambda: uq.Point([[0.5, 0.5]])[np.array([True, False])], "rows", "mismatch", r"got shape \(2,\)"),
    (lambda: uq.Point([[0.5, 0.5]])[[]], "rows", "empty", ""),
    (lambda: uq.Point([[0.5, 0.5]])["a":"b"], "rows", "type", "slice"),
    (lambda: uq.Intervals([[0.1, 0.1]], [[0.9, 0.9]]).hull_points(), "over", "undefined", "got Intervals"),
]


@pytest.mark.parametrize(("make", "parameter", "code", "got"), BAD)
def test_bad_input_is_named_in_one_sentence(make, parameter, code, got):
    with refuses(parameter, code, got=got):
        make()


def test_normalise_is_advised_only_where_it_helps():
    rounded, counts = [[0.33, 0.33, 0.33]], [[6, 3, 1]]
    for probs in (rounded, counts):
        with refuses("probs") as refusal:
            uq.Point(probs)
        assert "normalise=True" in refusal.value.remedy
        assert refusal.value.facts["look"] == "counts"
        np.testing.assert_allclose(uq.Point(probs, normalise=True).probs.sum(axis=1), 1)
    logits, zeros, sets = [[3.0, -1.0]], [[0.0, 0.0]], [[1, 1, 0]]
    for probs, normalise in ((logits, False), (zeros, False), (sets, False), (logits, True), (zeros, True)):
        with refuses("probs") as refusal:
            uq.Point(probs, normalise=normalise)
        assert "normalise" not in refusal.value.remedy
        assert refusal.value.facts.get("look") != "counts"


@pytest.mark.parametrize(
    "make",
    [uq.Point, lambda p: uq.Members(p[:, None]), lambda p: uq.Vertices(p[:, None])],
)
@pytest.mark.parametrize("dtype", [bool, int, np.float32])
def test_prediction_sets_are_no_probabilities(make, dtype):
    sets = np.array([[1, 1, 0], [0, 1, 0], [1, 1, 1]], dtype=dtype)
    with refuses(r"vertices" if "Vertices" in repr(make(np.eye(3)[:, :3])) else "probs", "class-sets", got="ClassSets"):
        make(sets)
    certain = np.eye(3)  # one class in each row is a classifier that is always sure
    assert make(certain).labels().tolist() == [0, 1, 2]
    with refuses(r"vertices" if "Vertices" in repr(make(certain)) else "probs", "class-sets"):
        make(certain.astype(bool))


def test_normalising_beyond_the_largest_number():
    point = uq.Point([[1e308, 1e308], [1.0, 3.0]], normalise=True)
    assert point.probs.tolist() == [[0.5, 0.5], [0.25, 0.75]]
