"""Answers judged as right or wrong, and their stated confidence on its whole scale."""

import json

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import uqassay as uq
from uqassay.evidence.calibration import calibration_claims
from uqassay.metrics.calibration import PrepareCalibrationError, PrepareCumulative, calibration_error_estimate
from uqassay.metrics.measures import CALIBRATION_MEASURES, CalibrationMeasure, calibration_measure

N = 240


def given(rng, n=N, names=("gpt", "llama", "mistral")):
    """Answers of models of different skill to the same questions, with confidences in steps of 0.05."""
    difficulty, out = rng.normal(size=n), {}
    for j, name in enumerate(names):
        p = 1 / (1 + np.exp(-(1.2 - 0.4 * j - difficulty + rng.normal(size=n))))
        correct = rng.random(n) < p
        out[name] = correct, np.round(20 * np.clip(p + 0.1 + 0.1 * rng.normal(size=n), 0.01, 0.99)) / 20
    return out


@pytest.fixture(scope="module")
def values():
    return given(np.random.default_rng(3))


@pytest.fixture(scope="module")
def stated(values):
    return uq.assay({name: uq.Answers(*v) for name, v in values.items()})


@pytest.fixture(scope="module")
def right_or_wrong(values):
    return uq.assay({name: uq.Answers(correct) for name, (correct, _) in values.items()})


def number(assay, model, metric, **options):
    (found,) = (m for m in assay.metrics(metrics=[metric], **options).measured if m.model == model)
    return found.estimate


# -- numbers against other packages and by hand ---------------------------------------------------------------------------


def test_plain_numbers_against_scikit_learn(values, stated):
    for name, (correct, confidence) in values.items():
        assert float(number(stated, name, "accuracy")) == pytest.approx(correct.mean())
        assert float(number(stated, name, "error-rate")) == pytest.approx(1 - correct.mean())
        assert float(number(stated, name, "brier")) == pytest.approx(brier_score_loss(correct, confidence))
        inside = np.clip(confidence, 2**-52, 1)
        assert float(number(stated, name, "log-loss")) == pytest.approx(
            log_loss(correct, np.stack([1 - inside, inside], 1))
        )
        assert float(number(stated, name, "uq-auc")) == pytest.approx(roc_auc_score(correct, confidence))


def test_bins_are_those_of_scikit_learn(values, stated):
    for name, (correct, confidence) in values.items():
        share, mean = calibration_curve(correct, confidence, n_bins=10)  # (0, .1], (.1, .2], … as here
        bins = stated.reliability(name)
        filled = bins.count > 0
        assert np.allclose(bins.accuracy[filled], share)
        assert np.allclose(bins.confidence[filled], mean)
        weights = bins.count[filled] / len(correct)
        assert float(number(stated, name, "ece")) == pytest.approx((weights * abs(share - mean)).sum())


def test_rms_error_is_the_debiased_one_over_pairs_by_brute_force(values, stated):
    correct, confidence = values["llama"]
    place, d, total = np.searchsorted(np.arange(1, 10) / 10, confidence), confidence - correct, 0.0
    for b in range(10):
        mine = np.flatnonzero(place == b)
        pairs = [d[i] * d[j] for i in mine for j in mine if i != j]
        total += len(mine) / N * np.mean(pairs) if pairs else 0.0
    assert float(number(stated, "llama", "rms-calibration-error")) == pytest.approx(np.sqrt(max(total, 0.0)))


def test_norms_of_torchmetrics(values, stated):
    classification = pytest.importorskip("torchmetrics.functional.classification")
    torch = pytest.importorskip("torch")
    correct, confidence = values["gpt"]
    # its bins hold their left edge, these the right one
    between = np.clip(confidence - 1e-6, 0, 1)
    target = torch.from_numpy(correct.astype(int))
    l1, l2 = (
        float(classification.binary_calibration_error(torch.from_numpy(between), target, n_bins=10, norm=norm))
        for norm in ("l1", "l2")
    )
    assert float(number(stated, "gpt", "ece")) == pytest.approx(l1, abs=1e-5)
    bins = stated.reliability("gpt")
    filled = bins.count > 0
    gaps = (bins.accuracy - bins.confidence)[filled]
    assert np.sqrt((bins.count[filled] / N * gaps**2).sum()) == pytest.approx(l2, abs=1e-5)


def test_aurc_by_brute_force(values, stated):
    correct, confidence = values["mistral"]
    rng, found = np.random.default_rng(0), []
    for _ in range(200):  # equal confidences in random order
        order = np.lexsort((rng.random(N), -confidence))
        found.append(np.mean(np.cumsum(~correct[order]) / np.arange(1, N + 1)))
    # the mean over n shares kept and the area differ by O(1/n)
    assert float(number(stated, "mistral", "aurc")) == pytest.approx(np.mean(found), abs=0.01)


