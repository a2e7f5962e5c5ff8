"""The test of one classifier: its statistics, nulls, verdict, and how it is shown."""

import itertools
import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import uqassay as uq
from tests.calibration.made_up_data import draw_labels, ensemble_with_a_calibrated_member, random_predictions
from tests.notes import texts
from tests.refusals import refuses
from tests.shown_results import check_shown
from uqassay.arrays import CACHE_BYTES
from uqassay.calibration import kernel_tests as statement_kernel
from uqassay.calibration.credal import credal_calibration_test
from uqassay.calibration.kernel_tests import skce_pvalue, statement_kernel_test, statements_of
from uqassay.calibration.mixtures import Mixtures
from uqassay.calibration.nulls import (
    LabelDraws,
    check_alpha,
    draws_before_stop,
    known_mixture_null,
    labels_from,
    monte_carlo_pvalue,
    n_patterns,
    null_threshold,
    random_mixture_null,
    sign_test,
)
from uqassay.calibration.one_classifier import calibration_test, hosmer_lemeshow_test
from uqassay.calibration.weighted_average import weighted_average_effect
from uqassay.metrics.calibration import Groupwise
from uqassay.metrics.kernel_error import PrepareKernel
from uqassay.metrics.measures import CALIBRATION_MEASURES, CalibrationMeasure, calibration_measure
from uqassay.native import kernel, kernels
from uqassay.text import pvalue_text

# -- monte carlo -----------------------------------------------------------------------------------------------------
#
# Labels from probabilities, Monte-Carlo p-values and thresholds.


def test_labels_from_against_their_probabilities(random_generator):
    probs = random_generator.dirichlet(np.full(5, 0.3), 8)
    probs[0], probs[1], probs[2] = [0, 1, 0, 0, 0], [0.5, 0, 0, 0.5, 0], [1, 0, 0, 0, 0]
    labels = labels_from(probs, 20_000, random_generator)
    found = np.stack([(labels == k).mean(axis=0) for k in range(5)], axis=1)
    assert np.abs(found - probs).max() < 0.015
    assert (found[probs == 0] == 0).all()


def test_labels_from_needs_no_exact_sum(random_generator):
    probs = np.array([[0.2, 0.2], [0.0, 1.001]])
    labels = labels_from(probs, 4000, random_generator)
    assert abs(labels[:, 0].mean() - 0.5) < 0.04
    assert (labels[:, 1] == 1).all()


