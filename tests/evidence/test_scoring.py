"""Scores of one model: what is computed once, how much is kept, and which points span a set."""

import sys
import threading
from collections import Counter

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence import baselines, scoring
from uqassay.evidence import scale as scaled_sets
from uqassay.evidence.scale import SCALES
from uqassay.predictions.base import REMEMBERED

pytestmark = pytest.mark.usefixtures("without_calibration")

SCALED_BOUNDS = {
    "Intervals",
    "ClassSets",
    "Masses",
}  # of scaled points the upper probability of the label alone is asked for


def rows_computed(prediction, y):
    """How many rows the mean, lower and upper probabilities of a kind are computed for in one assay."""
    codes = {getattr(type(prediction), name).__wrapped__.__code__: name for name in REMEMBERED}
    rows = Counter()

    def watch(frame, event, arg):
        if event == "call" and frame.f_code in codes:
            rows[codes[frame.f_code]] += frame.f_locals["self"].n_instances

    sys.setprofile(watch)
    threading.setprofile(watch)
    try:
        uq.assay({"m": prediction}, y, n_draws=20)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return rows


@pytest.mark.parametrize("kind", KINDS)
def test_class_probabilities_of_a_row_are_computed_once(kind, random_generator):
    """An assay asks for the mean of the same rows about fifteen times: scores, tests, errors, pictures.

    The scale check asks for the upper probabilities of other sets: those of its rows, once at each scale but 1. Points have
    no lower probabilities other than the mean.
    """
    n, k = 400, 4
    found = rows_computed(random_prediction(kind, random_generator, n, k), random_generator.integers(k, size=n))
    # the baselines are scored on K rows; the classwise error of the class frequencies, a point, takes all instances
    baselines = 10 * k + (n if kind == "Point" else 0)
    drawn = n if kind in ("Dirichlet", "GaussianLogits") else 0  # the pictures show the members that were drawn
    for name in REMEMBERED:
        scaled = n * (len(SCALES) - 1) if name == "upper_probs" and kind in SCALED_BOUNDS else 0
        least = 0 if name == "lower_probs" and kind == "Point" else n
        assert least <= found[name] <= n + baselines + drawn + scaled, name


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"Point"}))
def test_scaled_sets_are_of_a_limited_number_of_rows(kind, monkeypatch, random_generator):
    n, k, affordable = 400, 4, 60
    rows, scaled = [], scaled_sets.scaled_prediction

    def counted(prediction, scale):
        rows.append(prediction.n_instances)
        return scaled(prediction, scale)

    monkeypatch.setattr(scaled_sets, "affordable_rows", lambda *_: affordable)
    monkeypatch.setattr(scaled_sets, "scaled_prediction", counted)
    uq.assay({"m": random_prediction(kind, random_generator, n, k)}, random_generator.integers(k, size=n), n_draws=20)
    assert rows == [affordable] * (len(SCALES) - 1)


def test_points_of_sets(random_generator):
    found = {kind: scoring.points_of_sets(random_prediction(kind, random_generator)) for kind in KINDS}
    assert found == {
        "Point": 1,
        "Members": 3,
        "Dirichlet": 20,
        "Intervals": None,
        "ClassSets": None,
        "Masses": None,
        "Vertices": 3,
        "GaussianLogits": 20,
    }


def test_runs_are_rows_of_the_columns_and_change_the_fingerprint(random_generator):
    first, second = (random_prediction("Point", random_generator, 20, 3) for _ in range(2))
    y = random_generator.integers(3, size=20)
    settings = scoring.Settings(measures=("margin",))
    both = scoring.score_model("m", (first, second), y, settings)
    alone = scoring.score_model("m", (first,), y, settings)
    assert both.n_runs == 2
    for name, column in alone.columns.items():
        np.testing.assert_array_equal(column[0], both.columns[name][0], err_msg=name)
    swapped = scoring.score_model("m", (second, first), y, settings)
    assert len({both.fingerprint, alone.fingerprint, swapped.fingerprint}) == 3


def test_baselines_of_labels_are_those_of_the_same_distributions(random_generator):
    y = random_generator.integers(3, size=40)
    prior = np.bincount(y, minlength=3) / 40
    settings = scoring.Settings(measures=())
    for label, soft in zip(
        baselines.score_baselines(y, 3, prior, settings),
        baselines.score_baselines(np.eye(3)[y], 3, prior, settings),
        strict=True,
    ):
        assert (label.name, label.baseline) == (soft.name, True)
        np.testing.assert_allclose(label.columns["distance"], soft.columns["distance"], atol=1e-12)


