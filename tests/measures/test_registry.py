"""Scores and decompositions by name."""

from dataclasses import FrozenInstanceError, replace
from decimal import Decimal, localcontext
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from tests.kinds import KINDS, PREDICTING, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.measures import DECOMPOSITIONS, Decomposition, decompose, decomposition_names
from uqassay.measures.entropies import entropy_decomposition
from uqassay.measures.registry import SCORES, Score, score_columns, score_names, uncertainty_score
from uqassay.measures.variance import predicted_class_variance, total_variance, variance_decomposition, variation_ratio

# Uncertainty scores by name: the registry, and each score against its definition.


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
        *("nonspecificity", "upper-entropy", "lower-entropy", "credal-uncertainty", "epistemic-taylor"),
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


# Decompositions by name: the registry, functions of a user, and the laws that all of them have in common.


PARTS = ("total", "aleatoric", "epistemic")
WITH_A_DISTRIBUTION = ("Point", "Members", "Dirichlet", "GaussianLogits")
ADDITIVE = [name for name in DECOMPOSITIONS if name != "gaussian-logits"]


def arrays(found):
    return {part: getattr(found, part) for part in PARTS}


def assert_same(found, expected, **tolerance):
    for part in PARTS:
        if tolerance:
            np.testing.assert_allclose(getattr(found, part), getattr(expected, part), **tolerance, err_msg=part)
        else:
            np.testing.assert_array_equal(getattr(found, part), getattr(expected, part), err_msg=part)


# -- the registry -----------------------------------------------------------------------------------------------------


def test_every_decomposition_has_a_description():
    assert set(DECOMPOSITIONS) == {
        *("information-theoretic", "gaussian-logits", "variance", "label-wise", "zero-one"),
        *("brier", "log", "spherical"),
    }
    for name, info in DECOMPOSITIONS.items():
        assert info.name == name
        assert info.sentence.endswith(".")
        assert info.source
        assert info.unit in {score.unit for score in SCORES.values()}
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'unit'"):
        DECOMPOSITIONS["log"].unit = "bits"


@pytest.mark.parametrize("kind", KINDS)
def test_offered_decompositions_can_be_computed_and_others_cannot(kind, random_generator):
    prediction = random_prediction(kind, random_generator)
    names = decomposition_names(prediction)
    for name, info in DECOMPOSITIONS.items():
        assert info.offered_by(prediction) == (name in names)
        if name in names:
            for part, values in arrays(decompose(prediction, name)).items():
                assert values.shape == (5,), (name, part)
                assert values.dtype == np.float64
                assert np.isfinite(values).all()
                assert (values >= 0).all(), (name, part)
        else:
            with refuses("prediction") as refusal:
                decompose(prediction, name)
            assert refusal.value.code == ("no-logits" if name == "gaussian-logits" else "no-distribution")


def test_kinds_have_their_decompositions(random_generator):
    had = {kind: set(decomposition_names(random_prediction(kind, random_generator))) for kind in KINDS}
    assert had["GaussianLogits"] == set(DECOMPOSITIONS)
    assert had["Point"] == had["Members"] == had["Dirichlet"] == set(ADDITIVE)
    assert had["Intervals"] == had["Masses"] == had["Vertices"] == set()


def test_aliases_and_the_default_have_the_same_numbers(random_generator):
    members = random_prediction("Members", random_generator)
    assert_same(decompose(members, "brier"), decompose(members, "variance"))
    assert_same(decompose(members, "log"), decompose(members, "information-theoretic"))
    assert_same(decompose(members.probs), decompose(members, "information-theoretic"))


def test_the_convention_is_that_of_gaussian_logits_alone(random_generator):
    mean, variance = random_generator.normal(size=(5, 3, 4)), random_generator.gamma(1, 1, (5, 3, 4))
    prediction = uq.GaussianLogits(mean, variance, variance_is="aleatoric")
    for name in DECOMPOSITIONS:
        exact, paper = (decompose(prediction, name, convention=c) for c in ("exact", "paper-code"))
        if name == "gaussian-logits":
            assert (paper.aleatoric != exact.aleatoric).any()
            np.testing.assert_array_equal(paper.epistemic, exact.epistemic)
        else:
            assert_same(paper, exact)


