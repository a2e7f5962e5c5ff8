import math
import pickle

import numpy as np
import pytest
from tests.calibration.made_up_data import draw_labels
from tests.refusals import refuses

from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.metrics.calibration import (
    classwise_calibration_error,
    confidence_calibration_error,
    cumulative_calibration_error,
    hosmer_lemeshow_statistic,
)
from uqassay.metrics.measures import CALIBRATION_MEASURES, CalibrationMeasure, calibration_measure
from uqassay.metrics.smooth import proper_score_parts

EVERY = pytest.mark.parametrize("name", list(CALIBRATION_MEASURES))


@pytest.fixture
def mixtures(random_generator):
    return Mixtures(random_generator.dirichlet(np.ones(4), (40, 5)))


# -- the same number as the public functions ----------------------------------------------------------------------------

PUBLIC = {
    "ece-confidence": confidence_calibration_error,
    "ece-classwise": classwise_calibration_error,
    "ece-confidence-mass": lambda y, p, **b: confidence_calibration_error(y, p, binning="mass", **b),
    "ece-classwise-mass": lambda y, p, **b: classwise_calibration_error(y, p, binning="mass", **b),
    "mce-confidence": lambda y, p, **b: confidence_calibration_error(y, p, norm="max", **b),
    "l2-confidence-debiased": lambda y, p, **b: confidence_calibration_error(y, p, norm="squared", debiased=True, **b),
    "l2-classwise-debiased": lambda y, p, **b: classwise_calibration_error(y, p, norm="squared", debiased=True, **b),
    "hosmer-lemeshow": lambda y, p, **b: hosmer_lemeshow_statistic(y, p, least_expected=1.0, **b),
    "hosmer-lemeshow-proportions": lambda y, p, **b: hosmer_lemeshow_statistic(y, p, form="proportions", **b),
    "ks-confidence": cumulative_calibration_error,
    "ks-classwise": lambda y, p, **b: cumulative_calibration_error(y, p, by="classwise", **b),
    "kuiper-confidence": lambda y, p, **b: cumulative_calibration_error(y, p, statistic="kuiper", **b),
    "brier": lambda y, p, **b: proper_score_parts(y, p, **b).score,
    "log-loss": lambda y, p, **b: proper_score_parts(y, p, score="log", **b).score,
}


@pytest.mark.parametrize("name", list(PUBLIC))
def test_against_the_public_functions(random_generator, name):
    probs = random_generator.dirichlet(np.ones(4), (3, 40))
    y = random_generator.integers(0, 4, (2, 1, 40))
    found = CALIBRATION_MEASURES[name].prepare(probs).values(y)
    np.testing.assert_allclose(found, PUBLIC[name](y, probs, batched=True), rtol=1e-12)


def test_classwise_ece_of_the_authors_code_by_hand(random_generator):
    """Left-inclusive bins from 0 to 1 + 1e-8, whose means are compared class by class."""
    tenths = np.diff(np.sort(random_generator.integers(0, 11, (60, 2)), axis=1), axis=1, prepend=0, append=10) / 10
    for probs in (tenths, random_generator.dirichlet(np.ones(3), 60)):
        y = random_generator.integers(0, 3, 60)
        for b in (5, 10, 15):
            total = 0.0
            for k in range(3):
                place = np.digitize(probs[:, k], np.linspace(0, 1 + 1e-8, b + 1))
                for at in np.unique(place):
                    rows = place == at
                    total += rows.mean() * abs(probs[rows, k].mean() - (y[rows] == k).mean()) / 3
            found = calibration_measure("ece-classwise-paper-code", n_bins=b).prepare(probs).values(y)
            assert found == pytest.approx(total, abs=1e-14)


def test_hosmer_lemeshow_of_the_authors_code_by_hand(random_generator):
    """One split of the instances sorted by class 0, into parts as even as can be, for all classes."""
    probs = random_generator.dirichlet(np.ones(3), 43)
    y = random_generator.integers(0, 3, 43)
    for b in (5, 8):
        total = 0.0
        for rows in np.array_split(np.argsort(1 - probs[:, 0])[::-1], b):
            for k in range(3):
                expected = probs[rows, k].sum()
                total += ((y[rows] == k).sum() - expected) ** 2 / expected
        found = calibration_measure("hosmer-lemeshow-paper-code", n_bins=b).prepare(probs).values(y)
        assert found == pytest.approx(total, rel=1e-13)
    ours = calibration_measure("hosmer-lemeshow", n_bins=50).prepare(probs).values(y)
    theirs = calibration_measure("hosmer-lemeshow-paper-code", n_bins=50).prepare(probs).values(y)
    assert np.isfinite(ours)
    assert np.isnan(theirs)  # bins without instances: 0 / 0


