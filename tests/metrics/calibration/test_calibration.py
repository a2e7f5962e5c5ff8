"""Calibration errors of a classifier: scores and their parts, intervals, and their inversion."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.calibration.made_up_data import draw_labels
from tests.notes import said
from tests.refusals import refuses

import uqassay as uq
from uqassay.calibration.one_classifier import hosmer_lemeshow_test
from uqassay.metrics import calibration as group_signs
from uqassay.metrics import calibration_error_estimate, confidence_calibration_error
from uqassay.metrics.calibration import (
    GroupProducts,
    GroupSums,
    Inversion,
    PrepareCumulative,
    binned_hits,
    bins_of_events,
    classwise_calibration_error,
    cumulative_calibration_error,
    drawn_of_groups,
    drawn_of_instances,
    error_estimate_of_hits,
    hosmer_lemeshow_statistic,
    summed,
)
from uqassay.metrics.smooth import proper_score_parts

# -- cumulative error ------------------------------------------------------------------------------------------------
#
# Cumulative calibration errors against their definition, with ties, in batches and against scipy.


def by_definition(events, values, statistic):
    return extremes(values - events, values, statistic)


def extremes(deviations, values, statistic):
    """The extremes of C(t) over all t, one by one."""
    sums = [0.0] + [float(deviations[values <= t].sum()) / len(values) for t in np.unique(values)]
    return max(abs(s) for s in sums) if statistic == "ks" else max(sums) - min(sums)


def expected(y, probs, by, statistic):
    if by == "confidence":
        return by_definition(probs.argmax(axis=1) == y, probs.max(axis=1), statistic)
    return np.mean([by_definition(y == k, probs[:, k], statistic) for k in range(probs.shape[1])])


@pytest.mark.parametrize("by", ["confidence", "classwise"])
@pytest.mark.parametrize("statistic", ["ks", "kuiper"])
def test_against_the_definition_with_and_without_ties(random_generator, by, statistic):
    for n, k in ((1, 2), (2, 2), (30, 3), (40, 12)):
        for probs in (
            random_generator.dirichlet(np.ones(k), n),
            random_generator.multinomial(4, np.ones(k) / k, n) / 4,  # many ties, and 0 and 1
            np.full((n, k), 1 / k),
        ):
            y = random_generator.integers(0, k, n)
            found = cumulative_calibration_error(y, probs, by=by, statistic=statistic)
            assert found == pytest.approx(expected(y, probs, by, statistic), abs=1e-13)


@pytest.mark.parametrize("by", ["confidence", "classwise"])
def test_a_batch_is_a_loop(random_generator, by):
    probs = random_generator.multinomial(5, np.ones(3) / 3, (4, 25)) / 5
    y = random_generator.integers(0, 3, (2, 1, 25))
    found = cumulative_calibration_error(y, probs, by=by, batched=True)
    assert found.shape == (2, 4)
    for i in range(2):
        for j in range(4):
            assert found[i, j] == pytest.approx(expected(y[i, 0], probs[j], by, "ks"), abs=1e-13)


def test_of_many_calibrated_labels_it_is_the_supremum_of_a_brownian_motion():
    """With equal variances C √n / σ is a random walk; P(sup |W| > 2.2414) is .05."""
    rng = np.random.default_rng(0)
    confidence = 0.5 + 1e-3 * rng.random(1000)
    probs = np.stack([confidence, 1 - confidence], axis=1)
    labels = (rng.random((2000, 1000)) > confidence).astype(int)
    found = PrepareCumulative("confidence")(probs).values(labels) * np.sqrt(1000) / 0.5
    assert stats.binomtest(int((found > 2.2414).sum()), 2000, 0.05).pvalue > 1e-3


def test_options_are_checked():
    with refuses("by", "choice", got="'strong'"):
        cumulative_calibration_error([0], [[0.5, 0.5]], by="strong")
    with refuses("statistic", "choice", got="'ad'"):
        cumulative_calibration_error([0], [[0.5, 0.5]], statistic="ad")


@pytest.mark.parametrize("statistic", ["ks", "kuiper"])
@pytest.mark.parametrize("n", [1, 2, 30, 1001])
def test_many_draws_have_the_same_bits_with_and_without_kernel(statistic, n, monkeypatch):
    rng = np.random.default_rng(n)
    for probs in (rng.dirichlet(np.ones(4), n), rng.multinomial(4, np.ones(4) / 4, n) / 4, np.eye(4)[np.arange(n) % 4]):
        prepared = PrepareCumulative("confidence", statistic)(probs)
        for shape in ((n,), (3, n), (17, n), (2, 5, n)):
            labels = rng.integers(0, 4, shape)
            found = []
            for pure in ("0", "1"):
                monkeypatch.setenv("UQASSAY_PURE", pure)
                found.append(prepared.values(labels))
            assert found[0].shape == shape[:-1]
            np.testing.assert_array_equal(*found)


def test_an_undefined_confidence_gives_an_undefined_value(monkeypatch):
    probs = np.array([[0.4, 0.6], [np.nan, 0.5], [0.9, 0.1]])
    for pure in ("0", "1"):
        monkeypatch.setenv("UQASSAY_PURE", pure)
        assert np.isnan(PrepareCumulative()(probs).values(np.zeros((3, 3), dtype=np.intp))).all()


@pytest.mark.parametrize("statistic", ["ks", "kuiper"])
@pytest.mark.parametrize(("n", "n_groups"), [(1, 1), (40, 3), (90, 90), (300, 7)])
def test_signs_of_groups_against_signed_deviations_one_by_one(statistic, n, n_groups, monkeypatch):
    rng = np.random.default_rng([n, n_groups])
    for probs in (rng.dirichlet(np.ones(4), n), rng.multinomial(4, np.ones(4) / 4, n) / 4):
        groups = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)])
        labels = rng.integers(0, 4, n)
        signs = rng.choice([-1.0, 1.0], (37, n_groups))
        confidence, hits = probs.max(axis=1), probs.argmax(axis=1) == labels
        expected = [extremes((confidence - hits) * sign[groups], confidence, statistic) for sign in signs]
        found = []
        for pure in ("0", "1"):
            monkeypatch.setenv("UQASSAY_PURE", pure)
            measure = PrepareCumulative("confidence", statistic)(probs)
            found.append(measure.by_groups(groups, n_groups)(labels).values(signs))
        np.testing.assert_array_equal(*found)
        np.testing.assert_allclose(found[0], expected, atol=1e-13)


# -- hosmer lemeshow -------------------------------------------------------------------------------------------------
#
# The Hosmer-Lemeshow statistic and its test; run as a script it prints the table of the test's docstring.


def by_hand(y, probs, n_bins, form, bins):
    n, total = len(y), 0.0
    for k in range(probs.shape[1]):
        values = probs[:, k if bins == "classwise" else 0].tolist()
        starts = [sorted(values)[n * j // n_bins] for j in range(1, n_bins)]
        place = [sum(v >= s for s in starts) for v in values]
        for b in range(n_bins):
            rows = [i for i in range(n) if place[i] == b]
            observed, expected = sum(y[i] == k for i in rows), sum(probs[i, k] for i in rows)
            if observed == expected == 0:
                continue
            if expected == 0:
                total = math.inf
                continue
            term = (observed - expected) ** 2 / expected
            total += term if form == "counts" else term / len(rows)
    return total


@pytest.mark.parametrize("form", ["counts", "proportions"])
@pytest.mark.parametrize("bins", ["classwise", "common"])
@pytest.mark.parametrize(("k", "n", "n_bins"), [(2, 40, 5), (3, 23, 4), (10, 60, 5), (3, 3, 5), (4, 30, 1)])
def test_statistic_against_brute_force(random_generator, form, bins, k, n, n_bins):
    coarse = np.diff(np.sort(random_generator.integers(0, 9, (n, k - 1)), axis=1), axis=1, prepend=0, append=8) / 8
    for probs in (random_generator.dirichlet(np.ones(k), n), coarse):
        for y in (random_generator.integers(0, k, n), draw_labels(random_generator, probs)):
            found = hosmer_lemeshow_statistic(y, probs, n_bins=n_bins, form=form, bins=bins)
            assert found == pytest.approx(by_hand(y, probs, n_bins, form, bins), rel=1e-12)


def test_two_classes_give_the_statistic_for_one_event(random_generator):
    p = random_generator.uniform(0.05, 0.95, 200)
    y = (random_generator.random(200) < p).astype(int)
    total = 0.0
    for rows in np.array_split(np.argsort(p), 5):
        e, n = p[rows].sum(), len(rows)
        total += (y[rows].sum() - e) ** 2 / (e * (1 - e / n))
    assert hosmer_lemeshow_statistic(y, np.stack([1 - p, p], axis=1)) == pytest.approx(total)


@pytest.mark.parametrize("options", [{}, {"form": "proportions"}, {"bins": "common"}, {"n_bins": 30}])
def test_batch_is_a_loop(random_generator, options):
    probs = random_generator.dirichlet(np.ones(3), (4, 40))
    y = random_generator.integers(0, 3, (6, 1, 40))
    found = hosmer_lemeshow_statistic(y, probs, **options, batched=True)
    assert found.tolist() == [
        [hosmer_lemeshow_statistic(y[i, 0], probs[j], **options) for j in range(4)] for i in range(6)
    ]
    assert isinstance(hosmer_lemeshow_statistic(y[0, 0], probs[0], **options), float)


def test_probability_0():
    probs = np.array([[0.0, 1.0], [0.0, 1.0], [0.5, 0.5], [0.5, 0.5]])
    assert hosmer_lemeshow_statistic([1, 1, 0, 1], probs, n_bins=2) == 0
    assert hosmer_lemeshow_statistic([1, 0, 0, 1], probs, n_bins=2) == np.inf
    assert hosmer_lemeshow_statistic([1, 0, 0, 1], probs, n_bins=2, form="proportions") == np.inf
    found = hosmer_lemeshow_test([1, 0, 0, 1], probs, n_bins=2)
    assert (found.statistic, found.pvalue) == (np.inf, 0.0)
    assert "class 0 occurred in bin 0, where all its probabilities are 0, so the statistic is infinite" in said(found)


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"fitted": True}, ("fitted", "conflict", 'got bins="classwise"')),
        ({"fitted": True, "bins": "common", "n_bins": 2}, ("n_bins", "range")),
        ({"n_bins": 0}, ("n_bins", "range")),
        ({"bins": "own"}, ("bins", "choice")),
    ],
)
def test_invalid_input_is_refused(options, refusal):
    probs = np.tile([[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]], (4, 1))
    with refuses(*refusal):
        hosmer_lemeshow_test([0, 1, 0] * 4, probs, **options)


# -- type I error -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", ["classwise", "common"])
@pytest.mark.parametrize("form", ["counts", "proportions"])
def test_events_that_are_nearly_impossible_are_infinitely_bad_without_warnings(bins, form):
    probs = [[1.0, 1e-320], [1.0, 1e-320]]
    assert hosmer_lemeshow_statistic([0, 1], probs, bins=bins, form=form) == np.inf
    assert hosmer_lemeshow_statistic([0, 0], probs, bins=bins, form=form) == pytest.approx(0, abs=1e-300)


def test_merged_bins_against_a_loop(random_generator):
    for least in (0.3, 1.0, 5.0, 1000.0):
        probs = random_generator.dirichlet(np.full(6, 0.1), 50)
        y = random_generator.integers(0, 6, 50)
        bins = bins_of_events(probs, 5, "classwise")
        total = 0.0
        for expected, observed in zip(bins.expected, bins.observed(y), strict=True):
            cells, waiting = [], np.zeros(2)
            for pair in zip(expected, observed, strict=True):
                waiting += pair
                if waiting[0] >= least:
                    cells.append(waiting.copy())
                    waiting[:] = 0
            if cells:
                cells[-1] += waiting
            else:
                cells = [waiting]
            total += sum((o - e) ** 2 / e for e, o in cells)
        found = hosmer_lemeshow_statistic(y, probs, least_expected=least)
        assert found == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "code"),
    [({"least_expected": -1.0}, "range"), ({"least_expected": 1.0, "form": "proportions"}, "conflict")],
)
def test_merging_is_checked(options, code):
    with refuses("least_expected", code):
        hosmer_lemeshow_statistic([0], [[0.5, 0.5]], **options)


PARTS = ("score", "reliability", "resolution", "uncertainty", "within")


def few_rows(generator, n):
    rows = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.125, 0.375, 0.5], [0.0, 0.25, 0.75]])
    probs = rows[generator.integers(0, 4, n)]
    y = (generator.random((n, 1)) > probs.cumsum(axis=1)).sum(axis=1)
    return y, probs


def brute_force(y, probs, score, groups_of):
    """Parts from their definitions; `groups_of(k)` gives lists of rows."""
    n, n_classes = probs.shape
    parts = dict.fromkeys(PARTS, 0.0)
    for i in range(n):
        for k in range(n_classes):
            e = float(y[i] == k)
            parts["score"] += (
                (probs[i, k] - e) ** 2 if score == "brier" else -e * math.log(probs[i, k]) if e else 0.0
            ) / n

    def xlog(x, ratio):
        return x * math.log(ratio) if x else 0.0

    for k in range(n_classes):
        base = float((y == k).mean())
        parts["uncertainty"] += base * (1 - base) if score == "brier" else -xlog(base, base)
        for rows in groups_of(k):
            p, e = probs[rows, k], (y[rows] == k).astype(float)
            share, mean, freq = len(rows) / n, p.mean(), e.mean()
            if score == "brier":
                parts["reliability"] += share * (freq - mean) ** 2
                parts["resolution"] += share * (freq - base) ** 2
                parts["within"] += ((p - mean) ** 2).sum() / n - 2 * ((p - mean) * (e - freq)).sum() / n
            else:
                parts["reliability"] += share * (xlog(freq, freq / mean if mean else 1.0) - freq + mean)
                parts["resolution"] += share * (xlog(freq, freq / base if base else 1.0) - freq + base)
                parts["within"] -= sum(xlog(float(ei), pi / mean) for pi, ei in zip(p, e, strict=True) if ei) / n
    return parts


@pytest.mark.parametrize("score", ["brier", "log"])
@pytest.mark.parametrize("n_bins", [1, 4, 10])
def test_bins_against_brute_force(random_generator, score, n_bins):
    for probs in (random_generator.dirichlet(np.ones(3), 60), few_rows(random_generator, 60)[1]):
        y = np.array([random_generator.choice(3, p=p) for p in probs])
        place = np.maximum(np.ceil(probs * n_bins).astype(int) - 1, 0)
        wanted = brute_force(
            y,
            probs,
            score,
            lambda k, place=place: [r for b in range(n_bins) if len(r := np.flatnonzero(place[:, k] == b))],
        )
        found = proper_score_parts(y, probs, score=score, n_bins=n_bins)
        for part in PARTS:
            assert getattr(found, part) == pytest.approx(wanted[part], abs=1e-13), part


@pytest.mark.parametrize("score", ["brier", "log"])
def test_distinct_rows_against_brute_force(random_generator, score):
    y, probs = few_rows(random_generator, 80)
    groups = [np.flatnonzero((probs == row).all(axis=1)) for row in np.unique(probs, axis=0)]
    wanted = brute_force(y, probs, score, lambda k: groups)
    found = proper_score_parts(y, probs, score=score, by="distinct")
    for part in PARTS:
        assert getattr(found, part) == pytest.approx(wanted[part], abs=1e-13), part
    assert found.within == pytest.approx(0, abs=1e-14)
    assert (found.n_bins, found.binning, found.by, found.kind) == (None, None, "distinct", score)


@pytest.mark.parametrize("score", ["brier", "log"])
@pytest.mark.parametrize(
    "options", [{}, {"n_bins": 4}, {"n_bins": 40}, {"binning": "mass", "n_bins": 7}, {"by": "distinct"}]
)
def test_parts_add_up(random_generator, score, options):
    y, probs = few_rows(random_generator, 50)
    for rows in (probs, 0.9 * random_generator.dirichlet(np.ones(3), 50) + 1 / 30):
        found = proper_score_parts(y, rows, score=score, **options)
        total = found.reliability - found.resolution + found.uncertainty + found.within
        assert found.score == pytest.approx(total, abs=1e-13)
        assert found.calibration + found.refinement == pytest.approx(found.score, abs=1e-13)
        assert found.reliability >= 0
        assert found.resolution >= -1e-15
    assert np.isfinite(found.score)


def test_brier_reliability_is_the_squared_classwise_error(random_generator):
    probs = random_generator.dirichlet(np.ones(4), 100)
    y = random_generator.integers(0, 4, 100)
    squared = classwise_calibration_error(y, probs, norm="squared")
    assert proper_score_parts(y, probs).reliability == pytest.approx(4 * squared)


def test_scores_against_sklearn(needs, random_generator):
    needs("sklearn")
    from sklearn.metrics import brier_score_loss, log_loss

    p = random_generator.uniform(0.05, 0.95, 200)
    y = (random_generator.random(200) < p).astype(int)
    probs = np.stack([1 - p, p], axis=1)
    assert proper_score_parts(y, probs).score == pytest.approx(2 * brier_score_loss(y, p))
    assert proper_score_parts(y, probs, score="log").score == pytest.approx(log_loss(y, p))


@pytest.mark.parametrize("score", ["brier", "log"])
@pytest.mark.parametrize("options", [{}, {"binning": "mass"}, {"by": "distinct"}])
def test_a_batch_of_parts_is_a_loop(random_generator, score, options):
    y, probs = few_rows(random_generator, 4 * 5 * 30)
    y, probs = y.reshape(4, 5, 30), probs.reshape(4, 5, 30, 3)
    found = proper_score_parts(y, probs, score=score, batched=True, **options)
    crossed = proper_score_parts(y[:, :1], probs[0], score=score, batched=True, **options)
    for i in range(4):
        for j in range(5):
            alone = proper_score_parts(y[i, j], probs[i, j], score=score, **options)
            mixed = proper_score_parts(y[i, 0], probs[0, j], score=score, **options)
            for part in PARTS:
                assert getattr(found, part)[i, j] == pytest.approx(getattr(alone, part), abs=1e-14, nan_ok=True)
                assert getattr(crossed, part)[i, j] == pytest.approx(getattr(mixed, part), abs=1e-14, nan_ok=True)


@pytest.mark.parametrize("score", ["brier", "log"])
@pytest.mark.parametrize("options", [{"n_bins": 4}, {"binning": "mass", "n_bins": 3}, {"by": "distinct"}])
def test_weights_equal_copies(random_generator, score, options):
    y, probs = few_rows(random_generator, 40)
    weights = random_generator.integers(0, 4, 40)
    copied = proper_score_parts(np.repeat(y, weights), np.repeat(probs, weights, axis=0), score=score, **options)
    weighted = proper_score_parts(y, probs, score=score, sample_weight=weights, **options)
    for part in PARTS:
        assert getattr(weighted, part) == pytest.approx(getattr(copied, part), abs=1e-13), part


def test_an_event_of_probability_0():
    probs = [[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]]
    brier = proper_score_parts([1, 0, 1], probs)
    assert brier.score == pytest.approx(1.0)
    log = proper_score_parts([1, 0, 1], probs, score="log")
    assert (log.score, log.reliability, log.refinement) == (np.inf, np.inf, pytest.approx(log.refinement))
    assert np.isfinite(log.refinement)
    one_bin = proper_score_parts([1, 0, 1], probs, score="log", n_bins=1)  # its mean probability is positive
    assert (one_bin.score, one_bin.within) == (np.inf, np.inf)
    assert np.isfinite(one_bin.reliability)
    absent = proper_score_parts([1, 0, 1], probs, score="log", sample_weight=[0, 1, 1])
    assert absent.score == pytest.approx(math.log(2))


def test_ordinary_extremes():
    for score in ("brier", "log"):
        right = proper_score_parts([0, 1], np.eye(2), score=score)
        assert (right.score, right.reliability) == (0, 0)
        assert right.resolution == pytest.approx(right.uncertainty)
        one = proper_score_parts([0], [[0.5, 0.5]], score=score, by="distinct")
        assert one.score == pytest.approx(0.5 if score == "brier" else math.log(2))
        assert (one.uncertainty, one.resolution) == (0, 0)


def test_bias_of_reliability_and_resolution():
    generator = np.random.default_rng(9)
    truth = generator.dirichlet(np.ones(3), 300)
    u = generator.random((4000, 300, 1))
    y = (u > truth.cumsum(axis=-1)[:, :-1]).sum(axis=-1)
    brier = proper_score_parts(y, truth, n_bins=5, batched=True)
    place = np.ceil(truth * 5).astype(int) - 1
    chance = sum(
        truth[place[:, k] == b, k].mean() * (1 - truth[place[:, k] == b, k].mean()) for k in range(3) for b in range(5)
    )
    assert brier.reliability.mean() == pytest.approx(chance / 300, rel=0.05)
    log = proper_score_parts(y, truth, score="log", n_bins=5, binning="mass", batched=True)
    assert log.reliability.mean() == pytest.approx((3 - 1) * 5 / 2 / 300, rel=0.05)


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"score": "crps"}, ("score", "choice")),
        ({"by": "rows"}, ("by", "choice")),
        ({"n_bins": 0}, ("n_bins", "range")),
        ({"binning": "x"}, ("binning", "choice")),
        ({"sample_weight": [0, 0]}, ("sample_weight", "empty")),
    ],
)
def test_invalid_input_of_parts_is_refused(options, refusal):
    with refuses(*refusal):
        proper_score_parts([0, 1], [[0.5, 0.5], [0.5, 0.5]], **options)
    with refuses("probs", "sum", got="each row must sum to 1"):
        proper_score_parts([0], [[0.5, 0.6]])


# Intervals of binned calibration errors; their coverage is in `tests.metrics.calibration.test_error_coverage`.


@pytest.fixture
def data(random_generator):
    probs = random_generator.dirichlet(np.ones(4), 300)
    return random_generator.integers(0, 4, 300), probs


@pytest.mark.parametrize("binning", ["width", "mass"])
def test_values_are_those_of_the_measures_without_intervals(data, binning):
    options = {"binning": binning, "n_bins": 7}
    found = {norm: calibration_error_estimate(*data, norm=norm, **options) for norm in ("l1", "l2", "squared")}
    assert found["l1"] == pytest.approx(confidence_calibration_error(*data, **options), abs=1e-14)
    squared = confidence_calibration_error(*data, norm="squared", debiased=True, **options)
    assert found["squared"] == pytest.approx(squared, abs=1e-14)
    assert found["l2"] == pytest.approx(squared**0.5, abs=1e-14)
    for e in found.values():
        assert e.low <= e <= e.high
        assert (e.n, e.level) == (300, 0.95)
        assert "7 equal-" in e.method
    assert found["l2"].low == pytest.approx(found["squared"].low ** 0.5)
    assert found["l2"].high == pytest.approx(found["squared"].high ** 0.5)


def test_grouped_value_against_a_loop_over_pairs(data, random_generator):
    y, probs = data
    groups = random_generator.integers(0, 9, 300)
    d = probs.max(axis=1) - (probs.argmax(axis=1) == y)
    place = np.ceil(probs.max(axis=1) * 10).astype(int)
    wanted = 0.0
    for b in np.unique(place):
        rows = np.flatnonzero(place == b)
        pairs = [d[i] * d[j] for i in rows for j in rows if groups[i] != groups[j]]
        wanted += len(rows) / 300 * np.mean(pairs) if pairs else 0.0
    found = calibration_error_estimate(y, probs, norm="squared", groups=groups)
    assert found == pytest.approx(wanted, abs=1e-12)
    assert [note.text for note in found.notes] == ["9 groups"]
    alone = calibration_error_estimate(y, probs, norm="squared", groups=np.arange(300))
    assert alone == pytest.approx(calibration_error_estimate(y, probs, norm="squared"), abs=1e-12)


def test_one_bin_against_the_exact_interval_of_a_share():
    hits = np.repeat([1.0, 0.0], [60, 40])
    found = error_estimate_of_hits(hits, np.full(100, 0.9), n_bins=1)
    exact = uq.statistics.proportion_estimate(hits)
    assert found == pytest.approx(0.3)
    assert (found.low, found.high) == pytest.approx((0.9 - exact.high, 0.9 - exact.low), abs=0.02)


def test_note_on_the_value_of_a_calibrated_classifier_against_theory():
    confidence = np.full(400, 0.75)
    found = error_estimate_of_hits(np.repeat([1.0, 0.0], [300, 100]), confidence)
    assert (found, found.low) == (0, 0)
    (note,) = found.notes
    assert note.code == "bias"
    assert note.facts["calibrated"] == pytest.approx((2 / np.pi * 0.75 * 0.25 / 400) ** 0.5, rel=0.05)
    assert 0.04 < found.high < 0.07  # gaps that are 0 by luck


def test_certain_and_right_leaves_the_rule_of_three():
    found = error_estimate_of_hits(np.ones(100), np.ones(100))
    assert (found, found.low) == (0, 0)
    assert found.high == pytest.approx(-np.log(0.025) / 100, rel=0.15)


def test_few_groups_widen_the_interval(data):
    y, probs = data
    widths = [
        (e.low, e.high) for g in (2, 30, 300) for e in [calibration_error_estimate(y, probs, groups=np.arange(300) % g)]
    ]
    assert widths[0][0] == 0
    assert widths[0][1] > widths[1][1]
    one = calibration_error_estimate(y, probs, groups=np.zeros(300))
    assert np.isnan(one.low)
    assert [note.code for note in one.notes] == ["groups", "no-interval"]


def test_draws_do_not_depend_on_the_order_of_rows_or_names_of_groups(data):
    y, probs = data
    order = np.random.default_rng(3).permutation(300)
    for groups in (None, np.arange(300) // 10):
        first = calibration_error_estimate(y, probs, groups=groups)
        names = None if groups is None else np.array([f"g{g}" for g in groups])
        again = calibration_error_estimate(y, probs, groups=names)
        assert (first.low, first.high) == (again.low, again.high)
    moved = calibration_error_estimate(y[order], probs[order])
    first = calibration_error_estimate(y, probs)
    assert (moved.low, moved.high) == pytest.approx((first.low, first.high), abs=1e-9)


@pytest.mark.parametrize("norm", ["l1", "l2", "squared"])
def test_ordinary_inputs(norm):
    one = calibration_error_estimate([1], [[0.25, 0.75]], norm=norm)
    if norm == "l1":
        assert one == 0.25
        assert one.high > 0.7
    else:
        assert np.isnan([one, one.low, one.high]).all()
        assert one.notes[0].code == "undefined"
    half = np.array([[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]], np.float16)
    half.flags.writeable = False
    assert calibration_error_estimate([0, 0, 1, 1], half[[0, 1, 2, 2]][::-1], norm=norm).high <= 1
    flat = calibration_error_estimate([0] * 8, np.full((8, 2), 0.5), norm=norm)
    assert flat.high == pytest.approx(0.25 if norm == "squared" else 0.5)
    soft = error_estimate_of_hits([0.5, 1.0, 0.25, 0.75], [0.9, 0.95, 0.1, 0.9], norm=norm, n_bins=2)
    assert soft.low <= soft <= soft.high


def test_members_are_judged_by_their_mean(data):
    y, probs = data
    members = np.stack([probs, probs[:, ::-1]], axis=1)
    assert calibration_error_estimate(y, uq.Members(members)) == calibration_error_estimate(y, members.mean(axis=1))


def test_refuses():
    y, probs = [0, 1], [[0.5, 0.5], [0.2, 0.8]]
    with refuses("norm", "choice"):
        calibration_error_estimate(y, probs, norm="max")
    with refuses("n_bins", "range"):
        calibration_error_estimate(y, probs, n_bins=0)


def test_three_networks_on_cifar_10(cifar10):
    probs = cifar10["three"]
    found = calibration_error_estimate(cifar10["labels"], probs.mean(axis=1))
    assert 0.005 < found.low < 0.0132 < found.high < 0.02


N_DRAWS = 20_000


@pytest.fixture
def bins(random_generator):
    confidence = random_generator.random(300) ** 0.5
    hits = (random_generator.random(300) < confidence - 0.1).astype(float)
    return binned_hits(hits, confidence, np.minimum((confidence * 5).astype(int), 4) * 3)


def test_sums_leave_out_empty_bins(bins):
    assert len(bins.size) == 5  # the places 0, 3, …, 12
    assert bins.n == bins.size.sum() == 300
    assert bins.error(bins.excess, "l1") == pytest.approx(np.abs(bins.excess).sum() / 300)
    gaps = bins.excess / bins.size
    assert bins.error(bins.excess, "squared") == pytest.approx((bins.size * gaps**2).sum() / 300)


def test_draws_of_a_calibrated_classifier_against_bernoulli_labels(bins):
    rng = np.random.default_rng(3)
    confidence = rng.random(300) ** 0.2  # near 1: few errors, far from normal
    of = binned_hits(np.ones(300), confidence, np.minimum((confidence * 5).astype(int), 4))
    drawn = drawn_of_instances(of, N_DRAWS, rng).sums(np.zeros(len(of.size)))
    hits = rng.random((N_DRAWS, 300)) < confidence
    for b in range(len(of.size)):
        rows = of.place == b
        exact = confidence[rows].sum() - hits[:, rows].sum(axis=1)
        for q in (0.025, 0.2, 0.5, 0.8, 0.975):
            assert np.quantile(drawn[:, b], q) == pytest.approx(np.quantile(exact, q), abs=1.0 + 1e-9)  # one instance
        assert drawn[:, b].mean() == pytest.approx(0, abs=0.05)


def test_squares_of_a_miscalibrated_classifier_against_a_noncentral_chi_square():
    n, gap, rng = 1000, 0.1, np.random.default_rng(5)
    confidence = np.repeat([0.6, 0.7], n // 2)  # accuracies .5 and .6, whose variances are .25 and .24
    of = binned_hits(np.ones(n), confidence, np.repeat([0, 1], n // 2))
    sums = drawn_of_instances(of, N_DRAWS, rng).sums(np.full(2, gap))
    found = of.error(sums, "squared") * n / 0.245
    theory = stats.ncx2(2, n * gap**2 / 0.245)
    for q in (0.025, 0.5, 0.975):
        assert np.quantile(found, q) == pytest.approx(theory.ppf(q), rel=0.06)


@pytest.mark.parametrize("n_groups", [12, 300])
def test_group_draws_have_the_covariance_of_the_groups(bins, n_groups):
    rng = np.random.default_rng(2)
    groups = rng.permutation(300) % n_groups
    gaps = np.array([0.1, -0.05, 0.2, 0.0, 0.1])
    drawn = drawn_of_groups(bins, groups, n_groups, N_DRAWS, rng).sums(gaps)
    each = np.zeros((n_groups, 5))
    np.add.at(each, (groups, bins.place), bins.difference - gaps[bins.place])
    np.testing.assert_allclose(drawn.mean(axis=0), bins.size * gaps, atol=0.2)
    np.testing.assert_allclose(np.cov(drawn.T, bias=True), each.T @ each, atol=0.6, rtol=0.05)


def test_ends_are_where_the_test_changes(bins):
    rng = np.random.default_rng(4)
    inversion = Inversion(bins, drawn_of_instances(bins, 999, rng), "l1", rng.standard_normal(999))
    low, high = inversion.interval(0.9)
    assert 0 < low < inversion.found < high
    narrow = inversion.interval(0.5)
    assert low < narrow[0] < narrow[1] < high
    assert inversion.of_calibrated() == pytest.approx(np.sqrt(2 * np.array(bins.chance) / np.pi).sum() / 300, rel=0.05)


def test_spread_of_sizes_against_a_loop(bins):
    rng = np.random.default_rng(6)
    terms, groups = rng.random(5), np.arange(300) % 40
    each = terms[bins.place] - terms[bins.place].mean()
    alone = drawn_of_instances(bins, 9, rng).spread_of_sizes(terms)
    assert alone == pytest.approx((each**2).sum() ** 0.5 / 300)
    sums = np.bincount(groups, each)
    grouped = drawn_of_groups(bins, groups, 40, 9, rng).spread_of_sizes(terms)
    assert grouped == pytest.approx((sums**2).sum() ** 0.5 / 300)


# Signs of groups: sums and products against loops, and the sparse form against the dense one.


@pytest.fixture(params=["dense", "sparse"])
def form(request, monkeypatch):
    if request.param == "sparse":
        monkeypatch.setattr(group_signs, "DENSE", 0)
    return request.param


def test_sums_against_a_loop(random_generator, form):
    groups, cells = random_generator.integers(0, 4, 50), random_generator.integers(0, 3, 50)
    amounts = random_generator.standard_normal(50)
    sums = GroupSums(summed(groups, cells, amounts, (4, 3)), lambda over_all: np.abs(over_all).sum(axis=1))
    signs = random_generator.integers(0, 2, (7, 4)) * 2.0 - 1.0
    expected = [
        sum(abs((signs[d][groups] * amounts)[cells == c].sum()) for c in range(3))  # each cell on its own
        for d in range(7)
    ]
    np.testing.assert_allclose(sums.values(signs), expected, atol=1e-12)
    assert isinstance(sums.sums, np.ndarray) == (form == "dense")


def test_products_against_a_loop(random_generator, form):
    first, second = random_generator.integers(0, 4, 50), random_generator.integers(0, 4, 50)
    amounts = random_generator.standard_normal(50)
    products = GroupProducts(summed(first, second, amounts, (4, 4)))
    signs = random_generator.integers(0, 2, (7, 4)) * 2.0 - 1.0
    expected = [(signs[d][first] * signs[d][second] * amounts).sum() for d in range(7)]
    np.testing.assert_allclose(products.values(signs), expected, atol=1e-12)
