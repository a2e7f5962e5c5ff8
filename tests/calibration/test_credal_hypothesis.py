"""The test of a credal set."""

import json

import numpy as np
import pytest

import uqassay as uq
from tests.kinds import KINDS, lower_of_every_event, random_prediction
from tests.notes import said
from tests.refusals import refuses
from uqassay.calibration.credal_hypothesis import credal_calibration_test
from uqassay.calibration.credal_nulls import BETA, in_deviations
from uqassay.calibration.ensemble_weights import EnsembleWeights
from uqassay.calibration.mixtures import Mixtures
from uqassay.calibration.monte_carlo import labels_from
from uqassay.calibration.random_null import random_mixture_null
from uqassay.calibration.shared_members import shared_members
from uqassay.calibration.simplex_search import QUICK
from uqassay.calibration.single_hypothesis import calibration_test
from uqassay.credal.vertices import lower_probability_vertices
from uqassay.metrics.calibration.measures import calibration_measure

MEASURES = ("ece-confidence", "ece-classwise", "hosmer-lemeshow", "skce-ul")
NULLS = ("minimised", "random", "berger-boos")


def ensemble(rng, n=40, m=3, k=3, truth=None):
    """Members, and labels from member 0 or from another truth."""
    members = rng.dirichlet(np.ones(k), (n, m))
    return labels_from(members[:, 0] if truth is None else truth, 1, rng)[0], members


@pytest.mark.parametrize("measure", MEASURES)
def test_statistic_is_the_measure_at_the_weights(measure, random_generator):
    labels, members = ensemble(random_generator)
    for null in NULLS:
        test = credal_calibration_test(labels, members, measure=measure, null=null, n_draws=19)
        value = calibration_measure(measure).prepare(test.weights @ members).values(labels)
        assert test.statistic == pytest.approx(float(value), abs=1e-9)
        assert test.weights.sum() == pytest.approx(1)
        assert (test.weights >= 0).all()


def test_two_members_against_a_grid(random_generator):
    labels, members = ensemble(random_generator, m=2)
    share = np.linspace(0, 1, 4001)
    grid = np.stack([share, 1 - share], axis=1)
    for measure in ("ece-confidence", "skce-ul"):
        least = float(calibration_measure(measure).prepare(Mixtures(members).probs(grid)).values(labels).min())
        test = credal_calibration_test(labels, members, measure=measure, null="random", n_draws=99)
        assert test.statistic <= least + 0.05 * test.null.std()


def test_random_null_against_the_algorithm_as_printed(random_generator):
    members = random_generator.dirichlet(np.ones(3), (30, 4))
    measure, found = calibration_measure("ece-classwise"), []
    for _ in range(800):
        truth = random_generator.dirichlet(np.ones(4)) @ members
        rows = random_generator.integers(0, 30, 30)
        labels = [random_generator.choice(3, p=p / p.sum()) for p in truth[rows]]
        found.append(float(measure.prepare(truth[rows]).values(np.array(labels))))
    truths = random_generator.dirichlet(np.ones(4), 800)
    ours = random_mixture_null(Mixtures(members), truths, measure, random_generator, instances="resampled")
    assert abs(ours.mean() - np.mean(found)) < 4 * np.std(found) * np.sqrt(2 / 800)
    assert abs(ours.std() / np.std(found) - 1) < 0.15
    kept = random_mixture_null(Mixtures(members), truths, measure, random_generator)
    assert kept.mean() > ours.mean() + 2 * ours.std() / np.sqrt(800)


def test_permuted_instances_change_pairs_but_no_bins(random_generator):
    mixtures = Mixtures(random_generator.dirichlet(np.ones(3), (30, 2)))
    truths = random_generator.dirichlet(np.ones(2), 500)
    measure = calibration_measure("ece-classwise")
    nulls = [
        random_mixture_null(mixtures, truths, measure, random_generator, instances=kind)
        for kind in ("kept", "permuted")
    ]
    assert abs(nulls[0].mean() - nulls[1].mean()) < 4 * nulls[0].std() * np.sqrt(2 / 500)


