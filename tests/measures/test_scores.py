"""Uncertainty scores by name: the registry, and each score against its definition."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy import stats
from tests.kinds import KINDS, PREDICTING, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.measures.registry import SCORES, Score, score_columns, score_names, uncertainty_score
from uqassay.measures.variance import predicted_class_variance, total_variance, variance_decomposition, variation_ratio

SPREADS = ("epistemic-entropy", "epistemic-variance", "predicted-class-variance", "variation-ratio", "vote-entropy")
REFUSED = {
    "a distribution over distributions": ("no-distribution",),
    "several distributions": ("no-members", "no-distribution"),
    "logits": ("no-logits",),
    "Gaussian logits": ("no-logits",),
}
OF_DECOMPOSITIONS = {
    f"{part}-{name}"
    for part in ("total", "aleatoric", "epistemic")
    for name in ("gaussian-logits", "label-wise", "zero-one", "spherical")
} | {"epistemic-pairwise-kl"}


def with_logits(kind, rng, n=5, n_classes=4, scale=1.0):
    """As `random_prediction`, with logits where a kind can hold them."""
    if kind == "Point":
        return uq.Point.from_logits(rng.normal(0, scale, (n, n_classes)))
    if kind == "Members":
        return uq.Members.from_logits(rng.normal(0, scale, (n, 3, n_classes)))
    return random_prediction(kind, rng, n, n_classes)


# -- the registry -----------------------------------------------------------------------------------------------------


def test_every_score_has_a_description():
    assert {name for name, score in SCORES.items() if score.on_request} == {
        *("nonspecificity", "upper-entropy", "lower-entropy", "credal-uncertainty"),
        *("upper-entropy-box", "lower-entropy-box", "credal-uncertainty-box"),
        *OF_DECOMPOSITIONS,
    }
    for name, score in SCORES.items():
        assert score.name == name
        assert score.direction == Score.direction == "greater is less certain"
        assert score.unit in ("nats", "probability", "squared probability", "share", "spherical score")
        assert score.sentence.endswith(".")
        assert score.sentence[0].isupper()
        assert score.source
    assert "mutual information" in SCORES["epistemic-entropy"].sentence.lower()
    assert "test-time-augmentation" in SCORES["vote-entropy"].sentence
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'unit'"):
        SCORES["margin"].unit = "bits"


@pytest.mark.parametrize("kind", [*KINDS, "Point with logits", "Members with logits"])
def test_offered_scores_can_be_computed_and_others_cannot(kind, random_generator):
    make = with_logits if kind.endswith("logits") else random_prediction
    prediction = make(kind.split()[0], random_generator)
    names = score_names(prediction, on_request=True)
    assert score_names(prediction) == tuple(name for name in names if not SCORES[name].on_request)
    for name, score in SCORES.items():
        assert score.offered_by(prediction) == (name in names)
        if name in names:
            values = score(prediction)
            assert values.shape == (5,)
            assert values.dtype == np.float64
            assert np.isfinite(values).all(), name
            np.testing.assert_array_equal(uncertainty_score(prediction, name), values)
        else:
            with refuses("prediction") as refusal:
                score(prediction)
            assert refusal.value.code in REFUSED[score.needs], name


def test_each_kind_has_its_scores():
    rng = np.random.default_rng(0)
    had = {kind: set(score_names(random_prediction(kind, rng))) for kind in KINDS}
    assert had["Members"] == had["Dirichlet"] == had["GaussianLogits"] - {"free-energy"}
    assert "free-energy" in had["GaussianLogits"]
    assert had["Members"] - had["Point"] == {"predicted-class-variance", "variation-ratio", "vote-entropy"}
    assert had["Intervals"] == had["Masses"] == had["Vertices"] < had["Point"]


def test_unknown_scores_and_other_objects_are_refused():
    with refuses("name", "choice", got="got 'energy'"):
        uncertainty_score(uq.Point([[0.5, 0.5]]), "energy")
    for function in (score_names, SCORES["margin"], SCORES["free-energy"], total_variance, variation_ratio):
        with refuses("prediction"):
            function("a softmax")


@pytest.mark.parametrize("name", SCORES)
def test_arrays_are_taken_as_points_and_members(name):
    rng = np.random.default_rng(5)
    for probs, kind in ((rng.dirichlet(np.ones(3), 4), uq.Point), (rng.dirichlet(np.ones(3), (4, 2)), uq.Members)):
        if SCORES[name].offered_by(kind(probs)):
            np.testing.assert_array_equal(uncertainty_score(probs, name), uncertainty_score(kind(probs), name))


@pytest.mark.parametrize("kind", PREDICTING)
def test_the_less_certain_instance_has_the_greater_score(kind):
    sure, unsure = [0.98, 0.01, 0.01], [0.4, 0.3, 0.3]
    members = [[sure, [0.97, 0.02, 0.01]], [unsure, [0.2, 0.5, 0.3]]]
    prediction = {
        "Point": lambda: uq.Point.from_logits(np.log([sure, unsure]) + np.array([[5.0], [1.0]])),
        "Members": lambda: uq.Members.from_logits(np.log(members) + np.array([5.0, 1.0])[:, None, None]),
        "Dirichlet": lambda: uq.Dirichlet([[98.0, 1, 1], [2.0, 1.5, 1.5]]),
        "Intervals": lambda: uq.Intervals([[0.95, 0.0, 0.0], [0.1, 0.1, 0.1]], [[1.0, 0.05, 0.05], [0.8, 0.8, 0.8]]),
        "Masses": lambda: uq.Masses([[0.98, 0.02], [0.3, 0.7]], [[0], [0, 1, 2]], n_classes=3),
        "Vertices": lambda: uq.Vertices(members),
        "GaussianLogits": lambda: uq.GaussianLogits(
            [[9.0, 0, 0], [1.0, 0.5, 0.5]], [[0.1] * 3, [2.0] * 3], variance_is="epistemic"
        ),
    }[kind]()
    for name in score_names(prediction, on_request=True):
        low, high = uncertainty_score(prediction, name)
        # a point has no epistemic part, and a set that is not sure of a class may still reach its corner
        assert low < high or (low == high and (kind == "Point" or name.startswith("lower-entropy"))), name


# -- votes ------------------------------------------------------------------------------------------------------------


# -- variances --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [None, "shared", "own"])
def test_variances_against_their_definition(weighted, random_generator):
    probs = random_generator.dirichlet(np.ones(5), (30, 4))
    raw = {"shared": np.array([1.0, 2, 0, 5]), "own": random_generator.random((30, 4))}
    weights = raw.get(weighted)
    members = uq.Members(probs, weights)
    w = np.broadcast_to(1.0 if weights is None else weights, (30, 4))
    mean = np.stack([np.average(p, axis=0, weights=v) for p, v in zip(probs, w, strict=True)])
    var = np.stack([np.average((p - q) ** 2, axis=0, weights=v) for p, q, v in zip(probs, mean, w, strict=True)])
    np.testing.assert_allclose(predicted_class_variance(members), var[np.arange(30), mean.argmax(axis=1)], rtol=1e-12)
    np.testing.assert_allclose(total_variance(members), 1 - (mean**2).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(variance_decomposition(members).epistemic, var.sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("unit", [False, True])
def test_variance_of_a_dirichlet_in_closed_form(unit):
    alpha = np.array([[3.0, 1.0, 0.5], [20.0, 10.0, 45.0], [1e12, 2e12, 1.0]])
    used = alpha / alpha.sum(axis=1, keepdims=True) if unit else alpha
    top, total = used.max(axis=1), used.sum(axis=1)
    dirichlet = uq.Dirichlet(alpha, unit_concentration=unit)
    np.testing.assert_allclose(predicted_class_variance(dirichlet), stats.beta(top, total - top).var(), rtol=1e-12)
    draws = uq.Members(dirichlet[:2].sample(10_000, rng=1))
    np.testing.assert_allclose(predicted_class_variance(dirichlet)[:2], predicted_class_variance(draws), rtol=0.03)
    parts = variance_decomposition(dirichlet)
    np.testing.assert_allclose(parts.aleatoric + parts.epistemic, total_variance(dirichlet), rtol=1e-14)


# -- free energy ------------------------------------------------------------------------------------------------------


# -- ordinary inputs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_short_numbers_are_taken_as_they_are(dtype, n_classes, random_generator):
    probs = random_generator.dirichlet(np.ones(n_classes), (8, 3)).astype(dtype)
    members = uq.Members(probs, weights=[1, 1, 2])
    wide = object.__new__(uq.Members)  # the same numbers in double precision, whose sums would be refused
    for name, value in vars(members).items():
        object.__setattr__(wide, name, value.astype(np.float64) if name == "probs" else value)
    for name in score_names(members, on_request=True):
        np.testing.assert_array_equal(uncertainty_score(members, name), uncertainty_score(wide, name), err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_one_instance_of_two_classes(kind, random_generator):
    prediction = with_logits(kind, random_generator, 1, 2)
    for name in score_names(prediction, on_request=True):
        values = uncertainty_score(prediction, name)
        assert values.shape == (1,)
        assert np.isfinite(values).all(), name


def test_one_member_is_a_point_without_spread(random_generator):
    z = random_generator.normal(size=(6, 4))
    point, one = uq.Point.from_logits(z), uq.Members.from_logits(z[:, None])
    for name in score_names(point, on_request=True):
        np.testing.assert_array_equal(uncertainty_score(one, name), uncertainty_score(point, name), err_msg=name)
    for name in SPREADS:
        assert (uncertainty_score(one, name) == 0.0).all(), name


@pytest.mark.parametrize("kind", KINDS)
def test_scores_together_are_the_scores_one_by_one(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=30)
    names = score_names(prediction, on_request=True)
    together = score_columns(prediction, names)
    assert list(together) == list(names)
    for name in names:
        assert np.array_equal(together[name], uncertainty_score(prediction, name))
