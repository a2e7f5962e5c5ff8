"""The test of a credal set: search over mixtures, nulls, confidence region, verdict, and the choices of the paper's code."""

import json
import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import integrate, special, stats
from scipy.optimize import minimize
from scipy.stats import chi2

import uqassay as uq
from tests.calibration.made_up_data import draw_labels, given_of, random_ensemble
from tests.kinds import KINDS, lower_of_every_event, random_prediction
from tests.notes import said
from tests.refusals import refuses
from uqassay.calibration.credal import (
    BETA,
    CONTRADICTED,
    FIRST_DRAWS,
    CredalCalibrationTest,
    LikelyMixtures,
    NullAtMixture,
    cobyla_minimum,
    credal_calibration_test,
    credal_calibration_tests,
    drawn_labels,
    fewest_members,
    in_deviations,
    likelihood_region,
    null_at,
    paper_code_measure,
    quantile_pvalue,
    worst_mixture,
)
from uqassay.calibration.mixtures import MixtureObjective, Mixtures, shared_members
from uqassay.calibration.nulls import labels_from, monte_carlo_pvalue
from uqassay.calibration.one_classifier import calibration_test
from uqassay.calibration.search import QUICK, minimise_over_simplex
from uqassay.calibration.weights import EnsembleWeights, log_loss_weights, predictive_weights
from uqassay.credal.vertices import lower_probability_vertices
from uqassay.metrics.measures import CALIBRATION_MEASURES, calibration_measure

# The test of a credal set.

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
        test = credal_calibration_test(labels, members, measure=measure, null=null, n_draws=9)
        assert 0.1 <= test.pvalue <= 1
        assert test.sentence(0.1).endswith(".")


def test_one_instance(random_generator):
    members = random_generator.dirichlet(np.ones(3), (1, 3))
    test = credal_calibration_test([0], members, n_draws=19)
    assert 0.05 <= test.pvalue <= 1
    undefined = credal_calibration_test([0], members, measure="skce-ul", null="random", n_draws=19)
    assert np.isnan(undefined.pvalue)
    assert said(undefined).startswith("the measure is undefined for these labels with 1 case")
    assert undefined.reject(0.1) is False
    assert undefined.to_dict()["weights"] == [None] * 3
    assert (
        undefined.sentence()
        == "Whether some mixture of the members has the right probabilities as a whole is undefined."
    )


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
    assert "the measure is undefined for some draws of labels with 60 cases" in said(test)
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
    for seed in range(4):
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
    with refuses("y_true", "range", got="row 0 holds -1"):
        credal_calibration_test(np.full(40, -1), members)
    alone = credal_calibration_test(labels, members[:, 0])  # an array (n, K) is a single classifier
    assert (alone.n_members, alone.weights.tolist()) == (1, [1.0])
    with refuses("members", "shape", got=r"\(40,\)"):
        credal_calibration_test(labels, members[:, 0, 0])
    with refuses("members", "sum"):
        credal_calibration_test(labels, members / 2)


# Nulls of the credal test: the weights and p-values they lead to.

ALL_NULLS = ("minimised", "random", "berger-boos")


def test_two_members_against_a_grid(random_generator):
    labels, members = random_ensemble(random_generator, m=2)
    share = np.linspace(0, 1, 4001)
    grid = np.stack([share, 1 - share], axis=1)
    for measure in ("ece-confidence", "skce-ul"):
        least = float(calibration_measure(measure).prepare(Mixtures(members).probs(grid)).values(labels).min())
        test = credal_calibration_test(labels, members, measure=measure, null="random", n_draws=99)
        assert test.statistic <= least + 0.05 * test.null.std()


