"""The test of a credal set."""

import json

import numpy as np
import pytest

import uqassay as uq
from tests.calibration.made_up_data import random_ensemble
from tests.notes import said
from tests.refusals import refuses
from uqassay.calibration.credal import credal_calibration_test
from uqassay.calibration.search import QUICK
from uqassay.calibration.weights import EnsembleWeights
from uqassay.metrics.measures import calibration_measure

NULLS = ("minimised", "sequential", "random", "berger-boos")

MEASURES = ("ece-confidence", "ece-classwise", "hosmer-lemeshow", "skce-ul")


@pytest.mark.parametrize("measure", MEASURES)
def test_statistic_is_the_measure_at_the_weights(measure, random_generator):
    labels, members = random_ensemble(random_generator)
    for null in NULLS:
        test = credal_calibration_test(labels, members, measure=measure, null=null, n_draws=19)
        value = calibration_measure(measure).prepare(test.weights @ members).values(labels)
        assert test.statistic == pytest.approx(float(value), abs=1e-9)
        assert test.weights.sum() == pytest.approx(1)
        assert (test.weights >= 0).all()


def test_rejects_uncalibrated_ensembles_and_no_calibrated_one(random_generator):
    labels, members = random_ensemble(random_generator, n=150)
    away = (labels + 1) % 3
    for null in NULLS:
        assert not credal_calibration_test(labels, members, null=null).reject(0.02)
        test = credal_calibration_test(away, members, null=null)
        assert test.reject(0.02)
        assert null == "sequential" or test.statistic > test.threshold(0.02)


def test_result_is_plain(random_generator):
    labels, members = random_ensemble(random_generator, n=20)
    for null in NULLS:
        test = credal_calibration_test(labels, members, null=null, n_draws=19)
        again = json.loads(json.dumps(test.to_dict(), allow_nan=False))
        assert (again["pvalue"], again["weights"], again["null"]) == (
            test.pvalue,
            test.weights.tolist(),
            test.null.tolist(),
        )
        assert again["null_kind"] == null
        assert again["search_spread"] is None if null == "random" else again["search_spread"] >= 0
        assert again["evaluations"] > 0
        assert again["width"] == pytest.approx(np.ptp(members, axis=1).mean())


def test_results_repeat_and_follow_the_seed(random_generator):
    labels, members = random_ensemble(random_generator, n=20)
    first, second = (credal_calibration_test(labels, members, n_draws=19).to_dict() for _ in range(2))
    assert first == second
    assert credal_calibration_test(labels, members, n_draws=19, rng=1).null.tolist() != first["null"]
    assert (
        credal_calibration_test(labels.tolist(), uq.Members(np.asfortranarray(members)), n_draws=19).to_dict() == first
    )


def test_members_on_another_axis_and_in_half_precision(random_generator):
    labels, members = random_ensemble(random_generator, n=25)
    expected = credal_calibration_test(labels, members, null="random").statistic
    moved = uq.Members(np.moveaxis(members, 1, 0), member_axis=0)
    assert credal_calibration_test(labels, moved, null="random").statistic == pytest.approx(expected)
    half = credal_calibration_test(labels, members.astype(np.float16), null="random")
    assert half.statistic == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("measure", MEASURES)
def test_ordinary_edge_cases(measure, null, random_generator):
    equal = np.repeat(random_generator.dirichlet(np.ones(3), (20, 1)), 4, axis=1)
    binary = random_generator.dirichlet(np.ones(2), (6, 2))
    never = np.zeros((10, 2, 3))
    never[..., 0], never[..., 1] = 0.75, 0.25  # class 2 never predicted
    for members, labels in (
        (equal, random_generator.integers(0, 3, 20)),
        (binary, np.zeros(6, dtype=int)),
        (never, np.arange(10) % 2),
    ):
        test = credal_calibration_test(labels, members, measure=measure, null=null, n_draws=19)
        assert 0.05 <= test.pvalue <= 1
        assert test.sentence(0.1).endswith(".")


def test_one_instance(random_generator):
    members = random_generator.dirichlet(np.ones(3), (1, 3))
    test = credal_calibration_test([0], members, n_draws=19)
    assert 0.05 <= test.pvalue <= 1
    undefined = credal_calibration_test([0], members, measure="skce-ul", null="random", n_draws=19)
    assert np.isnan(undefined.pvalue)
    assert said(undefined).startswith("the measure is undefined for these labels with 1 instance")
    assert undefined.reject(0.1) is False
    assert undefined.to_dict()["weights"] == [None] * 3
    assert undefined.sentence() == "Whether some mixture of the members is calibrated in the strong sense is undefined."


@pytest.mark.parametrize("null", NULLS)
def test_an_undefined_pvalue_is_nan_with_a_reason(null, random_generator):
    """A class that no member thinks possible: infinite for labels of it, 0/0 for labels drawn from the members."""
    members = random_generator.dirichlet(np.ones(3), (60, 4))
    members[..., 2] = 0.0
    members /= members.sum(axis=2, keepdims=True)
    labels = random_generator.integers(3, size=60)
    test = credal_calibration_test(labels, members, measure="hosmer-lemeshow-paper-code", null=null, n_draws=19)
    assert test.statistic == np.inf
    assert np.isnan(test.pvalue)
    assert "the measure is undefined for some draws of labels with 60 instances" in said(test)
    assert "the least value" not in said(test)
    assert test.reject(0.1) is False
    assert test.to_dict()["pvalue"] is None


