"""The main call: predictions of any kind and what happened → evidence about which model to choose.

Modules are imported when their names are first used.
"""

from typing import TYPE_CHECKING

from uqassay._lazy import lazy_names

if TYPE_CHECKING:
    from uqassay.evidence.answer import Answer, Recommendation, Stretch
    from uqassay.evidence.baselines import is_held_out
    from uqassay.evidence.calibration import CalibrationClaim, calibration_claims
    from uqassay.evidence.cautions import CAUTIONS
    from uqassay.evidence.claims import KINDS, Claim
    from uqassay.evidence.data import BackwardScore, ModelCalibration
    from uqassay.evidence.data_sets import DataSetComparison, compare_over_data_sets, compare_table
    from uqassay.evidence.disentanglement import DisentanglementStudy, join_studies
    from uqassay.evidence.disentanglement_runs import (
        EXPERIMENTS,
        Contender,
        Measured,
        contenders_of,
        rank_disentanglement,
    )
    from uqassay.evidence.disentanglement_words import disentanglement_lines, disentanglement_sentences
    from uqassay.evidence.excess import Excess
    from uqassay.evidence.findings import FINDING_COLUMNS
    from uqassay.evidence.gain import (
        GAIN_SCORES,
        GainResult,
        GainRun,
        GainSample,
        GainStudy,
        default_gain_scores,
        sample_of_pair,
    )
    from uqassay.evidence.gain_words import gain_lines, gain_sentences
    from uqassay.evidence.judgement import assay
    from uqassay.evidence.mistakes import backward_scores
    from uqassay.evidence.options import CALIBRATION, TRADEOFFS
    from uqassay.evidence.over_runs import OverRuns
    from uqassay.evidence.ranking import Ranked
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scale import CoverageCurve, ModelScale, ScaleCheck, coverage_curve
    from uqassay.evidence.stream import AssayStream

_WHERE = {
    "is_held_out": "baselines",
    "OverRuns": "over_runs",
    "GAIN_SCORES": "gain",
    "default_gain_scores": "gain",
    "EXPERIMENTS": "disentanglement_runs",
    "Measured": "disentanglement_runs",
    "join_studies": "disentanglement",
    "CALIBRATION": "options",
    "CAUTIONS": "cautions",
    "FINDING_COLUMNS": "findings",
    "KINDS": "claims",
    "TRADEOFFS": "options",
    "Answer": "answer",
    "Assay": "result",
    "Excess": "excess",
    "AssayStream": "stream",
    "BackwardScore": "data",
    "CalibrationClaim": "calibration",
    "Claim": "claims",
    "Contender": "disentanglement_runs",
    "CoverageCurve": "scale",
    "DataSetComparison": "data_sets",
    "DisentanglementStudy": "disentanglement",
    "GainResult": "gain",
    "GainRun": "gain",
    "GainSample": "gain",
    "GainStudy": "gain",
    "ModelCalibration": "data",
    "ModelScale": "scale",
    "Ranked": "ranking",
    "Recommendation": "answer",
    "ScaleCheck": "scale",
    "Stretch": "answer",
    "assay": "judgement",
    "backward_scores": "mistakes",
    "calibration_claims": "calibration",
    "compare_over_data_sets": "data_sets",
    "compare_table": "data_sets",
    "contenders_of": "disentanglement_runs",
    "coverage_curve": "scale",
    "disentanglement_lines": "disentanglement_words",
    "disentanglement_sentences": "disentanglement_words",
    "gain_lines": "gain_words",
    "gain_sentences": "gain_words",
    "rank_disentanglement": "disentanglement_runs",
    "sample_of_pair": "gain",
}

__all__ = [
    "CALIBRATION",
    "CAUTIONS",
    "EXPERIMENTS",
    "FINDING_COLUMNS",
    "GAIN_SCORES",
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
    "Excess",
    "GainResult",
    "GainRun",
    "GainSample",
    "GainStudy",
    "Measured",
    "ModelCalibration",
    "ModelScale",
    "OverRuns",
    "Ranked",
    "Recommendation",
    "ScaleCheck",
    "Stretch",
    "assay",
    "backward_scores",
    "calibration_claims",
    "compare_over_data_sets",
    "compare_table",
    "contenders_of",
    "coverage_curve",
    "default_gain_scores",
    "disentanglement_lines",
    "disentanglement_sentences",
    "gain_lines",
    "gain_sentences",
    "is_held_out",
    "join_studies",
    "rank_disentanglement",
    "sample_of_pair",
]

__getattr__, __dir__ = lazy_names(__name__, _WHERE)
