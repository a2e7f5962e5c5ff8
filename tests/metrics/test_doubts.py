"""Sources of doubt on a simulated family where they are known; run as a module to print the table of measured coverage."""

import itertools
import sys

import numpy as np
import pytest
from scipy import stats
from tests.notes import codes, said
from tests.refusals import refuses

from uqassay.metrics import DOUBT_SOURCES, doubt_sources

SHARES = np.array([0.1, 0.25, 0.5, 1.0])
NAMES = ("seed", "few-data", "bias")


class Family:
    """Two classes; instance i has the seed's deviation a, that of the data b·√(1/s − 1), and the bias c, all independent."""

    def __init__(self, rng, n=200):
        self.seed, self.data, self.bias = rng.uniform(0.0, [[0.015], [0.02], [0.06]], (3, n))
        self.truth = rng.uniform(0.42, 0.58, n)

    def sizes(self):
        """Expected value of each source, (C, n); two classes deviate by the same amount."""
        few = 2 * self.data**2 * (1 / SHARES - 1)[:, None]
        seed, bias = (np.broadcast_to(2 * values**2, few.shape) for values in (self.seed, self.bias))
        return {"spread": seed + few, "seed": seed, "few-data": few, "bias": bias}

    def probs(self, rng, n_runs):
        """Predictions (R, C, n, 2)."""
        noise = rng.standard_normal((2, n_runs, SHARES.size, self.truth.size))
        to_one = self.truth + self.bias + self.seed * noise[0]
        to_one = to_one + self.data * np.sqrt(1 / SHARES - 1)[:, None] * noise[1]
        return np.stack([1 - to_one, to_one], axis=-1)

    def estimate(self, rng, n_runs, noticed):
        """An epistemic estimate that follows some sources, with noise of 20 % in each run."""
        sizes = self.sizes()
        clean = sum(sizes[name] for name in noticed)
        return clean * np.exp(0.2 * rng.standard_normal((n_runs, *clean.shape)))

    @property
    def distributions(self):
        return np.stack([1 - self.truth, self.truth], axis=1)


def measured(rng, noticed, n_runs=8, n=200):
    family = Family(rng, n)
    return family, doubt_sources(
        family.probs(rng, n_runs), family.estimate(rng, n_runs, noticed), family.distributions, SHARES
    )


@pytest.mark.parametrize("noticed", NAMES)
def test_the_noticed_source_is_found(noticed, random_generator):
    _, found = measured(random_generator, (noticed,), n_runs=10, n=400)
    for name in NAMES:
        overall = found.overall[name]
        if name == noticed:
            assert overall.low > 0.3
        else:
            assert abs(overall) < 0.2
    at_one = found.at(0.1, noticed)
    assert at_one.slope.low > 0.1
    assert at_one.repeatability > 0.4


def test_sources_are_unbiased_against_theory(random_generator):
    """Means over many runs and families equal the sizes that made them; the bias has no V/R left in it."""
    found = {name: np.zeros(SHARES.size) for name in DOUBT_SOURCES}
    expected = {name: np.zeros(SHARES.size) for name in DOUBT_SOURCES}
    for _ in range(110):
        family, result = measured(random_generator, ("seed",), n_runs=3, n=100)
        for name in DOUBT_SOURCES:
            found[name] += [result.at(s, name).mean for s in SHARES]
            expected[name] += family.sizes()[name].mean(axis=1)
    for name in DOUBT_SOURCES:
        np.testing.assert_allclose(found[name], expected[name], rtol=0.04, atol=1e-12)


def test_bias_with_single_labels_holds_their_noise(random_generator):
    family = Family(random_generator, 20_000)
    probs = family.probs(random_generator, 4)
    labels = (random_generator.random(20_000) < family.truth).astype(int)
    found = doubt_sources(probs, family.estimate(random_generator, 4, ("bias",)), labels, SHARES)
    noise = 1 - (family.distributions**2).sum(axis=1).mean()
    assert found.at(1.0, "bias").mean == pytest.approx(family.sizes()["bias"].mean() + noise, rel=0.02)
    assert "noise of the label" in said(found)


def test_correlations_against_brute_force(random_generator):
    family, n_runs = Family(random_generator, 30), 4
    probs = family.probs(random_generator, n_runs)
    estimate = family.estimate(random_generator, n_runs, ("seed", "bias"))
    found = doubt_sources(probs, estimate, family.distributions, SHARES)
    for r, c in itertools.product(range(n_runs), range(SHARES.size)):
        others = [q for q in range(n_runs) if q != r]
        for i_source in ("spread", "seed", "few-data", "bias"):
            source = []
            for i in range(30):
                spread, seed = (sum(np.var(probs[others, at, i, k], ddof=1) for k in (0, 1)) for at in (c, 3))
                mean = probs[others, c, i].mean(axis=0)
                bias = ((mean - family.distributions[i]) ** 2).sum() - spread / 3
                source.append({"spread": spread, "seed": seed, "few-data": spread - seed, "bias": bias}[i_source])
            value = found.at(SHARES[c], i_source).per_run[r]
            if i_source == "few-data" and c == 3:
                assert np.isnan(value)
            else:
                ranks = stats.rankdata(estimate[r, c])
                assert value == pytest.approx(stats.pearsonr(ranks, source).statistic, abs=1e-12)
    slopes = [least_squares_slope(probs, estimate, r) for r in range(n_runs)]
    assert float(found.at(0.1, "spread").slope) == pytest.approx(np.mean(slopes))


def least_squares_slope(probs, estimate, run):
    """Relative slope of a run's estimate for one standard deviation of the spread at the first share."""
    source = np.delete(probs, run, axis=0)[:, 0].var(axis=0, ddof=1).sum(axis=-1)
    fitted = stats.linregress(source, estimate[run, 0])
    return fitted.slope * source.std() / estimate[run, 0].mean()


