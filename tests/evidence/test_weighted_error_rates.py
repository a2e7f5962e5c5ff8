"""Error rates and coverage of an assay of weighted cases, in worlds whose truth is known.

The test measures a few data sets. The command measures all cells, which docs/intervals-and-tests.md sums up:

    python -m tests.evidence.test_weighted_error_rates [data sets]
"""

import sys
from functools import cache

import numpy as np
import pytest
from scipy.special import expit, ndtr
from tests.evidence.test_answer_error_rates import N_GROUPS, SIZES, group_sizes

import uqassay as uq
from uqassay.statistics import paired_mean_test, pairwise_mean_tests
from uqassay.statistics.units import effective_number

ALIKE = ("a", "b", "c")  # equally good; "worse" is more often wrong, and too sure
#: Probability with which a case of class 0 and of class 1 enters the test set. "common" has half as many cases of the
#: rare class as of the other one, which weigh little; "rare" has few, which weigh five times as much.
KEPT = {"common": (0.12, 1.0), "rare": (1.0, 0.2)}
DESIGNS = ("lognormal", *KEPT)


def world(rng, n, design, correlation=0.0, *, target=False):
    """Predictions, labels, weights and groups of about n cases; of the target itself all weights are 1."""
    kept = KEPT.get(design, (1.0, 1.0))
    pool = n if target or design == "lognormal" else int(n / (0.83 * kept[0] + 0.17 * kept[1]))
    groups = np.zeros(pool, dtype=int) if target else np.repeat(np.arange(N_GROUPS), group_sizes(pool))
    of_group, root = rng.normal(size=(3, N_GROUPS))[:, groups], np.sqrt(correlation)
    v, luck = (root * g + np.sqrt(1 - correlation) * rng.normal(size=pool) for g in of_group[:2])
    if target and design == "lognormal":
        v = v + 1  # the density of N(1, 1) over that of N(0, 1) is exp(v − ½)
    logit = (2.0 + 1.5 * rng.normal(size=pool)) / (0.6 + expit(v)) - 4.0 * (design != "lognormal")
    y = (ndtr(luck) < expit(logit)).astype(int)
    w = np.exp(v - 0.5) if design == "lognormal" else 1 / np.array(kept)[y]
    said = {name: logit + 0.7 * rng.normal(size=pool) for name in ALIKE}
    said["worse"] = 1.7 * (logit + 1.4 * rng.normal(size=pool))
    enters = np.ones(pool, dtype=bool)
    if target:
        w = np.ones(pool)
    elif design in KEPT:
        enters = rng.random(pool) < np.array(kept)[y]
    return {name: expit(z)[enters] for name, z in said.items()}, y[enters], w[enters], groups[enters]


COVERED = (
    ("a", "accuracy"),
    ("a", "log-loss"),
    ("worse", "log-loss"),
    ("a", "uq-auc"),
    ("a", "aurc"),
    ("worse", "ece"),
    ("worse − a", "log-loss"),
)


@cache
def truths(design):
    """What an assay of endless many cases of the target would find."""
    said, y, _, _ = world(np.random.default_rng(0), 400_000, design, target=True)
    found = {}
    for name in ("a", "worse"):
        p = np.stack([1 - said[name], said[name]], axis=1)
        confidence, right = p.max(axis=1), p.argmax(axis=1) == y
        log_loss = -np.log(p[np.arange(len(y)), y])
        place = np.searchsorted(np.arange(1, 10) / 10, confidence)
        order = np.argsort(-confidence)
        risk = np.cumsum(~right[order]) / np.arange(1, len(y) + 1)
        rank = np.empty(len(y))
        rank[order] = np.arange(len(y))
        n_wrong = (~right).sum()
        auc = (rank[~right].sum() - n_wrong * (n_wrong - 1) / 2) / (n_wrong * right.sum())
        found |= {
            (name, "accuracy"): right.mean(),
            (name, "log-loss"): log_loss.mean(),
            (name, "uq-auc"): auc,
            (name, "aurc"): risk.mean(),
            (name, "ece"): abs(np.bincount(place, right - confidence, 10)).sum() / len(y),
        }
    found["worse − a", "log-loss"] = found["worse", "log-loss"] - found["a", "log-loss"]
    return found