@pytest.mark.parametrize(
    ("measure", "smallest"),
    [("ece-confidence", 0.01), ("kuiper-confidence", 0.01), ("brier", 0.02), ("log-loss", 0.02)],
)
def test_one_member_is_the_single_test(random_generator, measure, smallest):
    labels, members = random_ensemble(random_generator, m=1)
    single = calibration_test(labels, members[:, 0], measure=measure, n_draws=99, rng=4)
    for given in (members, uq.Members(members), uq.Point(members[:, 0])):
        for null in ALL_NULLS:
            test = credal_calibration_test(labels, given, measure=measure, null=null, rng=4)
            assert (test.statistic, test.pvalue) == (single.statistic, single.pvalue)
            assert (test.null == single.null).all()
            assert (test.null_kind, test.weights.tolist(), test.width, test.search_spread) == (
                "single",
                [1.0],
                0.0,
                0.0,
            )
            assert (test.sides, test.smallest_pvalue) == (single.sides, smallest)
            assert (test.threshold(0.1), test.reject(0.1)) == (single.threshold(0.1), single.reject(0.1))
    assert test.sentence(0.05) == single.sentence(0.05)
    resampled = calibration_test(labels, members[:, 0], measure=measure, n_draws=99, rng=4, resample=True)
    again = credal_calibration_test(labels, members, measure=measure, null="random", resample=True, rng=4)
    assert (again.null == resampled.null).all()


def test_one_underconfident_member_is_rejected_by_its_low_score():
    """The upper side alone would not see it, as for several members."""
    flat = np.tile([0.5, 0.5], (60, 1)) + np.array([0.1, -0.1])
    labels = np.zeros(60, dtype=int)
    one = credal_calibration_test(labels, flat[:, None], measure="brier")
    assert (one.sides, one.pvalue, one.reject()) == ("both", 0.02, True)
    two = credal_calibration_test(labels, np.stack([flat, flat], axis=1), measure="brier")
    assert (two.sides, two.pvalue, two.smallest_pvalue) == ("upper", 1.0, 0.01)


@pytest.mark.parametrize("measure", ["ece-confidence", "brier"])
def test_all_members_equal_is_the_test_of_one(random_generator, measure):
    probs = random_generator.dirichlet(np.ones(3), 40)
    labels = labels_from(probs, 1, random_generator)[0]
    one = calibration_test(labels, probs, measure=measure, n_draws=999)
    upper = monte_carlo_pvalue(one.statistic, one.null)  # several members are tested on this side, also by scores
    for null in ("minimised", "random"):
        equal = np.repeat(probs[:, None], 3, axis=1)
        many = credal_calibration_test(labels, equal, measure=measure, null=null, n_draws=999)
        assert many.statistic == pytest.approx(one.statistic)
        assert (many.sides, abs(many.pvalue - upper) < 0.08) == ("upper", True)
        assert many.width == 0


def test_spread_of_minima_that_are_infinite_or_undefined():
    assert in_deviations(np.array([1.0, 3.0]), 1.0) == 2.0
    assert in_deviations(np.array([np.inf, np.inf]), 1.0) == 0.0
    assert in_deviations(np.array([1.0, np.inf]), 1.0) == np.inf
    assert in_deviations(np.array([1.0, 3.0]), np.nan) == np.inf
    assert np.isnan(in_deviations(np.array([np.nan, 1.0]), 1.0))


def test_minimised_null_is_the_worse_of_two_mixtures():
    """Each of the two nulls counted apart, from labels drawn again with the same random numbers."""
    taken, measure = [], "ece-confidence"
    for seed in range(6):
        rng = np.random.default_rng(seed)
        members = rng.dirichlet(np.ones(3), (50, 3))
        members[:, 0] = rng.dirichlet(np.full(3, 10.0), 50)
        labels = labels_from(members[:, 0], 1, rng)[0]
        test = credal_calibration_test(labels, members, measure=measure, n_draws=19, rng=seed)
        generator = np.random.default_rng(seed)
        seeds = generator.integers(2**63, size=2)
        two = [predictive_weights(members, labels, generator), fewest_members(members, labels)]
        mixtures, pvalues = Mixtures(members), []
        for truth in two:
            drawn = draw_labels(np.random.default_rng(seeds[0]), np.stack([mixtures.probs(truth)] * 19))
            objective = MixtureObjective(mixtures, np.concatenate([labels[None], drawn]), calibration_measure(measure))
            least = minimise_over_simplex(objective, QUICK, np.random.default_rng(seeds[1]))[0]
            assert least[0] == test.statistic
            pvalues.append((least >= least[0]).mean())
        assert test.pvalue == (pvalues[0] if pvalues[0] > 0.5 else max(pvalues))
        assert test.pvalue == (1 + (test.null >= test.statistic).sum()) / 20
        taken.append(test.pvalue > pvalues[0])
    assert any(taken)
    assert not all(taken)