@pytest.mark.parametrize("name", ["entropy", None, 3, ["log"]])
def test_unknown_names_are_refused(name):
    with refuses("decomposition", "choice"):
        decompose(uq.Point([[0.5, 0.5]]), name)


# -- scores made of decompositions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WITH_A_DISTRIBUTION)
def test_scores_are_the_parts(kind, random_generator):
    prediction = random_prediction(kind, random_generator)
    for name in ("gaussian-logits", "label-wise", "zero-one", "spherical"):
        if name not in decomposition_names(prediction):
            continue
        found = decompose(prediction, name)
        together = score_columns(prediction, [f"{part}-{name}" for part in PARTS])
        for part, values in arrays(found).items():
            score = SCORES[f"{part}-{name}"]
            assert score.on_request
            assert score.unit == DECOMPOSITIONS[name].unit
            np.testing.assert_array_equal(uncertainty_score(prediction, score.name), values)
            np.testing.assert_array_equal(together[score.name], values)
    pairwise = uq.measures.proper_score_decomposition(prediction, "log", reference="pairwise")
    np.testing.assert_array_equal(uncertainty_score(prediction, "epistemic-pairwise-kl"), pairwise.epistemic)


# -- functions of a user ----------------------------------------------------------------------------------------------


def by_confidence(prediction):
    best = prediction.probs.max(axis=2)
    return 1 - best.mean(axis=1), best.std(axis=1)


def test_functions_may_return_a_decomposition_arrays_or_a_mapping(random_generator):
    members = random_prediction("Members", random_generator)
    aleatoric, epistemic = by_confidence(members)
    expected = Decomposition(aleatoric + epistemic, aleatoric, epistemic)
    returned = (
        expected,
        (aleatoric + epistemic, aleatoric, epistemic),
        [list(aleatoric + epistemic), list(aleatoric), list(epistemic)],
        {"aleatoric": aleatoric, "epistemic": epistemic},
        {"epistemic": epistemic, "aleatoric": aleatoric, "total": aleatoric + epistemic},
    )
    for found in returned:
        assert_same(decompose(members, lambda p, found=found: found), expected)
    assert decompose(members.probs, lambda p: (p.mean_probs()[:, 0],) * 3).total.shape == (5,)
    bounded = decompose(members, lambda p: {"total": np.ones(5), "aleatoric": aleatoric, "epistemic": epistemic})
    assert bounded.total.tolist() == [1.0] * 5


def test_what_a_function_returned_is_copied(random_generator):
    members, values = random_prediction("Members", random_generator), np.zeros(5, np.float32)
    found = decompose(members, lambda p: (values, values, values))
    values[:] = 1
    assert found.total.tolist() == [0.0] * 5
    assert found.total.dtype == np.float64


@pytest.mark.parametrize(
    ("returned", "parameter", "code", "got"),
    [
        (None, "decomposition", "type", "None"),
        (np.zeros((3, 5)), "decomposition", "type", "array"),
        ((np.zeros(5), np.zeros(5)), "decomposition", "type", "2 values"),
        ({"aleatoric": np.zeros(5)}, "decomposition", "type", "'epistemic'"),
        ({"aleatoric": np.zeros(5), "epistemic": np.zeros(5), "eu": 1}, "decomposition", "type", "'eu'"),
        ((np.zeros(5), np.zeros(5), np.zeros(4)), "decomposition.epistemic", "shape", r"\(4,\)"),
        ((np.zeros(5), np.zeros((5, 2)), np.zeros(5)), "decomposition.aleatoric", "shape", r"\(5, 2\)"),
        ((0.0, 0.0, 0.0), "decomposition.total", "shape", r"\(\)"),
        (([0, 0, 0, np.nan, 0],) * 3, "decomposition.total", "finite", "row 3"),
        ((["a"] * 5,) * 3, "decomposition.total", "type", ""),
    ],
)
def test_other_results_of_functions_are_refused(returned, parameter, code, got, random_generator):
    with refuses(parameter, code, got=got):
        decompose(random_prediction("Members", random_generator), lambda p: returned)


