"""Votes against what was stated: compatibility with credal sets, and second-order calibration."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

import uqassay as uq
from tests.calibration.second_order_worlds import Setting, draw
from tests.notes import codes, said
from tests.refusals import refuses
from uqassay.calibration import second_order_test, vote_compatibility_test
from uqassay.calibration.votes import buckets_by_statement
from uqassay.losses import second_order_gap, squared_truth_distance
from uqassay.statistics import mean_estimate, paired_mean_test

# -- second order buckets --------------------------------------------------------------------------------------------
#
# Buckets of equal statements, nearly equal in size.


def test_sizes_and_means(random_generator):
    stated = random_generator.permutation(np.arange(100) / 100)
    observed = stated + random_generator.normal(size=100)
    found = buckets_by_statement(observed, stated, 4)
    assert found.count.tolist() == [25] * 4
    assert found.edges.tolist() == [0.0, 0.25, 0.5, 0.75, 0.99]
    np.testing.assert_allclose(found.stated, [0.12, 0.37, 0.62, 0.87])
    expected = mean_estimate(observed[stated < 0.25], method="hall")
    assert (float(found.observed[0]), found.observed[0].low) == (float(expected), expected.low)


def test_equal_statements_stay_together():
    stated = np.array([0.0] * 60 + [0.1] * 5 + [0.2] * 35)
    found = buckets_by_statement(stated, stated, 10)
    assert found.count.tolist() == [60, 5, 35]
    assert found.edges.tolist() == [0.0, 0.1, 0.2, 0.2]


@pytest.mark.parametrize("stated", [[0.3], [0.3, 0.3, 0.3]])
def test_one_statement_is_one_bucket(stated):
    found = buckets_by_statement(np.array(stated), np.array(stated), 5)
    assert (found.count.tolist(), found.edges.tolist()) == ([len(stated)], [0.3, 0.3])


def test_more_buckets_than_instances():
    found = buckets_by_statement(np.arange(3.0), np.arange(3.0), 10)
    assert found.count.tolist() == [1, 1, 1]
    assert all(np.isnan(o.low) for o in found.observed)


def test_groups_inside_buckets():
    stated, observed = np.repeat([0.1, 0.2], 8), np.random.default_rng(0).normal(size=16)
    labels = np.tile(np.repeat(list("ab"), 4), 2)
    found = buckets_by_statement(observed, stated, 2, groups=labels, level=0.9)
    expected = mean_estimate(observed[:8], groups=labels[:8], level=0.9, method="hall")
    assert (found.observed[0].low, found.observed[0].high) == (expected.low, expected.high)


def test_rows_are_plain():
    row = buckets_by_statement(np.arange(4.0), np.arange(4.0), 2).rows()[1]
    assert (row["from"], row["to"], row["n"], row["stated"]) == (2.0, 3.0, 2, 2.5)
    assert row["observed"]["estimate"] == 2.5


# -- vote compatibility ----------------------------------------------------------------------------------------------
#
# Votes against credal sets: the statistic against SciPy, p-values against enumeration, shares with known truth.


def log_likelihood(votes, q):
    return float((votes[votes > 0] * np.log(q[votes > 0])).sum())


def test_the_statistic_against_scipy(random_generator):
    points = random_generator.dirichlet(np.ones(4), size=(6, 3))
    votes = random_generator.multinomial(20, [0.4, 0.3, 0.2, 0.1], size=6)
    found = vote_compatibility_test(votes, points, n_draws=9)
    for v, p, statistic in zip(votes, points, found.statistic, strict=True):
        best = minimize(
            lambda w, v=v, p=p: -log_likelihood(v, np.maximum(w @ p, 1e-12)),
            np.full(3, 1 / 3),
            bounds=[(0, 1)] * 3,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            options={"ftol": 1e-12},
        )
        assert statistic == pytest.approx(2 * (log_likelihood(v, v / 20) + best.fun), abs=2e-4)


def test_pvalues_of_a_point_against_enumeration():
    """Of two classes all numbers of votes can be listed."""
    m, p = 12, 0.3
    votes = np.array([[k, m - k] for k in range(m + 1)])
    found = vote_compatibility_test(votes, np.tile([p, 1 - p], (m + 1, 1)), n_draws=799, alpha=0.6)
    share = np.arange(m + 1) / m
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(share > 0, share * np.log(share / p), 0)
        second = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - p)), 0)
    statistic = 2 * m * (first + second)
    exact = [(binom.pmf(range(m + 1), m, p) * (statistic >= s - 1e-9)).sum() for s in statistic]
    np.testing.assert_allclose(found.statistic, statistic, atol=1e-6)
    np.testing.assert_allclose(found.pvalues, exact, atol=0.05)


def test_the_share_of_compatible_instances(random_generator):
    n = 240
    pair = random_generator.dirichlet(np.full(4, 2.0), size=(n, 2))
    truth = pair.mean(axis=1)
    far = np.arange(n) < n // 2
    truth[far] = truth[far][:, ::-1] ** 4  # far from both members
    votes = random_generator.multinomial(100, truth / truth.sum(axis=1, keepdims=True))
    found = vote_compatibility_test(votes, pair, groups=np.arange(n) // 2, n_draws=59)
    assert found.share.low < 0.56
    assert float(found.share) == pytest.approx(0.5, abs=0.1)
    assert float(found.kept) == pytest.approx(0.9 * float(found.share))
    assert (found.pvalues[far] < 0.1).mean() > 0.9
    assert "could come from some point of the set of m" in found.sentence(name="m")
    assert found.share.n == n
    assert float(found.kept) == found.kept_instances.mean()
    assert found.to_dict()["share"]["estimate"] == float(found.share)


@pytest.mark.parametrize("kind", ["Point", "Members", "Vertices", "Intervals", "Masses", "Dirichlet"])
def test_every_kind_and_wide_sets_hold_more_votes(random_generator, kind):
    p = random_generator.dirichlet(np.ones(3), size=(8, 3))
    predictions = {
        "Point": uq.Point(p[:, 0]),
        "Members": uq.Members(p),
        "Vertices": uq.Vertices(p),
        "Intervals": uq.Intervals(p.min(axis=1), p.max(axis=1)),
        "Masses": uq.Masses(p[:, 0], [[0], [0, 1], [0, 1, 2]], n_classes=3),
        "Dirichlet": uq.Dirichlet(5 * p[:, 0]),
    }
    votes = random_generator.multinomial(10, [0.5, 0.3, 0.2], size=8)
    found = vote_compatibility_test(votes, predictions[kind], n_draws=19)
    again = vote_compatibility_test(votes, predictions[kind], n_draws=19)
    np.testing.assert_array_equal(found.pvalues, again.pvalues)
    assert ((found.pvalues > 0) & (found.pvalues <= 1)).all()
    vacuous = vote_compatibility_test(votes, uq.Intervals(np.zeros((8, 3)), np.ones((8, 3))), n_draws=19)
    assert (vacuous.pvalues == 1).all()
    assert (found.statistic >= vacuous.statistic - 1e-9).all()


def test_few_votes_impossible_votes_and_refusals():
    point = [[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]]
    found = vote_compatibility_test([[3, 1], [2, 2], [1, 0]], point, few_votes="leave-out", n_draws=99)
    assert found.pvalues[0] == pytest.approx(0.01)
    assert found.pvalues[1] == 1
    assert np.isnan(found.pvalues[2])
    assert found.share.n == 2
    assert {note.code for note in found.notes} >= {"assumption", "left-out"}
    one = vote_compatibility_test([[2, 2]], point[1:2])
    assert np.isnan(one.share.low)
    assert "interval" not in one.sentence()
    with refuses("votes", "empty"):
        vote_compatibility_test([[3, 1], [2, 2], [1, 0]], point)
    with refuses("alpha", "range"):
        vote_compatibility_test([[3, 1], [2, 2], [1, 1]], point, alpha=1.0)


def test_blocks_of_draws_change_no_pvalue_beyond_chance(random_generator, monkeypatch):
    """With a block of one draw each instance stops where it would in a plain loop."""
    pair = random_generator.dirichlet(np.ones(3), size=(150, 2))
    votes = random_generator.multinomial(12, pair[:, 0])
    blocks = vote_compatibility_test(votes, pair)
    monkeypatch.setattr("uqassay.calibration.votes.MOST_NUMBERS", 1)
    loop = vote_compatibility_test(votes, pair)
    np.testing.assert_array_equal(loop.statistic, blocks.statistic)
    # p = h/l or (h + 1)/(l + 1): an instance that stops has exactly h = 20 draws that reach its statistic
    for found in (blocks, loop):
        draws = 20 / found.pvalues[found.pvalues > 0.15]
        assert (draws >= 20 / 1.06).all()
    assert blocks.pvalues.mean() == pytest.approx(loop.pvalues.mean(), abs=0.03)  # standard error .01
    assert (blocks.pvalues <= 0.1).mean() == pytest.approx((loop.pvalues <= 0.1).mean(), abs=0.06)


# Second-order calibration from votes: estimates, tests, groups, odd inputs, and real votes.


@pytest.fixture
def world(random_generator):
    votes, stated, _ = draw(Setting("even", n=80, votes=4), random_generator)
    return votes, stated


def test_estimates_are_means_over_instances(world):
    votes, stated = world
    found = second_order_test(votes, stated)
    variance = stated.probs.var(axis=1).sum(axis=1)
    observed = squared_truth_distance(votes, stated)
    assert float(found.stated) == pytest.approx(variance.mean())
    assert float(found.observed) == pytest.approx(observed.mean())
    assert float(found.ratio) == pytest.approx(observed.mean() / variance.mean())
    expected = mean_estimate(second_order_gap(votes, stated))
    assert (float(found.gap), found.gap.low) == pytest.approx((float(expected), expected.low))
    assert float(found.slope) == pytest.approx(np.polyfit(variance, observed, 1)[0])
    assert found.pvalue == pytest.approx(paired_mean_test(observed, variance).pvalue)
    assert sum(found.buckets.count) == found.n == 80


def test_the_interval_of_the_slope_is_the_robust_one(world):
    """Against the sandwich formula of ordinary least squares, HC1 up to the degrees of freedom."""
    votes, stated = world
    found = second_order_test(votes, stated)
    x, y = stated.probs.var(axis=1).sum(axis=1), squared_truth_distance(votes, stated)
    design = np.column_stack([np.ones_like(x), x])
    bread = np.linalg.inv(design.T @ design)
    e = y - design @ (bread @ design.T @ y)
    error = (bread @ (design.T * e**2) @ design @ bread)[1, 1] ** 0.5
    from scipy.stats import t

    reach = t.ppf(0.975, 79) * error * (80 / 79) ** 0.5
    assert (found.slope.low, found.slope.high) == pytest.approx((found.slope - reach, found.slope + reach))


@pytest.mark.parametrize("by", ["kernel", "moments"])
def test_estimates_do_not_depend_on_the_test(world, by):
    first, other = second_order_test(*world), second_order_test(*world, by=by)
    assert first.to_dict()["ratio"] == other.to_dict()["ratio"]
    assert (first.n_draws, other.n_draws) == (0, 999)
    assert 0.001 <= other.pvalue <= 1.0
    assert second_order_test(*world, by=by, rng=0).pvalue == other.pvalue


def test_more_votes_scatter_less():
    spread = []
    for votes in (2, 5, 50):
        found = [
            second_order_test(*draw(Setting("even", votes=votes), np.random.default_rng(r))[:2]) for r in range(20)
        ]
        ratios = np.array([float(f.ratio) for f in found])
        assert abs(ratios.mean() - 1) < 4 * ratios.std() / 20**0.5
        spread.append(ratios.std())
    assert spread[0] > spread[1] > spread[2]


@pytest.mark.parametrize(("truth", "ratio", "word"), [("states half", 2.0, "less"), ("states double", 0.5, "more")])
def test_half_and_double_are_told(truth, ratio, word, random_generator):
    votes, stated, _ = draw(Setting("even", truth, n=1000, votes=20), random_generator)
    found = second_order_test(votes, stated)
    assert found.ratio.low < ratio < found.ratio.high
    assert found.reject()
    assert f"The model states {word} epistemic variance" in found.sentence()
    assert found.sentence(name="DE").startswith("DE states ")
    assert second_order_test(votes, stated, by="kernel").reject()


def test_only_the_kernel_finds_what_is_right_on_average(random_generator):
    votes, stated, _ = draw(Setting("even", "mixed", n=400, votes=50), random_generator)
    assert second_order_test(votes, stated, by="kernel").reject()
    assert "some kinds of instances" in second_order_test(votes, stated, by="kernel").sentence()
    assert second_order_test(votes, stated).ratio.low < 1


def test_only_moments_find_a_wrong_mean_at_the_right_distance(random_generator):
    votes, stated, _ = draw(Setting("even", "shifted", n=400, votes=5), random_generator)
    found = second_order_test(votes, stated, by="moments")
    assert found.reject()
    assert "wrong mean or variance" in found.sentence()
    assert not second_order_test(votes, stated).reject(0.01)


def test_a_sentence_says_no_more_than_its_test(world):
    """Tests that reject nothing, by one model for all of them."""
    votes, stated = world
    found = {by: second_order_test(votes, stated, by=by) for by in ("overall", "kernel", "moments")}
    assert not any(test.reject() for test in found.values())
    said = {by: test.sentence(name="DE") for by, test in found.items()}
    assert said["overall"].startswith("The test could not tell the mean epistemic variance that DE states from the")
    kind = "The test could not show a kind of instances for which DE states a wrong"
    assert said["kernel"].startswith(f"{kind} epistemic variance (observed over stated")
    assert " overall, p = " in said["kernel"]
    assert said["moments"].startswith(f"{kind} mean or variance of the label probabilities (p = ")


def test_one_more_member_explains_a_ratio_of_two(random_generator):
    """A truth that scatters as the members do, but is not among them."""
    four = random_generator.dirichlet([2, 2, 2], (4000, 4))
    votes = np.array([random_generator.multinomial(20, p / p.sum()) for p in four[:, 3]])
    found = second_order_test(votes, uq.Members(four[:, :3]))
    assert found.ratio.low < 2.0 < found.ratio.high
    assert "for 3 members compare the ratio with 2.00" in said(found)
    many = uq.Members(np.tile(four[:50, :2], (1, 25, 1)))
    assert "one more member" not in said(second_order_test(votes[:50], many))


# -- ways to give the same ------------------------------------------------------------------------------------------


def same(a, b):
    keys = ("stated", "observed", "ratio", "gap", "slope")
    ends = [[float(x) for k in keys for x in (getattr(f, k), getattr(f, k).low, getattr(f, k).high)] for f in (a, b)]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)
    assert a.pvalue == pytest.approx(b.pvalue, abs=1e-12)


def test_weights_are_repetitions(world):
    votes, stated = world
    weighted = uq.Members(stated.probs, weights=[2, 1, 1, 3, 1])
    repeated = uq.Members(np.repeat(stated.probs, [2, 1, 1, 3, 1], axis=1))
    same(second_order_test(votes, weighted), second_order_test(votes, repeated))


def test_groups_given_or_of_the_prediction(world):
    votes, stated = world
    labels = np.arange(80) // 4
    given = second_order_test(votes, stated, groups=labels)
    same(given, second_order_test(votes, uq.Members(stated.probs, groups=labels)))
    assert "20 groups" in said(given)
    plain = second_order_test(votes, stated)
    assert given.gap.high - given.gap.low != plain.gap.high - plain.gap.low
    kernel = second_order_test(votes, stated, groups=labels, by="kernel")
    assert kernel.statistic != second_order_test(votes, stated, by="kernel").statistic


def test_groups_with_an_index_are_put_in_the_order_of_the_ids(world):
    import pandas as pd

    votes, stated = world
    ids = np.array([f"x{i}" for i in range(80)])
    labels = pd.Series(np.arange(80) // 4, index=ids)
    shuffled = labels.sample(frac=1.0, random_state=0)
    named = uq.Members(stated.probs, ids=ids)
    with refuses("votes", "ids"):  # an array stands by position, and there are two orders
        second_order_test(votes, named, groups=shuffled)
    table = pd.DataFrame(votes, index=ids)
    same(second_order_test(table, named, groups=shuffled), second_order_test(votes, stated, groups=labels.to_numpy()))


def test_rows_with_few_votes_leave_their_groups(world):
    votes, stated = world
    votes = votes.copy()
    votes[[3, 7]] = [[1, 0, 0], [0, 0, 0]]
    labels = np.arange(80) // 4
    kept = np.setdiff1d(np.arange(80), [3, 7])
    found = second_order_test(votes, stated, groups=labels, few_votes="leave-out")
    same(found, second_order_test(votes[kept], stated[kept], groups=labels[kept]))
    assert "2 instances with fewer than two votes left out" in said(found)
    with refuses("votes", "empty", "row 3 has 1"):
        second_order_test(votes, stated)


# -- odd inputs -------------------------------------------------------------------------------------------------------


def test_a_point_states_nothing(world):
    votes, stated = world
    found = second_order_test(votes, uq.Point(stated.mean_probs()))
    assert (float(found.stated), float(found.gap)) == (0.0, float(found.observed))
    assert np.isnan([found.ratio, found.slope]).all()
    assert "undefined" in codes(found)
    assert "none stated" in found.sentence()
    same_members = uq.Members(np.repeat(stated.mean_probs()[:, None], 3, axis=1))
    assert second_order_test(votes, same_members).pvalue == pytest.approx(found.pvalue)


@pytest.mark.parametrize("by", ["overall", "kernel", "moments"])
def test_one_instance_cannot_be_tested(by):
    found = second_order_test([[2, 1]], uq.Members([[[0.4, 0.6], [0.6, 0.4]]]), by=by)
    assert np.isnan(found.pvalue)
    assert not found.reject()
    assert "cannot be tested: 1 case" in found.sentence()


@pytest.mark.parametrize("by", ["overall", "kernel"])
def test_one_group_cannot_be_tested(by, world):
    found = second_order_test(*world, groups=["a"] * 80, by=by)
    assert "cannot be tested: 1 group" in found.sentence()


def test_equal_gaps_prove_nothing():
    """Two instances with agreeing votes: the standard error is 0, but so it is by chance in one of four cases."""
    found = second_order_test([[2, 0], [0, 2]], uq.Point([[0.5, 0.5]] * 2))
    assert np.isnan(found.pvalue)
    assert "same gap" in found.sentence()


def test_no_gap_at_all():
    found = second_order_test([[2, 0], [0, 3]], uq.Point([[1.0, 0.0], [0.0, 1.0]]))
    assert found.pvalue == 1.0
    assert second_order_test([[2, 0], [0, 3]], uq.Point([[1.0, 0.0], [0.0, 1.0]]), by="kernel").pvalue == 1.0


def test_gaussian_logits_and_dirichlet(random_generator):
    logits = uq.GaussianLogits(random_generator.normal(size=(60, 3)), np.full((60, 3), 0.5), variance_is="epistemic")
    votes = np.array([random_generator.multinomial(5, p / p.sum()) for p in logits.hull_points()[:, 0]])
    assert not second_order_test(votes, logits).reject(0.001)
    votes, stated, _ = draw(Setting("dirichlet", n=60, votes=5), random_generator)
    assert not second_order_test(votes, stated).reject(0.001)


def test_what_is_refused(world):
    votes, stated = world
    with refuses("by", "choice", "buckets"):
        second_order_test(votes, stated, by="buckets")
    with refuses("buckets", "range"):
        second_order_test(votes, stated, buckets=0)
    with refuses("prediction", "no-distribution", "Masses"):
        second_order_test([[2, 0]], uq.Masses([[0.5, 0.5]], np.array([[True, False], [True, True]])))
    with refuses("alpha", "range", "0.0005"):
        second_order_test(votes, stated, by="kernel").reject(0.0005)


def test_plain_values_for_json(world):
    found = second_order_test(*world, buckets=3)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["pvalue"] == found.pvalue
    assert [row["n"] for row in told["buckets"]] == found.buckets.count.tolist()
    nothing = second_order_test([[2, 0], [0, 2]], uq.Point([[0.5, 0.5]] * 2)).to_dict()
    assert (nothing["pvalue"], nothing["ratio"]["estimate"]) == (None, None)


# -- real votes -------------------------------------------------------------------------------------------------------


def test_three_networks_on_cifar10h(cifar10):
    """The figures of the guide."""
    found = second_order_test(cifar10["human_counts"], uq.Members(cifar10["three"]))
    numbers = [found.stated, found.observed, found.ratio, found.ratio.low, found.ratio.high, found.slope]
    assert np.round(numbers, 3).tolist() == [0.033, 0.072, 2.191, 2.052, 2.337, 1.065]
    assert found.pvalue < 1e-10
    assert found.buckets.observed[-1].low > found.buckets.stated[-1]
