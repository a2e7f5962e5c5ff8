"""Models by several metrics: values by scikit-learn and by counting, intervals and marks by the public functions."""

import json
import math

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from tests.evidence.cases import SETS, judge, same
from tests.refusals import refuses
from tests.shown_results import check_shown

import uqassay as uq
from uqassay.metrics.names import ALIASES

N = 500
DEFAULT = ("accuracy", "log-loss", "brier", "ece", "uq-auc", "aurc", "unified")
HOSTILE = ("<b>x</b>", "a|b_c $y$ & 5 %", "\\textbf{x}\u202e")


def softmax(z):
    return np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def judged():
    """A model with two runs and a worse one, both with sets."""
    g = np.random.default_rng(1)
    y = g.integers(0, 3, N)

    def members(noise):
        z = 2 * np.eye(3)[y][:, None] + noise * g.normal(size=(N, 1, 3)) + 0.3 * g.normal(size=(N, 4, 3))
        return uq.Members(softmax(z))

    return judge({"good": [members(1.0), members(1.0)], "bad": members(3.0)}, y, n_draws=50)


def points(names=("a", "b", "c"), n=400, seed=2):
    """Labels, and probabilities (n, 3) of models that are not equally good, by name."""
    g = np.random.default_rng(seed)
    y = g.integers(0, 3, n)
    noise = np.linspace(1.0, 1.6, len(names))
    return y, {
        name: softmax(2 * np.eye(3)[y] + scale * g.normal(size=(n, 3)))
        for name, scale in zip(names, noise, strict=True)
    }


def point_assay(p, y, **options):
    return judge({name: uq.Point(q) for name, q in p.items()}, y, n_draws=20, **options)


def found(assay, *metrics, at=0.5, score=None):
    """The measured metrics by model and metric."""
    made = assay.metrics(at, metrics=metrics or None, score=score)
    return {(one.model, one.metric): one for one in made.measured}


def cells(assay, metric, *, at=0.5, score=None, spread="interval"):
    """Cells of one metric by model."""
    table = assay.metrics(at, metrics=metric, score=score).shown_table(spread)
    return {row.cells[0].text: row.cells[1] for row in table.rows}


# -- values ---------------------------------------------------------------------------------------------------------------


def entropy(p):
    return -(p * np.log(p)).sum(axis=1)


def ece_by_counting(p, y):
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    bins = [(confidence > k / 10) & (confidence <= (k + 1) / 10) for k in range(10)]
    return sum(abs(confidence[b].sum() - right[b].sum()) for b in bins) / len(y)


def aurc_by_counting(errors, uncertainty):
    """Mean error rate of what is kept, on a fine grid of shares, with parts of an instance kept."""
    shares = (np.arange(400 * len(errors)) + 0.5) / 400
    wrong = np.interp(shares, np.arange(len(errors) + 1), [0, *np.cumsum(errors[np.argsort(uncertainty)])])
    return (wrong / shares).mean()


def test_values_of_points_against_scikit_learn_and_counting():
    y, p = points()
    made = found(point_assay(p, y), *DEFAULT[:6])
    for name, q in p.items():
        wrong = q.argmax(axis=1) != y
        expected = {
            "accuracy": accuracy_score(y, q.argmax(axis=1)),
            "log-loss": log_loss(y, q),
            "brier": ((q - np.eye(3)[y]) ** 2).sum(axis=1).mean(),
            "ece": ece_by_counting(q, y),
            "uq-auc": roc_auc_score(wrong, entropy(q)),
            "aurc": aurc_by_counting(wrong, entropy(q)),
        }
        assert {metric: float(made[name, metric].estimate) for metric in expected} == pytest.approx(expected, abs=1e-6)


def test_e_is_the_mean_of_both_terms_at_any_tradeoff(judged):
    made = found(judged, "unified", at=0.37)["good", "unified"]
    columns = judged["good"].columns
    by_run = (columns["distance"] + 0.37 * columns["nonspecificity"]).mean(axis=1)
    assert float(made.estimate) == pytest.approx(by_run.mean())
    assert made.runs == pytest.approx(by_run.tolist())
    assert made.tradeoff == 0.37


def test_all_numbers_are_those_of_the_findings(judged):
    rows = {(r["model"], r["metric"], r["score"]): r for r in judged.rows("findings") if r["run"] == "all"}
    rows |= {
        (r["model"], "unified", ""): r for r in judged.rows("findings") if (r["tradeoff"], r["run"]) == (0.5, "all")
    }
    for one in judged.metrics().rows():
        if math.isnan(one["estimate"]):
            continue
        expected = rows[one["model"], one["metric"], one["score"]]
        for key in ("estimate", "low", "high", "level", "n"):
            assert one[key] == pytest.approx(expected[key], rel=1e-9), (one["model"], one["metric"], key)