# -- laws -------------------------------------------------------------------------------------------------------------

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("name", ADDITIVE)
@settings(deadline=None, max_examples=15)
@given(seed=seeds, n_members=st.integers(1, 6), n_classes=st.integers(2, 6), sharpness=st.floats(0.02, 5.0))
def test_additive_decompositions_add_up_and_obey_jensen(name, seed, n_members, n_classes, sharpness):
    rng = np.random.default_rng(seed)
    logs = np.log(rng.gamma(sharpness, size=(8, n_members, n_classes)) + 1e-300)
    members = uq.Members.from_logits(logs, rng.random(n_members) + 0.01)
    found = decompose(members, name)
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic, rtol=1e-9, atol=1e-12)
    assert (found.epistemic >= 0).all()
    assert (found.aleatoric >= 0).all()
    assert (found.aleatoric <= found.total + 1e-12).all()


@pytest.mark.parametrize("name", ADDITIVE)
@pytest.mark.parametrize("kind", WITH_A_DISTRIBUTION)
def test_kinds_without_a_closed_form_are_decomposed_by_their_draws(kind, name, random_generator):
    prediction = random_prediction(kind, random_generator)
    found = decompose(prediction, name)
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic, rtol=1e-9, atol=1e-12)
    if kind == "Point":
        assert (found.epistemic == 0).all()
        np.testing.assert_array_equal(found.aleatoric, found.total)
    elif kind == "GaussianLogits" or name in ("zero-one", "spherical"):
        assert_same(found, decompose(prediction.credal(), name))


@pytest.mark.parametrize("name", ADDITIVE)
def test_closed_forms_of_a_dirichlet_against_many_draws(name):
    dirichlet = uq.Dirichlet([[3.0, 1.0, 0.5], [20.0, 10.0, 5.0]], n_draws=5_000)
    assert_same(decompose(dirichlet, name), decompose(dirichlet.members(), name), atol=0.01)


@pytest.mark.parametrize("name", ADDITIVE)
def test_weights_are_repetition_and_weight_0_is_absence(name, random_generator):
    probs = random_generator.dirichlet(np.ones(4), (20, 4))
    weighted = decompose(uq.Members(probs, [1, 2, 0, 3]), name)
    repeated = decompose(uq.Members(probs[:, [0, 1, 1, 3, 3, 3]]), name)
    assert_same(weighted, repeated, rtol=1e-9, atol=1e-14)
    assert_same(weighted, decompose(uq.Members(probs, np.tile([2.0, 4.0, 0.0, 6.0], (20, 1))), name), rtol=1e-12)


@pytest.mark.parametrize("name", ADDITIVE)
def test_agreement_certainty_and_the_greatest_disagreement(name):
    corners = uq.Members(np.stack([np.eye(3), np.tile([1.0, 0.0, 0.0], (3, 1)), np.full((3, 3), 1 / 3)]))
    found = decompose(corners, name)
    assert (found.aleatoric[:2] == 0).all()
    assert found.total[1] == found.epistemic[1] == found.epistemic[2] == 0.0
    assert found.total[0] == pytest.approx(found.total[2])
    assert found.epistemic[0] == pytest.approx(found.total[0])


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_one_instance_two_classes_one_member(name):
    prediction = uq.GaussianLogits([[[1.0, 0.0]]], [[[0.5, 2.0]]], variance_is="aleatoric")
    for part, values in arrays(decompose(prediction, name)).items():
        assert values.shape == (1,)
        assert np.isfinite(values).all(), part


@pytest.mark.parametrize("name", ADDITIVE)
def test_a_point_is_decomposed_as_one_member(name, random_generator):
    point = random_prediction("Point", random_generator)
    found = decompose(point, name)
    assert_same(found, decompose(uq.Members(point.probs[:, np.newaxis]), name))
    assert not np.shares_memory(found.total, found.aleatoric)


# No ranking is made of rounding errors: exact zeros, exact ties, small values right to their last digits.


def in_columns(prediction):
    """The same statement from arrays in Fortran order, as tables give them."""
    if isinstance(prediction, uq.Masses):
        return uq.Masses(np.asfortranarray(prediction.masses), prediction.focal_sets)
    return replace(prediction, **{n: np.asfortranarray(getattr(prediction, n)) for n in prediction.array_names()})


