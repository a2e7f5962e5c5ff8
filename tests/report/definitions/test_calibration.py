"""Every calibration measure is defined."""

from uqassay.metrics.measures import CALIBRATION_MEASURES
from uqassay.report.definitions import CALIBRATION, DEFINITIONS, calibration_definitions


def test_every_measure_has_a_definition():
    names = list(CALIBRATION_MEASURES)
    found = {**DEFINITIONS, **calibration_definitions(names)}
    assert set(names) <= set(found)
    for name in (*names, "calibration-pvalue", "calibration-minimum", "calibration-width"):
        assert found[name].title not in ("", name)
        assert found[name].equation or name == "calibration-width"
        assert found[name].sentence.rstrip().endswith(".")
        assert "paper 0" not in found[name].source


def test_a_measure_of_the_user_has_none():
    assert set(calibration_definitions(["my-own"])) == {"calibration-minimum", "calibration-width"}
    assert not set(CALIBRATION) & set(calibration_definitions(CALIBRATION))