@pytest.mark.parametrize("pure", ["0", "1"])
@pytest.mark.parametrize(("n", "k"), [(1, 2), (9, 3), (70, 10), (11, 48), (8, 49), (13, 100), (3, 1000)])
def test_labels_against_one_inversion_at_a_time(n, k, pure, monkeypatch):
    monkeypatch.setenv("UQASSAY_PURE", pure)
    rng = np.random.default_rng([n, k])
    probs = rng.dirichlet(np.full(k, 0.2), n)
    probs[0] = np.eye(k)[k // 2]
    drawn = LabelDraws(np.asfortranarray(probs)).draw(5, np.random.default_rng(7))
    aims = np.random.default_rng(7).random((5, n))
    for i in range(n):
        # above 48 classes numbers are compared after a shift by i, which rounds them
        shift = i if k > 48 else 0
        steps = (np.cumsum(probs[i]) / np.cumsum(probs[i])[-1])[:-1] + shift
        found = [int((steps <= min(shift + u, np.nextafter(shift + 1, 0))).sum()) for u in aims[:, i]]
        assert drawn[:, i].tolist() == found


class ExtremeNumbers:
    """The least and the greatest random number, in turns."""

    def random(self, shape):
        return np.where(np.arange(np.prod(shape)).reshape(shape) % 2, np.nextafter(1, 0), 0.0)


@pytest.mark.parametrize("k", [2, 10, 60])
def test_labels_at_the_ends_of_the_unit_interval(k, monkeypatch):
    probs = np.tile(np.eye(k)[[0, k - 1]], (40, 1))
    for pure in ("0", "1"):
        monkeypatch.setenv("UQASSAY_PURE", pure)
        assert (labels_from(probs, 3, ExtremeNumbers()) == probs.argmax(axis=1)).all()


@pytest.mark.parametrize("k", [5, 60])
def test_labels_do_not_depend_on_chunks(k, monkeypatch):
    probs = np.random.default_rng(k).dirichlet(np.ones(k), 50)
    whole = labels_from(probs, 4, np.random.default_rng(1))
    for pure in ("0", "1"):
        monkeypatch.setenv("UQASSAY_PURE", pure)
        monkeypatch.setattr("uqassay.calibration.nulls.CACHE_BYTES", 8 * k * 7)
        np.testing.assert_array_equal(labels_from(probs, 4, np.random.default_rng(1)), whole)
        monkeypatch.setattr("uqassay.calibration.nulls.CACHE_BYTES", CACHE_BYTES)
        np.testing.assert_array_equal(labels_from(probs, 4, np.random.default_rng(1)), whole)


@pytest.mark.skipif(kernel("found_steps") is None, reason="needs the compiled kernels")
def test_kernels_of_labels_refuse_shapes_that_do_not_fit():
    steps, aims = np.full((4, 3), 0.5), np.full((2, 5), 0.1)
    for call in (lambda: kernel("counted_steps")(steps, aims), lambda: kernel("found_steps")(steps, aims, 0)):
        with pytest.raises(ValueError, match="one random number for each instance"):
            call()
    with pytest.raises(ValueError, match="numbered from 0"):
        kernel("found_steps")(steps, np.full((2, 4), 0.1), -1)


def test_pvalue_counts_ties_against_rejection_and_forgives_rounding():
    assert monte_carlo_pvalue(1.0, np.array([0.5, 1.0, 2.0])) == 3 / 4
    assert monte_carlo_pvalue(0.1 + 0.2, np.array([0.3, 0.0])) == 2 / 3
    assert monte_carlo_pvalue(np.inf, np.array([np.inf, 1.0])) == 2 / 3
    assert np.isnan(monte_carlo_pvalue(np.nan, np.ones(3)))
    assert np.isnan(monte_carlo_pvalue(1.0, np.array([1.0, np.nan])))


def test_threshold_agrees_with_the_pvalue(random_generator):
    null = random_generator.normal(size=59)
    for alpha in (0.02, 0.05, 0.1, 0.5, 0.9):
        for statistic in np.sort(null)[::3] + 1e-3:
            assert (monte_carlo_pvalue(statistic, null) <= alpha) == (statistic > null_threshold(null, alpha))


def test_a_sequential_pvalue_keeps_every_level(random_generator):
    """Each of 41 exchangeable values, ties or not, is the statistic in turn: its p-value is never too small."""
    for rounded in (False, True):
        found = []
        for _ in range(150):
            values = random_generator.random(41)
            values = values.round(1) if rounded else values
            for i in range(len(values)):
                null = random_generator.permutation(np.delete(values, i))
                end = draws_before_stop(values[i], null, 4)
                found.append(monte_carlo_pvalue(values[i], null[:end]))
        found = np.array(found)
        for level in (0.05, 0.1, 0.2, 0.5, 0.8):
            share, deviation = (found <= level + 1e-12).mean(), np.sqrt(level * (1 - level) / 150)
            assert share <= level + 3 * deviation, (rounded, level)
            assert rounded or share >= level - 3 * deviation - 0.03
        assert (found.min(), found.max()) == (1 / 41, 1.0)


def test_a_stop_on_both_sides_waits_for_both():
    null = np.array([2.0, 3.0, 0.0, 4.0, 0.5])
    assert draws_before_stop(1.0, null, 2) == 1
    assert draws_before_stop(1.0, null, 2, "both") == 4
    assert draws_before_stop(1.0, null, 3, "both") is None
    assert draws_before_stop(np.inf, np.array([1.0, np.inf]), 1) == 1


# -- sign null -------------------------------------------------------------------------------------------------------
#
# Signs of groups: every pattern against brute force, and the sums against loops over groups.


GROUPED = [name for name, measure in CALIBRATION_MEASURES.items() if isinstance(measure.prepare(np.eye(3)), Groupwise)]


def data(n=60, k=3):
    probs = random_predictions(4, n, k)
    return draw_labels(np.random.default_rng(5), probs), probs


def test_every_pattern_of_signs_against_a_loop_over_bins():
    labels, probs = data()
    groups = np.arange(60) % 5
    found = sign_test(labels, probs, calibration_measure("ece-confidence"), groups, 99, np.random.default_rng(0))
    confidence, correct = probs.max(axis=1), probs.argmax(axis=1) == labels
    expected = []
    for signs in itertools.product([1, -1], repeat=4):
        signed = np.array([1, *signs])[groups] * (correct - confidence)
        place = np.ceil(confidence * 10).astype(int)
        expected.append(sum(abs(signed[place == b].sum()) for b in range(11)) / 60)
    assert found.statistic == pytest.approx(expected[0])
    np.testing.assert_allclose(np.sort(found.null), np.sort(expected[1:]), atol=1e-14)


@pytest.mark.parametrize("name", GROUPED)
def test_without_a_change_of_sign_it_is_the_measure(name):
    labels, probs = data()
    prepared = CALIBRATION_MEASURES[name].prepare(probs)
    for groups in (np.arange(60), np.arange(60) // 7, np.zeros(60, dtype=int)):
        signed = prepared.by_groups(groups, groups.max() + 1)(labels)
        found = signed.values(np.ones((2, groups.max() + 1)))
        np.testing.assert_allclose(found, float(prepared.values(labels)), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(("name", "own"), [("skce-uq", False), ("skce-biased", True)])
def test_signs_of_kernel_errors_against_a_loop(name, own):
    labels, probs = data(24)
    groups = np.arange(24) % 5
    signs = np.random.default_rng(1).integers(0, 2, (3, 5)) * 2.0 - 1.0
    found = CALIBRATION_MEASURES[name].prepare(probs).by_groups(groups, 5)(labels).values(signs)
    errors = probs - np.eye(3)[labels]
    for d in range(3):
        pairs = [(i, j) for i in range(24) for j in range(24) if own or i != j]
        total = sum(
            np.exp(-0.5 * np.abs(probs[i] - probs[j]).sum())
            * (errors[i] @ errors[j])
            * signs[d, groups[i]]
            * signs[d, groups[j]]
            for i, j in pairs
        )
        assert found[d] == pytest.approx(total / len(pairs), abs=1e-12)


def test_signs_of_cumulative_errors_against_a_loop():
    labels, probs = data(30)
    probs = np.round(probs, 1) + 0.01  # ties
    probs /= probs.sum(axis=1, keepdims=True)
    groups = np.arange(30) % 4
    signs = np.random.default_rng(1).integers(0, 2, (3, 4)) * 2.0 - 1.0
    confidence, correct = probs.max(axis=1), probs.argmax(axis=1) == labels
    for name in ("ks-confidence", "kuiper-confidence"):
        found = CALIBRATION_MEASURES[name].prepare(probs).by_groups(groups, 4)(labels).values(signs)
        for d in range(3):
            deviations = signs[d][groups] * (confidence - correct)
            sums = [0.0] + [deviations[confidence <= t].sum() / 30 for t in np.unique(confidence)]
            expected = max(np.abs(sums)) if name.startswith("ks") else max(sums) - min(sums)
            assert found[d] == pytest.approx(expected, abs=1e-12)


def test_groups_of_one_instance_are_the_test_of_independent_labels():
    """The second p-value draws labels independently then, so both tests agree up to chance."""
    rejected = np.zeros(2)
    for run in range(40):
        rng = np.random.default_rng(run)
        probs = rng.dirichlet(np.ones(3), 60)
        labels = draw_labels(rng, probs)
        found = sign_test(labels, probs, calibration_measure("ece-confidence"), np.arange(60), 19, rng)
        rejected += [found.sign_pvalue <= 0.25, found.dependent_pvalue <= 0.25]
        assert found.pvalue == max(found.sign_pvalue, found.dependent_pvalue)
    assert (np.abs(rejected / 40 - 0.25) < 3.3 * (0.25 * 0.75 / 40) ** 0.5).all()


def test_number_of_patterns():
    assert [n_patterns(g, 99, "upper") for g in (1, 2, 7, 8)] == [0, 1, 63, None]
    assert [n_patterns(g, 99, "both") for g in (1, 2, 6, 7, 5000)] == [1, 3, 63, None, None]


def test_a_measure_without_sums_is_refused():
    class Constant:
        def values(self, labels):
            return np.zeros(labels.shape[:-1])

    mine = CalibrationMeasure("mine", "strong", "Mine.", "none", lambda probs: Constant())
    with refuses("groups", "missing", got="3 groups"):
        sign_test(*data(), mine, np.arange(60) % 3, 9, np.random.default_rng(0))


# -- statement kernel ------------------------------------------------------------------------------------------------
#
# The kernel test of statements, against plain loops; signs of whole units.


def by_loops(residuals, points, units, signs):
    """Mean over pairs of different units, and the sums with signs (G, D)."""
    n = len(residuals)
    total, drawn, pairs = 0.0, np.zeros(signs.shape[1]), 0
    for i in range(n):
        for j in range(n):
            if units[i] != units[j]:
                h = np.exp(-np.abs(points[i] - points[j]).sum()) * (residuals[i] @ residuals[j])
                total, pairs = total + h, pairs + 1
                drawn += signs[units[i]] * signs[units[j]] * h
    return total / pairs, (1 + (drawn >= total - 1e-12).sum()) / (signs.shape[1] + 1)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("tile", [2**23, 600])
def test_against_loops(grouped, tile, random_generator, monkeypatch):
    monkeypatch.setattr(statement_kernel, "STATEMENT_TILE_BYTES", tile)
    n = 17
    residuals, points = random_generator.normal(size=(n, 2)), random_generator.normal(size=(n, 4))
    units = np.arange(n) // 3 if grouped else np.arange(n)
    n_units = int(units.max()) + 1
    signs = np.random.default_rng(3).integers(0, 2, (n_units, 40), dtype=np.int8) * 2.0 - 1.0
    expected = by_loops(residuals, points, units, signs)
    given = {"units": units if grouped else None, "n_draws": 40, "rng": np.random.default_rng(3)}
    assert statement_kernel_test(residuals, points, **given) == pytest.approx(expected)


def test_means_and_spreads_count_alike(random_generator):
    mean, variance = random_generator.random((50, 3)), 1e-6 * random_generator.random((50, 3))
    points = statements_of(mean, variance)
    i, j = np.triu_indices(50, 1)
    distances = np.abs(points[i] - points[j])
    assert np.median(distances[:, :3].sum(axis=1)) == pytest.approx(1.0)
    assert np.median(distances[:, 3:].sum(axis=1)) == pytest.approx(1.0)


def test_equal_statements_and_no_residuals():
    points = statements_of(np.full((4, 2), 0.5), np.zeros((4, 2)))
    found = statement_kernel_test(np.zeros((4, 1)), points, units=None, n_draws=9, rng=np.random.default_rng(0))
    assert found == (0.0, 1.0)


def test_one_unit_has_no_pair():
    found = statement_kernel_test(
        np.ones((3, 1)), np.zeros((3, 2)), units=np.zeros(3, int), n_draws=9, rng=np.random.default_rng(0)
    )
    assert np.isnan(found).all()


# -- parts -----------------------------------------------------------------------------------------------------------
#
# Two disjoint parts of the instances.


def test_parts_do_not_depend_on_the_labels():
    labels, members = ensemble_with_a_calibrated_member(4, 100)
    first = weighted_average_effect(labels, members, null="random", n_draws=10)
    again = weighted_average_effect((labels + 1) % 4, members, null="random", n_draws=10)
    assert np.array_equal(first.calibration_rows, again.calibration_rows)
    third = weighted_average_effect(labels, members, null="random", n_draws=10, fraction=0.3)
    assert len(third.calibration_rows) == pytest.approx(30, abs=1)


def test_a_single_instance_is_refused():
    with refuses("y_true", "range", got="got 1"):
        weighted_average_effect(*ensemble_with_a_calibrated_member(6, 1))


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, uq.Members])
def test_members_on_the_first_axis_are_named(kind):
    members = np.moveaxis(np.full((30, 4, 3), 1 / 3), 1, 0)  # (M, n, K)
    with refuses("y_true", "member-axis", got="30, which is the number of members") as refusal:
        credal_calibration_test(np.arange(30) % 3, kind(members))
    assert "Members(probs, member_axis=0)" in refusal.value.remedy
    with refuses("y_true", "member-axis") as refusal:
        uq.losses.unified_loss(np.arange(30) % 3, kind(members))
    assert "Members(probs, member_axis=0)" in refusal.value.remedy


# -- random null -----------------------------------------------------------------------------------------------------
#
# The null of a random mixture against the algorithm as printed.


def test_random_null_against_the_algorithm_as_printed(random_generator):
    members = random_generator.dirichlet(np.ones(3), (30, 4))
    measure, found = calibration_measure("ece-classwise"), []
    for _ in range(400):
        truth = random_generator.dirichlet(np.ones(4)) @ members
        rows = random_generator.integers(0, 30, 30)
        labels = [random_generator.choice(3, p=p / p.sum()) for p in truth[rows]]
        found.append(float(measure.prepare(truth[rows]).values(np.array(labels))))
    truths = random_generator.dirichlet(np.ones(4), 400)
    ours = random_mixture_null(Mixtures(members), truths, measure, random_generator, instances="resampled")
    assert abs(ours.mean() - np.mean(found)) < 4 * np.std(found) * np.sqrt(2 / 400)
    assert abs(ours.std() / np.std(found) - 1) < 0.15
    kept = random_mixture_null(Mixtures(members), truths, measure, random_generator)
    assert kept.mean() > ours.mean() + 2 * ours.std() / np.sqrt(400)


def test_permuted_instances_change_pairs_but_no_bins(random_generator):
    mixtures = Mixtures(random_generator.dirichlet(np.ones(3), (30, 2)))
    truths = random_generator.dirichlet(np.ones(2), 500)
    measure = calibration_measure("ece-classwise")
    nulls = [
        random_mixture_null(mixtures, truths, measure, random_generator, instances=kind)
        for kind in ("kept", "permuted")
    ]
    assert abs(nulls[0].mean() - nulls[1].mean()) < 4 * nulls[0].std() * np.sqrt(2 / 500)


@pytest.mark.skipif("inverted_labels" not in kernels().names, reason=str(kernels()))
@pytest.mark.parametrize(("n", "k"), [(1, 1), (30, 3), (600, 5), (257, 300)])
@pytest.mark.parametrize("instances", ["kept", "resampled"])
def test_null_by_kernels_against_the_formula(monkeypatch, n, k, instances):
    """To the last bit; more instances and classes than a block, probabilities 0, and an odd number of draws."""
    rng = np.random.default_rng([n, k])
    members = rng.dirichlet(np.full(k, 0.05), (n, 3))
    mixtures, truths, nulls = Mixtures(members), rng.dirichlet(np.ones(3), 7), []
    for pure in ("0", "1"):
        monkeypatch.setenv("UQASSAY_PURE", pure)
        seeds = np.random.default_rng(1)
        nulls.append(random_mixture_null(mixtures, truths, calibration_measure("brier"), seeds, instances=instances))
    np.testing.assert_array_equal(*nulls)


# The test of one classifier.

MEASURES = ("ece-confidence", "ece-classwise", "hosmer-lemeshow", "skce-ul", "skce-uq")


@pytest.fixture
def sample(random_generator):
    probs = random_generator.dirichlet(np.full(4, 0.7), 60)
    return labels_from(probs, 1, random_generator)[0], probs


@pytest.mark.parametrize("measure", MEASURES)
def test_pvalue_against_enumeration_of_all_labels(measure):
    probs = np.array([[0.6, 0.4], [0.9, 0.1], [0.3, 0.7], [0.45, 0.55], [0.8, 0.2]])
    y = np.array([1, 1, 1, 0, 0])
    prepared = calibration_measure(measure).prepare(probs)
    observed, exact = float(prepared.values(y)), 0.0
    for labels in product((0, 1), repeat=5):
        chance = np.prod(probs[np.arange(5), labels])
        exact += chance * (float(prepared.values(np.array(labels))) >= observed - 1e-12)
    test = calibration_test(y, probs, measure=measure, n_draws=4000)
    assert test.statistic == pytest.approx(observed)
    assert abs(test.pvalue - exact) <= 4 * np.sqrt(exact * (1 - exact) / 4000) + 1 / 4000


def test_result_is_plain(sample):
    test = calibration_test(*sample, n_draws=19)
    again = json.loads(json.dumps(test.to_dict(), allow_nan=False))
    assert again["pvalue"] == test.pvalue
    assert again["null"] == test.null.tolist()
    assert (test.n_draws, test.n_instances, test.n_classes, test.smallest_pvalue) == (19, 60, 4, 0.05)
    assert (test.measure, test.notion, test.method) == ("kuiper-confidence", "confidence", "resampled")
    assert test.reject(0.05) == (test.statistic > test.threshold(0.05))


def test_point_array_list_and_dtype_agree(sample):
    labels, probs = sample
    expected = calibration_test(labels, probs).to_dict()
    assert calibration_test(labels.tolist(), uq.Point(probs)).to_dict() == expected
    for dtype, tolerance in ((np.float32, 1e-5), (np.float16, 5e-3)):
        assert abs(calibration_test(labels, probs.astype(dtype)).statistic - expected["statistic"]) < tolerance


def test_chunks_change_nothing(sample, monkeypatch):
    measure = calibration_measure("ece-classwise")
    whole = known_mixture_null(sample[1], measure, 50, np.random.default_rng(1))
    monkeypatch.setattr("uqassay.calibration.nulls.DRAWS_BYTES", 5000)
    assert (known_mixture_null(sample[1], measure, 50, np.random.default_rng(1)) == whole).all()
    small = calibration_test(*sample, resample=True, n_draws=30).null
    monkeypatch.setattr("uqassay.calibration.nulls.DRAWS_BYTES", 10**9)
    assert np.allclose(calibration_test(*sample, resample=True, n_draws=30).null, small, rtol=1e-12, atol=0)


def test_resampled_instances_leave_bins_empty(sample):
    labels, probs = sample
    kept = calibration_test(labels, probs, measure="ece-classwise", n_draws=400)
    resampled = calibration_test(labels, probs, measure="ece-classwise", n_draws=400, resample=True)
    assert kept.statistic == resampled.statistic
    assert resampled.null.mean() < kept.null.mean() - 2 * kept.null.std() / 20


def test_asymptotic_tests_are_those_of_the_measures(sample):
    labels, probs = sample
    linear = calibration_test(labels, probs, measure="skce-ul", method="asymptotic")
    assert (linear.pvalue, linear.n_draws) == (skce_pvalue(labels, probs, estimator="linear").pvalue, 0)
    quadratic = calibration_test(labels, probs, measure="skce-uq", method="asymptotic", n_draws=200)
    assert quadratic.pvalue == skce_pvalue(labels, probs, n_draws=200).pvalue
    chi_squared = calibration_test(labels, probs, measure="hosmer-lemeshow", method="asymptotic")
    assert chi_squared.pvalue == hosmer_lemeshow_test(labels, probs, least_expected=1.0).pvalue
    assert np.isnan(chi_squared.threshold())
    assert chi_squared.reject(1e-6) is False
    fewer = calibration_measure("hosmer-lemeshow", n_bins=3)
    assert calibration_test(labels, probs, measure=fewer, method="asymptotic").statistic == pytest.approx(
        calibration_test(labels, probs, measure=fewer, n_draws=1).statistic
    )


def test_asymptotic_tests_ignore_the_name_of_the_measure(sample):
    labels, probs = sample
    narrow = replace(calibration_measure("skce-uq"), prepare=PrepareKernel(kernel="rbf", bandwidth=0.2))
    found = calibration_test(labels, probs, measure=narrow, method="asymptotic", n_draws=99)
    expected = skce_pvalue(labels, probs, kernel="rbf", bandwidth=0.2, n_draws=99)
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)
    assert found.statistic == pytest.approx(calibration_test(labels, probs, measure=narrow, n_draws=9).statistic)
    for name in ("skce-uq", "hosmer-lemeshow"):
        own = replace(calibration_measure(name), prepare=calibration_measure("ece-classwise").prepare)
        with refuses("method", "conflict", got=f"got measure '{name}'"):
            calibration_test(labels, probs, measure=own, method="asymptotic")
    with refuses("method", "conflict", got=".*got measure 'hosmer-lemeshow-width'"):
        calibration_test(labels, probs, measure="hosmer-lemeshow-width", method="asymptotic")


