"""Decompositions by name: the registry, functions of a user, and the laws that all of them have in common."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.measures import DECOMPOSITIONS, SCORES, Decomposition, decompose, decomposition_names
from uqassay.measures.registry import score_columns, uncertainty_score

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
def test_read_only_and_strided_arrays(name, random_generator):
    wide = random_generator.dirichlet(np.ones(3), (10, 8))
    strided = wide[::2, ::-2]
    strided.flags.writeable = False
    assert_same(decompose(uq.Members(strided), name), decompose(uq.Members(np.ascontiguousarray(strided)), name))


@pytest.mark.parametrize("name", ADDITIVE)
def test_a_point_is_decomposed_as_one_member(name, random_generator):
    point = random_prediction("Point", random_generator)
    found = decompose(point, name)
    assert_same(found, decompose(uq.Members(point.probs[:, np.newaxis]), name))
    assert not np.shares_memory(found.total, found.aleatoric)
