"""Error rates and coverage of what an assay says of answers with a stated confidence, in a world whose truth is known.

The test measures a few data sets. The command measures all cells, which docs/stated-confidence.md sums up:

    python -m tests.evidence.test_answer_error_rates [data sets]
"""

import sys
from functools import cache

import numpy as np
import pytest
from scipy.special import expit, ndtr

import uqassay as uq
from uqassay.evidence.calibration import calibration_claims

SIZES = (100, 300, 2000)
N_GROUPS = 30
OVER = 0.12  # how much too sure the overconfident model is
WORSE = 0.7  # how much harder every question is for the worse model, on the logit scale
ALIKE = ("a", "b", "c")  # equally good, and their confidence is their probability of being right


def group_sizes(n):
    """Sizes of 30 groups that fall by a tenth from one to the next."""
    sizes = np.maximum(1, n * 0.9 ** np.arange(N_GROUPS) / (0.9 ** np.arange(N_GROUPS)).sum()).astype(int)
    sizes[0] += n - sizes.sum()
    return sizes


def world(rng, n, correlation=0.0):
    """Groups, and of each model what was right, what it states, and the probability of being right.

    Models share how hard a question is; right answers of one group go together by a Gaussian copula.
    """
    groups = np.repeat(np.arange(N_GROUPS), group_sizes(n))
    hard, of_group = rng.normal(size=n), rng.normal(size=(len(ALIKE) + 1, N_GROUPS))[:, groups]
    shared, models = rng.normal(size=n), {}
    for j, name in enumerate((*ALIKE, "worse")):
        truth = expit(0.8 - 1.3 * hard + 0.8 * rng.normal(size=n) - WORSE * (name == "worse"))
        luck = np.sqrt(correlation) * of_group[j] + np.sqrt(1 - correlation) * (shared + rng.normal(size=n)) / np.sqrt(
            2
        )
        stated = np.minimum(truth + OVER * (1 - truth) * 2, 1.0) if name == "worse" else truth
        models[name] = ndtr(luck) < truth, stated, truth
    return groups, models


@cache
def truths():
    """Accuracy, error AUROC and calibration errors of a good and of the worse model, from a large sample."""
    _, models = world(np.random.default_rng(0), 400_000)
    found = {}
    for name in ("a", "worse"):
        _, stated, truth = models[name]
        order = np.argsort(stated)
        below = np.cumsum((1 - truth)[order]) - (1 - truth)[order]  # expected mistakes among the less sure
        auc = (truth[order] * below).sum() / (truth.sum() * (1 - truth).sum())
        place = np.searchsorted(np.arange(1, 10) / 10, stated)
        share, gap = np.bincount(place, minlength=10) / len(place), np.bincount(place, stated - truth, 10)
        gap = gap / np.maximum(np.bincount(place, minlength=10), 1)
        found[name] = {
            "accuracy": truth.mean(), "uq-auc": auc, "ece": share @ abs(gap), "rms-calibration-error": (share @ gap**2) ** 0.5
        }  # fmt: skip
    return found


COVERED = (
    ("a", "accuracy"),
    ("worse", "accuracy"),
    ("a", "uq-auc"),
    ("worse", "ece"),
    ("worse", "rms-calibration-error"),
)
RATES = ("false rank", "true rank", "false calibration", "true calibration", "wrong direction", "false choice")


def rates(n, n_sets, *, correlation=None, seed=0):
    """Shares of data sets in which a claim is false or true, and in which intervals hold the truth."""
    found = []
    for run in range(n_sets):
        groups, models = world(np.random.default_rng([seed, run, n]), n, correlation or 0.0)
        answers = {name: uq.Answers(correct, stated) for name, (correct, stated, _) in models.items()}
        assay = uq.assay(answers, groups=None if correlation is None else groups)
        ranks = assay.rank_sets()
        j = ranks.names.index("worse")
        alike = [k for k in range(len(ranks.names)) if k != j]
        claims = calibration_claims(assay)
        of_worse = [c for c in claims if c.model == "worse" and c.outcome == "rejected"]
        choice = assay.answer().choices[0]
        said = {
            "false rank": ranks.better[np.ix_(alike, alike)].any() or ranks.better[j].any(),
            "true rank": ranks.better[alike, j].mean(),
            "false calibration": any(c.outcome == "rejected" for c in claims if c.model != "worse"),
            "true calibration": bool(of_worse),
            "wrong direction": any(c.direction == "underconfident" for c in of_worse),
            "false choice": bool(set(choice.worse) & set(ALIKE)),
        }
        measured = {
            (m.model, m.metric): m.estimate
            for m in assay.metrics(metrics=[metric for _, metric in COVERED[1:]]).measured
        }
        inside = [measured[k].low <= truths()[k[0]][k[1]] <= measured[k].high for k in COVERED]
        found.append([*(float(said[name]) for name in RATES), *inside])
    return dict(zip((*RATES, *COVERED), np.mean(found, axis=0).tolist(), strict=True))


@pytest.mark.parametrize("correlation", [None, 0.5])
def test_false_claims_are_rare_and_intervals_hold(correlation):
    found = rates(300, 40, correlation=correlation)
    assert found["false rank"] <= 0.15
    assert found["false calibration"] <= 0.15
    assert found["wrong direction"] <= 0.05
    assert all(found[k] >= 0.8 for k in COVERED)
    if correlation is None:
        assert found["true rank"] > 0.5


def rows(n_sets=400):
    """Rates of every cell."""
    for correlation in (None, 0.0, 0.5):
        groups = "none" if correlation is None else f"30, correlation {correlation:g}"
        for n in SIZES:
            yield groups, n, rates(n, n_sets, correlation=correlation)


if __name__ == "__main__":
    for groups, n, found in rows(*map(int, sys.argv[1:])):
        print(
            f"groups {groups}, n = {n}:",
            *(f"{key} {100 * share:.1f}" for key, share in found.items()),
            sep="\n  ",
            flush=True,
        )
