"""Importance weights of the cases: values against other libraries and brute force, and what weights must not change."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from tests.evidence.cases import drawn, row_of
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics.ranking import chance_pvalue
from uqassay.statistics.units import effective_number, independent_number

N, K = 240, 3
DEBIASED = "rms-calibration-error"  # copies of a case are further cases to it


@pytest.fixture(scope="module")
def cases():
    """Models of several kinds, labels, groups, parts and lognormal weights."""
    rng = np.random.default_rng(5)
    outputs = rng.normal(size=(N, K))
    truth = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)

    def said(spread, *shape):
        p = np.exp(outputs.reshape(N, *(1 for _ in shape), K) + spread * rng.normal(size=(N, *shape, K)))
        return p / p.sum(axis=-1, keepdims=True)

    models = {
        "point": uq.Point(said(0.3)),
        "members": uq.Members(said(0.6, 4)),
        "runs": [uq.Members(said(0.8, 3)) for _ in range(2)],
        "masses": random_prediction("Masses", rng, N, K),
        "sets": random_prediction("ClassSets", rng, N, K),
    }
    return {
        "models": models,
        "y": drawn(truth, rng),
        "groups": rng.integers(0, 40, N),
        "part": rng.choice(["x", "y"], N),
        "w": rng.lognormal(0, 1, N),
    }


def judged(cases, w, *, rows=slice(None), grouped=False, **options):
    some = {name: [r[rows] for r in m] if isinstance(m, list) else m[rows] for name, m in cases["models"].items()}
    return uq.assay(
        some,
        cases["y"][rows],
        groups=cases["groups"][rows] if grouped else None,
        subgroups={"part": cases["part"][rows]},
        sample_weight=w,
        n_draws=50,
        **options,
    )


@pytest.fixture(scope="module")
def weighted(cases):
    return judged(cases, cases["w"])


def told(assay):
    """Everything that an assay says, but for the time that it took."""
    assay.tests()
    found = {"json": assay.to_json(), "shown": assay.summary(), "markdown": str(assay.to_markdown())}
    found |= {name: assay.rows(name) for name in ("sets", "coverage-curve", "variance", "mistakes")}
    found["parts"] = [assay.rows("subsets", by=by) for by in ("part", "class", "correct")]
    found["json"]["provenance"].pop("seconds")
    return json.dumps(found, default=str)


# -- what must not change anything ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("grouped", [False, True])
def test_equal_weights_are_no_weights_to_the_last_digit(cases, grouped):
    plain, equal = judged(cases, None, grouped=grouped), judged(cases, np.full(N, 3.7), grouped=grouped)
    assert equal.weights is None
    assert told(equal) == told(plain)


def test_equal_weights_of_all_chunks_are_no_weights(cases):
    stream, p, y = uq.AssayStream(calibration=()), cases["models"]["members"], cases["y"]
    for a in range(0, N, 100):
        stream.update({"m": p[a : a + 100]}, y[a : a + 100], sample_weight=np.full(N, 0.1)[a : a + 100])
    assert stream.compute().findings().equals(uq.assay({"m": p}, y, calibration=()).findings())


def test_the_unit_of_the_weights_changes_nothing(cases, weighted):
    assert told(judged(cases, 4 * cases["w"])).replace("4", "") == told(weighted).replace("4", "")
    found = [a.findings()[["estimate", "low", "high"]].to_numpy() for a in (judged(cases, 1e-7 * cases["w"]), weighted)]
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("grouped", [False, True])
def test_weight_0_is_leaving_the_case_out(cases, grouped):
    keep = np.arange(N) % 7 != 2
    zero = judged(cases, np.where(keep, cases["w"], 0.0), grouped=grouped)
    without = judged(cases, cases["w"][keep], rows=keep, grouped=grouped)
    assert zero.n_instances == keep.sum()
    assert zero.findings().equals(without.findings())
    assert zero.verdict() == without.verdict()
    assert f"{(~keep).sum()} of {N} cases have weight 0 and are left out." in [note.text for note in zero.warnings]


def test_whole_weights_give_the_estimates_of_repeated_cases(cases):
    times = np.random.default_rng(1).integers(1, 4, N)
    rows = np.repeat(np.arange(N), times)
    once, repeated = judged(cases, times.astype(float)), judged(cases, None, rows=rows)
    kinds = ["model", "run", "metric", "score", "tradeoff"]
    a, b = (found.findings().set_index(kinds) for found in (once, repeated))
    a, b = (found[found.index.get_level_values("metric") != "calibration-pvalue"] for found in (a, b))
    assert a.index.equals(b.index)
    binned = a.index.get_level_values("metric") == DEBIASED
    np.testing.assert_allclose(a.estimate[~binned], b.estimate[~binned], atol=1e-9)
    # a repeated case is taken for several independent ones, a weighted one for one
    one, other = (estimate(found, "point", "log-loss") for found in (once, repeated))
    assert one["high"] - one["low"] > 1.1 * (other["high"] - other["low"])
    for name, options in (("sets", {}), ("subsets", {"by": "part"}), ("coverage-curve", {})):
        kept = ([r for r in found.rows(name, **options) if r["metric"] != DEBIASED] for found in (once, repeated))
        one, other = ([row["estimate"] for row in rows] for rows in kept)
        np.testing.assert_allclose(one, other, atol=1e-9)
    for (low, high, names), (start, end, others) in zip(once.winners(), repeated.winners(), strict=True):
        assert (low, high) == pytest.approx((start, end))
        assert names == others


# -- values ---------------------------------------------------------------------------------------------------------------


def estimate(assay, model, metric, score="", tradeoff=None):
    rows = [r for r in assay.rows("findings") if r["run"] == "all" and (tradeoff is None or r["tradeoff"] == tradeoff)]
    return row_of(rows, model=model, metric=metric, score=score)


def test_metrics_against_scikit_learn(cases, weighted):
    p, y, w = np.asarray(cases["models"]["point"].probs), cases["y"], cases["w"]
    wrong, entropy = p.argmax(axis=1) != y, -(p * np.log(p)).sum(axis=1)
    expected = {
        "accuracy": accuracy_score(y, p.argmax(axis=1), sample_weight=w),
        "log-loss": log_loss(y, p, sample_weight=w),
        "brier": np.average(((p - np.eye(K)[y]) ** 2).sum(axis=1), weights=w),
    }
    for metric, value in expected.items():
        assert estimate(weighted, "point", metric)["estimate"] == pytest.approx(value)
    found = estimate(weighted, "point", "uq-auc", "total-entropy")["estimate"]
    assert found == pytest.approx(roc_auc_score(wrong, entropy, sample_weight=w))


def test_errors_of_calibration_and_refusal_against_brute_force(cases, weighted):
    p, y, w = np.asarray(cases["models"]["point"].probs), cases["y"], cases["w"]
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    bins = np.minimum(np.ceil(confidence * 10), 10)
    ece = sum(abs((w * (right - confidence))[bins == b].sum()) for b in range(1, 11)) / w.sum()
    assert estimate(weighted, "point", "ece")["estimate"] == pytest.approx(ece)
    by_class = [np.minimum(np.maximum(np.ceil(p[:, k] * 10), 1), 10) for k in range(K)]
    gaps = [abs((w * ((y == k) - p[:, k]))[by_class[k] == b].sum()) for k in range(K) for b in range(1, 11)]
    assert estimate(weighted, "point", "ece-classwise")["estimate"] == pytest.approx(sum(gaps) / K / w.sum())
    order = np.argsort(-(p * np.log(p)).sum(axis=1), kind="stable")
    grid = (np.arange(200_000) + 0.5) / 200_000 * w.sum()  # ∫ risk over coverages, error mass linear inside a case
    mass, errors = np.r_[0, np.cumsum(w[order])], np.r_[0, np.cumsum((w * ~right)[order])]
    aurc = (np.interp(grid, mass, errors) / grid).mean()
    assert estimate(weighted, "point", "aurc", "total-entropy")["estimate"] == pytest.approx(aurc, abs=1e-4)
    diagram = weighted.reliability("point")
    for b in np.flatnonzero(diagram.count):
        here = bins == b + 1
        assert diagram.count[b] == here.sum()
        assert diagram.accuracy[b] == pytest.approx(np.average(right[here], weights=w[here]))
        assert diagram.confidence[b] == pytest.approx(np.average(confidence[here], weights=w[here]))
        assert diagram.band_low[b] <= diagram.low[b] <= diagram.accuracy[b] <= diagram.high[b] <= diagram.band_high[b]


def test_e_and_its_standard_error(cases, weighted):
    w = cases["w"]
    for name in ("members", "masses"):
        loss = weighted.loss(name, 0.5)[0]
        found = estimate(weighted, name, "unified", "hartley", 0.5)
        assert found["estimate"] == pytest.approx(np.average(loss, weights=w))
    a, b = (weighted.loss(name, 0.5)[0] for name in ("point", "members"))
    test = weighted.compare("point", "members", tradeoff=0.5).alone
    d = a - b - np.average(a - b, weights=w)
    plain = np.sqrt((w**2 * d**2).sum()) / w.sum()
    assert float(test.difference) == pytest.approx(np.average(a - b, weights=w))
    assert float(test.difference) / test.statistic == pytest.approx(plain, rel=0.03)  # but for the small-sample factor


def test_whole_groups_are_the_units(cases):
    grouped, w, g = judged(cases, cases["w"], grouped=True), cases["w"], cases["groups"]
    d = grouped.loss("point", 0.5)[0] - grouped.loss("members", 0.5)[0]
    test = grouped.compare("point", "members", tradeoff=0.5).alone
    sums = np.bincount(g, w * (d - np.average(d, weights=w)))
    assert float(test.difference) / test.statistic == pytest.approx(np.sqrt((sums**2).sum()) / w.sum(), rel=0.1)


def test_the_class_frequencies_are_weighted(cases, weighted):
    w, y = cases["w"], cases["y"]
    shares = np.bincount(y, w) / w.sum()
    prior = weighted["class-prior"].columns
    assert prior["log-loss"][0] == pytest.approx(-np.log(shares[y]))
    counted = w * effective_number(w, N) / w.sum()
    others = np.array([(counted * (y == y[i])).sum() - counted[i] + 0.5 for i in range(N)])
    expected = -np.log(others / (counted.sum() - counted + K / 2))
    assert prior["held-out-log-loss"][0] == pytest.approx(expected)


def test_weighted_chance_is_that_of_the_area(cases):
    rng = np.random.default_rng(0)
    s, w = rng.integers(0, 9, N).astype(float), cases["w"]
    e = (rng.random(N) < 0.3).astype(float)
    p = chance_pvalue(e, s, sample_weight=w)
    area = roc_auc_score(e, s, sample_weight=w)
    less = (s[:, None] < s).astype(float) + 0.5 * (s[:, None] == s)
    r = w @ less
    r = r - np.average(r, weights=w)
    m = effective_number(w, N)
    variance = np.average((e - np.average(e, weights=w)) ** 2, weights=w) * m / (m - 1) * ((w * r) ** 2).sum()
    value = (w * e * r).sum()
    assert value == pytest.approx((area - 0.5) * (w @ e) * (w @ (1 - e)))
    from scipy.stats import t

    assert p == pytest.approx(2 * t.sf(abs(value) / np.sqrt(variance), m - 1))
    assert chance_pvalue(e, s, sample_weight=np.ones(N)) == pytest.approx(chance_pvalue(e, s), rel=1e-6)


def test_unseen_losses_may_strike_the_heaviest_cases_alone():
    """The probability to see nothing of events that strike a share q of the weight is greatest where they strike those."""
    w, q = np.r_[np.full(30, 5.0), np.full(270, 5 / 9)], 0.05
    only_heavy = (1 - q * w.sum() / 150) ** 30
    bound = (1 - q) ** independent_number(w, 300)
    assert (1 - q) ** effective_number(w, 300) < only_heavy <= bound
    for _ in range(50):
        share = np.random.default_rng(_).dirichlet(np.full(300, 0.1))
        chances = np.minimum(share * q * w.sum() / w, 1.0)  # Σ w q_i = q Σ w, where none is cut
        if chances.max() < 1:
            assert np.prod(1 - chances) <= bound * (1 + 1e-9)


# -- the other doors -------------------------------------------------------------------------------------------------------


def test_chunks_have_the_result_of_the_whole(cases, weighted):
    stream = uq.AssayStream(n_draws=50)
    for a in range(0, N, 90):
        rows = slice(a, a + 90)
        some = {n: [r[rows] for r in m] if isinstance(m, list) else m[rows] for n, m in cases["models"].items()}
        stream.update(some, cases["y"][rows], sample_weight=cases["w"][rows], subgroups={"part": cases["part"][rows]})
    found, whole = (a.findings() for a in (stream.compute(), weighted))
    classwise = (found.metric == "ece-classwise").to_numpy()
    assert found[~classwise].equals(whole[~classwise])
    np.testing.assert_allclose(found.estimate[classwise], whole.estimate[classwise], rtol=1e-12)


def test_an_assay_over_dask_has_the_same_result(cases):
    da = pytest.importorskip("dask.array")
    p, y, w = np.asarray(cases["models"]["members"].probs), cases["y"], cases["w"]
    found = uq.assay({"m": da.from_array(p, chunks=(100, 4, K))}, y, sample_weight=w, calibration=()).findings()
    whole = uq.assay({"m": p}, y, sample_weight=w, calibration=()).findings()
    np.testing.assert_allclose(found.estimate, whole.estimate, rtol=1e-12)
    np.testing.assert_allclose(found.low, whole.low, rtol=1e-12)
    with refuses("sample_weight", "conflict"):
        uq.assay({"m": da.from_array(p)}, y, sample_weight=np.where(np.arange(N) == 3, 0.0, w))


def test_a_kept_assay_keeps_them(weighted, tmp_path):
    again = uq.Assay.load(weighted.save(tmp_path / "kept"))
    assert again.weights.tolist() == weighted.weights.tolist()
    assert again.findings().equals(weighted.findings())
    assert again.to_json()["n_effective"] == pytest.approx(effective_number(weighted.weights, N))


def test_weights_are_named_by_ids(cases, weighted):
    ids = np.array([f"c{i}" for i in range(N)])
    p = {"m": cases["models"]["point"].with_metadata(ids=ids)}
    order = np.random.default_rng(3).permutation(N)
    named = uq.assay(p, cases["y"], sample_weight=pd.Series(cases["w"][order], index=ids[order]), calibration=())
    assert named.weights.tolist() == cases["w"].tolist()
    assert estimate(named, "m", "accuracy")["estimate"] == estimate(weighted, "point", "accuracy")["estimate"]
    assert named.scores()["sample_weight"].tolist()[:N] == cases["w"].tolist()
    with refuses("sample_weight", "ids"):
        uq.assay(p, cases["y"], sample_weight=pd.Series(cases["w"], index=[*ids[:-1], "other"]))


def test_a_label_to_ignore_takes_its_weight_along(cases):
    y, w = np.where(np.arange(N) % 5 == 0, -1, cases["y"]), cases["w"]
    found = uq.assay({"m": cases["models"]["point"]}, y, sample_weight=w, ignore_label=-1, calibration=())
    assert found.weights.tolist() == w[y >= 0].tolist()


def test_weights_of_answers():
    rng = np.random.default_rng(0)
    right, w = rng.random(1000) < 0.7, rng.lognormal(0, 1, 1000)
    stated = np.clip(0.7 + 0.1 * rng.normal(size=1000), 0, 1)
    found = uq.assay({"a": uq.Answers(right, stated), "b": uq.Answers(~right, stated)}, sample_weight=w)
    assert estimate(found, "a", "accuracy")["estimate"] == pytest.approx(np.average(right, weights=w))
    assert found.rank_sets().better.tolist() == [[False, True], [False, False]]


# -- what is said, and what is refused -----------------------------------------------------------------------------------


def test_the_effective_number_is_said(weighted, cases):
    n = int(effective_number(cases["w"], N))
    texts = {note.code: note.text for note in weighted.warnings}
    assert texts["weights"] == f"The {N} cases are weighted and count like {n} of equal weight (effective number)."
    assert "no-calibration-test" in texts
    assert f"{N} cases (weighted, worth {n})" in " ".join(weighted.summary().split())
    few = judged(cases, np.r_[np.full(9, 1.0), np.full(N - 9, 1e-9)])
    assert {note.code: note.text for note in few.warnings}["few-instances"].startswith("Only 9.0 cases of equal weight")


@pytest.mark.parametrize(("heavy", "said"), [(3.0, False), (6.0, True)])
def test_a_case_that_bears_much_of_the_weight_is_a_caution(heavy, said):
    rng = np.random.default_rng(0)
    w = np.r_[np.full(290, 1.0), np.full(10, heavy)]
    found = uq.assay(
        {"m": random_prediction("Point", rng, 300, 2)}, rng.integers(2, size=300), sample_weight=w, calibration=()
    )
    texts = [note.text for note in found.warnings if note.code == "few-heavy-cases"]
    share = f"{100 * heavy / (290 + 10 * heavy):.1f} %"
    wanted = f"The heaviest case bears {share} of the weight: where such cases are few, intervals of losses can be too short."
    assert texts == ([wanted] if said else [])


def test_what_takes_no_weights_says_so(weighted):
    assert {test.tested for test in weighted.calibration} == {"nothing"}
    assert any("weighted" in note.text for test in weighted.calibration for note in test.notes)
    with refuses("sample_weight", "conflict"):
        weighted.certified_refusal("point", risk=0.3)
    with refuses("sample_weight", "conflict"):
        weighted.ood(dict.fromkeys(weighted.model_names, random_prediction("Point", np.random.default_rng(0), 9, K)))


def test_the_cost_of_refusing_is_weighted(weighted, cases):
    found, wrong = weighted.expected_cost("point", prices=[0.3]), 1 - weighted["point"].columns["correct"][0]
    assert float(found.keep_all) == pytest.approx(np.average(wrong, weights=cases["w"]))


@pytest.mark.parametrize(
    ("w", "code"),
    [
        (np.where(np.arange(N) == 4, -1.0, 1.0), "finite"),
        (np.where(np.arange(N) == 4, np.nan, 1.0), "finite"),
        (np.where(np.arange(N) == 4, np.inf, 1.0), "finite"),
        (np.zeros(N), "empty"),
        (np.ones(N - 1), "mismatch"),
        (np.ones((N, 1)), "mismatch"),
        (np.full(N, "much"), "type"),
    ],
)
def test_what_is_no_weight_is_refused(cases, w, code):
    with refuses("sample_weight", code):
        uq.assay({"m": cases["models"]["point"]}, cases["y"], sample_weight=w)


def test_a_chunk_with_weights_follows_none_without(cases):
    p, y = cases["models"]["point"], cases["y"]
    stream = uq.AssayStream().update({"m": p[:50]}, y[:50])
    with refuses("chunk", "mismatch"):
        stream.update({"m": p[50:]}, y[50:], sample_weight=cases["w"][50:])


def test_a_chunk_without_weight_is_left_out(cases):
    p, y = cases["models"]["point"], cases["y"]
    with pytest.raises(uq.errors.InputError, match="leave this chunk out"):
        uq.AssayStream().update({"m": p[:50]}, y[:50], sample_weight=np.zeros(50))


def test_a_single_unit_of_weight_is_not_tested(cases):
    p, y = {name: cases["models"][name] for name in ("point", "members")}, cases["y"]
    one_group = uq.assay(p, y, sample_weight=cases["w"], groups=np.zeros(N), calibration=())
    one_case = uq.assay(p, y, sample_weight=np.where(np.arange(N) == 3, 1e300, 1.0), calibration=())
    for assay in (one_group, one_case):
        found = assay.compare("point", "members")
        assert np.isnan(found.pvalue)
        assert found.to_markdown()


def test_weights_near_the_least_number_change_nothing(cases):
    p, y = {"m": cases["models"]["point"]}, cases["y"]
    w = np.round(cases["w"] * 10) + 1
    least, plain = (uq.assay(p, y, sample_weight=w * unit, calibration=()) for unit in (5e-324, 1.0))
    assert least.headline() == plain.headline()
