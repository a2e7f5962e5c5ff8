"""Tests of calibration for one classifier and for the mixtures of an ensemble's members; weights that improve it."""

from uqassay.calibration.classifier_verdict import CalibrationTest
from uqassay.calibration.credal_hypothesis import credal_calibration_test, credal_calibration_tests
from uqassay.calibration.credal_verdict import CredalCalibrationTest
from uqassay.calibration.ensemble_weights import EnsembleWeights
from uqassay.calibration.epistemic_cross_fit import CrossFittedMap, cross_fitted_map
from uqassay.calibration.epistemic_map import EpistemicMap
from uqassay.calibration.hosmer_lemeshow import HosmerLemeshowTest, hosmer_lemeshow_test
from uqassay.calibration.instance_hypothesis import (
    InstanceDependentCalibrationTest,
    instance_dependent_calibration_test,
)
from uqassay.calibration.instance_weights import InstanceWeights
from uqassay.calibration.kernel_hypothesis import KernelCalibrationTest, kernel_calibration_estimate, skce_pvalue
from uqassay.calibration.miscalibration import Miscalibration
from uqassay.calibration.power_analysis import (
    CalibrationPower,
    CalibrationSampleSize,
    calibration_power,
    required_instances,
)
from uqassay.calibration.second_order import SecondOrderTest, second_order_test
from uqassay.calibration.second_order_buckets import SecondOrderBuckets
from uqassay.calibration.simplex_search import PATIENT, QUICK, THOROUGH, SimplexSearch
from uqassay.calibration.single_hypothesis import calibration_test
from uqassay.calibration.vote_compatibility import VoteCompatibility, vote_compatibility_test
from uqassay.calibration.weighted_average import WeightedAverageEffect, weighted_average_effect

__all__ = [
    "PATIENT",
    "QUICK",
    "THOROUGH",
    "CalibrationPower",
    "CalibrationSampleSize",
    "CalibrationTest",
    "CredalCalibrationTest",
    "CrossFittedMap",
    "EnsembleWeights",
    "EpistemicMap",
    "HosmerLemeshowTest",
    "InstanceDependentCalibrationTest",
    "InstanceWeights",
    "KernelCalibrationTest",
    "Miscalibration",
    "SecondOrderBuckets",
    "SecondOrderTest",
    "SimplexSearch",
    "VoteCompatibility",
    "WeightedAverageEffect",
    "calibration_power",
    "calibration_test",
    "credal_calibration_test",
    "credal_calibration_tests",
    "cross_fitted_map",
    "hosmer_lemeshow_test",
    "instance_dependent_calibration_test",
    "kernel_calibration_estimate",
    "required_instances",
    "second_order_test",
    "skce_pvalue",
    "vote_compatibility_test",
    "weighted_average_effect",
]


def __dir__() -> list[str]:
    return sorted(__all__)