def test_draws_of_signs_limit_the_level(sample):
    test = calibration_test(*sample, measure="skce-uq", method="asymptotic", n_draws=9)
    assert (test.n_draws, test.smallest_pvalue, test.to_dict()["n_draws"]) == (9, 0.1, 9)
    with refuses("alpha", "needs-draws", got="got 0.05"):
        test.reject(0.05)
    assert test.sentence(0.05).startswith("9 draws are too few")
    assert test.reject(0.5) == (test.pvalue <= 0.5)
    linear = calibration_test(*sample, measure="skce-ul", method="asymptotic", n_draws=9)
    assert (linear.n_draws, linear.smallest_pvalue) == (0, 0.0)


def test_half_precision_in_asymptotic_tests():
    probs = np.random.default_rng(0).dirichlet(np.ones(30), 50).astype(np.float16)
    assert np.abs(probs.sum(axis=1, dtype=np.float64) - 1).max() > 1e-6
    for measure in ("skce-ul", "skce-uq", "hosmer-lemeshow"):
        found = calibration_test(np.arange(50) % 30, probs, measure=measure, method="asymptotic", n_draws=99)
        assert found.statistic == pytest.approx(
            calibration_test(np.arange(50) % 30, uq.Point(probs), measure=measure, n_draws=1).statistic, rel=1e-9
        )


