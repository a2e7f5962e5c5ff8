"""One definition: a metric in a sentence, its equation, and where it is printed."""

from typing import NamedTuple

__all__ = ["CALIBRATION_PAPER", "DISENTANGLEMENT_PAPER", "RANKING_PAPER", "UNIFIED_PAPER", "Definition"]

UNIFIED_PAPER = "Manchingal et al., A Unified Evaluation Framework for Epistemic Predictions"
CALIBRATION_PAPER = "Mortier, Bengs, Hüllermeier, Luca, Waegeman, On the Calibration of Probabilistic Classifier Sets"
DISENTANGLEMENT_PAPER = "De Jong et al., Measuring Uncertainty Disentanglement Error in Classification"
RANKING_PAPER = (
    "Pignet, Regniez, Klein, Legitimate ground-truth-free metrics for deep uncertainty classification scoring"
)


class Definition(NamedTuple):
    """A metric in one sentence.

    Attributes
    ----------
    title : str
    sentence : str
    equation : str
        In the paper's symbols, as plain text; "" where the sentence says it all.
    source : str
    short : str
        Name of a distance among distances, such as "KL"; "" for anything else.
    """

    title: str
    sentence: str
    equation: str
    source: str
    short: str = ""
