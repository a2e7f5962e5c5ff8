"""Tests of calibration, for one classifier and for all mixtures of an ensemble's members, and mending it."""

from uqassay.calibration.credal_hypothesis import CredalCalibrationTest, credal_calibration_test
from uqassay.calibration.ensemble_weights import EnsembleWeights
from uqassay.calibration.instance_hypothesis import (
    InstanceDependentCalibrationTest,
    instance_dependent_calibration_test,
)
from uqassay.calibration.instance_weights import InstanceWeights
from uqassay.calibration.miscalibration import Miscalibration
from uqassay.calibration.power_analysis import (
    CalibrationPower,
    CalibrationSampleSize,
    calibration_power,
    required_instances,
)
from uqassay.calibration.simplex_search import PATIENT, QUICK, THOROUGH, SimplexSearch
from uqassay.calibration.single_hypothesis import CalibrationTest, calibration_test
from uqassay.calibration.weighted_average import WeightedAverageEffect, weighted_average_effect

__all__ = [
    "PATIENT",
    "QUICK",
    "THOROUGH",
    "CalibrationPower",
    "CalibrationSampleSize",
    "CalibrationTest",
    "CredalCalibrationTest",
    "EnsembleWeights",
    "InstanceDependentCalibrationTest",
    "InstanceWeights",
    "Miscalibration",
    "SimplexSearch",
    "WeightedAverageEffect",
    "calibration_power",
    "calibration_test",
    "credal_calibration_test",
    "instance_dependent_calibration_test",
    "required_instances",
    "weighted_average_effect",
]