# The sequential null against that of all draws.

SEQUENTIAL_MEASURES = (
    "ece-confidence",
    "kuiper-confidence",
    "ece-classwise",
    "hosmer-lemeshow",
    "skce-ul",
    "log-loss",
)


def both(name, seed, n_draws=99, after=None):
    """The null of all draws and the sequential one, of labels from near a mixture (even seeds) or from somewhere else."""
    rng = np.random.default_rng(seed)
    members = rng.dirichlet(np.ones(4), (60, 3))
    truth = members.mean(axis=1) if seed % 2 == 0 else 0.6 * members.mean(axis=1) + 0.4 * rng.dirichlet(np.ones(4), 60)
    labels = draw_labels(rng, truth[None])[0]
    mixtures, weights = Mixtures(members), rng.dirichlet(np.ones(3))
    drawn = drawn_labels(mixtures, weights, n_draws, np.int64(seed))
    objective = MixtureObjective(mixtures, labels[np.newaxis], CALIBRATION_MEASURES[name])
    given = objective, weights, drawn, QUICK, np.int64(seed + 1)
    with np.errstate(all="ignore"):
        return null_at(*given), null_at(*given, sequential=True, after=after)


@pytest.mark.parametrize("name", SEQUENTIAL_MEASURES)
def test_the_sequential_test_counts_what_all_draws_would_show(name):
    small, stopped = 0, 0
    for seed in range(6):
        (full, all_evaluations), (found, evaluations) = both(name, seed)
        assert found.statistic == full.statistic
        np.testing.assert_array_equal(found.weights, full.weights)
        reached = full.null >= full.statistic - 1e-9 * abs(full.statistic) - 1e-15
        places = np.flatnonzero(reached)
        end = places[9] if len(places) > 9 else 99  # the draw with which a tenth of 100 has reached the statistic
        assert len(found.null) == end
        assert found.pvalue == (1 + reached[:end].sum()) / (1 + end)
        assert end == 99 or found.pvalue == 10 / (end + 1) > 0.1
        np.testing.assert_array_equal(found.null[reached[:end]], full.null[:end][reached[:end]])
        np.testing.assert_array_equal(found.null[:FIRST_DRAWS], full.null[: min(end, FIRST_DRAWS)])
        settled = ~reached[:end]
        assert (found.null[settled] >= full.null[:end][settled]).all()
        assert (found.null[settled] < full.statistic).all()
        assert found.deviation == full.null[:FIRST_DRAWS].std()
        assert evaluations < all_evaluations
        small, stopped = small + (end == 99), stopped + (end < 99)
    assert stopped
    assert small or name in ("skce-ul", "log-loss")


def test_after_another_mixture_nothing_is_searched_twice():
    (full, _), (found, evaluations) = both("ece-classwise", 1)
    again, fewer = both("ece-classwise", 1, after=found)[1]
    assert fewer < evaluations
    assert (again.pvalue, again.statistic, again.deviation) == (found.pvalue, found.statistic, found.deviation)
    assert (again.null >= full.null[: len(again.null)]).all()
    np.testing.assert_array_equal(again.null >= full.statistic, full.null[: len(again.null)] >= full.statistic)