# -- exact zeros ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_members", [1, 2, 3, 7, 10, 100, 1001])
def test_members_that_agree_have_no_spread_at_all(n_members, random_generator):
    p = random_generator.dirichlet(np.full(6, 0.3), 40)
    members = uq.Members(np.repeat(p[:, None], n_members, axis=1))
    weights = random_generator.random((40, n_members))
    for agreeing in (members, replace(members, weights=weights), replace(members, weights=weights[0])):
        for name in (*SPREADS, "credal-width", "nonspecificity", "credal-uncertainty"):
            assert (uncertainty_score(agreeing, name) == 0.0).all(), name
        parts = entropy_decomposition(agreeing)
        np.testing.assert_array_equal(parts.aleatoric, parts.total)
        np.testing.assert_array_equal(parts.total, uncertainty_score(agreeing, "total-entropy"))


def test_members_that_agree_to_the_last_bit_or_have_no_weight_have_no_spread(random_generator):
    p = random_generator.dirichlet(np.ones(4), (50, 1))
    near = np.concatenate([p, np.nextafter(p, 1.0), p], axis=1)
    other = np.concatenate([random_generator.dirichlet(np.ones(4), (50, 1)), near[:, 1:]], axis=1)
    for members in (uq.Members(near), uq.Members(other, weights=[0, 1, 2]), uq.Members(other, [[0, 1, 2]] * 50)):
        for name in SPREADS[:3]:
            assert (uncertainty_score(members, name) == 0.0).all(), name


def test_other_forms_of_a_point_have_its_scores(random_generator):
    p = random_generator.dirichlet(np.ones(5), 60)
    singletons = np.eye(5, dtype=bool)
    for same in (
        uq.Intervals(p, p),
        uq.Masses(p, singletons),
        uq.Vertices(np.repeat(p[:, None], 3, axis=1)),
        uq.Point(p),
    ):
        for name in ("credal-width", "nonspecificity", "credal-uncertainty"):
            assert (uncertainty_score(same, name) == 0.0).all(), (same, name)
    certain = uq.GaussianLogits(np.log(p), np.zeros_like(p), variance_is="epistemic", n_draws=9)
    for name in SPREADS:
        assert (uncertainty_score(certain, name) == 0.0).all(), name


def mutual_information(probs):
    """By 60 digits of Python's decimals, from the definition."""
    with localcontext() as context:
        context.prec = 60
        rows = [[Decimal(float(x)) for x in row] for row in probs]
        mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]

        def h(row):
            return -sum(x * x.ln() for x in row if x > 0)

        return float(h(mean) - sum(h(row) for row in rows) / len(rows))


@pytest.mark.parametrize("spread", [1e-1, 1e-4, 1e-9, 1e-13])
def test_mutual_information_is_right_where_a_difference_of_entropies_is_not(spread, random_generator):
    small = spread * random_generator.uniform(0.1, 1.0, (20, 3, 4))
    small[0, 0, 0], small[1, :, 1] = 0.0, 0.0
    probs = np.concatenate([1.0 - small.sum(axis=2, keepdims=True), small], axis=2)
    found = entropy_decomposition(uq.Members(probs)).epistemic
    expected = np.array([mutual_information(row) for row in probs])
    np.testing.assert_allclose(found, expected, rtol=max(1e-10, 1e-16 / spread))
    assert (np.diff(np.sort(expected)) > 0).all()
    assert (found.argsort() == expected.argsort()).all()


def test_mutual_information_of_close_members(random_generator):
    base = random_generator.dirichlet(np.ones(5), (20, 1))
    probs = base * (1 + 1e-6 * random_generator.standard_normal((20, 4, 5)))
    probs /= probs.sum(axis=2, keepdims=True)
    expected = [mutual_information(row) for row in probs]
    np.testing.assert_allclose(entropy_decomposition(uq.Members(probs)).epistemic, expected, rtol=1e-8)