# -- what every measure keeps -------------------------------------------------------------------------------------------


@EVERY
def test_broadcasting_is_a_loop(mixtures, random_generator, name):
    probs = mixtures.probs(random_generator.dirichlet(np.ones(5), 3))
    y = random_generator.integers(0, 4, (2, 40))
    measure = CALIBRATION_MEASURES[name]
    crossed = measure.prepare(probs).values(y[:, np.newaxis])
    alone = [[measure.prepare(probs[j]).values(y[i]) for j in range(3)] for i in range(2)]
    assert crossed.shape == (2, 3)
    np.testing.assert_allclose(crossed, alone, rtol=1e-12, atol=1e-15)
    own = measure.prepare(probs[:2]).values(y)
    np.testing.assert_allclose(own, np.diagonal(crossed), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", [name for name in CALIBRATION_MEASURES if not name.startswith("skce")])
def test_bit_identical_for_every_chunk_size(mixtures, random_generator, name):
    probs = mixtures.probs(random_generator.dirichlet(np.ones(5), 30))
    y = random_generator.integers(0, 4, (4, 1, 40))
    measure = CALIBRATION_MEASURES[name]
    whole = measure.prepare(probs).values(y)
    for rows in (slice(0, 1), slice(2, 5), slice(5, 30)):
        assert (measure.prepare(probs[rows]).values(y[1:2]) == whole[1:2, rows]).all()


@EVERY
def test_objective_takes_every_measure(mixtures, random_generator, name):
    weights = random_generator.dirichlet(np.ones(5), 7)
    labels = draw_labels(random_generator, mixtures.probs(weights[:3]))
    objective = MixtureObjective(mixtures, labels, CALIBRATION_MEASURES[name])
    shared = objective.shared(weights)
    assert shared.shape == (3, 7)
    assert np.isfinite(shared).all()
    own = objective.own(np.broadcast_to(weights, (3, 7, 5)))
    np.testing.assert_allclose(own, shared, rtol=1e-12, atol=1e-15)


@EVERY
def test_calibrated_labels_give_less_than_wrong_ones(random_generator, name):
    probs = random_generator.dirichlet(np.full(4, 0.5), 400)
    right = (random_generator.random((50, 400, 1)) > probs.cumsum(axis=-1)[:, :-1]).sum(axis=-1)
    prepared = CALIBRATION_MEASURES[name].prepare(probs)
    assert prepared.values(right).mean() < prepared.values((right + 1) % 4).mean()


@EVERY
def test_descriptions_of_measures(name):
    measure = CALIBRATION_MEASURES[name]
    assert measure.name == name
    assert measure.notion in ("confidence", "classwise", "strong")
    assert measure.sentence.endswith(".")
    assert "{" not in measure.sentence
    assert (measure.n_bins is None) == (measure.rebuild is None)
    if measure.n_bins is not None:
        assert f"{measure.n_bins} " in measure.sentence
    copy = pickle.loads(pickle.dumps(measure))
    y, probs = [0, 1, 1], np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    np.testing.assert_array_equal(copy.prepare(probs).values(np.array(y)), measure.prepare(probs).values(np.array(y)))


# -- choosing -----------------------------------------------------------------------------------------------------------


def test_options_make_another_measure(random_generator):
    probs = random_generator.dirichlet(np.ones(3), 80)
    y = random_generator.integers(0, 3, 80)
    chosen = calibration_measure("ece-classwise", n_bins=15, binning="mass")
    assert (chosen.name, chosen.n_bins, chosen.binning) == ("ece-classwise-mass", 15, "mass")
    assert "15 equally full bins" in chosen.sentence
    wanted = classwise_calibration_error(y, probs, n_bins=15, binning="mass")
    assert chosen.prepare(probs).values(y) == pytest.approx(wanted, abs=1e-15)
    back = calibration_measure(chosen, binning="width")
    assert (back.name, back.n_bins, back.binning) == ("ece-classwise", 15, "width")
    assert calibration_measure("mce-confidence-mass").binning == "mass"
    assert calibration_measure("hosmer-lemeshow", n_bins=7).n_bins == 7
    assert calibration_measure("ece-confidence", n_bins=1).sentence.count("one bin") == 1
    assert calibration_measure("ece-confidence-mass") == calibration_measure("ece-confidence", binning="mass")
    for kind, usual in (("ece-confidence", "width"), ("l2-classwise-debiased", "width"), ("hosmer-lemeshow", "mass")):
        assert calibration_measure(f"{kind}-{usual}") == calibration_measure(kind)
    assert calibration_measure("hosmer-lemeshow-width").binning == "width"
    assert calibration_measure("ece-confidence") is CALIBRATION_MEASURES["ece-confidence"]
    assert calibration_measure("ece-confidence", binning="width").n_bins == 10


def own_measure():
    return CalibrationMeasure("mine", "strong", "Mine.", "none", CALIBRATION_MEASURES["brier"].prepare)


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda: calibration_measure("ece"), ("measure", "choice", "got 'ece'")),
        (
            lambda: calibration_measure("ece-confidence-mass-width"),
            ("measure", "choice", "got 'ece-confidence-mass-w"),
        ),
        (lambda: calibration_measure("ece-classwise-paper-code-mass"), ("measure", "choice")),
        (lambda: calibration_measure("brier-mass"), ("measure", "choice")),
        (lambda: calibration_measure(["brier"]), ("measure", "choice", r"got \['brier'\]")),
        (lambda: calibration_measure("brier", n_bins=5), ("n_bins", "conflict", "got 5")),
        (
            lambda: calibration_measure("skce-ul", binning="mass"),
            ("binning", "conflict"),
        ),
        (
            lambda: calibration_measure("hosmer-lemeshow-paper-code", binning="width"),
            ("binning", "conflict"),
        ),
        (lambda: calibration_measure("ece-confidence", n_bins=0), ("n_bins", "range")),
        (lambda: calibration_measure("ece-confidence", binning="even"), ("binning", "choice")),
        (lambda: calibration_measure(own_measure(), n_bins=3), ("n_bins", "conflict")),
    ],
)
def test_invalid_input_is_refused(call, refusal):
    with refuses(*refusal):
        call()


