"""Second-order calibration from votes: estimates, tests, groups, odd inputs, and real votes."""

import json

import numpy as np
import pytest

import uqassay as uq
from tests.calibration.second_order_worlds import Setting, draw
from tests.notes import codes, said
from tests.refusals import refuses
from uqassay.calibration import second_order_test
from uqassay.losses import second_order_gap, squared_truth_distance
from uqassay.statistics import mean_estimate, paired_mean_test


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


def test_arrays_and_the_order_of_rows_and_classes(world, random_generator):
    votes, stated = world
    found = second_order_test(votes, stated)
    same(found, second_order_test(votes, stated.probs))
    rows = random_generator.permutation(len(votes))
    same(found, second_order_test(votes[rows], uq.Members(stated.probs[rows])))
    classes = [2, 0, 1]
    same(found, second_order_test(votes[:, classes], uq.Members(stated.probs[..., classes])))


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


def test_groups_with_an_index_are_put_in_the_order_of_the_ids(world, needs):
    needs("pandas")
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
    assert "cannot be tested: 1 instance" in found.sentence()


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


def test_read_only_half_precision(world):
    votes, stated = world
    half = stated.probs.astype(np.float16)
    half.setflags(write=False)
    found = second_order_test(np.asfortranarray(votes.astype(np.uint8)), half)
    assert float(found.ratio) == pytest.approx(float(second_order_test(votes, stated).ratio), rel=0.02)


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
    with refuses("level", "range"):
        second_order_test(votes, stated, level=95)
    with refuses("groups", "shape"):
        second_order_test(votes, stated, groups=[1, 2])
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