@pytest.mark.parametrize("n_draws", [1, 9, 19, 20, 40])
def test_any_number_of_draws(n_draws):
    (full, _), (found, _) = both("ece-classwise", 1, n_draws)
    enough = max((n_draws + 1) // 10, 1)
    reached = np.flatnonzero(full.null >= full.statistic)
    assert len(found.null) == (reached[enough - 1] if len(reached) >= enough else n_draws)


def test_an_undefined_statistic_stays_undefined():
    members = np.full((10, 2, 2), [[0.0, 1.0], [0.0, 1.0]])
    labels = np.zeros(10, dtype=int)
    drawn = np.ones((30, 10), dtype=int)
    with np.errstate(all="ignore"):
        found, _ = null_at(
            MixtureObjective(Mixtures(members), labels[np.newaxis], CALIBRATION_MEASURES["hosmer-lemeshow"]),
            np.array([0.5, 0.5]),
            drawn,
            QUICK,
            np.int64(0),
            sequential=True,
        )
    assert np.isnan(found.statistic) == np.isnan(found.pvalue)


# The confidence region for λ and the greatest p-value over it.


def test_marginal_likelihood_against_quadrature(random_generator):
    given = random_generator.random((25, 2))

    def density(share):
        prior = share**-0.5 * (1 - share) ** -0.5 / np.pi  # Dir(½, ½)
        return prior * np.prod(given @ [share, 1 - share]) * 1e12

    exact = np.log(integrate.quad(density, 0, 1, epsabs=0, epsrel=1e-8)[0]) - np.log(1e12)
    best = np.array([0.5, 0.5])
    found = [likelihood_region(given, best, 0.001, np.random.default_rng(i)).threshold for i in range(20)]
    assert np.abs(np.array(found) - (exact - np.log(1000))).max() < 0.15


def test_marginal_likelihood_against_the_dirichlet_multinomial():
    # members that are certain of one class each: ∫ Π λ_{y_i} dπ = Γ(½M) Π Γ(n_m + ½) / (Γ(n + ½M) Γ(½)^M)
    counts = np.array([7, 1, 0, 4])
    given = np.eye(4)[np.repeat(np.arange(4), counts)]
    exact = special.gammaln(2) + special.gammaln(counts + 0.5).sum() - special.gammaln(14) - 4 * special.gammaln(0.5)
    region = likelihood_region(given, counts / 12, 0.01, np.random.default_rng(0))
    assert region.threshold == pytest.approx(exact + np.log(0.01), abs=0.1)


def test_region_misses_the_truth_at_most_beta(random_generator):
    beta, missed = 0.2, 0
    for run in range(60):
        members = random_generator.dirichlet(np.ones(3), (30, 3))
        truth = np.eye(3)[0] if run % 2 else random_generator.dirichlet(np.ones(3))
        labels = labels_from(truth @ members, 1, random_generator)[0]
        region = likelihood_region(
            given_of(members, labels), log_loss_weights(members, labels)[0], beta, random_generator
        )
        missed += not region.contains(truth[None])[0]
    assert missed / 60 <= beta


def test_border_points_lie_on_the_border(random_generator):
    members = random_generator.dirichlet(np.full(3, 0.5), (80, 4))
    labels = labels_from(members[:, 1], 1, random_generator)[0]
    best = log_loss_weights(members, labels)[0]
    region = likelihood_region(given_of(members, labels), best, 0.001, random_generator)
    reached = region.towards(np.eye(4))
    assert np.allclose(reached.sum(axis=1), 1)
    assert (reached >= 0).all()
    assert region.contains(reached).all()
    at_corner = np.isclose(reached, np.eye(4)).all(axis=1)
    assert not at_corner.all()
    beyond = reached + 1e-6 * (np.eye(4) - best)
    assert not region.contains(beyond[~at_corner]).any()


def test_impossible_labels_leave_everything_possible():
    members = np.zeros((3, 2, 3))
    members[:, 0, 0], members[:, 1, 1] = 1.0, 1.0
    given = given_of(members, np.array([2, 0, 1]))
    region = likelihood_region(given, np.array([0.5, 0.5]), 0.001, np.random.default_rng(0))
    assert region.contains(np.array([[1.0, 0.0], [0.3, 0.7]])).all()
    test = credal_calibration_test([2, 0, 1], members, null="berger-boos", n_draws=19)
    assert 0 < test.pvalue <= 1


# The greatest p-value over the mixtures that the labels leave possible.


@pytest.mark.parametrize(
    ("pvalues", "greatest"), [((0.1, 0.3, 0.2), 0.3), ((0.1, np.nan, 0.2), np.nan), ((np.nan,), np.nan)]
)
def test_an_undefined_candidate_makes_the_greatest_pvalue_undefined(pvalues, greatest, random_generator, monkeypatch):
    members = random_generator.dirichlet(np.ones(3), (30, 3))
    labels = labels_from(members[:, 0], 1, random_generator)[0]
    best = log_loss_weights(members, labels)[0]
    region = likelihood_region(given_of(members, labels), best, 0.001, random_generator)
    found = iter(pvalues)

    def null_at(objective, truth, *others):
        return NullAtMixture(truth, 0.0, truth, np.zeros(1), next(found, 0.0), 0.0), 1

    monkeypatch.setattr("uqassay.calibration.credal.null_at", null_at)
    objective = MixtureObjective(Mixtures(members), labels[np.newaxis], calibration_measure("ece-confidence"))
    worst = worst_mixture(objective, region, 9, QUICK, np.array([1, 2]), np.random.default_rng(0))[0]
    assert worst.pvalue == pytest.approx(greatest, nan_ok=True)


@pytest.mark.parametrize("measure", ["ece-confidence", "skce-ul"])
def test_never_below_the_minimised_null(measure, random_generator):
    for seed in range(2):
        members = random_generator.dirichlet(np.ones(3), (40, 3))
        labels = labels_from(random_generator.dirichlet(np.ones(3), 40), 1, random_generator)[0]
        tests = [
            credal_calibration_test(labels, members, measure=measure, null=null, n_draws=39, rng=seed)
            for null in ("minimised", "berger-boos")
        ]
        assert tests[1].pvalue >= min(1.0, tests[0].pvalue + BETA) - 1e-12


# What tests by several measures share is what each would compute alone.


@pytest.fixture
def data(random_generator):
    members = random_generator.dirichlet(np.ones(3), (60, 4))
    return members, random_generator.integers(0, 3, 60)


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_a_generator_moves_on_as_if_all_was_computed_anew(data, bits):
    likely = LikelyMixtures(*data)
    for seed in (3, 3, 4, 3):
        given, alone = np.random.Generator(bits(seed)), np.random.Generator(bits(seed))
        found = likely.start(given)
        np.testing.assert_array_equal(found.seeds, alone.integers(2**63, size=2))
        np.testing.assert_array_equal(found.weights, predictive_weights(*data, alone))
        assert given.random() == alone.random()


def test_fewest_members_are_those_of_the_library(data):
    np.testing.assert_array_equal(LikelyMixtures(*data).fewest, fewest_members(*data))


def test_draws_follow_the_mixture_and_depend_on_weights_and_seed(data):
    members, labels = data
    likely, weights = LikelyMixtures(members, labels), np.array([0.5, 0.5, 0.0, 0.0])
    drawn = likely.drawn(weights, 3000, np.int64(5))
    assert drawn is likely.drawn(weights.copy(), 3000, np.int64(5))
    counts = np.stack([(drawn == k).sum(axis=0) for k in range(3)], axis=1)
    expected = 3000 * np.einsum("nmk,m->nk", members, weights)
    pvalues = stats.chi2.sf(((counts - expected) ** 2 / expected).sum(axis=1), 2)
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001
    assert (likely.drawn(weights, 3000, np.int64(6)) != drawn).any()
    assert (likely.drawn(weights[::-1].copy(), 3000, np.int64(5)) != drawn).any()


@pytest.mark.parametrize("options", [{}, {"null": "berger-boos"}, {"null": "random", "resample": True}])
def test_tests_by_several_measures_are_single_tests(data, options):
    members, labels = data
    names, options = ("skce-ul", "brier", "ece-classwise"), {"n_draws": 9, **options}
    generator = np.random.default_rng(8)
    found = credal_calibration_tests(labels, members, measures=names, rng=generator, **options)
    for name, test in zip(names, found, strict=True):
        own = np.random.default_rng(8)
        alone = credal_calibration_test(labels, members, measure=name, rng=own, **options)
        assert test.to_dict() == alone.to_dict()
    assert generator.random() == own.random()  # the last measure's


# The fewest members that explain the labels, against all faces of the simplex written out.


def most_likely(given, kept):
    """Greatest log-likelihood of mixtures of these members, and its weights, by a general solver."""
    m = given.shape[1]
    if len(kept) == 1:
        weights = np.eye(m)[kept[0]]
        return np.log(given @ weights).sum(), weights

    def loss(free):
        logs = free - np.logaddexp.reduce(free)
        return -np.log(given[:, kept] @ np.exp(logs)).sum()

    free = minimize(loss, np.zeros(len(kept)), method="BFGS", options={"gtol": 1e-9}).x
    weights = np.zeros(m)
    weights[list(kept)] = np.exp(free - np.logaddexp.reduce(free))
    return np.log(given @ weights).sum(), weights


@pytest.mark.parametrize("case", range(8))
def test_against_the_likelihood_of_every_face(case):
    rng = np.random.default_rng(case)
    m = 3
    members = rng.dirichlet(np.ones(3), (60, m))
    labels = labels_from(np.einsum("nmk,m->nk", members, rng.dirichlet(np.full(m, 0.5))), 1, rng)[0]
    given = given_of(members, labels)
    faces = {kept: most_likely(given, kept) for size in (1, 2, 3) for kept in combinations(range(m), size)}
    best = faces[0, 1, 2]
    support = tuple(np.flatnonzero(best[1] > 1e-4))
    kept, found = support, best[1]
    while len(kept) > 1:
        least = min(kept, key=lambda j: found[j])
        rest = tuple(j for j in kept if j != least)
        if 2 * (best[0] - faces[rest][0]) > chi2.ppf(CONTRADICTED, len(support) - len(rest)):
            break
        found = faces[rest][1]
        kept = tuple(j for j in rest if found[j] > 1e-4)
    few = fewest_members(members, labels)
    if len(kept) == m:
        assert few is None
    else:
        np.testing.assert_allclose(few, found, atol=2e-3)


def test_a_member_that_is_needed_stays():
    rng = np.random.default_rng(0)
    members = rng.dirichlet(np.full(3, 0.2), (400, 3))
    labels = labels_from(members[:, :2].mean(axis=1), 1, rng)[0]
    few = fewest_members(members, labels)
    assert few[2] == 0
    np.testing.assert_allclose(few[:2], 0.5, atol=0.15)
    assert fewest_members(members, labels_from(members.mean(axis=1), 1, rng)[0]) is None


def test_the_true_member_is_left_out_as_often_as_the_level_says():
    # with the truth at a corner, the face that is found misses it in 1 − confidence of the data sets at most
    rng, missed = np.random.default_rng(3), 0
    for _ in range(200):
        members = rng.dirichlet(np.ones(3), (80, 3))
        members[:, 0] = rng.dirichlet(np.full(3, 10.0), 80)
        few = fewest_members(members, labels_from(members[:, 0], 1, rng)[0], 0.8)
        missed += few is None or few[0] < 1
    assert 4 <= missed <= 60  # .02 to .3


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_instances_need_one_member(n):
    members = np.random.default_rng(n).dirichlet(np.ones(2), (n, 3))
    few = fewest_members(members, np.zeros(n, dtype=np.intp))
    assert few is None if n == 0 else (np.count_nonzero(few), few.sum()) == (1, 1.0)


def test_a_member_without_chance_for_some_label_is_not_left_alone():
    members = np.zeros((40, 2, 3))
    members[:, 0, 0] = members[:, 1, 1] = 1.0
    labels = np.array([0] * 39 + [1])
    assert fewest_members(members, labels) is None  # each of the two alone makes some label impossible
    labels[-1] = 2  # impossible for both, so it says nothing
    assert fewest_members(members, labels).tolist() == [1.0, 0.0]
    assert fewest_members(members, np.full(40, 2)) is None
    assert fewest_members(members[:, :1], labels) is None


# The distributions that a test mixes: members, and the first and last vertices of intervals and masses.


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=12)
    labels = random_generator.integers(0, 4, 12)
    if kind in ("Dirichlet", "GaussianLogits", "ClassSets"):
        with refuses("members", "undefined" if kind == "ClassSets" else "type", got=f"got {kind}"):
            credal_calibration_test(labels, prediction)
        return
    test = credal_calibration_test(labels, prediction, n_draws=19)
    n_members = {"Point": 1, "Intervals": 8, "Masses": 8}.get(kind, 3)
    assert (test.n_members, test.n_instances, test.n_classes) == (n_members, 12, 4)
    assert test.width == pytest.approx((prediction.upper_probs() - prediction.lower_probs()).mean())
    assert test.noun == ("members" if kind in ("Point", "Members") else "vertices")
    assert ("2K vertices" in said(test)) == (kind in ("Intervals", "Masses"))
    assert ("has the same meaning in every instance" in said(test)) == (kind == "Vertices")