def test_what_is_calibrated_is_not_rejected_and_what_is_not_is(random_generator):
    labels, members = ensemble(random_generator, n=150)
    away = (labels + 1) % 3
    for null in NULLS:
        assert not credal_calibration_test(labels, members, null=null).reject(0.02)
        test = credal_calibration_test(away, members, null=null)
        assert test.reject(0.02)
        assert test.statistic > test.threshold(0.02)


def test_one_member_is_the_single_test(random_generator):
    labels, members = ensemble(random_generator, m=1)
    single = calibration_test(labels, members[:, 0], n_draws=99, rng=4)
    for given in (members, uq.Members(members), uq.Point(members[:, 0])):
        for null in NULLS:
            test = credal_calibration_test(labels, given, null=null, rng=4)
            assert (test.statistic, test.pvalue) == (single.statistic, single.pvalue)
            assert (test.null == single.null).all()
            assert (test.null_kind, test.weights.tolist(), test.width, test.search_spread) == (
                "single",
                [1.0],
                0.0,
                0.0,
            )
            assert test.smallest_pvalue == 0.01
    assert test.sentence(0.05) == single.sentence(0.05)
    resampled = calibration_test(labels, members[:, 0], n_draws=99, rng=4, resample=True)
    again = credal_calibration_test(labels, members, null="random", resample=True, rng=4)
    assert (again.null == resampled.null).all()


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=12)
    labels = random_generator.integers(0, 4, 12)
    if kind in ("Dirichlet", "GaussianLogits"):
        with refuses("members", "type", got=f"got {kind}"):
            credal_calibration_test(labels, prediction)
        return
    test = credal_calibration_test(labels, prediction, n_draws=19)
    n_members = {"Point": 1, "Intervals": 8, "Masses": 8}.get(kind, 3)
    assert (test.n_members, test.n_instances, test.n_classes) == (n_members, 12, 4)
    assert test.width == pytest.approx((prediction.upper_probs() - prediction.lower_probs()).mean())
    assert test.noun == ("members" if kind in ("Point", "Members") else "vertices")
    assert ("2K vertices" in said(test)) == (kind in ("Intervals", "Masses"))
    assert ("must mean the same everywhere" in said(test)) == (kind == "Vertices")


@pytest.mark.parametrize("kind", ["Intervals", "Masses"])
def test_vertices_against_the_lower_probability_of_all_events(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=20)
    found = shared_members(prediction).probs
    expected = lower_probability_vertices(lower_of_every_event(prediction), permutations="outermost")
    assert np.abs(found - expected).max() < 1e-12
    assert np.allclose(found[:, range(4), range(4)], prediction.upper_probs())
    assert np.allclose(found[:, range(4, 8), range(4)], prediction.lower_probs())


def test_result_is_plain(random_generator):
    labels, members = ensemble(random_generator, n=20)
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
    labels, members = ensemble(random_generator, n=20)
    first, second = (credal_calibration_test(labels, members, n_draws=19).to_dict() for _ in range(2))
    assert first == second
    assert credal_calibration_test(labels, members, n_draws=19, rng=1).null.tolist() != first["null"]
    assert (
        credal_calibration_test(labels.tolist(), uq.Members(np.asfortranarray(members)), n_draws=19).to_dict() == first
    )


def test_members_on_another_axis_and_in_half_precision(random_generator):
    labels, members = ensemble(random_generator, n=25)
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


def test_all_members_equal_is_the_test_of_one(random_generator):
    probs = random_generator.dirichlet(np.ones(3), 40)
    labels = labels_from(probs, 1, random_generator)[0]
    one = calibration_test(labels, probs, n_draws=999)
    for null in ("minimised", "random"):
        many = credal_calibration_test(labels, np.repeat(probs[:, None], 3, axis=1), null=null, n_draws=999)
        assert many.statistic == pytest.approx(one.statistic)
        assert abs(many.pvalue - one.pvalue) < 0.08
        assert many.width == 0


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
    assert "independent searches" not in said(test)
    assert test.reject(0.1) is False
    assert test.to_dict()["pvalue"] is None