def test_a_user_measure_is_returned_unchanged():
    mine = own_measure()
    assert calibration_measure(mine) is mine


@EVERY
def test_values_lie_within_the_bounds(random_generator, name):
    measure = CALIBRATION_MEASURES[name]
    low, high = measure.bounds
    sharp = np.eye(3)[random_generator.integers(0, 3, (40, 12))]
    mixed = random_generator.dirichlet(np.full(3, 0.2), (200, 12))
    with np.errstate(all="ignore"):
        for probs in (sharp, mixed):
            for y in (random_generator.integers(0, 3, (len(probs), 12)), probs.argmax(axis=2), probs.argmin(axis=2)):
                values = measure.prepare(probs).values(y)
                values = values[~np.isnan(values)]
                assert (values >= low - 1e-12).all()
                assert (values <= high + 1e-12).all()


def test_bounds_are_reached():
    wrong, y = np.array([[[1.0, 0.0]] * 6]), np.ones(6, dtype=int)
    for name in (
        "ece-confidence",
        "ece-classwise",
        "mce-confidence",
        "l2-confidence-debiased",
        "l2-classwise-debiased",
    ):
        assert CALIBRATION_MEASURES[name].prepare(wrong).values(y) == pytest.approx(1.0)
    for name in ("skce-ul", "skce-uq", "skce-biased", "brier"):
        assert CALIBRATION_MEASURES[name].prepare(wrong).values(y) == pytest.approx(2.0)


def test_log_loss_of_an_impossible_label():
    found = CALIBRATION_MEASURES["log-loss"].prepare(np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert found.values(np.array([1, 0])) == math.inf
    assert found.values(np.array([0, 0])) == pytest.approx(math.log(2) / 2)