# -- the stated scale is not folded ---------------------------------------------------------------------------------------


def test_two_classes_fold_the_scale_at_one_half_and_answers_do_not():
    # confidence .2 is right in .4 of cases, confidence .8 in 1: too low by .2 in both, which folding cancels
    confidence = np.repeat([0.2, 0.8], 50)
    correct = np.concatenate([np.arange(50) < 20, np.ones(50, dtype=bool)])
    answers = uq.Answers(correct, confidence)
    ece = float(number(uq.assay({"m": answers}, calibration=()), "m", "ece"))
    folded = float(uq.metrics.confidence_calibration_error(correct.astype(int), answers.as_point()))
    assert ece == pytest.approx(0.2)
    assert folded == pytest.approx(0.0, abs=1e-12)
    rms = float(number(uq.assay({"m": answers}, calibration=()), "m", "rms-calibration-error"))
    assert rms == pytest.approx(0.2, abs=0.01)
    assert float(calibration_error_estimate(correct.astype(int), answers.as_point(), norm="l2")) < 0.05


@pytest.mark.parametrize("name", ["ece-confidence", "mce-confidence", "l2-confidence-debiased"])
def test_measures_of_the_last_class_by_brute_force(name, values):
    correct, confidence = values["gpt"]
    probs = np.stack([1 - confidence, confidence], axis=1)
    found = float(calibration_measure(name).of_stated().values(probs, correct.astype(np.intp)))
    place, d = np.searchsorted(np.arange(1, 10) / 10, confidence), confidence - correct
    gaps = [d[place == b] for b in np.unique(place)]
    expected = {
        "ece-confidence": sum(abs(x.sum()) for x in gaps) / N,
        "mce-confidence": max(abs(x.mean()) for x in gaps),
        "l2-confidence-debiased": sum((x.sum() ** 2 - (x**2).sum()) / (len(x) - 1) for x in gaps if len(x) > 1) / N,
    }[name]
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", [name for name, m in CALIBRATION_MEASURES.items() if m.notion == "confidence"])
def test_above_one_half_nothing_is_folded(name, values):
    _, confidence = values["gpt"]
    above = 0.51 + 0.48 * confidence
    probs, measure = np.stack([1 - above, above], axis=1), calibration_measure(name)
    draws = np.random.default_rng(0).integers(0, 2, (5, N))
    assert np.allclose(measure.of_stated().prepare(probs).values(draws), measure.prepare(probs).values(draws))


@pytest.mark.parametrize("statistic", ["ks", "kuiper"])
def test_cumulative_measures_of_the_last_class_by_brute_force(statistic, values):
    correct, confidence = values["llama"]
    probs = np.stack([1 - confidence, confidence], axis=1)
    found = float(PrepareCumulative("event", statistic)(probs).values(correct.astype(np.intp)))
    sums = np.array([0.0, *((confidence - correct)[confidence <= t].sum() / N for t in np.unique(confidence))])
    expected = abs(sums).max() if statistic == "ks" else sums.max() - sums.min()
    assert found == pytest.approx(expected, abs=1e-12)


def test_measures_of_other_notions_stay_and_unknown_ones_are_refused():
    classwise = calibration_measure("ece-classwise")
    assert classwise.of_stated() is classwise
    own = CalibrationMeasure("mine", "confidence", "", "", lambda probs: PrepareCalibrationError("confidence")(probs))
    with pytest.raises(uq.InputError) as found:
        own.of_stated()
    assert found.value.code == "conflict"


def test_calibration_pvalue_by_brute_force(values, stated):
    correct, confidence = values["gpt"]
    rng = np.random.default_rng(0)

    def kuiper(y):
        sums = [0.0, *((confidence - y)[confidence <= t].sum() for t in np.unique(confidence))]
        return max(sums) - min(sums)

    null = [kuiper(rng.random(N) < confidence) for _ in range(2000)]
    share = np.mean(np.array(null) >= kuiper(correct))
    (test,) = (t for t in stated.calibration if t.model == "gpt" and t.measure == "kuiper-confidence")
    assert test.statistic == pytest.approx(kuiper(correct) / N)
    assert test.pvalue == pytest.approx(share, abs=0.03)
    assert test.gap == pytest.approx(confidence.mean() - correct.mean())
    assert test.accuracy_mean == correct.mean()
    assert {t.measure for t in stated.calibration} == {"kuiper-confidence", "ece-confidence"}