def test_spread_of_minima_that_are_infinite_or_undefined():
    null = np.array([0.0, 2.0])
    assert in_deviations(np.array([1.0, 3.0]), null) == 2.0
    assert in_deviations(np.array([np.inf, np.inf]), null) == 0.0
    assert in_deviations(np.array([1.0, np.inf]), null) == np.inf
    assert in_deviations(np.array([1.0, 3.0]), np.array([0.0, np.nan])) == np.inf
    assert np.isnan(in_deviations(np.array([np.nan, 1.0]), null))


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rows_of_a_coarser_precision_are_divided_by_their_sums(dtype, random_generator):
    members = random_generator.dirichlet(np.ones(40), (30, 3)).astype(dtype)
    off = np.abs(members.sum(axis=2, dtype=np.float64) - 1)
    exact = members.astype(np.float64) / members.sum(axis=2, dtype=np.float64, keepdims=True)
    for given in (members, uq.Members(members), uq.Vertices(members)):
        found = shared_members(given).probs
        assert np.abs(found.sum(axis=2) - 1).max() < 5e-7
        np.testing.assert_allclose(found, exact, atol=5e-7)
    assert (off.max() > 1e-5) == (dtype == np.float16)
    double = members.astype(np.float64) / (1 + 3e-7) / members.sum(axis=2, dtype=np.float64, keepdims=True)
    assert (shared_members(double).probs == double).all()  # what double precision allows is used as it is


def test_masked_arrays_are_refused(random_generator):
    labels, members = ensemble(random_generator, n=20)
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


def test_an_unsettled_search_is_named_in_the_note(random_generator, monkeypatch):
    labels, members = ensemble(random_generator, n=20)
    monkeypatch.setattr("uqassay.calibration.credal_hypothesis.UNSETTLED", np.inf)
    assert "independent searches" not in said(credal_calibration_test(labels, members, n_draws=19))
    monkeypatch.setattr("uqassay.calibration.credal_hypothesis.UNSETTLED", -1.0)
    test = credal_calibration_test(labels, members, n_draws=19)
    assert f"differ by {test.search_spread:.3g} standard deviations of the null" in said(test)


def test_groups_are_named_in_the_note(random_generator):
    labels, members = ensemble(random_generator, n=12)
    grouped = uq.Members(members, groups=np.arange(12) // 2)
    assert "dependence within groups" in said(credal_calibration_test(labels, grouped, n_draws=19))


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"measure": "ece"}, ("measure", "choice")),
        ({"null": "fitted"}, ("null", "choice", "got 'fitted'")),
        ({"convention": "code"}, ("convention", "choice", "got 'code'")),
        ({"n_draws": 0}, ("n_draws", "range", "got 0")),
        ({"n_draws": 1.5}, ("n_draws", "range", "got 1.5")),
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
        credal_calibration_test(*ensemble(random_generator), **change)


def test_data_are_checked(random_generator):
    labels, members = ensemble(random_generator)
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


def test_too_few_draws_say_what_is_reachable(random_generator):
    labels, members = ensemble(random_generator)
    test = credal_calibration_test(labels, members, n_draws=9)
    assert test.smallest_pvalue == 0.1
    with refuses("alpha", "needs-draws", got="got 0.05"):
        test.reject(0.05)
    assert test.sentence(0.05).startswith("9 draws are too few")
    assert test.reject(0.1) in (True, False)
    conservative = credal_calibration_test(labels, members, n_draws=19, null="berger-boos")
    assert conservative.smallest_pvalue == pytest.approx(0.05 + BETA)
    with refuses("alpha", "needs-draws", got="got 0.05"):
        conservative.reject(0.05)
    with refuses("alpha", "needs-draws", got="choose alpha above 0.001"):
        conservative.threshold(0.0005)