@pytest.mark.parametrize("kind", ["Intervals", "Masses"])
def test_vertices_against_the_lower_probability_of_all_events(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=20)
    found = shared_members(prediction).probs
    expected = lower_probability_vertices(lower_of_every_event(prediction), permutations="outermost")
    assert np.abs(found - expected).max() < 1e-12
    assert np.allclose(found[:, range(4), range(4)], prediction.upper_probs())
    assert np.allclose(found[:, range(4, 8), range(4)], prediction.lower_probs())


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rows_of_low_precision_are_divided_by_their_sums(dtype, random_generator):
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


def test_passes_of_gaussian_logits_are_members(random_generator):
    mean, variance = random_generator.normal(size=(12, 3, 4)), random_generator.uniform(size=(12, 3, 4))
    passes = uq.GaussianLogits(mean, variance, variance_is="aleatoric")
    shared = shared_members(passes)
    assert shared.noun == "members"
    np.testing.assert_array_equal(shared.probs, passes.hull_points())
    labels = random_generator.integers(0, 4, 12)
    found, members = (credal_calibration_test(labels, one, n_draws=19) for one in (passes, passes.members()))
    assert (found.statistic, found.pvalue) == (members.statistic, members.pvalue)


# What a credal test decides and says.


def verdict(pvalue, null, **others):
    given = {
        "statistic": 0.5,
        "weights": np.array([0.2, 0.8]),
        "null_kind": "minimised",
        "convention": "exact",
    } | others
    return CredalCalibrationTest(
        "ece-confidence",
        "confidence",
        pvalue=pvalue,
        null=np.asarray(null, dtype=float),
        n_instances=10,
        n_members=len(given["weights"]),
        n_classes=2,
        noun="members",
        search_spread=0.0,
        evaluations=5,
        width=0.1,
        **given,
    )


