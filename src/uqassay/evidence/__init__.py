"""The main call: predictions of any kind and what happened → evidence about which model to choose."""

from uqassay.evidence.calibration_result import ModelCalibration
from uqassay.evidence.findings import FINDING_COLUMNS
from uqassay.evidence.judgement import CALIBRATION, TRADEOFFS, assay
from uqassay.evidence.ranking import Ranked
from uqassay.evidence.result import Assay

__all__ = ["CALIBRATION", "FINDING_COLUMNS", "TRADEOFFS", "Assay", "ModelCalibration", "Ranked", "assay"]


def __dir__() -> list[str]:
    return sorted(__all__)