def test_too_low_a_confidence_is_underconfident():
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.3, 0.9, 2000)
    found = uq.assay({"m": uq.Answers(rng.random(2000) < truth, truth - 0.25)})
    assert {(c.outcome, c.direction) for c in calibration_claims(found)} == {("rejected", "underconfident")}


# -- correctness alone, and what is not said ------------------------------------------------------------------------------


def test_correctness_alone_gives_the_same_choice_and_nothing_else(stated, right_or_wrong):
    assert right_or_wrong.headline() == stated.headline()
    assert right_or_wrong.rank_sets().to_dict() == stated.rank_sets().to_dict()
    assert right_or_wrong.metrics().metrics == ("accuracy",)
    assert {row["metric"] for row in right_or_wrong.rows("findings")} == {"accuracy", "error-rate"}
    assert right_or_wrong.uncertainty_names("gpt") == ()
    assert right_or_wrong.mistake_ranking() == ()
    for use in (
        lambda: right_or_wrong.reliability("gpt"), lambda: right_or_wrong.metrics(metrics=["uq-auc"]),
        lambda: right_or_wrong.certified_refusal("gpt", risk=0.1), lambda: right_or_wrong.rank_sets(metric="brier"),
    ):  # fmt: skip
        with pytest.raises(uq.InputError):
            use()


def test_no_tradeoff_sets_or_baselines(stated, right_or_wrong, tmp_path):
    for assay in (stated, right_or_wrong):
        shown = "\n".join((assay.summary(), assay.to_markdown(), *assay.verdict()))
        assert not any(
            word in shown for word in ("λ = ", "vacuous", "class-prior", "KL", "non-specificity", "class freq")
        )
        assert [m.name for m in assay.models] == ["gpt", "llama", "mistral"]
        assert assay.sets == {}
        assert "error rate" in shown or len(assay.model_names) == 1
        page = assay.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
        assert 'class="unpriced answers"' in page
        assert "on 240 questions" in page
        assert "absent-classes" not in {note.code for note in assay.warnings}


def test_the_lowest_error_rate_is_chosen_and_compared_by_pairs(values, stated):
    rates = {name: 1 - correct.mean() for name, (correct, _) in values.items()}
    ranked = stated.ranked()
    assert [r.model for r in ranked] == sorted(rates, key=rates.get)
    assert all(float(r.estimate) == pytest.approx(rates[r.model]) for r in ranked)
    for r in ranked[1:]:
        d = values[ranked[0].model][0].astype(float) - values[r.model][0]
        assert float(r.difference) == pytest.approx(d.mean())
        t = d.mean() / (d.std(ddof=1) / np.sqrt(N))
        assert r.pvalue <= 1
        assert (r.pvalue < 0.05) <= (abs(t) > 1.95)


def test_models_with_and_without_confidence_side_by_side(values):
    models = {"gpt": uq.Answers(*values["gpt"]), "llama": uq.Answers(values["llama"][0])}
    found = uq.assay(models)
    brier = {m.model: m for m in found.metrics(metrics=["brier"]).measured}
    assert np.isnan(brier["llama"].estimate)
    assert "states no confidence" in brier["llama"].estimate.notes[0].text
    assert brier["gpt"].estimate > 0
    assert found.rank_sets(metric="brier").names == ("gpt",)
    assert [t.reason for t in found.calibration if t.model == "llama"] == [
        "no confidence is stated that could be calibrated"
    ] * 2