@pytest.mark.parametrize("grouped", [False, True])
def test_intervals_are_those_of_the_public_functions(grouped):
    y, p = points()
    groups = np.arange(len(y)) // 8 if grouped else None
    made = found(point_assay(p, y, groups=groups), *DEFAULT[:6])
    q = p["b"]
    wrong = (q.argmax(axis=1) != y).astype(float)
    loss, brier = -np.log(q[np.arange(len(y)), y]), ((q - np.eye(3)[y]) ** 2).sum(axis=1)
    expected = {
        "accuracy": uq.statistics.proportion_estimate(1 - wrong, groups=groups),
        "log-loss": uq.statistics.mean_estimate(loss, method="hall", groups=groups),
        "brier": uq.statistics.mean_estimate(brier, method="hall", groups=groups),
        "ece": uq.metrics.calibration_error_estimate(y, q, groups=groups),
        "uq-auc": uq.metrics.uq_auc_score(wrong, entropy(q), groups=groups),
        "aurc": uq.metrics.aurc_loss(wrong, entropy(q), groups=groups),
    }
    for metric, estimate in expected.items():
        ends = made["b", metric].estimate
        assert (ends.low, ends.high) == pytest.approx((estimate.low, estimate.high), rel=1e-6), metric


# -- marks ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [None, np.arange(N) // 10])
def test_marks_are_those_of_the_rank_sets(groups):
    y, p = points(("a", "b", "c", "d"), n=N)
    a = point_assay(p, y, groups=groups)
    seen = set()
    for metric in ("accuracy", "log-loss", "brier", "uq-auc", "aurc", "unified", "uq-c-index"):
        score = "total-entropy" if metric in uq.metrics.RANKING_METRICS else None
        ranks = a.rank_sets(0.5, metric=metric, score=score)
        values = dict(zip(ranks.names, ranks.values.tolist(), strict=True))
        best = (max if ranks.greater_is_better else min)(values, key=values.get)
        made = {model: one for (model, _), one in found(a, metric).items()}
        assert [name for name in p if made[name].best] == [best]
        assert {name for name in p if made[name].tied} == set(ranks.top_names) - {best}
        seen |= {made[name].tied for name in p}
    assert seen == {True, False}


def test_of_calibration_errors_only_the_lowest_is_marked_and_the_caption_says_so():
    y, p = points()
    a = point_assay(p, y)
    made = found(a, "ece")
    lowest = min(p, key=lambda name: ece_by_counting(p[name], y))
    assert [name for name in p if made[name, "ece"].best] == [lowest]
    assert {made[name, "ece"].tied for name in p} == {None}
    assert "Of ECE, not tested, only the lowest is marked." in a.metrics().summary().replace("\n  ", " ")
    assert "not tested" not in a.to_latex(metrics=["accuracy"])


def test_sizes_and_uncertainties_have_no_best(judged):
    for metric in ("nonspecificity", "total-entropy"):
        made = found(judged, metric)
        assert {one.best for one in made.values()} == {one.tied for one in made.values()} == {None}
        heading = judged.metrics(metrics=metric).headings()[0]
        assert "↑" not in heading
        assert "↓" not in heading


def test_baselines_and_a_single_model_are_not_marked(judged):
    made = found(judged)
    assert {one.best for one in made.values() if one.baseline} == {None}
    y, p = points(("only",))
    assert {one.best for one in point_assay(p, y).metrics().measured} == {None}
    assert "*" not in "".join(point_assay(p, y).metrics().shown_table().as_text())


def test_equal_models_are_all_best():
    y, p = points(("a",))
    made = found(point_assay({"a": p["a"], "b": p["a"]}, y), "accuracy", "log-loss", "ece")
    assert {one.best for one in made.values() if not one.baseline} == {True}


# -- which metrics --------------------------------------------------------------------------------------------------------


def test_the_default_has_e_where_a_model_has_sets_and_otherwise_the_distance(judged):
    assert judged.metrics().metrics == DEFAULT
    y, p = points()
    kl, js, brier = (point_assay(p, y, distance=distance) for distance in ("kl", "js", "brier"))
    assert kl.metrics().metrics == brier.metrics().metrics == DEFAULT[:-1]
    assert js.metrics().metrics == (*DEFAULT[:-1], "js")
    for a in (kl, js, brier):
        assert "λ" not in a.metrics().summary()
        assert "vacuous" not in a.metrics().summary()


@pytest.mark.parametrize("name", sorted(ALIASES))
def test_names_in_common_use_are_taken(judged, name):
    known = ALIASES[name]
    same(judged.metrics(metrics=[name.upper()]).rows(), judged.metrics(metrics=known).rows())