def test_no_few_data_at_share_one(random_generator):
    _, found = measured(random_generator, ("seed",))
    at_one = found.at(1.0, "few-data")
    assert np.isnan(at_one.correlation)
    assert at_one.mean == 0
    assert "same instances" in said(at_one.correlation)
    assert np.isfinite(found.overall["few-data"])
    assert codes(found.overall["few-data"])[0] == "left-out"


def test_without_share_one_seed_and_data_are_not_separated(random_generator):
    family = Family(random_generator, 40)
    probs, estimate = family.probs(random_generator, 5)[:, :3], family.estimate(random_generator, 5, ("seed",))[:, :3]
    found = doubt_sources(probs, estimate, family.distributions, SHARES[:3])
    assert np.isfinite(found.overall["spread"])
    assert np.isnan(found.overall["seed"])
    assert np.isnan(found.overall["few-data"])
    assert "not separated" in said(found.overall["seed"])
    assert "undefined" in codes(found)


def test_mean_estimate_follows_the_spread(random_generator):
    _, found = measured(random_generator, ("few-data", "seed"), n_runs=6, n=400)
    assert found.follows_spread.low > 0.9
    _, other = measured(random_generator, ("seed",), n_runs=6, n=400)
    assert other.follows_spread.low < 0.5


def test_constant_estimates_and_two_shares(random_generator):
    family = Family(random_generator, 40)
    probs = family.probs(random_generator, 4)
    flat = doubt_sources(probs, np.zeros((4, 4, 40)), family.distributions, SHARES)
    assert np.isnan(flat.overall["seed"])
    assert np.isnan(flat.at(0.1, "seed").slope)
    assert "constant" in said(flat.at(0.1, "seed").correlation)
    two = doubt_sources(probs[:, 2:], np.tile(family.seed, (4, 2, 1)), family.distributions, SHARES[2:])
    assert np.isnan(two.follows_spread)
    assert "three" in said(two.follows_spread)


def test_order_of_shares_precision_and_three_runs(random_generator):
    family = Family(random_generator, 40)
    probs, estimate = family.probs(random_generator, 3), family.estimate(random_generator, 3, ("seed",))
    found = doubt_sources(probs, estimate, family.distributions, SHARES)
    turned = doubt_sources(probs[:, ::-1], np.asfortranarray(estimate[:, ::-1]), family.distributions, SHARES[::-1])
    assert turned.rows()[0]["correlation"] == found.rows()[0]["correlation"]
    assert np.isnan(found.at(0.1, "seed").repeatability)
    single = doubt_sources(probs.astype(np.float32), estimate.astype(np.float32), family.distributions, SHARES)
    assert float(single.overall["seed"]) == pytest.approx(float(found.overall["seed"]), abs=1e-3)


def test_refusals(random_generator):
    family = Family(random_generator, 10)
    probs, estimate = family.probs(random_generator, 3), np.ones((3, 4, 10))
    labels = np.zeros(10, dtype=int)
    with refuses("probs", "empty", got="2"):
        doubt_sources(probs[:2], estimate[:2], labels, SHARES)
    with refuses("epistemic", "mismatch"):
        doubt_sources(probs, estimate[:, :3], labels, SHARES)
    with refuses("shares", "mismatch"):
        doubt_sources(probs, estimate, labels, SHARES[:3])
    with refuses("probs", "sum"):
        doubt_sources(probs * 0.9, estimate, labels, SHARES)
    with refuses("labels"):
        doubt_sources(probs, estimate, labels[:9], SHARES)
    with refuses("source", "choice", got="0.3"):
        doubt_sources(probs, estimate + family.seed, labels, SHARES).at(0.3, "seed")


# -- coverage ---------------------------------------------------------------------------------------------------------------


def zero_in_interval(noticed, n_runs, n, n_sets, seed):
    """For each source, share of data sets whose interval of the overall correlation holds 0."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(3)
    for _ in range(n_sets):
        _, found = measured(rng, noticed, n_runs, n)
        counts += [found.overall[name].low <= 0 <= found.overall[name].high for name in NAMES]
    return counts / n_sets


@pytest.mark.slow
def test_sources_that_are_not_noticed_are_rarely_claimed():
    n_sets = 50  # a coverage of .7 is found with probability .99
    for noticed in NAMES:
        held = dict(zip(NAMES, zero_in_interval((noticed,), 5, 60, n_sets, seed=7), strict=True))
        assert held.pop(noticed) < 0.3
        assert min(held.values()) > 0.93 - 3 * np.sqrt(0.07 * 0.93 / n_sets)


def print_tables(n_samples=500):
    for noticed, n_runs, n in itertools.product(NAMES, (3, 5, 10), (36, 360)):
        held = 100 * zero_in_interval((noticed,), n_runs, n, n_samples, seed=8)
        cells = " | ".join(f"{value:.1f}" for value in held)
        print(f"| {noticed} | {n_runs} | {n} | {cells} |", flush=True)


if __name__ == "__main__":
    sys.exit(print_tables())


def test_a_method_without_a_seed_has_no_source_of_rounding_errors(random_generator):
    """All runs predict the same at share 1: the variance of their rounding is no source."""
    probs = random_generator.dirichlet(np.ones(3), (6, 2, 40))
    probs[:, 1] = probs[0, 1]
    found = doubt_sources(probs, random_generator.random((6, 2, 40)), np.zeros(40, dtype=int), [0.5, 1.0])
    assert np.isnan(found.overall["seed"])
    assert codes(found.overall["seed"]) == ["undefined"]
    assert np.isfinite(found.overall["spread"])