def test_masked_arrays_are_refused(random_generator):
    labels, members = random_ensemble(random_generator, n=20)
    masked_labels = np.ma.masked_array(labels, np.arange(20) == 3)
    masked = np.ma.masked_array(members, members < 0.05)
    for name, call in (
        ("y_true", lambda y, p: credal_calibration_test(y, p)),
        ("y", lambda y, p: EnsembleWeights("brier").fit(p, y)),
    ):
        with refuses(name, "masked"):
            call(masked_labels, members)
        with refuses("members", "masked"):
            call(labels, masked)


def test_a_note_names_a_search_that_has_not_converged(random_generator, monkeypatch):
    labels, members = random_ensemble(random_generator, n=20)
    monkeypatch.setattr("uqassay.calibration.credal.UNSETTLED", np.inf)
    assert "the least value" not in said(credal_calibration_test(labels, members, n_draws=19))
    monkeypatch.setattr("uqassay.calibration.credal.UNSETTLED", -1.0)
    test = credal_calibration_test(labels, members, n_draws=19)
    assert f"to about {test.search_spread:.2g} standard deviations of its null" in said(test)


def test_groups_are_named_in_the_note(random_generator):
    labels, members = random_ensemble(random_generator, n=12)
    grouped = uq.Members(members, groups=np.arange(12) // 2)
    found = credal_calibration_test(labels, grouped, n_draws=19)
    assert "those of one group depend on each other" in said(found)
    assert ", labels taken as independent" in found.sentence(0.1)
    assert "independent" not in credal_calibration_test(labels, members, n_draws=19).sentence(0.1)


@pytest.mark.parametrize("measure", ["brier", "log-loss"])
def test_scores_of_mixtures_say_that_they_show_one_side(measure, random_generator):
    members = random_generator.dirichlet(np.ones(3), (30, 2))
    sure = members.mean(axis=1).argmax(axis=1)  # right always: all mixtures are underconfident
    found = credal_calibration_test(sure, members, measure=measure, n_draws=19)
    assert found.pvalue > 0.5
    assert found.sentence(0.1).endswith("; of mixtures, this score shows overconfidence alone.")
    assert "this score can show overconfidence alone" in said(found)
    alone = credal_calibration_test(sure, members.mean(axis=1)[:, np.newaxis], measure=measure, n_draws=39)
    assert alone.reject(0.05)
    assert alone.notes == ()


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"measure": "ece"}, ("measure", "choice")),
        ({"null": "fitted"}, ("null", "choice", "got 'fitted'")),
        ({"convention": "code"}, ("convention", "choice", "got 'code'")),
        ({"n_draws": 0}, ("n_draws", "range", "got 0")),
        ({"n_draws": 1.5}, ("n_draws", "type", "got 1.5")),
        ({"resample": True}, ("resample", "conflict", "got null='minimised'")),
        (
            {"convention": "paper-code"},
            ("convention", "conflict", "got null='minimised'"),
        ),
        (
            {"convention": "paper-code", "null": "random", "resample": True},
            ("convention", "conflict", "got resample=True"),
        ),
        ({"convention": "paper-code", "null": "random", "search": QUICK}, ("search", "conflict")),
        ({"search": "quick"}, ("search", "type", "got 'quick'")),
    ],
)
def test_options_are_checked(change, refusal, random_generator):
    with refuses(*refusal):
        credal_calibration_test(*random_ensemble(random_generator), **change)


def test_a_sequential_test_decides_as_one_with_all_draws():
    decisions = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        labels, members = random_ensemble(rng, truth=rng.dirichlet(np.ones(3), 40) if seed % 2 else None)
        full = credal_calibration_test(labels, members, rng=seed)
        found = credal_calibration_test(labels, members, null="sequential", rng=seed)
        assert (found.planned_draws, full.planned_draws, full.n_draws) == (99, None, 99)
        assert (found.smallest_pvalue, found.statistic) == (full.smallest_pvalue, full.statistic)
        assert found.pvalue == full.pvalue if full.pvalue <= 0.1 else found.pvalue > 0.1
        assert found.reject(0.05) == full.reject(0.05)
        decisions.append(found.reject(0.05))
        with refuses("null", "conflict"):
            found.threshold(0.05)
    assert len(set(decisions)) == 2


def test_data_are_checked(random_generator):
    labels, members = random_ensemble(random_generator)
    with refuses("y_true", "mismatch", got="got 39"):
        credal_calibration_test(labels[1:], members)
    with refuses("y_true", "range", got="row 0 holds -1"):
        credal_calibration_test(np.full(40, -1), members)
    alone = credal_calibration_test(labels, members[:, 0])  # an array (n, K) is a single classifier
    assert (alone.n_members, alone.weights.tolist()) == (1, [1.0])
    with refuses("members", "shape", got=r"\(40,\)"):
        credal_calibration_test(labels, members[:, 0, 0])
    with refuses("members", "finite", got="row 0 holds nan"):
        credal_calibration_test(labels, np.full_like(members, np.nan))
    with refuses("members", "sum"):
        credal_calibration_test(labels, members / 2)
