"""The findings of the sections: those of the assay, in the words of the verdict, and true in every case."""

import re

import numpy as np
import pytest
from tests.report.cases import ranked_assay, softmax

import uqassay as uq
from uqassay.report.sentences import order_finding, order_templates, order_values, section_findings

pytestmark = pytest.mark.usefixtures("without_calibration")
ALPHA = 0.05


@pytest.fixture(scope="module")
def assay():
    return ranked_assay(n=200)


def finding(a, at):
    return order_finding(a, at)


def test_the_order_is_told_in_the_words_of_the_verdict(assay):
    text = section_findings(assay)["choose"]
    start = re.split("; the baseline|; a true|; true differences", text.removesuffix("."))[0]
    assert any(sentence.startswith(start.split(", and is the best")[0]) for sentence in assay.verdict())


@pytest.mark.parametrize("at", [0.0, 0.3, 0.5, 1.0, 2.0])
def test_the_order_follows_the_tests_of_all_pairs(assay, at):
    rows = [r for r in assay.ranked(at) if r.rank is not None]
    values = order_values(assay, at)
    assert values["model"] == rows[0].model
    assert (values["said"] == "best") == (rows[0].rank_high == 1)
    not_worse = [r.model for r in rows[1:] if not r.pvalue_adjusted <= ALPHA]
    assert all(name in values["others"] for name in not_worse[:3])
    assert f"{float(rows[0].estimate):.3f}" in finding(assay, at)


def test_the_best_of_all_is_told_as_such():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2000)
    z = 3 * np.eye(3)[y] + rng.normal(size=(2000, 3))
    a = uq.assay({"good": uq.Point(softmax(z)), "bad": uq.Point(softmax(z[::-1]))}, y, n_draws=50, distance="brier")
    assert re.match(r"The lowest Brier score, 0\.\d+, is that of good, the best of the 2 models", finding(a, 0.5))
    assert "; the baselines " not in finding(a, 0.5)


def test_a_lower_baseline_is_told():
    y = np.array([0, 1] * 20)
    wrong = uq.Point(np.where(np.eye(2)[y] == 1, 0.1, 0.9))
    text = finding(uq.assay({"m": wrong}, y, n_draws=5), 0.5)
    assert text == ("The log loss of m, the only model, is 2.303; the baseline class-prior has a lower one.")


def test_infinite_means_are_told():
    sure = uq.Point([[1.0, 0.0], [0.0, 1.0]])
    a = uq.assay({"a": sure, "b": sure}, [1, 0], floor=0.0, n_draws=5)
    assert finding(a, 0.5) == "No model has a finite log loss."
    assert section_findings(a)["why"].startswith("The mean distance to the label is infinite for every model; ")


def test_equal_models_could_be_as_good():
    p = uq.Point([[0.9, 0.1], [0.4, 0.6]])
    text = finding(uq.assay({"a": p, "b": p}, [0, 1], n_draws=5), 0.5)
    assert text == "The lowest log loss, 0.308, is that of a and b; which is better cannot be told."
    why = section_findings(uq.assay({"a": p, "b": p}, [0, 1], n_draws=5))["why"]
    assert why.startswith("In this test set a and b are nearest to the labels")


def test_braces_in_names_are_no_places():
    p = uq.Point([[0.9, 0.1], [0.4, 0.6]])
    text = finding(uq.assay({"{estimate}": p, "b": p}, [0, 1], n_draws=5), 0.5)
    assert text.startswith("The lowest log loss, 0.308, is that of {estimate} and b; which is better cannot be told")


def test_why_names_the_nearest_model_and_the_smallest_sets():
    y = np.array([0, 1, 0, 1])
    near, far = np.where(np.eye(2)[y] == 1, 0.9, 0.1), np.where(np.eye(2)[y] == 1, 0.6, 0.4)
    wide = uq.Intervals(np.maximum(far - 0.3, 0), np.minimum(far + 0.3, 1))
    narrow = uq.Intervals(np.maximum(far - 0.1, 0), np.minimum(far + 0.1, 1))
    options = {"n_draws": 5, "calibration": ()}
    sets = section_findings(uq.assay({"wide": wide, "narrow": narrow}, y, **options))["why"]
    assert sets.startswith(
        "In this test set wide is nearest to the labels (mean distance 0.105); narrow has the smallest sets "
    )
    mixed = section_findings(uq.assay({"near": uq.Point(near), "wide": wide}, y, **options))["why"]
    assert "; near predicts one distribution per case, and wide has sets of mean non-specificity " in mixed
    points = section_findings(uq.assay({"near": uq.Point(near), "far": uq.Point(far)}, y, **options))["why"]
    assert points == (
        "In this test set near is nearest to the labels (mean distance 0.105); "
        "every model predicts one distribution per case, not a set."
    )
    alone = section_findings(uq.assay({"near": uq.Point(near)}, y, **options))["why"]
    assert alone.endswith("its mean distance to the label is 0.105.")


def test_instances_are_counted(assay):
    labels = np.stack([m.columns["label"][0] for m in assay.candidates])
    wrong = (labels != assay.classes).all(axis=0).sum()
    split = (labels != labels[0]).any(axis=0).sum()
    text = section_findings(assay)["instances"]
    assert text == (
        f"Every model is wrong on {wrong} of the 200 cases in the first training run; the models disagree about the class "
        f"of {split}."
    )


def test_floored_rows_are_told():
    models = {"a": uq.Point([[1.0, 0.0], [0.5, 0.5]]), "b": uq.Point([[0.9, 0.1], [0.5, 0.5]])}
    text = section_findings(uq.assay(models, [1, 0], n_draws=5, level=0.9))["how"]
    assert text.startswith("90 % intervals, seed 0, uqassay ")
    assert text.endswith("; rows with a label less probable than the floor: a (1).")


def test_every_kind_of_finding_is_a_sentence(assay):
    for kind, template in order_templates(assay).items():
        assert template.endswith("." if kind == "infinite" else "{end}")