def test_masked_arrays_are_refused(sample):
    labels, probs = sample
    with refuses("y_true", "masked", got=r"shape \(60,\)"):
        calibration_test(np.ma.masked_array(labels, np.arange(60) == 7), probs)
    masked = np.ma.masked_array(probs, probs < 0.1)
    with refuses("probs", "masked"):
        calibration_test(labels, masked)


def test_undefined_is_nan_with_a_reason():
    test = calibration_test([1], [[0.4, 0.6]], measure="skce-ul")
    assert np.isnan(test.pvalue)
    assert texts(test) == ["the measure is undefined for these labels with 1 case"]
    assert test.reject(0.05) is False
    assert test.to_dict()["pvalue"] is None
    assert test.sentence() == (
        "Whether the classifier has the right probabilities as a whole is undefined: the measure is undefined for these labels "
        "with 1 case."
    )


def test_ordinary_edge_cases():
    one = calibration_test([0], [[1.0, 0.0]])
    assert (one.statistic, one.pvalue) == (0.0, 1.0)
    impossible = calibration_test([1, 0], [[1.0, 0.0], [0.5, 0.5]], measure="hosmer-lemeshow", n_draws=99)
    assert (impossible.statistic, impossible.pvalue) == (np.inf, 0.01)
    assert impossible.to_dict()["statistic"] == "Infinity"
    constant = calibration_test(np.arange(30) % 3, np.full((30, 3), 1 / 3))
    assert constant.pvalue > 0.9


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"measure": "ece"}, ("measure", "choice")),
        (
            {"measure": "skce-ul", "method": "asymptotic", "resample": True},
            ("resample", "conflict"),
        ),
        ({"n_draws": 0}, ("n_draws", "range", "got 0")),
        ({"method": "exact"}, ("method", "choice", "got 'exact'")),
        (
            {"method": "asymptotic"},
            ("method", "conflict", "got measure 'kuiper-conf"),
        ),
    ],
)
def test_options_are_checked(sample, change, refusal):
    with refuses(*refusal):
        calibration_test(*sample, **change)


