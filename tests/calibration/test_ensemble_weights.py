"""Weights of an ensemble's members: against grids, SciPy's solver, the conditions of the optimum, and symmetry."""

from itertools import pairwise

import numpy as np
import pytest

import uqassay as uq
from tests.calibration.made_up_data import grid_of_weights, labelled_by_a_mixture
from tests.refusals import refuses
from uqassay.calibration.search import QUICK
from uqassay.calibration.weights import EnsembleWeights, brier_weights, log_loss_weights
from uqassay.metrics.measures import calibration_measure

SOLVERS = {"log-loss": log_loss_weights, "brier": brier_weights}


@pytest.mark.parametrize("name", ["ece-confidence", "ece-classwise"])
@pytest.mark.parametrize("m", [2, 3])
def test_measures_are_at_most_those_of_a_grid(name, m):
    members, labels = labelled_by_a_mixture(20 + m, 80, m, 3)
    fitted = EnsembleWeights(name).fit(members, labels)
    measure = calibration_measure(name)
    found = [float(measure.prepare(np.einsum("nmk,m->nk", members, w)).values(labels)) for w in grid_of_weights(m, 60)]
    null_like = np.std(found)
    assert fitted.value_ <= min(found) + 0.02 * null_like
    own = measure.prepare(np.einsum("nmk,m->nk", members, fitted.weights_)).values(labels)
    assert fitted.value_ == pytest.approx(float(own), abs=1e-12)
    assert np.isnan(fitted.gap_)


@pytest.mark.parametrize("name", ["log-loss", "brier", "ece-confidence", "skce-ul"])
def test_permuting_members_permutes_weights(name):
    members, labels = labelled_by_a_mixture(30, 120, 4, 3)
    order = np.array([2, 0, 3, 1])
    weights = EnsembleWeights(name, search=QUICK).fit(members, labels).weights_
    assert np.array_equal(EnsembleWeights(name, search=QUICK).fit(members[:, order], labels).weights_, weights[order])


@pytest.mark.parametrize("name", ["log-loss", "brier", "ece-confidence"])
def test_equal_members_share_their_weight(name):
    members, labels = labelled_by_a_mixture(31, 100, 3, 3)
    alone = EnsembleWeights(name, search=QUICK).fit(members, labels).weights_
    twice = EnsembleWeights(name, search=QUICK).fit(members[:, [0, 1, 0, 2, 0]], labels).weights_
    assert twice[[0, 1, 3]] == pytest.approx(alone / [3, 1, 1], abs=1e-12)
    assert twice[0] == twice[2] == twice[4]
    every = EnsembleWeights(name, search=QUICK).fit(members[:, [1, 1, 1]], labels).weights_
    assert every.tolist() == [1 / 3] * 3


@pytest.mark.parametrize("name", ["log-loss", "brier", "ece-confidence", "hosmer-lemeshow"])
def test_ordinary_inputs(name):
    members, labels = labelled_by_a_mixture(32, 30, 2, 2)
    one = EnsembleWeights(name).fit(members[:, :1], labels)
    assert one.weights_.tolist() == [1.0]
    assert one.predict_proba(members[:, :1]) == pytest.approx(members[:, 0], abs=1e-12)
    single = EnsembleWeights(name, search=QUICK).fit(members[:1], labels[:1])
    assert single.weights_.sum() == pytest.approx(1)
    frozen = np.asfortranarray(members)
    frozen.flags.writeable = False
    as_lists = EnsembleWeights(name, search=QUICK).fit(members.tolist(), labels.tolist()).weights_
    assert np.array_equal(as_lists, EnsembleWeights(name, search=QUICK).fit(frozen, labels).weights_)
    assert np.array_equal(as_lists, EnsembleWeights(name, search=QUICK).fit(uq.Members(members), labels).weights_)
    constant = np.full((30, 3, 2), 0.5)
    assert EnsembleWeights(name, search=QUICK).fit(constant, np.zeros(30)).weights_.tolist() == [1 / 3] * 3
    low = EnsembleWeights(name, search=QUICK).fit(members.astype(np.float32), labels).weights_
    assert low.sum() == pytest.approx(1)


