"""Fixed sentences, headings and captions of the page of the disentanglement benchmark."""

from uqassay.report.sentences.static import static_text
from uqassay.wording import level_text

__all__ = ["disentanglement_text"]


def disentanglement_text(*, level: float = 0.95) -> dict[str, str]:
    """Text by its name.

    Examples
    --------
    >>> disentanglement_text()["heading"]
    'Do the aleatoric and epistemic estimates move only when they should?'
    """
    intervals = f"{level_text(level)} intervals"
    return {
        **static_text(),
        "heading": "Do the aleatoric and epistemic estimates move only when they should?",
        "title": "disentanglement – uqassay report",
        "brand": "disentanglement",
        "nav_expected": "What should happen",
        "nav_contenders": "Contenders",
        "ranking": "Ranking",
        "ranking_note": (
            f"Disentanglement error with its interval below, the four correlations with their {intervals} below, and p-values: "
            "that the error is not below chance, that the names aleatoric and epistemic could be exchanged, and that the error "
            "is that of the best contender (adjusted for the number of contenders and for the choice of the best one)."
        ),
        "ranking_figure": (
            "Filled: the best contender, and those that the runs cannot tell from it. Vertical lines: mere jitter in the two "
            "estimates that should not move (floor), one estimate under both names, and estimates unrelated to the accuracy "
            "(chance)."
        ),
        "expected": "What should happen",
        "expected_note": (
            "More training data should lower the epistemic uncertainty alone, label noise should raise the aleatoric "
            "uncertainty alone, and a class that the training did not have should be noticed by the epistemic uncertainty "
            "alone. Drawings, not results."
        ),
        "contenders": "Contenders",
        "terms": "The four terms of the error",
        "terms_caption": (
            f"Mean of |r − ideal| over the runs with {intervals}; 0 is ideal, and the disentanglement error is the mean of the "
            "four. Dotted: mere jitter in an estimate that should not move."
        ),
        "dataset-size": "More training data",
        "dataset-size_caption": "The epistemic uncertainty should fall as the accuracy rises; the aleatoric should stay.",
        "label-noise": "More label noise",
        "label-noise_caption": "The aleatoric uncertainty should rise as the accuracy falls; the epistemic should stay.",
        "left-out-class": "Classes left out of the training",
        "left-out-class_caption": (
            f"ROC-AUC of each estimate for the instances of the class left out, with {intervals} over the runs. This "
            "experiment is not part of the disentanglement error."
        ),
        "curves_note": f"Lines: means over the runs with {level_text(level)} bands. Dashed: the expected behaviour.",
        "key": "Lines of the figures",
        "aleatoric": "aleatoric",
        "epistemic": "epistemic",
        "accuracy": "accuracy (right axis)",
        "dashed": "dashed: expected",
        "beyond": "Beyond the disentanglement error",
        "trend": "Epistemic uncertainty with more data",
        "correlations": "Correlations of all estimates",
        "doubts": "Sources of doubt",
        "head_contender": "Contender",
        "head_error": "Error",
        "head_size_aleatoric": "More data: aleatoric r (0)",
        "head_size_epistemic": "More data: epistemic r (1)",
        "head_noise_aleatoric": "Label noise: aleatoric r (1)",
        "head_noise_epistemic": "Label noise: epistemic r (0)",
        "head_runs": "Runs",
        "head_chance": "p, chance",
        "head_names": "p, names",
        "head_best": "p, best",
        "head_term": "Term",
        "head_deviation": "|r − ideal|",
        "head_class": "Class left out",
        "head_estimate": "Estimate",
        "head_dataset-size": "Share of the training data",
        "head_label-noise": "Share of permuted labels",
        "head_aleatoric": "Aleatoric",
        "head_epistemic": "Epistemic",
        "head_accuracy": "Accuracy",
        "expected_curve": "expected",
        "mean": "mean",
        "quantile": "quantile of the instances",
        "floor": "floor",
        "together": "one estimate under both names",
        "line_chance": "chance",
    }