def test_data_are_checked(sample):
    labels, probs = sample
    with refuses("y_true", "range", got="row 0 holds 4"):
        calibration_test(np.full(60, 4), probs)
    with refuses("y_true", "shape"):
        calibration_test(probs, probs)
    with refuses("probs", "sum", got="row 0 sums to 0.5"):
        calibration_test(labels, probs / 2)


def test_levels_out_of_reach_are_refused_with_the_smallest_pvalue(sample):
    test = calibration_test(*sample, n_draws=9)
    with refuses("alpha", "needs-draws", got="got 0.05"):
        test.reject(0.05)
    with refuses("alpha", "needs-draws", got="pass n_draws=19 or more"):
        test.threshold(0.05)
    assert test.sentence(0.05).startswith(
        "9 draws are too few to tell at this level whether the classifier has the right confidence"
    )
    with refuses("alpha", "range", got="got 1.5"):
        test.reject(1.5)
    check_alpha(0.05, 19)
    check_alpha(0.1, 9)


def test_pvalues_in_words():
    assert [pvalue_text(p) for p in (np.nan, 0.0001, 0.004, 0.05, 1.0)] == [
        "p undefined",
        "p < .001",
        "p = .004",
        "p = .05",
        "p = 1.00",
    ]


@pytest.fixture
def judged():
    probs = random_predictions(1, 120, 3)
    return draw_labels(np.random.default_rng(2), probs), probs


