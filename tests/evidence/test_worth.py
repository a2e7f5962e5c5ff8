"""Where a model is better than the baselines, on data whose crossings are known."""

import numpy as np
import pytest
from tests.evidence.verdict_cases import LN2, claims, judged

from uqassay.evidence.claims import FARTHEST, better_than_baselines, no_model_ranges

N = 2000


@pytest.fixture(scope="module")
def one():
    """E = .15 + .2 λ: above λ ln 2 up to λ = .15/(ln 2 − .2), above ln 2 from λ = (ln 2 − .15)/.2 on."""
    return judged({"m": (0.15, 0.2)}, N)


def test_ranges_end_before_the_crossings(one):
    below, above = 0.15 / (LN2 - 0.2), (LN2 - 0.15) / 0.2
    (worth,) = better_than_baselines(one, "m")
    first, last = no_model_ranges(one)
    assert first.low == 0
    assert first.high < below < worth.low < worth.high < above < last.low
    assert last.high == FARTHEST
    assert first.high == pytest.approx(below, rel=0.1)
    assert worth.low == pytest.approx(below, rel=0.1)
    assert max(first.pvalue, last.pvalue, worth.pvalue) <= 0.05


def test_ends_against_students_test(one):
    """At the end of "no model is worth using" Student's test has p = α/2 at most, and hardly less."""
    (found, _) = no_model_ranges(one)
    t = found.high
    excess = one.loss("m", t)[0] - t * LN2
    statistic = excess.mean() / (excess.std(ddof=1) / np.sqrt(N))
    assert statistic > 2.2414  # two-sided 2.5 %
    assert statistic < 3.5


def test_a_model_chosen_from_several_needs_more(one):
    alone = better_than_baselines(one, "m")[0]
    among = better_than_baselines(judged({"m": (0.15, 0.2), **{f"k{i}": (0.3, 0.2) for i in range(9)}}, N), "m")[0]
    assert alone.low < among.low < among.high < alone.high


def test_a_loss_that_has_not_been_seen_leaves_a_condition():
    a = judged({"m": (0.02, 0.0)}, 10, floor=None, width=0.01)
    assert better_than_baselines(a, "m") == ()
    assert better_than_baselines(a, "m", guard=False)
    assert claims(a, "model-better")[0].limited_by == "unseen"


def test_claims_name_the_baselines(one):
    below, above = claims(one, "baseline-better")
    assert (below.models, below.others, below.low) == (("m",), ("vacuous",), 0.0)
    assert (above.others, above.high) == (("class-prior",), float("inf"))
    assert below.facts["every_model"] is True


def test_every_model_has_to_be_worse():
    bad = judged({"bad": (0.6, 0.2), "good": (0.15, 0.2)}, N)
    assert no_model_ranges(bad)[0].high < 0.15 / (LN2 - 0.2)
    both = judged({"bad": (0.75, 0.3), "worse": (0.8, 0.1)}, N, width=0.02)
    (everywhere,) = no_model_ranges(both)
    assert (everywhere.low, everywhere.high) == (0.0, FARTHEST)
    (claim,) = claims(both, "baseline-better", low=0.0)
    assert (claim.others, claim.high) == (("vacuous", "class-prior"), float("inf"))
