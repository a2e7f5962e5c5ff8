"""Ranking by the disentanglement error: order, paired and unpaired tests, error rates, JSON."""

import json

import numpy as np
import pytest
from scipy import stats
from tests.evidence.disentanglement_data import made_study
from tests.notes import codes
from tests.refusals import refuses

from uqassay.evidence.disentanglement_runs import Contender, by_dataset, contenders_of, rank_disentanglement
from uqassay.statistics import holm

IT = "information-theoretic"


def contender(kind, label="", **options):
    return Contender(label or kind, made_study(kind, **options), IT)


def test_best_first_and_differences_against_scipy():
    rows = rank_disentanglement([contender(kind, seed=i) for i, kind in enumerate(("jitter", "perfect", "together"))])
    assert [row.contender.label for row in rows] == ["perfect", "together", "jitter"]
    assert [row.rank for row in rows] == [1, 2, 3]
    best = rows[0].found.per_run
    tests = [stats.ttest_rel(row.found.per_run, best) for row in rows[1:]]
    assert [row.pvalue for row in rows[1:]] == pytest.approx([test.pvalue for test in tests])
    adjusted = np.minimum(1, 1.5 * holm([test.pvalue for test in tests]))
    assert [row.pvalue_adjusted for row in rows[1:]] == pytest.approx(adjusted.tolist())
    assert float(rows[1].difference) == pytest.approx((rows[1].found.per_run - best).mean())
    assert rows[0].difference is None
    assert not rows[0].told_apart()
    assert all(row.paired for row in rows[1:])


def test_runs_are_paired_by_their_seeds():
    one, other = made_study("perfect"), made_study("together", jitter=0.1)
    order = [3, 0, 4, 1, 2]
    turned = type(other)(
        other.method,
        other.dataset,
        tuple(other.seeds[i] for i in order),
        other.class_names,
        {
            name: type(m)(
                m.conditions,
                m.labels[order],
                m.probs[order],
                {key: type(d)(d.total[order], d.aleatoric[order], d.epistemic[order]) for key, d in m.parts.items()},
            )
            for name, m in other.measured.items()
        },
    )
    plain, shuffled = (
        rank_disentanglement([Contender("a", one, IT), Contender("b", study, IT)])[1] for study in (other, turned)
    )
    assert plain.paired
    assert shuffled.paired
    assert shuffled.pvalue == pytest.approx(plain.pvalue)


def test_other_seeds_are_compared_by_welch():
    rows = rank_disentanglement([contender("perfect"), contender("jitter", n_runs=7, first_seed=50, seed=1)])
    test = stats.ttest_ind(rows[1].found.per_run, rows[0].found.per_run, equal_var=False)
    assert rows[1].pvalue == pytest.approx(test.pvalue)
    assert (rows[1].difference.low, rows[1].difference.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert rows[1].paired is False
    assert "method" in codes(rows[1])


@pytest.mark.parametrize(("first", "second"), [(1, 5), (1, 1)])
def test_too_few_runs_for_a_test(first, second):
    rows = rank_disentanglement([contender("perfect", n_runs=first), contender("jitter", n_runs=second, first_seed=9)])
    assert np.isnan([rows[1].pvalue, rows[1].pvalue_adjusted, rows[1].difference.low]).all()
    assert "no-test" in codes(rows[1])
    assert not rows[1].told_apart()


def test_equal_errors_in_all_runs_have_no_test():
    rows = rank_disentanglement([contender("constant"), contender("together", "b")])
    assert float(rows[1].difference) == pytest.approx(0, abs=1e-12)
    assert not rows[1].told_apart()


def test_contenders_without_an_error_come_last_and_say_why():
    rows = rank_disentanglement([contender("jitter", "half", without=("dataset-size",)), contender("perfect")])
    assert [row.rank for row in rows] == [1, None]
    assert codes(rows[1]) == ["undefined"]
    assert rows[1].notes[0].facts["missing"] == ["dataset-size"]
    assert rows[1].found is None


def test_data_sets_are_ranked_apart():
    rows = rank_disentanglement(
        [contender("jitter", dataset="b"), contender("perfect", dataset="a"), contender("together", dataset="b")]
    )
    assert [(row.contender.study.dataset, row.rank) for row in rows] == [("b", 1), ("b", 2), ("a", 1)]
    assert list(by_dataset([row.contender for row in rows])) == ["b", "a"]


def test_rows_are_strict_json():
    rows = rank_disentanglement([contender("perfect"), contender("jitter", seed=2), contender("constant", n_runs=1)])
    values = [json.loads(json.dumps(row.to_dict(), allow_nan=False)) for row in rows]
    assert values[0]["label"] == "perfect"
    assert values[0]["pvalue_below_chance"] < 0.01
    assert values[0]["pvalue_names"] == pytest.approx(1 / 32)
    assert len(values[0]["terms"]) == 4
    assert {"floor", "together", "chance", "pooled", "error_low"} <= set(values[0])


def test_one_contender_for_each_decomposition():
    study = made_study("perfect", "forest", decomposition="variance")
    (one,) = contenders_of(study)
    assert (one.label, one.decomposition) == ("forest, variance", "variance")
    assert contenders_of(study, decompositions=()) == ()


def test_refusals():
    with refuses("contenders", "empty"):
        rank_disentanglement([])
    with refuses("contenders", "duplicate", got="'a'"):
        rank_disentanglement([contender("perfect", "a"), contender("jitter", "a")])
    with refuses("decomposition", "choice", got="variance"):
        Contender("a", made_study("perfect"), "variance")


@pytest.mark.slow
@pytest.mark.parametrize("first_seed", [0, 100], ids=["paired", "welch"])
def test_equal_contenders_are_rarely_told_from_the_best(first_seed):
    """Six contenders of pure jitter, 5 runs each: any false claim in at most 5 % of the rankings."""
    n, wrong = 60, 0  # a rate of .27 exceeds the bound with probability .99
    for seed in range(n):
        field = [
            contender("jitter", str(i), seed=6 * seed + i, n=30, first_seed=i * first_seed, without=("left-out-class",))
            for i in range(6)
        ]
        wrong += any(row.told_apart() for row in rank_disentanglement(field))
    assert wrong / n <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)


def test_jitter_is_told_from_a_perfect_one_by_five_runs():
    told = [
        rank_disentanglement([contender("perfect", seed=2 * s), contender("jitter", seed=2 * s + 1)])[1].told_apart()
        for s in range(20)
    ]
    assert np.mean(told) >= 0.9


def test_a_study_is_no_contender():
    with refuses("contenders", "type"):
        rank_disentanglement([made_study("perfect", n_runs=2)])


def test_errors_are_computed_once_for_each_level():
    one = contender("perfect", n_runs=2)
    assert one.disentanglement() is one.disentanglement(level=0.95)
    assert one.disentanglement(level=0.9).error.level == 0.9


@pytest.mark.parametrize("label", ["", "  ", None, 3])
def test_labels_that_name_nobody(label):
    with refuses("label", "empty", got="got"):
        Contender(label, made_study("perfect"), IT)