def flattened(probs):
    """Underconfident probabilities."""
    return probs**0.4 / (probs**0.4).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("measure", ["brier", "log-loss"])
@pytest.mark.parametrize("method", ["resampled", "asymptotic"])
def test_scores_are_tested_on_both_sides(judged, measure, method):
    labels, probs = judged
    found = calibration_test(labels, flattened(probs), measure=measure, method=method, n_draws=199)
    assert found.sides == "both"
    assert found.pvalue < 0.03
    assert found.direction == "underconfident"
    assert found.sentence().endswith("; it is too unsure.")
    assert not calibration_test(labels, probs, measure=measure, method=method, n_draws=199).reject()


def test_both_sides_need_twice_the_draws(judged):
    found = calibration_test(*judged, measure="brier", n_draws=19)
    assert found.smallest_pvalue == pytest.approx(0.1)
    with refuses("alpha", "needs-draws", got="n_draws=39"):
        found.reject(0.05)
    low, high = calibration_test(*judged, measure="brier", n_draws=39).thresholds(0.05)
    assert low < found.statistic < high


def test_few_groups_are_told(judged):
    labels, probs = judged
    found = calibration_test(labels, flattened(probs), groups=np.arange(120) % 5)
    assert (found.method, found.n_groups, found.n_draws, found.smallest_pvalue) == ("signs", 5, 15, 1 / 16)
    assert found.sentence().startswith("5 groups are too few to tell at this level")
    with refuses("alpha", "range", got="got 0.05"):
        found.reject(0.05)
    six = calibration_test(labels, flattened(probs), measure="brier", groups=np.arange(120) % 6)
    assert six.smallest_pvalue == 1 / 32
    assert six.reject(0.05) == (six.pvalue <= 0.05)


