"""Checks of the form [MODEL:]METRIC[@λ]<NUMBER."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.cli.fail_if import outcome_of, parse_check
from uqassay.evidence.ranking import difference_of
from uqassay.metrics.ranking import RANKING_METRICS


def failures(check, assay):
    return list(outcome_of(check, assay).failed)


def skipped(check, assay):
    return list(outcome_of(check, assay).left_out)


@pytest.fixture(scope="module")
def judged():
    g = np.random.default_rng(3)
    y = g.integers(0, 3, 40)
    sharp = 0.7 * np.eye(3)[y] + 0.1
    flat = np.full((40, 3), 1 / 3)
    box = uq.Intervals(sharp - 0.05, sharp + 0.05)
    return uq.assay({"sharp": uq.Point(sharp), "a:b<c": uq.Point(flat), "box": box}, y, tradeoffs=[0.1, 0.5])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("accuracy<0.9", (None, "accuracy", None, "<", 0.9)),
        (" ece >= 5e-2 ", (None, "ece", None, ">=", 0.05)),
        ("DE:kl<=1", ("DE", "kl", None, "<=", 1.0)),
        ("deep ensemble:unified@0.5>0.3", ("deep ensemble", "unified", 0.5, ">", 0.3)),
        ("a:b<c:accuracy<0.9", ("a:b<c", "accuracy", None, "<", 0.9)),
    ],
)
def test_parse(text, expected):
    check = parse_check(text)
    assert (check.model, check.metric, check.tradeoff, check.comparison, check.bound) == expected


NO_CHECKS = [
    "",
    "accuracy",
    "accuracy<",
    "<0.9",
    "accuracy=0.9",
    "accuracy<nan",
    "accuracy<inf",
    ":kl<1",
    "low(accuracy<0.9",
    "accuracy)<0.9",
    "low()<0.9",
    "mean(accuracy)<0.9",
    "low(sharp:accuracy)<0.9",
]


@pytest.mark.parametrize("text", [*NO_CHECKS, "__import__('os')<1"])
def test_parse_refuses(text):
    with refuses("--fail-if", "syntax"):
        parse_check(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("low(accuracy)<0.9", (None, "low", "accuracy", None)),
        ("DE:high( uq-auc@total-entropy ) < 0.9", ("DE", "high", "uq-auc", "total-entropy")),
        ("a(b):low(unified@0.5)>1", ("a(b)", "low", "unified", None)),
        ("low(a):accuracy<1", ("low(a)", None, "accuracy", None)),
    ],
)
def test_parse_limits(text, expected):
    check = parse_check(text)
    assert (check.model, check.limit, check.metric, check.score) == expected


@pytest.mark.parametrize("on_intervals", [False, True])
def test_limits_are_compared_by_name_and_mixed_with_estimates(on_intervals):
    """Three outcomes: 30 of 40 are right, with an interval from about .6 to .86."""
    p = np.tile([0.9, 0.1], (40, 1))
    a = uq.assay({"m": uq.Point(p)}, np.arange(40) % 4 == 0, calibration=())
    row = next(row for row in a.rows("findings") if row["metric"] == "accuracy")
    assert row["low"] < 0.7 < row["estimate"] < 0.8 < row["high"]

    def word(text):
        return outcome_of(parse_check(text), a, on_intervals=on_intervals).word

    assert [word(f"low(accuracy)<{bound}") for bound in (0.5, 0.7, 0.8, 0.99)] == ["pass", "fail", "fail", "fail"]
    assert [word(f"high(accuracy)<{bound}") for bound in (0.5, 0.7, 0.8, 0.99)] == ["pass", "pass", "pass", "fail"]
    assert [word(f"accuracy<{bound}") for bound in (0.5, 0.7, 0.8, 0.99)] == (
        ["pass", "cannot tell", "cannot tell", "fail"] if on_intervals else ["pass", "pass", "fail", "fail"]
    )


def test_a_limit_that_is_not_there_cannot_tell():
    one = uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0])
    found = outcome_of(parse_check("low(accuracy)<0.5"), one)
    assert (found.word, found.failed) == ("cannot tell", ())
    assert "accuracy of m is 1.000, without an interval" in found.unclear[0]
    tested = uq.assay({"m": uq.Point(np.tile([0.9, 0.1], (40, 1)))}, np.zeros(40, int))
    with refuses("--fail-if", "conflict", got="a p-value has no interval"):
        outcome_of(parse_check("low(calibration-pvalue)<0.05"), tested)


def test_any_model_or_the_one_named(judged):
    below = failures(parse_check("accuracy<0.9"), judged)
    assert len(below) == 1
    assert below[0].startswith("Check accuracy<0.9 failed: accuracy of a:b<c is ")
    assert "95 % interval" in below[0]
    assert failures(parse_check("sharp:accuracy<0.9"), judged) == []
    assert failures(parse_check("a:b<c:accuracy<0.9"), judged) != []


def test_bounds_themselves(judged):
    assert failures(parse_check("sharp:accuracy<1"), judged) == []
    assert failures(parse_check("sharp:accuracy<=1"), judged) != []
    assert failures(parse_check("sharp:accuracy>1"), judged) == []
    assert failures(parse_check("sharp:accuracy>=1"), judged) != []


def test_baselines_are_not_checked(judged):
    assert not any("class-prior" in sentence for sentence in failures(parse_check("log-loss>0"), judged))
    with refuses("--fail-if", "choice", got="the models are sharp"):
        failures(parse_check("vacuous:unified@0.1>0"), judged)


def test_unified_needs_its_tradeoff(judged):
    assert len(failures(parse_check("unified@0.5>0"), judged)) == 3
    with refuses("--fail-if", "choice", got=r"unified is known at λ = 0\.1, 0\.5; .* write unified@0\.1"):
        failures(parse_check("unified>0"), judged)
    with refuses("--fail-if", "choice"):
        failures(parse_check("unified@0.3>0"), judged)
    with refuses("--fail-if", "conflict"):
        failures(parse_check("accuracy@0.1<1"), judged)


def test_what_is_undefined_cannot_tell(judged):
    found = outcome_of(parse_check("box:epistemic-entropy>1"), judged)
    assert found.word == "cannot tell"
    assert found.sentences() == (
        "Check box:epistemic-entropy>1 cannot tell: epistemic-entropy of box is undefined (epistemic-entropy is not defined "
        "for Intervals).",
    )
    assert outcome_of(parse_check("epistemic-entropy>1"), judged).word == "pass"  # of those that have it


UNDEFINED = {
    "no errors": ({"m": uq.Point([[0.9, 0.1], [0.2, 0.8]]), "m2": uq.Point([[0.8, 0.2], [0.2, 0.8]])}, [0, 1]),
    "an infinite loss": ({"m": uq.Point([[1.0, 0.0], [0.2, 0.8]])}, [1, 1]),
    "class sets": ({"m": uq.ClassSets([[True, False], [True, True]])}, [0, 1]),
    "votes": ({"m": uq.Point([[0.9, 0.1], [0.2, 0.8]])}, [[0.7, 0.3], [0.2, 0.8]]),
    "one instance": ({"m": uq.Point([[0.9, 0.1]])}, [0]),
}


@pytest.mark.parametrize("case", UNDEFINED)
def test_every_metric_without_a_value_is_one_sentence_and_cannot_tell(case):
    predictions, labels = UNDEFINED[case]
    a = uq.assay(predictions, labels, floor=0)
    rows = [row for row in a.rows("findings") if row["run"] == "all" and row["model"] in predictions]
    undefined = {(row["metric"], row["score"]) for row in rows if np.isnan(row["estimate"])}
    of_scores = {(metric, "") for metric in RANKING_METRICS} if case == "class sets" else set()
    assert undefined | of_scores or case == "an infinite loss"
    for metric, score in undefined | of_scores:
        at = f"@{score}" if metric in (*RANKING_METRICS, "calibration-pvalue") and score else ""
        mine = [row for row in rows if (row["metric"], row["score"]) == (metric, score)]
        named = next((row["model"] for row in mine if np.isnan(row["estimate"])), "m")
        for model in ("", f"{named}:") if all(np.isnan(row["estimate"]) for row in mine) else (f"{named}:",):
            found = outcome_of(parse_check(f"{model}{metric}{at}<0.5"), a)
            assert found.word == "cannot tell", (metric, score)
            (said,) = found.sentences()
            assert said.endswith(").")
            assert said.count("undefined (") == 1


def test_ranking_metrics_need_their_score(judged):
    p = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]]
    ranked = uq.assay({"m": uq.Point(p)}, [0, 0, 1, 1])
    assert failures(parse_check("m:uq-auc@total-entropy < 2"), ranked) == [
        "Check m:uq-auc@total-entropy < 2 failed: uq-auc of total-entropy of m is 1.000 (95 % interval 0.000 to 1.000)."
    ]
    assert failures(parse_check("uq-auc@total-entropy<0"), ranked) == []
    with refuses("--fail-if", "choice"):
        failures(parse_check("uq-auc<0.9"), ranked)
    with refuses("--fail-if", "choice"):
        failures(parse_check("uq-auc@entropy<0.9"), ranked)
    with refuses("--fail-if", "conflict"):
        failures(parse_check("accuracy@total-entropy<0.9"), judged)
    with refuses("--fail-if", "conflict"):
        failures(parse_check("unified@x<1"), judged)


def test_models_that_are_left_out_are_named_with_the_reason(judged):
    assert skipped(parse_check("accuracy<0.9"), judged) == []
    assert skipped(parse_check("epistemic-entropy>1"), judged) == [
        "Check epistemic-entropy>1 leaves box out: epistemic-entropy is not defined for Intervals."
    ]
    assert skipped(parse_check("sharp:accuracy<0.9"), judged) == []
    found = skipped(parse_check("uq-auc@total-entropy<0.8"), judged)
    assert [line.split(": ", 1)[0] for line in found] == [
        f"Check uq-auc@total-entropy<0.8 leaves {name} out" for name in ("sharp", "box")
    ]
    assert all("no errors" in line for line in found)
    flat, box = uq.Point([[0.6, 0.4], [0.7, 0.3]]), uq.Intervals([[0.5, 0.3], [0.6, 0.1]], [[0.7, 0.5], [0.9, 0.4]])
    ranked = uq.assay({"flat": flat, "box": box}, [0, 1])
    assert skipped(parse_check("uq-auc@nonspecificity<2"), ranked) == [
        "Check uq-auc@nonspecificity<2 leaves flat out: it has no nonspecificity."
    ]


@pytest.mark.parametrize(
    ("text", "failed", "unclear"),
    [
        ("m:accuracy<{low}", 0, 0),
        ("m:accuracy<{middle}", 0, 1),
        ("m:accuracy<{above}", 1, 0),
        ("m:accuracy>{below}", 1, 0),
        ("m:accuracy>{middle}", 0, 1),
        ("m:accuracy>{high}", 0, 0),
        ("m:accuracy>={high}", 0, 1),
        ("m:accuracy<={low}", 0, 1),
    ],
)
def test_whole_intervals(text, failed, unclear):
    """Against the definition: the comparison holds for all, some or none of the interval."""
    g = np.random.default_rng(4)
    y = g.integers(0, 2, 50)
    a = uq.assay({"m": uq.Point(g.dirichlet([1.0, 1.0], 50))}, y, n_draws=10, calibration=())
    row = next(row for row in a.rows("findings") if (row["model"], row["metric"]) == ("m", "accuracy"))
    low, high = row["low"], row["high"]
    assert low < row["estimate"] < high
    text = text.format(low=low, high=high, middle=(low + high) / 2, above=high + 1e-6, below=low - 1e-6)
    outcome = outcome_of(parse_check(text), a, on_intervals=True)
    assert (len(outcome.failed), len(outcome.unclear)) == (failed, unclear)


def test_what_has_no_interval_cannot_tell_but_a_pvalue_can():
    p = uq.Point([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]])
    a = uq.assay({"m": p}, [0, 1, 1, 0], n_draws=10)
    one = uq.assay({"m": p[:1]}, [0], n_draws=10)
    outcome = outcome_of(parse_check("accuracy<0.5"), one, on_intervals=True)
    assert len(outcome.unclear) == 1
    assert outcome.unclear[0].startswith("Check accuracy<0.5 cannot tell: accuracy of m is ")
    assert outcome.unclear[0].endswith(", without an interval.")
    assert outcome_of(parse_check("calibration-pvalue<0"), a, on_intervals=True).sentences() == ()


# -- differences, terms on both sides, and demands ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_answers():
    """New answers of 1,000 questions, 3 points better than the old ones; and others that are alike."""
    g = np.random.default_rng(0)
    old = g.random(1000) < 0.7
    new = old | (g.random(1000) < 0.1)
    models = {"new": uq.Answers(new, 0.2 + 0.6 * new), "old": uq.Answers(old, 0.3 + 0.4 * old), "a-b": uq.Answers(old)}
    return uq.assay(models, calibration=())


@pytest.mark.parametrize(
    ("text", "place", "wanted"),
    [
        ("accuracy", 8, "a comparison"), ("accuracy<", 9, "a finite number"), ("a:low(accuracy<1", 14, ") after what low("),
        ("a:<1", 2, "the name of a metric"), (":kl<1", 0, "the name of a model"), ("a:uq-auc@<1", 9, "a λ or a score"),
        ("a:accuracy x<1", 11, "the end of the term"), ("a:accuracy<b", 11, "a finite number, or MODEL:METRIC"),
        ("no-worse(a,b)<-1", 14, "a number above 0"), ("no-worse(a,b)>1", 13, "< or <="), ("no-worse(a,b):<1", 14, "a metric"),
    ],
)  # fmt: skip
def test_syntax_errors_show_the_place(text, place, wanted):
    with pytest.raises(uq.InputError) as found:
        parse_check(text)
    assert found.value.code == "syntax"
    assert found.value.facts["place"] == place
    assert wanted in found.value.rule
    assert f"at character {place + 1}" in found.value.rule


def test_differences_are_those_of_the_tests_of_all_pairs(two_answers):
    new, old = (two_answers[name].columns["correct"][0] for name in ("new", "old"))
    alone = uq.statistics.paired_mean_test(new, old).difference
    found = difference_of(two_answers, "new", "old", "accuracy")
    d = float(found)
    assert d == pytest.approx(float(alone))
    assert 0 < found.low < alone.low < alone.high < found.high  # of three models
    words = {
        f"new-old:accuracy<{d - 0.001}": "pass", f"new-old:accuracy<{d + 0.001}": "fail", "old-new:accuracy<-0.01": "fail",
        f"new-old:low(accuracy)<{found.low - 0.001}": "pass", f"new-old:low(accuracy)<{found.low + 0.001}": "fail",
        f"new-old:high(accuracy)>{found.high + 0.001}": "pass", "new-old:error-rate>0": "pass", "new-old:brier>0": "pass",
        "new-old:uq-auc@least-confidence<0": "pass", "new-old:unified>0": "pass",
    }  # fmt: skip
    assert {text: outcome_of(parse_check(text), two_answers).word for text in words} == words
    three = [outcome_of(parse_check(f"new-old:accuracy<{x}"), two_answers, on_intervals=True).word for x in (0, d, 0.2)]
    assert three == ["pass", "cannot tell", "fail"]
    (said,) = outcome_of(parse_check("old-new:accuracy<-0.01"), two_answers).failed
    assert said.startswith("Check old-new:accuracy<-0.01 failed: accuracy of old − new is −0.0")


def test_a_hyphen_in_a_name_is_no_difference(two_answers):
    assert outcome_of(parse_check("a-b:accuracy<0.9"), two_answers).word == "fail"
    assert outcome_of(parse_check("new-a-b:accuracy<0"), two_answers).word == "pass"
    for text, code in (("new-nobody:accuracy<0", "choice"), ("new-old:ece<0", "choice"), ("new-old:uq-auc<0", "choice"),
                       ("new-old:accuracy@0.5<0", "conflict"), ("new-old:accuracy@margin<0", "conflict"),
                       ("no-worse(new,nobody)<0.1", "choice"), ("no-worse(new,old):ece<0.1", "choice")):  # fmt: skip
        with pytest.raises(uq.InputError) as found:
            outcome_of(parse_check(text), two_answers)
        assert (found.value.parameter, found.value.code) == ("--fail-if", code)


def test_terms_on_both_sides(two_answers):
    def words(text):
        return [outcome_of(parse_check(text), two_answers, on_intervals=on).word for on in (False, True)]

    assert words("new:high(accuracy)<old:estimate(accuracy)") == ["pass", "pass"]
    assert words("new:low(accuracy)<old:high(accuracy)") == ["fail", "fail"]
    assert words("old:high(accuracy)<new:low(accuracy)") == ["pass", "pass"]
    assert words("old:accuracy<new:accuracy") == ["fail", "cannot tell"]  # the intervals overlap
    assert words("new:accuracy<old:accuracy") == ["pass", "cannot tell"]
    assert words("accuracy<new:accuracy") == ["fail", "cannot tell"]  # of any model
    said = outcome_of(parse_check("old:accuracy<new:accuracy"), two_answers).failed
    assert len(said) == 1
    assert "accuracy of old is 0." in said[0]
    assert "and accuracy of new is 0." in said[0]


def test_a_demand_has_three_outcomes(two_answers):
    few_answers = uq.assay({"old": uq.Answers([0, 0, 0]), "new": uq.Answers([1, 1, 1])}, calibration=())

    def word(text):
        return outcome_of(parse_check(text), two_answers).word

    assert word("no-worse(new,old)<0.01") == "pass"
    assert word("no-worse(old,new)<0.01") == "fail"
    assert word("no-worse(old,a-b):accuracy<0.02") == "pass"
    assert word("no-worse(old,new)<0.05") == "pass"
    assert word("no-worse(old,new)<0.03") == "cannot tell"
    assert word("no-worse(new,old):brier<0.01") == "pass"
    (said,) = outcome_of(parse_check("no-worse(old,new)<0.01"), two_answers).failed
    assert said.startswith("Check no-worse(old,new)<0.01 failed: error rate, old minus new: the difference is 0.0")
    assert said.endswith(", 90 % interval).")
    (said,) = outcome_of(parse_check("no-worse(new,old)<0.0001"), few_answers).unclear
    assert said == (
        "Check no-worse(new,old)<0.0001 cannot tell: error rate, new minus old: the difference is −1.000 (−1.000 to −1.000, "
        "90 % interval), but losses too rare to be seen here could be greater."
    )


def test_a_demand_on_predictions_of_classes(judged):
    assert outcome_of(parse_check("no-worse(sharp,box)<0.5"), judged).word in ("pass", "cannot tell")
    with pytest.raises(uq.InputError) as found:
        outcome_of(parse_check("sharp-box:unified<0"), judged)
    assert found.value.code == "choice"
    assert outcome_of(parse_check("sharp-box:unified@0.5<0"), judged).word in ("pass", "fail")


@pytest.mark.parametrize("text", ["unified>0", "unified@0.3>0", "a-b:unified@0.3>-9", "a-b:unified>-9"])
def test_without_sets_e_is_the_same_at_all_tradeoffs(text):
    g = np.random.default_rng(0)
    assay = uq.assay({name: g.dirichlet(np.ones(3), 40) for name in "ab"}, g.integers(0, 3, 40), tradeoffs=[0.3, 0.5])
    assert len(failures(parse_check(text), assay)) == (1 if "-" in text else 2)


def test_a_demand_fails_only_where_the_tests_of_all_pairs_tell_the_order():
    failed = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 60)
        models = {}
        for j in range(5):
            p = np.clip(0.5 + (0.3 - 0.08 * j) * (2 * y - 1) + 0.2 * rng.normal(size=60), 0.02, 0.98)
            models[f"m{j}"] = uq.Point(np.stack([1 - p, p], axis=1))
        a = uq.assay(models, y, calibration=(), scales=())
        for metric in ("accuracy", "brier", "log-loss"):
            ranks = a.rank_sets(metric=metric)
            for one, other in (("m4", "m0"), ("m3", "m1"), ("m1", "m0")):
                if outcome_of(parse_check(f"no-worse({one},{other}):{metric}<0.001"), a).word == "fail":
                    failed += 1
                    assert ranks.is_better(other, one)
    assert failed > 5