def test_metrics_are_taken_once(judged):
    assert judged.metrics(metrics=["nll", "ece", "log-loss"]).metrics == ("log-loss", "ece")


def test_the_score_is_one_that_most_models_have_and_the_header_names_it():
    g = np.random.default_rng(0)
    y = g.integers(0, 4, 200)
    p = softmax(np.eye(4)[y] + g.normal(size=(200, 4)))
    sets = uq.ClassSets(SETS[g.integers(0, len(SETS), 200)])
    mixed = judge({"sets": sets, "point": uq.Point(p), "members": uq.Members(np.stack([p, p], axis=1))}, y, n_draws=20)
    assert mixed.metrics().score == "total-entropy"
    assert "error AUROC by total entropy ↑" in mixed.metrics().headings()
    assert math.isnan(found(mixed)["sets", "uq-auc"].estimate)
    assert "sets has no total entropy" in str(found(mixed)["sets", "uq-auc"].estimate.notes)
    alone = judge({"sets": sets}, y, n_draws=20)
    assert alone.metrics().score is None
    assert alone.metrics().metrics == ("accuracy", "log-loss", "brier", "ece", "unified")
    with refuses("metrics", "undefined", "needs an uncertainty score"):
        alone.metrics(metrics="auroc")
    own = judge({"a": uq.Point(p)}, y, n_draws=20, measures=("margin",))
    assert own.metrics().score == "margin"


def test_unknown_metrics_and_scores_are_refused(judged):
    with refuses("metrics", "choice", "'f1'"):
        judged.to_latex(metrics=["f1"])
    with refuses("metrics", "choice", "'calibration-pvalue'"):
        judged.metrics(metrics=["calibration-pvalue"])
    with refuses("metrics", "empty"):
        judged.metrics(metrics=[])
    with refuses("score", "choice", "'depth'"):
        judged.metrics(metrics=["uq-auc"], score="depth")
    with refuses("score", "conflict", "has no effect on brier"):
        judged.metrics(metrics=["brier"], score="total-entropy")
    with refuses("spread", "choice"):
        judged.to_latex(spread="sd")
    with refuses("tradeoff", "range"):
        judged.to_latex(-1.0)


# -- shown ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["unified", "accuracy", "ece", "uq-auc"])
def test_the_spread_over_runs(judged, metric):
    wanted = {"model": "good", "metric": metric, "score": "total-entropy" if metric == "uq-auc" else None}
    wanted["tradeoff"] = 0.5 if metric == "unified" else None
    by_run = [
        row["estimate"]
        for row in judged.rows("findings")
        if row["run"] != "all" and all(value in (None, row[key]) for key, value in wanted.items())
    ]
    assert len(by_run) == 2
    shown = cells(judged, metric, spread="runs")
    assert float(shown["good"].after.removeprefix("± ")) == pytest.approx(np.std(by_run, ddof=1), abs=5e-4)
    assert shown["bad"].after == ""
    row = next(r for r in judged.metrics(metrics=metric).rows() if r["model"] == "good")
    assert row["deviation"] == pytest.approx(np.std(by_run, ddof=1))


def test_cells_are_the_rounded_numbers(judged):
    for metric in ("accuracy", "brier", "ece"):
        one = found(judged, metric)["good", metric]
        cell = cells(judged, metric)["good"]
        assert float(cell.text) == pytest.approx(one.estimate, abs=5e-4)
        assert [float(end) for end in cell.after.strip("[]").split(", ")] == pytest.approx(
            [one.estimate.low, one.estimate.high], abs=5e-4
        )


def test_every_form_has_the_same_metrics(judged):
    columns = ("nll", "ece")
    assert r"log loss $\downarrow$ & ECE $\downarrow$" in judged.to_latex(metrics=columns)
    assert "| model | log loss ↓ | ECE ↓ |" in judged.to_markdown(metrics=columns)
    assert judged.to_markdown(metrics=columns).startswith("**")
    assert "λ = 2 ↓" in judged.to_markdown(2.0)
    for heading in judged.metrics().headings():
        assert heading.split()[0] in judged.summary()
        assert heading in judged._repr_html_()
    same(judged.rows("metrics", metrics="ece"), judged.metrics(metrics="ece").rows())
    assert judged.metrics().table().equals(judged.table("metrics"))
    told = json.loads(json.dumps(judged.to_json(), allow_nan=False))["metrics"]
    assert [(row["model"], row["metric"], row["best"]) for row in told] == [
        (one.model, one.metric, one.best) for one in judged.metrics().measured
    ]


