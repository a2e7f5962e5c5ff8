"""Tests of calibration for one classifier and for the mixtures of an ensemble's members; weights that improve it.

Modules are imported when their names are first used.
"""

from typing import TYPE_CHECKING

from uqassay._lazy import lazy_names

if TYPE_CHECKING:
    from uqassay.calibration.credal import CredalCalibrationTest, credal_calibration_test, credal_calibration_tests
    from uqassay.calibration.epistemic_map import CrossFittedMap, EpistemicMap, cross_fitted_map
    from uqassay.calibration.instance_weights import (
        InstanceDependentCalibrationTest,
        InstanceWeights,
        instance_dependent_calibration_test,
    )
    from uqassay.calibration.kernel_tests import KernelCalibrationTest, kernel_calibration_estimate, skce_pvalue
    from uqassay.calibration.one_classifier import (
        CalibrationTest,
        HosmerLemeshowTest,
        calibration_test,
        hosmer_lemeshow_test,
    )
    from uqassay.calibration.power import (
        CalibrationPower,
        CalibrationSampleSize,
        Miscalibration,
        calibration_power,
        required_instances,
    )
    from uqassay.calibration.search import PATIENT, QUICK, THOROUGH, SimplexSearch
    from uqassay.calibration.votes import (
        SecondOrderBuckets,
        SecondOrderTest,
        VoteCompatibility,
        second_order_test,
        vote_compatibility_test,
    )
    from uqassay.calibration.weighted_average import WeightedAverageEffect, weighted_average_effect
    from uqassay.calibration.weights import EnsembleWeights

_WHERE = {
    "PATIENT": "search",
    "QUICK": "search",
    "THOROUGH": "search",
    "CalibrationPower": "power",
    "CalibrationSampleSize": "power",
    "CalibrationTest": "one_classifier",
    "CredalCalibrationTest": "credal",
    "CrossFittedMap": "epistemic_map",
    "EnsembleWeights": "weights",
    "EpistemicMap": "epistemic_map",
    "HosmerLemeshowTest": "one_classifier",
    "InstanceDependentCalibrationTest": "instance_weights",
    "InstanceWeights": "instance_weights",
    "KernelCalibrationTest": "kernel_tests",
    "Miscalibration": "power",
    "SecondOrderBuckets": "votes",
    "SecondOrderTest": "votes",
    "SimplexSearch": "search",
    "VoteCompatibility": "votes",
    "WeightedAverageEffect": "weighted_average",
    "calibration_power": "power",
    "calibration_test": "one_classifier",
    "credal_calibration_test": "credal",
    "credal_calibration_tests": "credal",
    "cross_fitted_map": "epistemic_map",
    "hosmer_lemeshow_test": "one_classifier",
    "instance_dependent_calibration_test": "instance_weights",
    "kernel_calibration_estimate": "kernel_tests",
    "required_instances": "power",
    "second_order_test": "votes",
    "skce_pvalue": "kernel_tests",
    "vote_compatibility_test": "votes",
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