def test_one_group_has_no_test(judged):
    found = calibration_test(*judged, groups=np.zeros(120))
    assert np.isnan(found.pvalue)
    assert texts(found) == ["1 group: no p-value"]


def test_groups_of_the_prediction_are_taken(judged):
    labels, probs = judged
    groups = np.arange(120) // 4
    own = calibration_test(labels, uq.Point(probs, groups=groups))
    assert own.pvalue == calibration_test(labels, probs, groups=groups).pvalue
    assert own.n_groups == 30


def test_a_label_of_probability_0_with_groups():
    probs = np.array([[1.0, 0.0]] * 20)
    found = calibration_test(np.arange(20) % 2, probs, measure="log-loss", groups=np.arange(20) // 2, n_draws=99)
    assert found.statistic == np.inf
    assert found.pvalue == found.smallest_pvalue


@pytest.mark.parametrize("other", [{"resample": True}, {"method": "asymptotic"}])
def test_groups_go_with_no_other_null(judged, other):
    with refuses("groups", "conflict", got="120 groups"):
        calibration_test(*judged, measure="skce-ul", groups=np.arange(120), **other)


def test_pairs_inside_groups_tell_nothing(judged):
    found = calibration_test(*judged, measure="skce-ul", groups=np.arange(120) // 10, n_draws=99)
    assert found.pvalue == 1.0
    assert "it cannot reject here" in texts(found)[1]
    assert calibration_test(*judged, measure="skce-uq", groups=np.arange(120) // 10, n_draws=99).pvalue < 1.0


def test_a_printed_result_leaves_out_the_draws(judged):
    found = calibration_test(*judged, n_draws=99)
    assert len(found.null) == 99
    assert "null" not in repr(found)
    assert pvalue_text(found.pvalue) in " ".join(repr(found).split())


# Tests of calibration are shown by their sentence, statistic and p-value.


@pytest.fixture(scope="module")
def sample_shown():
    probs = random_predictions(1, 120, 3)
    return draw_labels(np.random.default_rng(2), probs), probs


def results(labels, probs):
    generator = np.random.default_rng(0)
    members = generator.dirichlet([1, 1, 1], (len(labels), 3))
    votes = generator.multinomial(5, probs)
    yield uq.calibration.calibration_test(labels, probs, n_draws=99)
    yield uq.calibration.calibration_test(labels, probs, measure="skce-ul", method="asymptotic")
    yield uq.calibration.credal_calibration_test(labels, members, n_draws=39)
    yield uq.calibration.instance_dependent_calibration_test(labels, members, probs, n_draws=39)
    yield uq.calibration.second_order_test(votes, uq.Members(members))


def test_every_test_is_shown_by_its_sentence(sample_shown):
    for found in results(*sample_shown):
        shown = " ".join(check_shown(found).split())
        assert found.sentence() in shown
        assert ("warning" in shown) == bool(found.notes)


def test_numbers_are_those_of_the_result(sample_shown):
    found = uq.calibration.calibration_test(*sample_shown, n_draws=99)
    (row,) = found._shown_table().rows
    assert float(row.cells[0].text) == pytest.approx(found.statistic, rel=0.01)
    assert row.cells[2].text == "99"


def test_an_undefined_result_is_shown():
    found = uq.calibration.calibration_test([0, 1, 0], [[0.5, 0.5]] * 3, measure="hosmer-lemeshow", n_draws=19)
    check_shown(found)