def test_pictures_hold_the_sets_of_the_rows_chosen(random_generator):
    rows = np.array([4, 1])
    members = random_prediction("Members", random_generator, 6, 3)
    sample = scoring.sample_sets(members, rows, 1)
    np.testing.assert_allclose(sample.lower, members.probs[rows].min(axis=1), atol=1e-7)
    np.testing.assert_allclose(sample.mean, members.probs[rows].mean(axis=1), atol=1e-7)
    np.testing.assert_allclose(sample.points, members.probs[[4]], atol=1e-7)
    intervals = random_prediction("Intervals", random_generator, 6, 3)
    assert scoring.sample_sets(intervals, rows, 2).points.shape == (0, 0, 3)
    point = random_prediction("Point", random_generator, 6, 3)
    sample = scoring.sample_sets(point, rows, 1)
    for found in (sample.lower, sample.upper, sample.mean):
        np.testing.assert_array_equal(found, point.probs[rows].astype(np.float32))


def test_the_meaning_of_a_variance_is_part_of_the_fingerprint_and_of_the_scores():
    mean, variance = np.zeros((4, 3, 2)), np.ones((4, 3, 2))
    found = [
        uq.assay({"m": uq.GaussianLogits(mean, variance, variance_is=meaning)}, [0, 1, 0, 1], n_draws=5)["m"]
        for meaning in ("aleatoric", "epistemic")
    ]
    assert found[0].fingerprint != found[1].fingerprint
    assert [(m.n_points, m.spanned_by) for m in found] == [(3, "passes"), (100, "draws")]
    assert found[0].columns["nonspecificity"].max() == 0.0
    assert found[1].columns["nonspecificity"].min() > 0.3


# -- class sets ---------------------------------------------------------------------------------------------------------


def test_class_sets_in_an_assay(random_generator):
    """What has a meaning is there, what has none says why, and the sets are those that were given."""
    p = random_generator.dirichlet(np.full(4, 0.5), 120)
    y = np.array([random_generator.choice(4, p=q) for q in p])
    sets = p >= 0.25
    sets[:3] = False
    found = uq.assay({"p": uq.Point(p), "sets": uq.ClassSets(sets)}, y, n_draws=20, tradeoffs=[0.5], calibration=())
    rows = {(r["model"], r["metric"]): r for r in found.rows("findings") if r["run"] == "all"}
    held, size = sets[np.arange(120), y], np.where(sets.any(axis=1), sets.sum(axis=1), 4)
    inside = held | ~sets.any(axis=1)
    assert rows["sets", "accuracy"]["estimate"] == pytest.approx((inside / size).mean())
    assert "at random" in rows["sets", "accuracy"]["notes"][0].text
    assert np.isnan(rows["sets", "ece"]["estimate"])
    assert "no probabilities" in rows["sets", "ece"]["notes"][0].text
    assert rows["sets", "nonspecificity"]["estimate"] == pytest.approx(np.log(size).mean())
    assert rows["sets", "kl"]["estimate"] == pytest.approx(-np.log(np.finfo(float).eps) * (~inside).mean())
    assert ("sets", "uq-auc") not in rows
    assert found.uncertainty_names("sets") == ()
    np.testing.assert_array_equal(found.hits("sets")[0], held)
    single = sets.sum(axis=1) == 1
    np.testing.assert_array_equal(found["sets"].columns["label"][0], np.where(single, sets.argmax(axis=1), -1))
    texts = [note.text for note in found.warnings]
    assert any(text.startswith("sets: 3 of 120 class sets are empty") for text in texts)
    assert any("class sets leave the label out, which costs 36 nats" in text for text in texts)
    of_sets = {(r["rule"], r["metric"]): r["estimate"] for r in found.rows("sets") if r["model"] == "sets"}
    for rule in ("interval-dominance", "maximality", "e-admissibility"):
        assert of_sets[rule, "coverage"] == pytest.approx(held.mean())
        assert of_sets[rule, "size"] == pytest.approx(sets.sum(axis=1).mean())
    with refuses("model", "undefined"):
        found.reliability("sets")
    with refuses("model", "undefined", got="class sets of sets"):
        found.certified_refusal("sets", risk=0.1)