def rates(design, n, n_sets, *, correlation=None, seed=0):
    """Shares of data sets with a false or true rank, and in which intervals hold the truth; and the effective number."""
    found = []
    for run in range(n_sets):
        said, y, w, groups = world(np.random.default_rng([seed, run, n]), n, design, correlation or 0.0)
        models = {name: uq.Point(np.stack([1 - p, p], axis=1)) for name, p in said.items()}
        grouped = None if correlation is None else groups
        assay = uq.assay(models, y, sample_weight=w, groups=grouped, calibration=(), measures=("least-confidence",))
        false, true = [], []
        for metric in ("unified", "brier"):
            ranks = assay.rank_sets(metric=metric)
            j = ranks.names.index("worse")
            alike = [k for k in range(len(ranks.names)) if k != j]
            false.append(ranks.better[np.ix_(alike, alike)].any() or ranks.better[j].any())
            true.append(ranks.better[alike, j].mean())
        wanted = ["accuracy", "log-loss", "uq-auc", "aurc", "ece"]
        of = {(m.model, m.metric): m.estimate for m in assay.metrics(metrics=wanted).measured}
        losses = (assay[name].columns["log-loss"][0] for name in ("worse", "a"))
        of["worse − a", "log-loss"] = paired_mean_test(*losses, groups=grouped, sample_weight=w).difference
        inside = [of[key].low <= truths(design)[key] <= of[key].high for key in COVERED]
        found.append([*false, *true, *inside, assay.n_effective])
    names = ("false rank", "false rank by Brier", "true rank", "true rank by Brier", *COVERED, "effective number")
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))


GREATEST = 4.0  # loss where the risky model fails


def unseen(n, n_sets, *, hits, seed=0):
    """Shares of false orders of two models of equal means, one of which fails in about `hits` cases of the heavy tenth.

    By the test, by the same with the effective number of cases in place of Σ w / max w, and by Student's t alone.
    """
    heavy = np.arange(n) < n // 10
    w = np.where(heavy, 5.0, 5 / 9)  # half of the weight
    share = hits / heavy.sum()
    mean = GREATEST * share / 2
    found = []
    for run in range(n_sets):
        rng = np.random.default_rng([seed, run, n])
        risky = np.where(heavy & (rng.random(n) < share), GREATEST, 0.0) + 0.01 * rng.normal(size=n)
        losses = {"risky": risky, "safe": mean + 0.01 * rng.normal(size=n)}
        told = [pairwise_mean_tests(losses, sample_weight=w, bound=bound).pvalue[0, 1] for bound in (GREATEST, None)]
        d = abs(np.average(losses["risky"] - losses["safe"], weights=w))
        by_number = max(told[1], (GREATEST / (GREATEST + d)) ** effective_number(w, n))
        plain = uq.statistics.paired_mean_test(losses["risky"], losses["safe"], sample_weight=w).pvalue
        found.append([p <= 0.05 for p in (told[0], by_number, plain)])
    return dict(zip(("test", "with the effective number", "Student"), np.mean(found, axis=0).tolist(), strict=True))


@pytest.mark.parametrize("design", DESIGNS)
def test_false_ranks_are_rare_and_intervals_hold(design):
    found = rates(design, 300, 40, correlation=0.5 if design == "lognormal" else None)
    assert found["false rank"] <= 0.15
    assert found["false rank by Brier"] <= 0.15
    assert all(found[key] >= 0.8 for key in COVERED)


def test_losses_that_only_heavy_cases_show_are_not_overlooked():
    found = unseen(300, 300, hits=2)
    assert found["test"] <= 0.08
    assert found["with the effective number"] > 0.1


def rows(n_sets=400):
    """Rates of every cell."""
    for design in DESIGNS:
        for correlation in (None, 0.5):
            groups = "no groups" if correlation is None else f"{N_GROUPS} groups, correlation {correlation:g}"
            for n in SIZES:
                yield f"{design}, {groups}, n = {n}", rates(design, n, n_sets, correlation=correlation)
    for hits in (1, 2, 3):
        for n in SIZES:
            yield f"{hits} unseen losses, n = {n}", unseen(n, 5 * n_sets, hits=hits)


if __name__ == "__main__":
    for cell, found in rows(*map(int, sys.argv[1:])):
        print(f"{cell}:")
        for key, value in found.items():
            text = f"{value:.0f}" if key == "effective number" else f"{100 * value:.1f} %"
            print(f"  {' '.join(key) if isinstance(key, tuple) else key}: {text}", flush=True)
