"""The list of questions: which sections there are, in which order."""

import numpy as np
from tests.report.calibration_cases import ensembles
from tests.report.cases import ranked_assay

import uqassay as uq
from uqassay.evidence.lens import LENSES
from uqassay.report.page import SCRIPTS, SECTIONS, lens_sections


def test_lenses_without_findings_are_absent():
    a = uq.assay({"a": uq.Point([[0.9, 0.1], [0.8, 0.2]])}, [0, 0], measures=())
    assert [lens["id"] for lens in lens_sections(a)] == ["calibration"]


def test_every_lens_has_its_drawing():
    from importlib.resources import files

    text = "".join(files("uqassay.report").joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    assert set(SECTIONS) < {lens.id for lens in LENSES}
    for lens in SECTIONS:
        assert f"\nlenses.{lens} = " in text


def test_the_questions_stand_in_their_order():
    found = [lens["id"] for lens in lens_sections(ranked_assay(n=60))]
    assert found == ["mistakes", "refusal", "calibration", "sets", "set-coverage", "parts"]
    assert LENSES[1].question == "Does it know when it is wrong?"


def test_every_question_has_a_finding_and_a_short_name():
    for found in lens_sections(ranked_assay(n=60)):
        assert found["finding"].endswith(".")
        assert 3 < len(found["short"]) < 15


def test_with_tests_the_part_on_calibration_has_another_title():
    section = next(s for s in lens_sections(ensembles(n=60)) if s["id"] == "calibration")
    assert section["title"] == "Can it be calibrated?"
    assert [lens.id for lens in LENSES].count("calibration") == 1


def test_without_tests_the_part_is_about_the_confidence_alone():
    rng = np.random.default_rng(0)
    a = uq.assay({"m": uq.Point(rng.dirichlet(np.ones(3), 40))}, rng.integers(0, 3, 40), n_draws=10, calibration=())
    section = next(s for s in lens_sections(a) if s["id"] == "calibration")
    assert section["title"] == "Is its confidence calibrated?"
    assert "tests" not in section
    assert section["models"][0]["model"] == "m"