def test_the_table_and_the_cell_of_a_notebook_need_no_calibration_test():
    tested = uq.assay({"m": uq.Point([[0.9, 0.1]] * 50)}, [0] * 45 + [1] * 5, n_draws=20)

    def made():
        raise AssertionError("a calibration test was made")

    object.__setattr__(tested, "tests", made)
    with pytest.raises(AssertionError, match="was made"):
        tested.rows("calibration")
    assert not math.isnan(found(tested, "ece")["m", "ece"].estimate)
    assert "ECE" in tested.metrics().summary()
    assert "ECE" in tested._repr_html_()


CASES = {
    "one instance": lambda: judge({"a": uq.Point([[0.8, 0.2]]), "b": uq.Point([[0.7, 0.3]])}, [0]),
    "one model": lambda: judge({"a": uq.Point([[0.8, 0.2]] * 8)}, [0, 1] * 4),
    "no mistakes": lambda: judge({"a": uq.Point([[0.8, 0.2]] * 8), "b": uq.Point([[0.9, 0.1]] * 8)}, [0] * 8),
    "infinite": lambda: judge({n: uq.Point([[1.0, 0.0]] * 9) for n in "ab"}, [1] * 9, floor=0),
    "votes": lambda: judge({"a": uq.Point([[0.8, 0.2]] * 8), "b": uq.Point([[0.5, 0.5]] * 8)}, [[3, 1]] * 8),
    "groups": lambda: judge({"a": [uq.Point([[0.8, 0.2]] * 8)] * 2}, [0, 1] * 4, groups=[0, 0, 1, 1, 2, 2, 3, 3]),
    "paper": lambda: judge({"a": uq.Point([[0.8, 0.2]] * 8)}, [0, 1] * 4, convention="paper"),
    "names": lambda: point_assay(dict(zip(HOSTILE, points()[1].values(), strict=True)), points()[0]),
    "class sets": lambda: judge({n: uq.ClassSets(SETS[:, :3][:3]) for n in "ab"}, [0, 1, 2]),
}


@pytest.mark.parametrize("case", CASES)
def test_every_assay_has_its_table(case):
    a = CASES[case]()
    made = a.metrics()
    check_shown(made)
    check_shown(a)
    assert [row["model"] for row in made.rows()] == [m.name for m in a.models for _ in made.metrics]
    assert len(made.table()) == len(made.rows())
    if case == "infinite":
        assert {one.best for (_, metric), one in found(a).items() if metric == "log-loss" and not one.baseline} == {
            False
        }
        assert "∞" in made.to_markdown()
    if case == "no mistakes":
        assert math.isnan(found(a)["a", "uq-auc"].estimate)
    if case == "votes":
        loss = -(0.75 * np.log(0.8) + 0.25 * np.log(0.2))
        assert float(found(a)["a", "log-loss"].estimate) == pytest.approx(loss)


def test_scores_that_are_no_better_than_chance_are_never_best():
    """Of an uncertainty that is the same in every case, and of one that ranks the mistakes backwards."""
    right = np.arange(60) % 3 > 0
    sure = np.linspace(0.5, 0.9, 60)
    models = {
        "flat": uq.Answers(right, np.full(60, 0.7)),
        "backward": uq.Answers(right, np.where(right, 1 - sure, sure)),
    }
    for chosen in (models, {**models, "good": uq.Answers(right, np.where(right, sure, 1 - sure))}):
        rows = {r["model"]: r for r in uq.assay(chosen, calibration=()).metrics(metrics="uq-auc").rows()}
        assert (rows["flat"]["estimate"], rows["flat"]["best"], rows["flat"]["tied"]) == (0.5, False, False)
        assert rows["backward"]["estimate"] < 0.5
        assert not rows["backward"]["best"]
        assert all(row["best"] == (name == "good") for name, row in rows.items())


def test_constant_scores_rank_like_chance():
    y, p = points(("a",))
    constant = uq.Point(np.where(np.arange(3) == 0, 0.6, 0.2) * np.ones((len(y), 1)))
    made = found(judge({"a": uq.Point(p["a"]), "constant": constant}, y, n_draws=20))
    assert float(made["constant", "uq-auc"].estimate) == 0.5
    assert float(made["constant", "aurc"].estimate) == pytest.approx((y != 0).mean())
    assert made["a", "uq-auc"].best


def test_of_many_models_the_lowest_loss_stands_first():
    names = tuple(f"m{j:02d}" for j in range(11))
    y, p = points(names, n=60)
    shuffled = {name: p[name] for name in np.random.default_rng(0).permutation(names).tolist()}
    a = point_assay(shuffled, y)
    order = [name for name in a.metrics().by_model() if name in p]
    assert order == sorted(p, key=lambda name: log_loss(y, p[name]))
    assert "The lowest log loss stands first." in a.metrics().summary()
    few = point_assay({name: shuffled[name] for name in list(shuffled)[:10]}, y)
    assert [name for name in few.metrics().by_model() if name in p] == list(shuffled)[:10]
