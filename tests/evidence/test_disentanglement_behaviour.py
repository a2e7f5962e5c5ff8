"""Trend, correlations and sources of doubt from the runs of a study: what the sentences may claim."""

from dataclasses import replace

import numpy as np
import pytest
from tests.evidence.disentanglement_data import made_study
from tests.metrics.test_doubts import SHARES, Family
from tests.notes import codes, said
from tests.refusals import refuses

from uqassay.evidence.disentanglement import DisentanglementStudy, disentanglement_behaviour, study_correlations
from uqassay.evidence.disentanglement_runs import Measured
from uqassay.measures import Decomposition

BY = "information-theoretic"


def family_study(noticed, n_runs=8, n=300, seed=4, labels=None, shares=SHARES):
    """A study of the simulated family; the aleatoric estimate follows the epistemic one closely."""
    rng = np.random.default_rng(seed)
    family = Family(rng, n)
    probs = family.probs(rng, n_runs)[:, : len(shares)]
    epistemic = family.estimate(rng, n_runs, noticed)[:, : len(shares)]
    if labels is None:
        labels = np.broadcast_to((rng.random(n) < family.truth).astype(int), epistemic.shape)
    aleatoric = epistemic * np.exp(0.05 * rng.standard_normal(epistemic.shape))
    parts = Decomposition(aleatoric + epistemic, aleatoric, epistemic)
    measured = Measured(tuple(shares), labels, probs, {BY: parts})
    return DisentanglementStudy("made up", "plane", tuple(range(n_runs)), ("a", "b"), {"dataset-size": measured})


def test_a_method_that_notices_the_seed_alone():
    found = disentanglement_behaviour(family_study(("seed",)), BY)
    text = " ".join(found.sentences)
    assert "The epistemic estimate is higher where another seed changes the prediction more (correlation" in text
    assert "98.3 % interval" in text
    assert "These runs do not show that it follows few data or the bias of the family." in text
    assert "nearly one" in text
    assert found.rows("doubts")[0]["source"] == "spread"
    assert {row["first"] for row in found.rows("correlations")} == {f"{BY} total", f"{BY} aleatoric"}
    assert found.notes == ()


def test_falling_and_rising_trends():
    falls = disentanglement_behaviour(family_study(("few-data",)), BY)
    assert "Epistemic uncertainty falls with more training data: mean Kendall's τ −" in falls.sentences[0]
    assert falls.trend.pvalue_falls == 2.0**-8
    study = made_study("reversed")
    rises = disentanglement_behaviour(study, BY)
    assert "rises with more training data, though it should fall" in rises.sentences[0]
    assert "an epistemic uncertainty hole" in rises.sentences[1]
    assert [row["start"] for row in rises.rows("trend")] == list(study.experiment("dataset-size").conditions[:-1])


def test_jitter_supports_no_claim():
    found = disentanglement_behaviour(made_study("jitter", seed=4), BY)
    assert found.sentences[0].startswith("These runs do not show that epistemic uncertainty falls")
    assert not any("hole" in text for text in found.sentences)


def test_few_runs_cannot_show_a_trend():
    found = disentanglement_behaviour(made_study("perfect", n_runs=2), BY)
    assert found.sentences[0].startswith("2 runs cannot show whether")
    assert found.doubts is None
    assert "2 runs of the 3 needed" in said(found)


def test_runs_on_different_test_labels_have_no_sources():
    study = family_study(("seed",), n=40)
    labels = study.measured["dataset-size"].labels.copy()
    labels[1] = 1 - labels[1]
    found = disentanglement_behaviour(family_study(("seed",), n=40, labels=labels), BY)
    assert found.doubts is None
    assert found.trend is not None
    assert "different test labels" in said(found)
    assert found.rows("doubts") == []


def test_without_the_dataset_size_experiment():
    study = made_study("perfect", without=("dataset-size",))
    found = disentanglement_behaviour(study, BY)
    assert found.trend is None
    assert found.doubts is None
    assert codes(found)[0] == "left-out"
    assert found.correlations is None or found.correlations.names
    only_out = made_study("perfect", without=("dataset-size", "label-noise"))
    assert "need a condition with all instances" in said(disentanglement_behaviour(only_out, BY))


def test_estimates_with_the_same_numbers_count_once():
    study = family_study(("seed",), n=40)
    measured = study.measured["dataset-size"]
    twice = replace(measured, parts={BY: measured.parts[BY], "log": measured.parts[BY]})
    found, note = study_correlations(replace(study, measured={"dataset-size": twice}))
    assert found.names == (f"{BY} total", f"{BY} aleatoric", f"{BY} epistemic")
    assert note.facts["names"] == ["log total", "log aleatoric", "log epistemic"]


def test_shares_without_one_and_one_share():
    study = family_study(("few-data", "seed"), shares=SHARES[:3])
    found = disentanglement_behaviour(study, BY)
    assert "another seed" not in " ".join(found.sentences)
    assert found.correlations is None
    single = disentanglement_behaviour(family_study(("seed",), shares=SHARES[:1]), BY)
    assert single.trend is None
    assert "no trend" in said(single)


def test_refusals():
    study = made_study("perfect")
    with refuses("decomposition", "choice"):
        disentanglement_behaviour(study, "variance")
    with refuses("name", "choice"):
        disentanglement_behaviour(study, BY).rows("curves")


@pytest.mark.parametrize("n_runs", [1, 3])
def test_few_runs_still_have_rows(n_runs):
    found = disentanglement_behaviour(family_study(("seed",), n_runs=n_runs, n=30), BY)
    assert len(found.rows("trend")) == len(SHARES) - 1
    assert bool(found.rows("doubts")) == (n_runs == 3)