def test_the_threshold_is_where_the_decision_changes():
    null = np.arange(99) / 100
    assert verdict(0.05, null).threshold(0.05) == 0.94
    assert verdict(0.05, null).reject(0.05)
    assert not verdict(0.06, null).reject(0.05)
    assert not verdict(math.nan, null).reject(0.05)
    assert not verdict(math.nan, null).sentence().startswith("No mixture")


def test_a_sequential_test_answers_for_the_draws_that_it_planned():
    found = verdict(0.5, [0.6] * 9 + [0.1] * 10, null_kind="sequential", planned_draws=99)
    assert (found.n_draws, found.smallest_pvalue, found.reject(0.01)) == (19, 0.01, False)
    with refuses("alpha", "needs-draws"):
        found.reject(0.005)
    with refuses("null", "conflict", got="got 'sequential'"):
        found.threshold(0.05)
    assert "can be weighted" in found.sentence(0.05)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (plain["n_draws"], plain["planned_draws"], plain["null_kind"]) == (19, 99, "sequential")


def test_too_few_draws_are_refused_with_the_smallest_pvalue(random_generator):
    labels, members = random_ensemble(random_generator)
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


# The test with the choices of the authors' code.


def test_paper_code(random_generator):
    labels, members = random_ensemble(random_generator, n=30)
    for measure in MEASURES:
        test = credal_calibration_test(
            labels, members, measure=measure, null="random", convention="paper-code", n_draws=100
        )
        variant = paper_code_measure(calibration_measure(measure))
        assert (test.measure, test.convention) == (variant.name, "paper-code")
        assert test.statistic == pytest.approx(float(variant.prepare(test.weights @ members).values(labels)), abs=1e-9)
        for alpha in (0.05, 0.2, 0.5, 0.9):
            assert test.reject(alpha) == (abs(test.statistic) > np.quantile(test.null, 1 - alpha))
            assert test.reject(alpha) == (test.pvalue < alpha)