def test_predict_on_new_data_keeps_class_names_ids_and_groups():
    members, labels = labelled_by_a_mixture(33, 60, 3, 3)
    fitted = EnsembleWeights("brier").fit(members[:40], labels[:40])
    new = uq.Members(members[40:], class_names=["a", "b", "c"], ids=np.arange(20) + 7, groups=np.arange(20) % 3)
    point = fitted.predict(new)
    assert isinstance(point, uq.Point)
    assert point.probs == pytest.approx(np.einsum("nmk,m->nk", members[40:], fitted.weights_), abs=1e-12)
    assert point.class_names == ("a", "b", "c")
    assert point.ids.tolist() == new.ids.tolist()
    assert point.groups.tolist() == new.groups.tolist()
    assert np.array_equal(fitted.predict(members[40:]).probs, fitted.predict_proba(members[40:]))


def test_a_truth_among_the_mixtures_is_recovered_as_instances_grow():
    errors = []
    for n in (200, 2000, 20_000):
        generator = np.random.default_rng(35)
        members = generator.dirichlet(np.ones(4), size=(n, 3))
        truth = np.einsum("nmk,m->nk", members, [0.6, 0.3, 0.1])
        labels = (generator.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1)
        errors.append(np.abs(EnsembleWeights("log-loss").fit(members, labels).weights_ - [0.6, 0.3, 0.1]).max())
    assert all(later < sooner for sooner, later in pairwise(errors))
    assert errors[-1] < 0.03


def test_measures_with_other_bins_and_objects_of_the_scores_are_taken():
    members, labels = labelled_by_a_mixture(3, 60, 3, 3)
    fitted = EnsembleWeights("mce-confidence-mass", search=QUICK).fit(members, labels)
    measure = calibration_measure("mce-confidence", binning="mass")
    assert fitted.value_ == pytest.approx(float(measure.prepare(fitted.weights_ @ members).values(labels)), abs=1e-12)
    for name in SOLVERS:
        by_object = EnsembleWeights(calibration_measure(name)).fit(members, labels)
        assert np.array_equal(by_object.weights_, EnsembleWeights(name).fit(members, labels).weights_)
        assert by_object.gap_ < 1e-9


def test_scikit_learn_clones_it(needs):
    needs("sklearn")
    from sklearn.base import clone

    copy = clone(EnsembleWeights("brier", search=QUICK, rng=3))
    assert (copy.measure, copy.search, copy.rng) == ("brier", QUICK, 3)


MEMBERS, LABELS = labelled_by_a_mixture(37, 20, 2, 3)


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda: EnsembleWeights("ece").fit(MEMBERS, LABELS), ("measure", "choice")),
        (lambda: EnsembleWeights("brier").fit(MEMBERS[:, 0, 0], LABELS), ("members", "shape")),
        (lambda: EnsembleWeights("brier").fit(MEMBERS, LABELS[:5]), ("y", "mismatch")),
        (lambda: EnsembleWeights("brier").fit(MEMBERS, np.ones((20, 3))), ("y", "shape")),
        (lambda: EnsembleWeights("brier").fit(MEMBERS, LABELS + 1), ("y", "range")),
        (lambda: EnsembleWeights("brier").fit(MEMBERS * np.nan, LABELS), ("members", "finite")),
        (
            lambda: EnsembleWeights(search="quick").fit(MEMBERS, LABELS),
            ("search", "type", "got 'quick'"),
        ),
        (lambda: EnsembleWeights("brier").predict(MEMBERS), ("weights_", "missing")),
        (
            lambda: EnsembleWeights("brier").fit(MEMBERS, LABELS).predict(MEMBERS[:, :1]),
            ("members", "shape", "got 1"),
        ),
    ],
)
def test_bad_input_is_refused(call, refusal):
    with refuses(*refusal):
        call()
