"""Results of one experiment: curves, shapes, odd values."""

from dataclasses import replace

import numpy as np
import pytest
from tests.evidence.disentanglement_data import NOISE, SHARES, made_study
from tests.refusals import refuses

IT = "information-theoretic"


def test_accuracy_and_means_are_those_of_the_instances():
    study = made_study("perfect", n_runs=2)
    row = study.rows("curves")[8]  # run 2, second share
    measured = study.measured["dataset-size"]
    r, c = 1, SHARES.index(row["condition"])
    assert (row["run"], row["seed"], row["experiment"]) == (2, 1, "dataset-size")
    assert row["accuracy"] == np.mean(measured.probs[r, c].argmax(axis=1) == measured.labels[r, c])
    assert row["epistemic"] == pytest.approx(measured.parts[IT].epistemic[r, c].mean(), abs=1e-12)
    assert row["total"] == pytest.approx(row["aleatoric"] + row["epistemic"])
    assert len(study.rows("curves")) == 2 * (len(SHARES) + len(NOISE) + 3)


def test_constant_in_single_precision_is_constant():
    study = made_study("perfect", n_runs=3)
    measured = study.measured["label-noise"]
    parts = measured.parts[IT]
    wobble = 1e-8 * np.random.default_rng(0).normal(size=parts.total.shape)
    single = replace(parts, epistemic=(0.0 * parts.total + wobble).astype(np.float32))
    curves = replace(measured, parts={IT: single}).curves(IT)
    study = replace(study, measured={**study.measured, "label-noise": replace(measured, parts={IT: single})})
    assert curves.epistemic.shape == (3, len(NOISE))
    assert study.error(IT).terms[3].constant.all()


def test_shapes_that_do_not_fit():
    measured = made_study("perfect").measured["dataset-size"]
    parts = measured.parts[IT]
    with refuses("labels", "shape", got=r"\(7, 90\)"):
        replace(measured, labels=measured.labels[0])
    with refuses("labels", "shape", got="float64"):
        replace(measured, labels=measured.labels.astype(float))
    with refuses("conditions", "mismatch", got="7 conditions"):
        replace(measured, conditions=SHARES[:3])
    with refuses("conditions", "mismatch"):
        replace(measured, conditions=(0.5,) * 7)
    with refuses("probs", "shape", got=r"\(5, 7, 90\)"):
        replace(measured, probs=measured.probs[..., 0])
    with refuses("probs", "not-probabilities", got="-4"):
        replace(measured, probs=measured.probs - 4.2)
    with refuses(f"parts['{IT}'].aleatoric", "shape", got=r"\(4, 7, 90\)"):
        replace(measured, parts={IT: replace(parts, aleatoric=parts.aleatoric[1:])})
    with refuses("parts", "empty"):
        replace(measured, parts={})


def test_undefined_estimates_name_the_place():
    measured = made_study("perfect").measured["dataset-size"]
    parts = measured.parts[IT]
    broken = parts.epistemic.copy()
    broken[2, 3, 4] = np.nan
    with refuses(f"parts['{IT}'].epistemic", "finite", got=r"\(2, 3, 4\)"):
        replace(measured, parts={IT: replace(parts, epistemic=broken)})


def test_arrays_of_other_layouts_are_read_as_they_are():
    study = made_study("perfect", n_runs=2)
    measured = study.measured["dataset-size"]
    parts = measured.parts[IT]
    turned = np.asfortranarray(parts.epistemic)
    turned.flags.writeable = False
    other = replace(measured, parts={IT: replace(parts, epistemic=turned)})
    np.testing.assert_allclose(other.curves(IT).epistemic, measured.curves(IT).epistemic, rtol=1e-12)


def test_conditions_are_numbers_and_parts_are_decompositions():
    measured = made_study("perfect").measured["dataset-size"]
    parts = measured.parts[IT]
    with refuses("conditions", "mismatch", got="nan"):
        replace(measured, conditions=(np.nan, *SHARES[1:]))
    with refuses("conditions"):
        replace(measured, conditions=tuple("abcdefg"))
    with refuses("conditions"):
        replace(measured, conditions=None)
    with refuses(f"parts[{IT!r}]", "type"):
        replace(measured, parts={IT: (parts.total, parts.aleatoric, parts.epistemic)})
