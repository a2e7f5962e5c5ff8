"""Tests of calibration for one classifier and for the mixtures of an ensemble's members; weights that improve it.

Modules are imported when their names are first used.
"""

from typing import TYPE_CHECKING

from uqassay._lazy import lazy_names

if TYPE_CHECKING:
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

_WHERE = {
    "PATIENT": "simplex_search",
    "QUICK": "simplex_search",
    "THOROUGH": "simplex_search",
    "CalibrationPower": "power_analysis",
    "CalibrationSampleSize": "power_analysis",
    "CalibrationTest": "classifier_verdict",
    "CredalCalibrationTest": "credal_verdict",
    "CrossFittedMap": "epistemic_cross_fit",
    "EnsembleWeights": "ensemble_weights",
    "EpistemicMap": "epistemic_map",
    "HosmerLemeshowTest": "hosmer_lemeshow",
    "InstanceDependentCalibrationTest": "instance_hypothesis",
    "InstanceWeights": "instance_weights",
    "KernelCalibrationTest": "kernel_hypothesis",
    "Miscalibration": "miscalibration",
    "SecondOrderBuckets": "second_order_buckets",
    "SecondOrderTest": "second_order",
    "SimplexSearch": "simplex_search",
    "VoteCompatibility": "vote_compatibility",
    "WeightedAverageEffect": "weighted_average",
    "calibration_power": "power_analysis",
    "calibration_test": "single_hypothesis",
    "credal_calibration_test": "credal_hypothesis",
    "credal_calibration_tests": "credal_hypothesis",
    "cross_fitted_map": "epistemic_cross_fit",
    "hosmer_lemeshow_test": "hosmer_lemeshow",
    "instance_dependent_calibration_test": "instance_hypothesis",
    "kernel_calibration_estimate": "kernel_hypothesis",
    "required_instances": "power_analysis",
    "second_order_test": "second_order",
    "skce_pvalue": "kernel_hypothesis",
    "vote_compatibility_test": "vote_compatibility",
    "weighted_average_effect": "weighted_average",
}

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

__getattr__, __dir__ = lazy_names(__name__, _WHERE)
