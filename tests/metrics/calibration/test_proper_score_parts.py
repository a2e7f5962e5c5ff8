import math

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.metrics.calibration import classwise_calibration_error
from uqassay.metrics.smooth import proper_score_parts

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
def test_batch_is_a_loop(random_generator, score, options):
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
def test_invalid_input_is_refused(options, refusal):
    with refuses(*refusal):
        proper_score_parts([0, 1], [[0.5, 0.5], [0.5, 0.5]], **options)
    with refuses("probs", "sum", got="each row must sum to 1"):
        proper_score_parts([0], [[0.5, 0.6]])
