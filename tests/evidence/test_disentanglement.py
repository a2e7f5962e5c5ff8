"""Studies of the disentanglement benchmark: known errors, checks, joining."""

from dataclasses import replace

import numpy as np
import pytest
from tests.evidence.disentanglement_data import made_study
from tests.refusals import refuses
from tests.shown_results import check_shown

from uqassay.evidence import contenders_of, disentanglement_sentences
from uqassay.evidence.disentanglement import join_studies

IT = "information-theoretic"


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("perfect", 0.05, 0.25),
        ("swapped", 0.9, 1.1),
        ("together", 0.5, 0.5),
        ("constant", 0.5, 0.5),
        ("reversed", 1, 1.3),
    ],
)
def test_error_of_made_up_studies_against_theory(kind, low, high):
    # jitter in the estimates that should not move costs .15; constants are right about those two and wrong about the others
    found = float(made_study(kind, n_runs=30).error(IT).error)
    assert low - 1e-9 <= found <= high + 1e-9


def test_jitter_is_chance_and_the_perfect_one_is_at_the_floor():
    for kind, reference in (("jitter", "chance"), ("perfect", "floor")):
        found = made_study(kind, n_runs=40).error(IT)
        assert found.error.low <= getattr(found, reference) <= found.error.high


def test_arguments_of_a_study():
    study = made_study("perfect")
    with refuses("seeds", "duplicate"):
        replace(study, seeds=(1, 1, 2, 3, 4))
    with refuses("measured['dataset-size']", "mismatch", got="5 runs of 3 classes for 2 seeds"):
        replace(study, seeds=(1, 2))
    with refuses("measured['dataset-size']", "mismatch"):
        replace(study, class_names=("a", "b"))
    with refuses("measured", "choice", got="size"):
        replace(study, measured={"size": study.measured["dataset-size"]})
    with refuses("measured", "empty"):
        replace(study, measured={})
    left_out = study.measured["left-out-class"]
    with refuses("measured['left-out-class']", "range", got="0 to 3"):
        replace(study, measured={"left-out-class": replace(left_out, conditions=(0, 1, 3))})
    with refuses("decomposition", "choice", got="variance"):
        study.error("variance")
    with refuses("name", "choice", got="curve"):
        study.rows("curve")


def test_joined_runs_stand_one_after_another():
    blocks = [made_study("together", n_runs=2, seed=i, first_seed=2 * i) for i in range(3)]
    whole = join_studies(blocks)
    assert whole.seeds == tuple(range(6))
    errors = np.concatenate([block.error(IT).per_run for block in blocks])
    np.testing.assert_allclose(whole.error(IT).per_run, errors)
    assert join_studies(blocks[:1]).seeds == (0, 1)


def test_studies_that_cannot_be_joined():
    one = made_study("together", n_runs=2)
    with refuses("studies", "empty"):
        join_studies([])
    with refuses("studies", "mismatch", got="other"):
        join_studies([one, made_study("together", "other", first_seed=9)])
    with refuses("studies", "mismatch", got="dataset-size"):
        join_studies([one, made_study("together", first_seed=9, without=("dataset-size",))])
    with refuses("studies", "mismatch", got="variance"):
        join_studies([one, made_study("together", first_seed=9, decomposition="variance")])
    with refuses("studies", "mismatch", got="90 and 60"):
        join_studies([one, made_study("together", first_seed=9, n=60)])
    with refuses("seeds", "duplicate"):
        join_studies([one, made_study("together", n_runs=2)])


def test_wrong_kinds_of_arguments():
    study = made_study("perfect", n_runs=2)
    with refuses("seeds", "type", got="'a'"):
        replace(study, seeds="ab")
    with refuses("seeds", "type", got="0.5"):
        replace(study, seeds=(0.5, 1))
    with refuses("measured['label-noise']", "type"):
        replace(study, measured={"label-noise": [1, 2]})
    with refuses("facts", "type"):
        replace(study, facts=[1])
    assert join_studies(one for one in [study]).seeds == study.seeds


def test_it_is_shown_by_the_sentences_of_its_verdict():
    study = made_study("together")
    shown = " ".join(check_shown(study, IT).split())
    assert all(" ".join(sentence.split()) in shown for sentence in disentanglement_sentences(contenders_of(study)))


def test_a_study_without_the_experiments_of_the_error_is_shown():
    study = made_study("perfect", without=("dataset-size", "left-out-class"))
    check_shown(study)
    assert study._shown_table().rows[0].cells[1].text == "–"
