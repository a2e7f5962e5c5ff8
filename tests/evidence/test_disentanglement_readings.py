"""Conclusions of the experiments: each kind of behaviour is recognised, and jitter is not taken for one."""

from dataclasses import replace

import numpy as np
import pytest
from tests.evidence.disentanglement_data import made_study
from tests.notes import codes

from uqassay.evidence.disentanglement_runs import Measured
from uqassay.evidence.disentanglement_words import joint_level, read_classes, read_experiments
from uqassay.statistics import mean_estimate

IT = "information-theoretic"


@pytest.mark.parametrize(
    ("kind", "target", "other"),
    [
        ("perfect", "follows", "unclear"),
        ("swapped", "unclear", "follows"),
        ("together", "follows", "follows"),
        ("constant", "flat", "flat"),
        ("reversed", "against", "unclear"),
    ],
)
def test_movements_of_made_up_studies(kind, target, other):
    for reading in read_experiments(made_study(kind, seed=3), IT):
        assert (reading.target.movement, reading.other.movement) == (target, other)
        assert (reading.target.ideal, reading.other.ideal) == (1, 0)
        assert reading.accuracy_moves


def test_equal_estimates_follow_equally_closely():
    for reading in read_experiments(made_study("together"), IT):
        assert reading.comparison == "as-closely"
        assert float(reading.difference) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("share", "expected"), [(0.02, "unclear"), (0.0, "less")])
def test_a_noisier_leak_is_compared_over_the_runs(share, expected):
    """Epistemic = aleatoric + noise: follows less closely, by the paired interval of the correlations."""
    rng = np.random.default_rng(1)
    study = made_study("together", n_runs=12)
    measured = study.measured["label-noise"]
    parts = measured.parts[IT]
    shape = parts.epistemic.shape[:2]
    noise = rng.normal(scale=0.12, size=(*shape, 1))
    aleatoric = parts.aleatoric + (rng.normal(scale=0.1, size=(*shape, 1)) if share else 0.0)
    parts = replace(parts, epistemic=parts.epistemic + noise, aleatoric=aleatoric)
    study = replace(study, measured={**study.measured, "label-noise": replace(measured, parts={IT: parts})})
    _, reading = read_experiments(study, IT)
    assert (reading.target.movement, reading.other.movement) == ("follows", "follows")
    assert reading.comparison == expected
    r = [term.per_run for term in study.error(IT).terms]
    same = mean_estimate(r[3] - r[2], level=joint_level(0.95))
    assert (reading.difference.low, reading.difference.high) == (same.low, same.high)


def test_a_single_run_claims_nothing():
    study = made_study("together", n_runs=1)
    for reading in read_experiments(study, IT):
        assert reading.target.movement == reading.other.movement == "single-run"
        assert reading.comparison == "unclear" or reading.comparison is None
    classes = read_classes(study, IT)
    assert set(classes.sides.values()) == {"single-run"}
    assert classes.better is None


def test_an_accuracy_that_does_not_move_is_noticed():
    study = made_study("perfect")
    measured = study.measured["label-noise"]
    still = replace(measured, probs=np.broadcast_to(measured.probs[:, :1], measured.probs.shape))
    _, reading = read_experiments(replace(study, measured={**study.measured, "label-noise": still}), IT)
    assert not reading.accuracy_moves


@pytest.mark.parametrize(
    ("kind", "sides", "better"),
    [
        ("perfect", ("unclear", "above"), "epistemic"),
        ("swapped", ("above", "unclear"), "aleatoric"),
        ("together", ("above", "above"), None),
    ],
)
def test_left_out_classes(kind, sides, better):
    reading = read_classes(made_study(kind, seed=6, n_runs=8), IT)
    assert (reading.sides["aleatoric"], reading.sides["epistemic"]) == sides
    assert reading.better == better


@pytest.mark.slow
def test_jitter_is_rarely_taken_for_a_movement():
    """At most 5 % of the readings of pure jitter claim anything, with 5 runs (measured: .02, .03 and .05 of 400)."""
    claims = np.zeros(3)
    n = 200
    for seed in range(n):
        study = made_study("jitter", seed=seed)
        for i, reading in enumerate(read_experiments(study, IT)):
            claims[i] += {reading.target.movement, reading.other.movement} != {"unclear"}
        classes = read_classes(study, IT)
        claims[2] += set(classes.sides.values()) != {"unclear"} or classes.better is not None
    assert (claims / n <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)).all()
    assert claims.sum() > 0


def test_strong_movements_are_found_by_five_runs():
    found = [
        [reading.target.movement for reading in read_experiments(made_study("perfect", seed=seed, jitter=0.02), IT)]
        for seed in range(20)
    ]
    assert np.mean(np.array(found) == "follows") == 1


def with_conditions(study, places):
    """The same study with some of its conditions, in this order."""
    kept = {}
    for name, m in study.measured.items():
        parts = {k: type(d)(*(p[:, places] for p in (d.total, d.aleatoric, d.epistemic))) for k, d in m.parts.items()}
        kept[name] = Measured(tuple(np.array(m.conditions)[places]), m.labels[:, places], m.probs[:, places], parts)
    return replace(study, measured=kept)


@pytest.mark.parametrize(("n_runs", "movement"), [(2, "unclear"), (6, "unclear"), (7, "follows")])
def test_two_conditions_need_seven_runs(n_runs, movement):
    """r is ±1: two runs of jitter agree in half of all studies, seven in 2^-6 = 1.6 %."""
    for reading in read_experiments(with_conditions(made_study("together", n_runs=n_runs), [0, -1]), IT):
        assert reading.target.movement == reading.other.movement == movement
        assert reading.comparison is None


def test_order_of_the_conditions_does_not_matter():
    study = made_study("perfect", without=("left-out-class",))
    back = with_conditions(study, list(range(6, -1, -1)))
    first = with_conditions(study, list(range(7)))
    for reading, turned in zip(read_experiments(first, IT), read_experiments(back, IT), strict=True):
        assert turned.accuracy_moves == reading.accuracy_moves
        assert float(turned.accuracy_change) == float(reading.accuracy_change)
        assert turned.target.movement == reading.target.movement


def test_intervals_of_two_runs_stay_among_the_possible_values():
    seen = set()
    for seed in range(6):
        study = made_study("jitter", n_runs=2, n=12, seed=seed)
        for reading in read_experiments(study, IT):
            assert reading.accuracy_change.low >= -1
            assert reading.accuracy_change.high <= 1
        classes = read_classes(study, IT)
        for estimate, low in ((classes.aleatoric, 0), (classes.epistemic, 0), (classes.difference, -1)):
            assert low <= estimate.low <= estimate.high <= 1
            seen |= set(codes(estimate))
    assert "edge" in seen


def test_two_runs_with_the_same_roc_auc_by_chance_claim_nothing():
    study = made_study("jitter", n_runs=2, n=9)
    reading = read_classes(study, IT)
    equal = [one for one in (reading.aleatoric, reading.epistemic) if one.low == one.high]
    assert equal, "a study where chance made both runs equal"
    assert float(equal[0]) != 0.5
    assert set(reading.sides.values()) == {"unclear"}
