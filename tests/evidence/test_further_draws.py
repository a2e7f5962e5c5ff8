"""Further draws of sets against full searches of the same draws, and shared by several measures."""

from dataclasses import replace

import numpy as np
import pytest

from uqassay.calibration.credal import credal_calibration_test
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.nulls import LabelDraws, least_reaching
from uqassay.calibration.search import QUICK, minimise_over_simplex
from uqassay.evidence import calibration as further_draws
from uqassay.evidence.calibration import reached_by_further_draws
from uqassay.metrics.measures import calibration_measure

NAMES = ("kuiper-confidence", "ece-classwise")


@pytest.fixture(scope="module")
def tested():
    """Overconfident members, and their tests; no draw of the first 99 reaches either statistic."""
    rng = np.random.default_rng(3)
    logits = 3 * rng.normal(size=(150, 1, 4)) + 0.4 * rng.normal(size=(150, 3, 4))
    members = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    flat = np.exp(0.6 * logits.mean(axis=1))
    labels = (rng.random((150, 1)) > (flat / flat.sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1)
    return members, [credal_calibration_test(labels, members, measure=name) for name in NAMES]


def reached(tested, n_more, names=NAMES):
    members, tests = tested
    chosen = [tests[NAMES.index(name)] for name in names]
    return reached_by_further_draws(members, chosen, [calibration_measure(name) for name in names], n_more, 7)


def test_together_as_alone_and_in_any_pieces(tested, monkeypatch):
    expected = reached(tested, 400)
    assert expected == [reached(tested, 400, (name,))[0] for name in NAMES]
    monkeypatch.setattr(further_draws, "TOGETHER", 150 * 7)
    monkeypatch.setattr(further_draws, "MOST_WAITING", 0)
    assert reached(tested, 400) == expected


def test_no_draw_is_forgotten(tested):
    """Every draw whose minimum reaches the statistic is counted; here most of the others are not."""
    members, tests = tested
    generator, mixtures = np.random.default_rng([7, 22]), Mixtures(members)
    for _ in further_draws.STEPS:
        generator.dirichlet(np.ones(3), further_draws.NEARBY)
    aims = generator.random((300, 150))
    for name, test, counted in zip(NAMES, tests, reached(tested, 300), strict=True):
        drawn = LabelDraws(mixtures.probs(test.weights)).at(aims)
        objective = MixtureObjective(mixtures, drawn, calibration_measure(name))
        least = minimise_over_simplex(objective, QUICK, np.random.default_rng(0))[0]
        minima = int((least >= least_reaching(test.statistic)).sum())
        assert minima <= counted <= minima + 15


def test_a_low_statistic_is_reached_by_most_draws(tested):
    members, tests = tested
    low = replace(tests[0], statistic=1e-4)
    (counted,) = reached_by_further_draws(members, [low], [calibration_measure(NAMES[0])], 50, 7)
    assert counted == 50
