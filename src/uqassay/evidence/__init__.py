"""The main call: predictions of any kind and what happened → evidence about which model to choose.

Modules are imported when their names are first used.
"""

from typing import TYPE_CHECKING

from uqassay._lazy import lazy_names

if TYPE_CHECKING:
    from uqassay.evidence.answer import Answer, Recommendation, Stretch
    from uqassay.evidence.backward import BackwardScore, backward_scores
    from uqassay.evidence.calibration_result import ModelCalibration
    from uqassay.evidence.calibration_statements import CalibrationClaim, calibration_claims
    from uqassay.evidence.cautions import CAUTIONS
    from uqassay.evidence.claim import KINDS, Claim
    from uqassay.evidence.coverage_curves import CoverageCurve, coverage_curve
    from uqassay.evidence.data_sets_result import DataSetComparison
    from uqassay.evidence.disentanglement import DisentanglementStudy
    from uqassay.evidence.disentanglement_ranking import Contender, contenders_of, rank_disentanglement
    from uqassay.evidence.disentanglement_verdict import disentanglement_lines, disentanglement_sentences
    from uqassay.evidence.findings import FINDING_COLUMNS
    from uqassay.evidence.gain_headlines import gain_sentences
    from uqassay.evidence.gain_pair import sample_of_pair
    from uqassay.evidence.gain_result import GainResult
    from uqassay.evidence.gain_sample import GainRun, GainSample
    from uqassay.evidence.gain_study import GainStudy
    from uqassay.evidence.gain_verdict import gain_lines
    from uqassay.evidence.judgement import CALIBRATION, TRADEOFFS, assay
    from uqassay.evidence.many_data_sets import compare_over_data_sets, compare_table
    from uqassay.evidence.ranking import Ranked
    from uqassay.evidence.readings import ThreeReadings, three_readings
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scale_result import ModelScale, ScaleCheck
    from uqassay.evidence.streaming import AssayStream

_WHERE = {
    "CALIBRATION": "judgement",
    "CAUTIONS": "cautions",
    "FINDING_COLUMNS": "findings",
    "KINDS": "claim",
    "TRADEOFFS": "judgement",
    "Answer": "answer",
    "Assay": "result",
    "AssayStream": "streaming",
    "BackwardScore": "backward",
    "CalibrationClaim": "calibration_statements",
    "Claim": "claim",
    "Contender": "disentanglement_ranking",
    "CoverageCurve": "coverage_curves",
    "DataSetComparison": "data_sets_result",
    "DisentanglementStudy": "disentanglement",
    "GainResult": "gain_result",
    "GainRun": "gain_sample",
    "GainSample": "gain_sample",
    "GainStudy": "gain_study",
    "ModelCalibration": "calibration_result",
    "ModelScale": "scale_result",
    "Ranked": "ranking",
    "Recommendation": "answer",
    "ScaleCheck": "scale_result",
    "Stretch": "answer",
    "ThreeReadings": "readings",
    "assay": "judgement",
    "backward_scores": "backward",
    "calibration_claims": "calibration_statements",
    "compare_over_data_sets": "many_data_sets",
    "compare_table": "many_data_sets",
    "contenders_of": "disentanglement_ranking",
    "coverage_curve": "coverage_curves",
    "disentanglement_lines": "disentanglement_verdict",
    "disentanglement_sentences": "disentanglement_verdict",
    "gain_lines": "gain_verdict",
    "gain_sentences": "gain_headlines",
    "rank_disentanglement": "disentanglement_ranking",
    "sample_of_pair": "gain_pair",
    "three_readings": "readings",
}

__all__ = [
    "CALIBRATION",
    "CAUTIONS",
    "FINDING_COLUMNS",
    "KINDS",
    "TRADEOFFS",
    "Answer",
    "Assay",
    "AssayStream",
    "BackwardScore",
    "CalibrationClaim",
    "Claim",
    "Contender",
    "CoverageCurve",
    "DataSetComparison",
    "DisentanglementStudy",
    "GainResult",
    "GainRun",
    "GainSample",
    "GainStudy",
    "ModelCalibration",
    "ModelScale",
    "Ranked",
    "Recommendation",
    "ScaleCheck",
    "Stretch",
    "ThreeReadings",
    "assay",
    "backward_scores",
    "calibration_claims",
    "compare_over_data_sets",
    "compare_table",
    "contenders_of",
    "coverage_curve",
    "disentanglement_lines",
    "disentanglement_sentences",
    "gain_lines",
    "gain_sentences",
    "rank_disentanglement",
    "sample_of_pair",
    "three_readings",
]

__getattr__, __dir__ = lazy_names(__name__, _WHERE)