def test_mutual_information_of_a_concentrated_dirichlet():
    mean = np.array([0.5, 0.3, 0.2])
    for total in (1e3, 1e8, 1e15):  # (K − 1) / 2α₀ and the next term
        found = entropy_decomposition(uq.Dirichlet([total * mean])).epistemic[0]
        expected = 1 / total - (np.sum(1 / mean) - 1) / (12 * total**2)
        assert found == pytest.approx(expected, rel=1e-7)
    alpha = np.random.default_rng(2).gamma(2.0, 4.0, (200, 4))
    plain = special.entr(alpha / alpha.sum(axis=1, keepdims=True)).sum(axis=1) - special.digamma(alpha.sum(axis=1) + 1)
    plain += (alpha / alpha.sum(axis=1, keepdims=True) * special.digamma(alpha + 1)).sum(axis=1)
    np.testing.assert_allclose(entropy_decomposition(uq.Dirichlet(alpha)).epistemic, plain, rtol=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_of_the_members_changes_no_bit(weighted, random_generator):
    z = random_generator.normal(0, 3, (200, 9, 5))
    weights = random_generator.random(9) if weighted else None
    members = uq.Members.from_logits(z, weights)
    values = {name: uncertainty_score(members, name) for name in score_names(members, on_request=True)}
    for _ in range(3):
        order = random_generator.permutation(9)
        other = uq.Members.from_logits(z[:, order], None if weights is None else members.weights[order])
        for name, expected in values.items():
            found = uncertainty_score(other, name)
            if name == "nonspecificity":  # a weighted sum over all events, whose reference is a member
                np.testing.assert_allclose(found, expected, rtol=1e-14)
            else:
                np.testing.assert_array_equal(found, expected, err_msg=name)


def test_the_order_of_the_classes_changes_no_bit(random_generator):
    p = random_generator.dirichlet(np.ones(7), (200, 5))
    order = random_generator.permutation(7)
    for one, other in ((uq.Point(p[:, 0]), uq.Point(p[:, 0, order])), (uq.Members(p), uq.Members(p[..., order]))):
        for name in score_names(one):
            expected = uncertainty_score(one, name)
            np.testing.assert_array_equal(uncertainty_score(other, name), expected, err_msg=name)


def test_equal_votes_tie(random_generator):
    """As of trees with pure leaves: few values, each of many instances."""
    labels = random_generator.integers(0, 5, (3000, 11))
    members = uq.Members(np.eye(5)[labels])
    votes = [tuple(sorted(np.bincount(row, minlength=5).tolist())) for row in labels]
    n_patterns = len(set(votes))
    least = {
        "variation-ratio": lambda v: v[-1],
        "least-confidence": lambda v: v[-1],
        "predicted-class-variance": lambda v: v[-1] * (11 - v[-1]),
        "margin": lambda v: v[-1] - v[-2],
        **dict.fromkeys(("total-variance", "epistemic-variance"), lambda v: sum(x * x for x in v)),
        **dict.fromkeys(("total-entropy", "vote-entropy", "epistemic-entropy"), lambda v: prod(x**x for x in v)),
    }
    for name, of_votes in least.items():
        n_values = len(np.unique(uncertainty_score(members, name)))
        assert len(set(map(of_votes, votes))) <= n_values <= n_patterns, name
        if name in ("variation-ratio", "least-confidence"):
            assert n_values == len(set(map(of_votes, votes)))
    assert (uncertainty_score(members, "aleatoric-entropy") == 0.0).all()
    assert (uncertainty_score(members, "aleatoric-variance") == 0.0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_equal_rows_have_equal_scores_in_every_position_and_layout(kind, random_generator):
    prediction = with_logits(kind, random_generator, 41, 9, scale=3.0)
    order = random_generator.permutation(41)
    for name in score_names(prediction, on_request=True):
        values = uncertainty_score(prediction, name)
        for same in (prediction, in_columns(prediction)):
            np.testing.assert_array_equal(uncertainty_score(same, name), values, err_msg=name)
            np.testing.assert_array_equal(uncertainty_score(same[order], name), values[order], err_msg=name)
            parts = [uncertainty_score(same[a : a + 7], name) for a in range(0, 41, 7)]
            np.testing.assert_array_equal(np.concatenate(parts), values, err_msg=name)
            np.testing.assert_array_equal(uncertainty_score(same[7], name), values[7:8], err_msg=name)
