"""One prediction reduced to mean probabilities and decompositions."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers.disentangling.trainings import (
    PARTS,
    WITHOUT_COLUMN,
    Reduction,
    TrainingSet,
    chosen_decompositions,
)


def given(experiment="label-noise", value=0.5, y=(0, 1, 2)):
    y = np.array(y)
    return TrainingSet(experiment, 0, value, np.arange(len(y)), y, np.array([0, 1]), 1.0, np.random.SeedSequence(0))


def members(k=3, n=2, seed=0):
    return uq.Members(np.random.default_rng(seed).dirichlet(np.ones(k), size=(n, 4)))


def logits(seed=0):
    rng = np.random.default_rng(seed)
    return uq.GaussianLogits(rng.normal(size=(2, 4, 3)), rng.uniform(1, 2, (2, 4, 3)), variance_is="aleatoric")


@pytest.mark.parametrize("said", [members(), members().probs, logits()])
def test_all_decompositions_that_are_offered(said):
    reduced = Reduction(n_instances=2, n_classes=3)(said, given(), "here")
    assert tuple(reduced.parts) == uq.measures.decomposition_names(said)
    np.testing.assert_allclose(reduced.probs, uq.predictions.as_prediction(said).mean_probs())
    for name, parts in reduced.parts.items():
        expected = uq.measures.decompose(said, name)
        for part in PARTS:
            np.testing.assert_array_equal(getattr(parts, part), getattr(expected, part))


def test_a_missing_column_is_put_in():
    out = given("left-out-class", 1.0, (0, 2))
    reduced = Reduction(n_instances=2, n_classes=3)(members(2), out, "here")
    assert reduced.padded
    np.testing.assert_array_equal(reduced.probs[:, 1], 0)
    np.testing.assert_allclose(reduced.probs[:, [0, 2]], members(2).mean_probs())
    with refuses("estimator", "shape", got="2 and 2, from here"):
        Reduction(n_instances=2, n_classes=3)(members(2), given(), "here")


@pytest.mark.parametrize("said", [members(), logits()])
def test_the_authors_deletion_concerns_the_class_left_out_and_two_decompositions(said):
    reduction = Reduction(n_instances=2, n_classes=3, delete_column=True)
    plain = Reduction(n_instances=2, n_classes=3)
    inside, out = given(), given("left-out-class", 1.0, (0, 2))
    for name, parts in reduction(said, out, "here").parts.items():
        same = plain(said, out, "here").parts[name]
        assert (np.array_equal(parts.total, same.total)) == (name not in WITHOUT_COLUMN)
        np.testing.assert_array_equal(parts.total.shape, (2,))
        np.testing.assert_array_equal(
            reduction(said, inside, "here").parts[name].total, plain(said, inside, "here").parts[name].total
        )


def test_the_convention_reaches_the_decomposition():
    exact, code = (
        Reduction(n_instances=2, n_classes=3, convention=c)(logits(), given(), "here").parts["gaussian-logits"]
        for c in ("exact", "paper-code")
    )
    assert (exact.aleatoric != code.aleatoric).all()
    np.testing.assert_array_equal(exact.epistemic, code.epistemic)


def test_choices():
    def mine(prediction):
        return uq.measures.entropy_decomposition(prediction)

    assert chosen_decompositions(None) is None
    assert chosen_decompositions("variance") == {"variance": "variance"}
    assert chosen_decompositions(mine) == {"mine": mine}
    assert chosen_decompositions(("variance", mine)) == {"variance": "variance", "mine": mine}
    assert chosen_decompositions({"x": mine}) == {"x": mine}
    with refuses("decomposition", "empty"):
        chosen_decompositions([])
