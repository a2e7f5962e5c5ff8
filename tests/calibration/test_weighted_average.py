"""The effect of the calibrated combination on held-out data: by hand, with groups, and coverage. Run as a script: the table."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import uqassay as uq
from tests.calibration.made_up_data import draw_labels, ensemble_with_a_calibrated_member, softmax
from tests.notes import said, texts
from tests.refusals import refuses
from uqassay.calibration.credal import credal_calibration_test
from uqassay.calibration.weighted_average import _errors, weighted_average_effect
from uqassay.metrics.measures import calibration_measure
from uqassay.statistics import paired_mean_test


def confidence_error(probs, labels):
    """ECE from its definition."""
    confidence, right = probs.max(axis=1), probs.argmax(axis=1) == labels
    total = 0.0
    for b in range(10):
        inside = (confidence > b / 10) & (confidence <= (b + 1) / 10)
        if inside.any():
            total += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    return total


def test_a_row_of_the_table_by_hand():
    labels, members = ensemble_with_a_calibrated_member(0, 400)
    rows = np.arange(0, 400, 2)
    effect = weighted_average_effect(labels, members, calibration_rows=rows, n_draws=50)
    test = credal_calibration_test(labels[rows], members[rows], measure="ece-confidence", rng=0)
    assert effect.test.pvalue == test.pvalue
    assert np.array_equal(effect.weights, test.weights)
    rest = np.arange(1, 400, 2)
    assert effect.held_out_rows.tolist() == rest.tolist()
    plain = members[rest].mean(axis=1)
    weighted = np.einsum("nmk,m->nk", members[rest], test.weights)
    hits = [(p.argmax(axis=1) == labels[rest]).astype(float) for p in (plain, weighted)]
    assert [effect.accuracy, effect.accuracy_weighted] == pytest.approx([hits[0].mean(), hits[1].mean()], abs=1e-12)
    by_hand = paired_mean_test(hits[1], hits[0])
    assert float(effect.accuracy_difference.difference) == float(by_hand.difference)
    assert effect.accuracy_difference.pvalue == by_hand.pvalue
    errors = [confidence_error(p, labels[rest]) for p in (plain, weighted)]
    assert [effect.error, effect.error_weighted] == pytest.approx(errors, abs=1e-12)
    assert float(effect.error_difference) == pytest.approx(errors[1] - errors[0], abs=1e-12)
    assert effect.error_difference.low < effect.error_difference < effect.error_difference.high
    assert effect.error.n == 200


def test_weights_improve_the_calibration_of_held_out_instances():
    labels, members = ensemble_with_a_calibrated_member(1, 1500)
    for measure in ("ece-confidence", "ece-classwise"):
        effect = weighted_average_effect(labels, members[:, :2], measure=measure, n_draws=100)
        assert effect.error_difference.high < 0
        assert effect.weights[0] > 0.7
        assert not effect.test.reject(0.01)
        assert effect.measure == measure


def test_standard_error_against_fresh_samples():
    generator = np.random.default_rng(2)
    measure = calibration_measure("ece-confidence")
    fresh, intervals = [], []
    for _ in range(25):
        z = 2 * generator.standard_normal((300, 4))
        both, labels = np.stack([softmax(z / 2), softmax(z)]), draw_labels(generator, softmax(z))
        found = _errors(both, labels, measure, None, 0.95, 100, generator)[2]
        fresh.append(float(found))
        intervals.append((found.high - found.low) / 2 / 1.968)
    assert np.mean(intervals) == pytest.approx(np.std(fresh, ddof=1), rel=0.35)


def test_groups_are_kept_together_and_widen_intervals():
    labels, members = ensemble_with_a_calibrated_member(3, 120)
    labels, members, groups = np.repeat(labels, 4), np.repeat(members, 4, axis=0), np.repeat(np.arange(120), 4)
    effect = weighted_average_effect(labels, uq.Members(members, groups=groups), null="random", n_draws=100)
    assert not set(groups[effect.calibration_rows]) & set(groups[effect.held_out_rows])
    alone = weighted_average_effect(
        labels, members, calibration_rows=effect.calibration_rows, null="random", n_draws=100
    )
    width = [e.error_difference.high - e.error_difference.low for e in (alone, effect)]
    assert width[1] > 1.5 * width[0]
    assert "60 groups" in said(effect.error)


def test_one_member_changes_nothing():
    labels, members = ensemble_with_a_calibrated_member(5, 80)
    effect = weighted_average_effect(labels, members[:, :1], n_draws=20)
    assert (float(effect.accuracy_difference.difference), effect.accuracy_difference.pvalue) == (0.0, 1.0)
    zero = effect.error_difference
    assert (float(zero), zero.low, zero.high) == (0.0, 0.0, 0.0)
    two = weighted_average_effect(labels[:2], members[:2], null="random", n_draws=5)
    assert np.isnan(two.error.low)
    assert texts(two.error) == ["1 case: no interval"]


def test_half_precision():
    generator = np.random.default_rng(7)
    members = generator.dirichlet(np.ones(30), (80, 3)).astype(np.float16)
    assert np.abs(members.sum(axis=2, dtype=np.float64) - 1).max() > 1e-6
    labels = generator.integers(0, 30, 80)
    for given in (members, uq.Members(members)):
        assert np.isfinite(weighted_average_effect(labels, given, null="random", n_draws=5).error_difference.low)


def test_intervals_stay_in_the_range_of_the_measure():
    generator = np.random.default_rng(8)
    z = 2 * generator.standard_normal((60, 3))
    labels = draw_labels(generator, softmax(z))
    both = np.stack([softmax(z), softmax(z / 2)])
    reached = set()
    for name, few in (("ece-confidence", 60), ("mce-confidence", 12), ("brier", 8)):
        measure = calibration_measure(name)
        found = _errors(both[:, :few], labels[:few], measure, None, 0.9999, 50, np.random.default_rng(0))
        free = replace(measure, bounds=(-np.inf, np.inf))
        wide = _errors(both[:, :few], labels[:few], free, None, 0.9999, 50, np.random.default_rng(0))
        low, high = measure.bounds
        for cut, whole, (least, greatest) in zip(
            found, wide, ((low, high), (low, high), (low - high, high - low)), strict=True
        ):
            assert (cut.low, cut.high) == (max(whole.low, least), min(whole.high, greatest))
            reached |= {("low", cut.low > whole.low), ("high", cut.high < whole.high)}
    assert reached == {("low", True), ("low", False), ("high", True), ("high", False)}


@pytest.mark.parametrize("name", ["log-loss", "hosmer-lemeshow"])
def test_infinite_measures_say_why_they_have_no_interval(name):
    labels, members = ensemble_with_a_calibrated_member(9, 60)
    never = np.concatenate([members, np.zeros((60, 3, 1))], axis=2)
    effect = weighted_average_effect(
        np.where(np.arange(60) % 3 == 0, 4, labels), never, measure=name, null="random", n_draws=5
    )
    for error in (effect.error, effect.error_weighted):
        assert float(error) == np.inf
        assert np.isnan([error.low, error.high]).all()
        assert texts(error) == ["the measure is infinite, for example because a label had probability 0: no interval"]
    assert np.isnan(float(effect.error_difference))
    assert texts(effect.error_difference) == ["the measure is undefined or infinite: no interval"]


def test_bootstrap_draws_without_a_value_are_counted():
    """Two instances alone in their bins and one pair: draws without any bin of two have no debiased value."""
    both = np.array([[[0.9, 0.1], [0.9, 0.1], [0.7, 0.3]]] * 2)
    measure = calibration_measure("l2-confidence-debiased")
    found = _errors(both, np.array([0, 1, 0]), measure, None, 0.95, 200, np.random.default_rng(0))[0]
    assert np.isfinite(float(found))
    assert np.isfinite([found.low, found.high]).all()  # of three instances two always share a bin
    alone = np.array([[[0.9, 0.1], [0.7, 0.3]]] * 2)
    undefined = _errors(alone, np.array([0, 1]), measure, None, 0.95, 200, np.random.default_rng(0))[0]
    assert texts(undefined) == ["the measure is undefined or infinite: no interval"]
    rare = replace(measure, prepare=OnlyWithBoth)
    some = _errors(alone, np.array([0, 1]), rare, None, 0.95, 200, np.random.default_rng(0))[0]
    share = int(
        re.fullmatch("the measure is infinite or undefined in (\\d+) of 200 resamples: no interval", said(some))[1]
    )
    assert 60 < share < 140
    assert np.isnan([some.low, some.high]).all()


class OnlyWithBoth:
    """A measure that is defined where labels 0 and 1 both occur."""

    def __init__(self, probs):
        self.lead = probs.shape[:-2]

    def values(self, labels):
        return np.full(self.lead, 0.5 if len(set(labels.tolist())) == 2 else np.nan)


def test_draws_of_the_null():
    labels, members = ensemble_with_a_calibrated_member(10, 60)
    effect = weighted_average_effect(labels, members, null="random", n_draws=2, null_draws=19)
    assert effect.test.n_draws == 19
    assert weighted_average_effect(labels, members, null="random", n_draws=2).test.n_draws == 99


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        (
            {"calibration_rows": [0, 20]},
            ("calibration_rows", "range", "entry 1 is 20"),
        ),
        (
            {"calibration_rows": [-1, 2]},
            ("calibration_rows", "range", "entry 0 is -1"),
        ),
        ({"calibration_rows": [0.5]}, ("calibration_rows", "shape", r"got dtype float64 and shape \(1,\)")),
        ({"calibration_rows": np.ma.masked_array([0, 1], [0, 1])}, ("calibration_rows", "masked")),
        ({"groups": np.zeros(20)}, ("groups", "range", "got 1")),
        ({"n_draws": 1}, ("n_draws", "range", "got 1")),
        ({"n_draws": 2.5}, ("n_draws", "type", "got 2.5")),
        ({"null_draws": 0}, ("null_draws", "range", "got 0")),
        (
            {"calibration_rows": np.ones(20, bool)},
            ("calibration_rows", "empty", "got 20 of 20"),
        ),
        (
            {"calibration_rows": np.arange(10), "groups": np.arange(20) % 7},
            ("calibration_rows", "conflict", "7 groups in both"),
        ),
        ({"fraction": 0}, ("fraction", "range", "got 0")),
        ({"level": 95}, ("level", "range")),
        ({"measure": "accuracy"}, ("measure", "choice")),
    ],
)
def test_bad_input_is_refused(options, refusal):
    with refuses(*refusal):
        weighted_average_effect(
            *ensemble_with_a_calibrated_member(6, 20), **{"null": "random", "n_draws": 5, **options}
        )


def coverage(name, n, sharpness, n_samples, n_draws=200):
    """Coverage in percent of intervals of the difference: for that to expect at n, and for that at n → ∞."""
    measure, generator = calibration_measure(name), np.random.default_rng(0)

    def sample(size):
        z = 2 * generator.standard_normal((size, 5))
        return np.stack([softmax(0.6 * z), softmax(sharpness * z)]), draw_labels(generator, softmax(z))

    both, labels = sample(400_000)
    limit = float(np.diff(measure.prepare(both).values(labels))[0])
    values, ends = [], []
    for _ in range(n_samples):
        found = _errors(*sample(n), measure, None, 0.95, n_draws, generator)[2]
        values.append(float(found))
        ends.append((found.low, found.high))
    low, high = np.array(ends).T
    return [100 * np.mean((low <= target) & (target <= high)) for target in (np.mean(values), limit)]


if __name__ == "__main__":
    N_SAMPLES = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    for sharpness in (1.0, 0.75):
        for name in ("ece-confidence", "ece-classwise"):
            for n in (200, 1000):
                found, limit = coverage(name, n, sharpness, N_SAMPLES)
                print(sharpness, name, n, f"{found:.1f} ({limit:.1f})", flush=True)


def test_undefined_weights_have_no_accuracy():
    members = np.random.default_rng(0).dirichlet(np.ones(3), (5, 3))
    effect = weighted_average_effect([0, 1, 2, 0, 1], members, measure="skce-ul", calibration_rows=[0])  # no pair
    assert np.isnan(effect.weights).all()
    assert effect.accuracy == pytest.approx(np.mean(members[1:].mean(axis=1).argmax(axis=1) == [1, 2, 0, 1]))
    for estimate in (effect.accuracy_weighted, effect.accuracy_difference.difference):
        assert np.isnan([estimate, estimate.low, estimate.high]).all()
        assert texts(estimate) == ["the measure is undefined on the calibration part: no weights"]
    assert np.isnan(effect.accuracy_difference.pvalue)
    assert not effect.accuracy_difference.reject()