def test_paper_code_variants():
    named = {name: paper_code_measure(calibration_measure(name)).name for name in MEASURES}
    assert named == {
        "ece-confidence": "ece-confidence",
        **{name: f"{name}-paper-code" for name in MEASURES[1:]},
    }
    assert set(named.values()) <= set(CALIBRATION_MEASURES)
    assert paper_code_measure(calibration_measure("hosmer-lemeshow", n_bins=3)).n_bins == 3


def test_quantile_pvalue_against_the_quantile(random_generator):
    null = random_generator.normal(size=100)
    for statistic in (-9.0, -0.3, 0.0, 0.7, 9.0, null[3]):
        p = quantile_pvalue(statistic, null)
        if 0 < p < 1:
            assert np.quantile(null, 1 - p) == pytest.approx(statistic)
    assert (quantile_pvalue(9.0, null), quantile_pvalue(-9.0, null)) == (0.0, 1.0)


@pytest.mark.parametrize("n_draws", [1, 2, 20])
def test_quantile_pvalue_with_ties_against_the_quantile(n_draws, random_generator):
    alphas = np.arange(0.005, 1, 0.01)
    for _ in range(30):
        null = random_generator.integers(0, 5, n_draws).astype(float)
        quantiles = np.quantile(null, 1 - alphas)
        for statistic in (*np.unique(null), -1.0, 1.5, 9.0):
            p = quantile_pvalue(statistic, null)
            told = np.abs(alphas - p) > 1e-9
            np.testing.assert_array_equal((p < alphas)[told], (statistic > quantiles)[told])