# -- ordinary inputs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("correct", "confidence"),
    [
        ([1] * 30, [0.9] * 30), ([0] * 30, np.linspace(0, 1, 30)), ([1, 0] * 15, [0.5] * 30), ([1], [0.3]), ([0], [1.0]),
        ([1, 0], [0.0, 1.0]), ([1] * 15 + [0] * 15, [1.0] * 15 + [0.0] * 15), ([1, 0] * 15, np.float16([0.7, 0.4] * 15)),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("coarse_pages")
def test_all_right_all_wrong_constant_and_single(correct, confidence, tmp_path):
    models = {"a": uq.Answers(correct, confidence), "b": uq.Answers(correct)}
    for chosen in (models, {"a": models["a"]}, {"b": models["b"]}):
        found = uq.assay(chosen)
        assert found.summary()
        assert found.to_markdown()
        assert found.verdict()
        assert json.dumps(found.to_json())
        assert float(found.ranked()[0].estimate) == pytest.approx(1 - np.mean(correct))
        if chosen is models or len(correct) <= 2:
            assert found.to_html(tmp_path / "p.html").exists()


def test_certainty_that_is_wrong_is_warned_of():
    found = uq.assay({"m": uq.Answers([1, 0, 0, 1], [1.0, 1.0, 0.2, 0.0])}, calibration=())
    (note,) = (note for note in found.warnings if note.code == "certain-answers")
    assert note.facts["rows"] == 2
    assert note.text.startswith("m: 2 of 4 answers are wrong at confidence 1")
    assert float(number(found, "m", "log-loss")) > 15


@pytest.mark.parametrize(
    ("make", "parameter", "code"),
    [
        (lambda a: uq.assay({"a": a}, [1, 0]), "y_true", "conflict"),
        (lambda a: uq.assay({"a": a}, class_names=["n", "y"]), "class_names", "conflict"),
        (lambda a: uq.assay({"a": a}, distance="brier"), "distance", "conflict"),
        (lambda a: uq.assay({"a": a}, ignore_label=-1), "ignore_label", "conflict"),
        (lambda a: uq.assay({"a": a}, prior=[0.5, 0.5]), "prior", "conflict"),
        (lambda a: uq.assay({"a": a, "b": uq.Point([[0.5, 0.5]] * 2)}), "models['b']", "type"),
        (lambda a: uq.assay({"a": a, "b": uq.Answers([1, 0, 1])}), "models['b']", "mismatch"),
        (lambda a: uq.assay({"p": uq.Point([[0.5, 0.5]] * 2)}), "y_true", "missing"),
    ],
)
def test_what_does_not_go_with_answers_is_refused(make, parameter, code):
    with pytest.raises(uq.InputError) as found:
        make(uq.Answers([1, 0], [0.9, 0.2]))
    assert (found.value.parameter, found.value.code) == (parameter, code)
    assert found.value.remedy


def test_questions_are_matched_by_their_ids():
    one = uq.Answers([1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1], ids=["a", "b", "c", "d"])
    other = uq.Answers([0, 1, 0, 1], [0.1, 0.6, 0.3, 0.9], ids=["d", "b", "c", "a"])
    found = uq.assay({"one": one, "other": other}, calibration=())
    assert found["other"].columns["correct"][0].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert found.ids.tolist() == ["a", "b", "c", "d"]
    assert not found.rank_sets().better.any()
    for ids, code in ((["a", "b", "c", "e"], "ids"), (["a", "a", "c", "d"], "duplicate")):
        with pytest.raises(uq.InputError) as problem:
            uq.assay({"one": one, "other": uq.Answers([0, 1, 0, 1], ids=ids)})
        assert problem.value.code == code


# -- through the same engine ----------------------------------------------------------------------------------------------


def test_chunks_give_the_assay_of_all(values, stated):
    stream = uq.AssayStream()
    for start in range(0, N, 100):
        rows = slice(start, start + 100)
        stream.update(
            {name: uq.Answers(correct[rows], confidence[rows]) for name, (correct, confidence) in values.items()}
        )
    found = stream.compute()
    assert found.findings().equals(stated.findings())
    assert found.verdict() == stated.verdict()
    assert found.rows("calibration") == stated.rows("calibration")


def test_saved_and_read_again(stated, tmp_path):
    again = uq.Assay.load(stated.save(tmp_path / "kept"))
    assert again.summary() == stated.summary()
    assert again.findings().equals(stated.findings())
    assert again.of_answers


def test_runs_groups_and_parts():
    rng = np.random.default_rng(5)
    runs = [uq.Answers(*given(rng, names=("m",))["m"]) for _ in range(3)]
    other = uq.Answers(*given(rng, names=("m",))["m"])
    found = uq.assay({"runs": runs, "other": other}, groups=np.arange(N) // 4, subgroups={"topic": np.arange(N) % 2})
    assert found["runs"].n_runs == 3
    assert found.n_units == N // 4
    assert float(found.metrics(metrics=["accuracy"]).measured[0].estimate) == pytest.approx(
        np.mean([run.correct.mean() for run in runs])
    )
    assert found.rows("subsets", by="topic")
    assert found.variance("runs").shares
    whole = {row["metric"] for row in found.rows("subsets", by="topic")}
    assert {"accuracy", "ece", "uq-auc"} <= whole
    assert "uq-c-index" not in whole


def test_scores_of_the_user_rank_the_answers_too(values):
    models = {"gpt": uq.Answers(values["gpt"][0])}
    length = np.random.default_rng(0).random(N) + ~values["gpt"][0]
    found = uq.assay(models, uncertainties={"gpt": {"length": length}})
    assert found.uncertainty_names("gpt") == ("length",)
    assert float(number(found, "gpt", "uq-auc")) == pytest.approx(1.0)
