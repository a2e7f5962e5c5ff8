"""A score, a decomposition's part, a non-specificity and a calibration measure are one entry each, and show up everywhere."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.evidence.ood import detect_ood_in_predictions
from uqassay.evidence.sentences import measure_label
from uqassay.measures import SCORES, Decomposition, DecompositionInfo, Score
from uqassay.measures.nonspecificities import NONSPECIFICITIES, Nonspecificity, SetSize
from uqassay.measures.registry import DECOMPOSITIONS, score_columns
from uqassay.metrics import CALIBRATION_MEASURES, CalibrationMeasure
from uqassay.report.definitions import calibration_definitions, definition_of, page_definitions, score_label

PROBS = np.random.default_rng(0).dirichlet([2, 1, 1], (60, 3))
Y = np.arange(60) % 3
MEMBERS = uq.Members(PROBS)


@pytest.fixture
def renyi(monkeypatch):
    """Rényi's entropy of order 2, −ln Σ p̄²."""
    score = Score(
        "renyi-entropy",
        lambda p: -np.log((p.mean_probs() ** 2).sum(axis=1)),
        "nats",
        "Entropy of order 2 of the mean prediction.",
        "−ln Σ p̄(c)²",
        "Rényi (1961)",
    )
    monkeypatch.setitem(SCORES, score.name, score)
    return score


def test_a_new_score_is_computed_ranked_defined_and_shown(renyi, tmp_path):
    expected = -np.log((PROBS.mean(axis=1) ** 2).sum(axis=1))
    np.testing.assert_allclose(uq.measures.uncertainty_score(MEMBERS, "renyi-entropy"), expected)
    assert "renyi-entropy" in uq.measures.score_names(MEMBERS)
    a = uq.assay({"a": MEMBERS, "b": uq.Point(PROBS[:, 0])}, Y, calibration=(), scales=())
    np.testing.assert_allclose(a["a"].columns["renyi-entropy"][0], expected)
    rows = [row for row in a.rows("mistakes") if row["score"] == "renyi-entropy"]
    found = next(r for r in rows if r["model"] == "a" and r["metric"] == "uq-auc")
    errors = uq.losses.prediction_errors(Y, MEMBERS)
    assert found["estimate"] == pytest.approx(float(uq.metrics.uq_auc_score(errors, expected)))
    assert definition_of("renyi-entropy").equation == renyi.equation
    assert score_label("renyi-entropy") == "renyi entropy"
    assert page_definitions(a.settings, label_distributions=False)["renyi-entropy"].sentence.startswith(renyi.sentence)
    a.to_html(tmp_path / "page.html")
    shift = detect_ood_in_predictions({"a": MEMBERS}, {"a": uq.Members(PROBS[:20])})
    assert float(shift.estimate("a", "renyi-entropy")) == pytest.approx(
        float(uq.metrics.uq_auc_score(np.repeat([0, 1], [60, 20]), np.r_[expected, expected[:20]]))
    )


def test_parts_of_a_new_decomposition_are_found_together(monkeypatch):
    calls = []

    def halves(p, convention):
        calls.append(convention)
        total = 1.0 - (p.mean_probs() ** 2).sum(axis=1)
        return Decomposition(total, total / 2, total / 2)

    info = DecompositionInfo("halves", halves, "probability", "Half and half.", "none")
    monkeypatch.setitem(DECOMPOSITIONS, "halves", info)
    for part in ("total", "epistemic"):
        score = Score(
            f"{part}-halves",
            lambda p, part=part: getattr(uq.measures.decompose(p, "halves"), part),
            info.unit,
            "A part.",
            "",
            info.source,
            "a distribution over distributions",
            part=("halves", part),
        )
        monkeypatch.setitem(SCORES, score.name, score)
    assert "halves" in uq.measures.decomposition_names(MEMBERS)
    columns = score_columns(MEMBERS, ["total-halves", "epistemic-halves", "margin"])
    np.testing.assert_array_equal(columns["total-halves"], 2 * columns["epistemic-halves"])
    assert len(calls) == 1
    assert "total-halves" not in uq.measures.score_names(uq.Intervals(PROBS.min(axis=1), PROBS.max(axis=1)))


@pytest.fixture
def widest(monkeypatch):
    """The greatest width of any class."""

    def compute(p, convention, focal_sets, rng, tolerance):
        values = (p.upper_probs() - p.lower_probs()).max(axis=1)
        return Nonspecificity(values, np.zeros(len(values)))

    size = SetSize(
        "widest",
        "greatest width",
        "Greatest width of a class's probability.",
        "NS(ŷ) = max over c of P̄(c) − P̲(c)",
        "none",
        greatest=lambda k: 1.0,
        greatest_text="1",
        compute=compute,
    )
    monkeypatch.setitem(NONSPECIFICITIES, size.name, size)
    return size


@pytest.mark.parametrize("convention", ["exact", "paper"])
def test_a_new_nonspecificity_prices_imprecision_everywhere(widest, convention, tmp_path):
    width = (PROBS.max(axis=1) - PROBS.min(axis=1)).max(axis=1)
    found = uq.losses.unified_loss(Y, MEMBERS, nonspecificity="widest", convention=convention)
    np.testing.assert_allclose(found.nonspecificity, width)
    models = {"a": MEMBERS, "b": uq.Point(PROBS[:, 0])}
    a = uq.assay(models, Y, nonspecificity="widest", convention=convention, calibration=())
    np.testing.assert_allclose(a["a"].columns["nonspecificity"][0], width)
    assert a["vacuous"].columns["nonspecificity"] == pytest.approx(1.0)
    defined = page_definitions(a.settings, label_distributions=False)
    assert defined["nonspecificity"].sentence == widest.sentence
    assert defined["vacuous"].equation == "E = λ 1"
    from uqassay.report.figures.frame import loss_label, quantity_label

    assert quantity_label(a, "nonspecificity") in ("greatest width", "credal uncertainty of the authors' code (bits)")
    assert "nats" not in loss_label(a)
    a.to_html(tmp_path / "page.html")


def test_a_new_calibration_measure_is_tested_and_named(monkeypatch):
    measure = CALIBRATION_MEASURES["brier"]
    mine = CalibrationMeasure(
        "mine", "strong", "Mine.", "none", measure.prepare, smooth=True, label="my own measure", equation="m = 1"
    )
    monkeypatch.setitem(CALIBRATION_MEASURES, "mine", mine)
    a = uq.assay({"a": uq.Point(PROBS[:, 0])}, Y, calibration=["mine"], scales=(), n_draws=20)
    assert [test.measure for test in a.calibration] == ["mine"]
    assert measure_label("mine") == "my own measure"
    assert calibration_definitions(["mine"])["mine"].equation == "m = 1"
    assert measure_label("mce-confidence-mass") == "largest confidence error, equal mass"
