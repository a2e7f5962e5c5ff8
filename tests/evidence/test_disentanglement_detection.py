"""ROC-AUC of both estimates for classes left out."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from tests.evidence.disentanglement_data import made_study

IT = "information-theoretic"


def test_detection_against_scikit_learn():
    study = made_study("perfect", n_runs=3)
    found = study.detection(IT)
    measured = study.measured["left-out-class"]
    auc = np.array(
        [
            [roc_auc_score(measured.labels[r, k] == k, measured.parts[IT].epistemic[r, k]) for k in range(3)]
            for r in range(3)
        ]
    )
    np.testing.assert_allclose(found.epistemic, auc)
    assert float(found.epistemic_mean) == pytest.approx(auc.mean())
    assert float(found.difference) == pytest.approx(auc.mean() - float(found.aleatoric_mean))
    assert float(found.of_class(1, "epistemic")) == pytest.approx(auc[:, 1].mean())
    means = {r["kind"]: r["estimate"] for r in study.rows("detection") if r["left_out"] is None}
    assert means == {"aleatoric": float(found.aleatoric_mean), "epistemic": float(found.epistemic_mean)}


def test_a_class_without_test_instances_is_nan_and_noted():
    study = made_study("perfect", n_runs=2)
    measured = study.measured["left-out-class"]
    labels = np.where(measured.labels == 2, 0, measured.labels)
    study = replace(study, measured={"left-out-class": replace(measured, labels=labels)})
    found = study.detection(IT)
    assert np.isnan(found.epistemic[:, 2]).all()
    assert float(found.epistemic_mean) == pytest.approx(found.epistemic[:, :2].mean())
    assert [(note.code, note.facts["classes"]) for note in found.notes] == [("left-out", ["virginica"])]
    assert np.isnan(found.of_class(2, "epistemic"))


def test_no_class_with_test_instances_at_all():
    study = made_study("perfect", n_runs=2)
    measured = study.measured["left-out-class"]
    study = replace(study, measured={"left-out-class": replace(measured, labels=np.zeros_like(measured.labels))})
    found = study.detection(IT)
    assert np.isnan([found.aleatoric_mean, found.epistemic_mean, found.difference]).all()
    assert found.epistemic_mean.notes[0].code == "undefined"