def test_paper_code_with_ties_rejects_where_the_pvalue_says_so():
    labels, half = [0, 1] * 9 + [0, 0], np.full((20, 1, 2), 0.5)
    test = credal_calibration_test(labels, half, null="random", convention="paper-code", n_draws=19)
    assert (test.null == test.statistic).sum() > 1
    assert [test.reject(alpha) for alpha in (0.3, 0.5, 0.6, 0.7, 0.9)] == [
        test.pvalue < a for a in (0.3, 0.5, 0.6, 0.7, 0.9)
    ]


def test_paper_code_statistic_is_the_measure_where_cobyla_stops(random_generator):
    members = random_generator.dirichlet(np.ones(3), (40, 4))
    members[..., 2] = 0.0
    members /= members.sum(axis=2, keepdims=True)
    labels = np.arange(40) % 3
    test = credal_calibration_test(
        labels, members, measure="log-loss", null="random", convention="paper-code", n_draws=19
    )
    assert (test.statistic, test.pvalue) == (np.inf, 0.0)
    assert test.reject(0.05) is True


def test_a_user_measure_has_no_variant_even_with_a_built_in_name():
    for name in MEASURES[1:]:
        own = replace(calibration_measure(name), prepare=calibration_measure("brier").prepare)
        assert paper_code_measure(own) is own
    wide = replace(calibration_measure("ece-classwise"), prepare=calibration_measure("ece-classwise", n_bins=4).prepare)
    assert paper_code_measure(wide) is wide


def test_absolute_value_is_what_makes_skce_exceed_its_level(random_generator):
    # a least value far below 0 is good news under the printed rule, and a rejection under the authors'
    labels, members = random_ensemble(random_generator, n=60, m=8)
    code = credal_calibration_test(
        labels, members, measure="skce-ul", null="random", convention="paper-code", n_draws=39
    )
    printed = credal_calibration_test(labels, members, measure="skce-ul", null="random", n_draws=39)
    assert code.statistic < 0
    assert code.pvalue < printed.pvalue


def test_cobyla_is_no_better_than_the_search(random_generator):
    labels, members = random_ensemble(random_generator, n=50, m=5)
    for measure in ("ece-confidence", "skce-ul"):
        objective = MixtureObjective(Mixtures(members), labels[None], calibration_measure(measure))
        value, weights, evaluations = cobyla_minimum(objective)
        ours = credal_calibration_test(labels, members, measure=measure, null="random")
        assert ours.statistic <= value + 1e-3 * ours.null.std()
        assert abs(weights.sum() - 1) < 0.01
        assert 5 < evaluations < 1000
