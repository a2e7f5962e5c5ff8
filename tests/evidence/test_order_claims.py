"""Claims at the default λ, against the rank sets and against counts."""

import numpy as np
import pytest
from tests.evidence.verdict_cases import claims, judged, noise, predicted

import uqassay as uq
from uqassay.evidence.claims import same_models

pytestmark = pytest.mark.usefixtures("without_calibration")


def at_default(assay, kind, **wanted):
    return claims(assay, kind, low=0.5, high=0.5, **wanted)


def test_worse_models_are_those_of_the_rank_sets():
    a = judged({"a": (0.15, 0.1), "b": (0.151, 0.1), "c": (0.25, 0.1), "d": (0.3, 0.1)})
    ranks = a.rank_sets(0.5)
    worse = at_default(a, "worse")
    assert [c.models[0] for c in worse] == ["c", "d"]
    for c in worse:
        assert c.others == ("a",)
        assert ranks.is_better("a", c.models[0])
        assert c.pvalue == next(r for r in a.ranked(0.5) if r.model == c.models[0]).pvalue_adjusted
    (top,) = at_default(a, "top-group")
    assert (top.models, top.others) == (("a",), ("b",))
    assert top.facts["pvalues"] == {"b": top.pvalue}
    assert not at_default(a, "best")


def test_best_takes_the_largest_adjusted_pvalue():
    a = judged({"a": (0.15, 0.1), "b": (0.3, 0.1), "c": (0.35, 0.1)})
    (best,) = at_default(a, "best")
    assert (best.models, best.others) == (("a",), ("b", "c"))
    assert best.pvalue == max(r.pvalue_adjusted for r in a.ranked(0.5) if r.rank not in (None, 1))
    assert not at_default(a, "top-group")


@pytest.mark.parametrize("gap", [0.02, 0.025, 0.03, 0.035, 0.04])
def test_best_is_said_where_the_rank_set_is_1_alone(gap):
    """Of ten models; unadjusted p-values alone would say it at each of these gaps."""
    a = judged({"a": (0.3, 0.1), **{f"b{j}": (0.3 + gap, 0.1) for j in range(9)}}, 300, width=0.15)
    winner, *rivals = (r for r in a.ranked(0.5) if r.rank is not None)
    assert max(r.pvalue for r in rivals) < 0.05
    best, top = at_default(a, "best"), at_default(a, "top-group")
    assert (len(best), len(top)) == ((1, 0) if winner.rank_high == 1 else (0, 1))
    assert (len(at_default(a, "worse")) == 9) == bool(best)


def test_interval_of_the_lowest_mean_allows_for_the_choice():
    """Of J models at level 1 − .05/J, by the function of the package."""
    a = judged({"a": (0.15, 0.1), "b": (0.151, 0.1), "c": (0.3, 0.1)})
    (top,) = at_default(a, "top-group")
    expected = uq.statistics.mean_estimate(a.loss("a", 0.5)[0], method="hall", level=1 - 0.05 / 3)
    assert (top.estimate.low, top.estimate.high) == (expected.low, expected.high)
    assert top.estimate.level == pytest.approx(1 - 0.05 / 3)


def test_losses_that_were_not_seen_leave_it_open():
    n = 60
    a = judged({"a": (0.001, 0.0), "b": (0.3, 0.0)}, n, floor=None, width=0.0005)
    (open_,) = claims(a, "cannot-tell", limited_by="unseen")
    assert (open_.models, open_.others) == (("a",), ("b",))
    assert open_.facts["instances"] == n
    assert open_.facts["bounded"]["brier"] == {"top": ["a"], "rest": ["b"]}
    assert open_.facts["bounded"]["accuracy"] == {"top": ["a", "b"], "rest": []}


def test_the_same_losses():
    n = 50
    x, y = predicted(0.2, 0.1, n), predicted(0.2 + noise(n, 1), 0.1, n)
    labels = np.zeros(n, dtype=int)
    a = uq.assay({"a": x, "b": y, "c": x, "d": y, "e": x}, labels, calibration=(), n_draws=20)
    assert [(c.models, c.others) for c in same_models(a)] == [(("a",), ("c", "e")), (("b",), ("d",))]
    assert not at_default(a, "best")
    two = uq.assay({"a": [x, y], "b": x}, labels, calibration=(), n_draws=20)
    assert same_models(two) == ()  # one run more is another model
    both = uq.assay({"a": x, "c": x}, labels, calibration=(), n_draws=20)
    (top,) = at_default(both, "top-group")
    assert (top.others, top.facts["pvalues"]) == (("c",), {})
    assert np.isnan(top.pvalue)


def test_infinite_means_are_worse_without_a_test():
    sure, unsure = uq.Point([[1.0, 0.0], [1.0, 0.0]]), uq.Point([[0.6, 0.4], [0.5, 0.5]])
    a = uq.assay({"sure": sure, "unsure": unsure}, [0, 1], floor=0)
    (worse,) = at_default(a, "worse")
    assert (worse.models, worse.others, worse.limited_by) == (("sure",), ("unsure",), "infinite")
    assert at_default(a, "baseline-better", models=("sure",))


def test_one_group_leaves_everything_open():
    a = judged({"a": (0.15, 0.1), "b": (0.3, 0.1)}, 40, groups=np.zeros(40))
    (open_,) = claims(a, "cannot-tell")
    assert (open_.limited_by, open_.models, open_.others) == ("units", ("a",), ("b",))
    assert {c.kind for c in a.claims()} == {"cannot-tell", "top-group"}


def test_models_below_a_baseline():
    """At λ = ½ the vacuous statement has E = ln 2 / 2 = .347."""
    a = judged({"good": (0.15, 0.1), "bad": (0.5, 0.1)})
    (found,) = at_default(a, "baseline-better")
    assert (found.models, found.others) == (("bad",), ("vacuous",))
    assert float(found.estimate) == pytest.approx(0.55 - np.log(2) / 2)
    assert found.estimate.low < found.estimate < found.estimate.high
