"""Fixed sentences, headings and captions of the pages of the gain and of the disentanglement."""

from uqassay.report.sentences import general_sentences
from uqassay.text import level_text

__all__ = [
    "disentanglement_text",
    "gain_text",
    "static_text",
]


# Fixed text that all pages with figures drawn beforehand share.


def static_text() -> dict[str, str]:
    """Text by its name.

    Examples
    --------
    >>> static_text()["warnings"]
    'Warnings'
    """
    general = general_sentences()
    return {
        "skip": "Skip to the findings",
        "sections": "Sections",
        "nav_findings": "Findings",
        "nav_how": "How to read it",
        "auto": general["schemes"]["auto"],
        "scheme_auto": general["scheme_auto"],
        "how": "How to read it",
        "facts": "Settings",
        "warnings": "Warnings",
        "command": "Command",
        "data": "Data of this figure",
        "json": "Download the numbers as JSON",
        "colophon": "Colours by Okabe and Ito. This page needs no network and sends nothing.",
    }


# Fixed sentences, headings and captions of the page on the gain from more data.


def gain_text(*, level: float = 0.95) -> dict[str, str]:
    """Text by its name.

    Examples
    --------
    >>> gain_text()["heading"]
    'Where would more data help?'
    """
    intervals = f"{level_text(level)} intervals"
    return {
        **static_text(),
        "heading": "Where would more data help?",
        "title": "gain – uqassay report",
        "brand": "gain from more data",
        "nav_scores": "Estimates",
        "nav_untold": "What cannot be told",
        "table": "Estimates of epistemic uncertainty",
        "table_note": (
            f"Means over the runs with their {intervals} below; with one run the intervals are over its cases. Gain where "
            "the most uncertain 10 % of the cases wait for more data, and where a random choice of as many waits."
        ),
        "delay": "Delay curves",
        "delay_caption": (
            "Gain over all cases where the most uncertain share of them waits for the model with more data. Dashed: a random "
            "choice of as many. A curve above it chooses well; all cases together gain the same in any order."
        ),
        "scores": "Each estimate",
        "gain": "Gain by uncertainty",
        "gain_caption": (
            "Mean gain in intervals of the estimates, from the least to the greatest. Where the estimates are calibrated, they "
            "lie on the gain. The mapped estimates are those of the map γ."
        ),
        "map": "Map γ",
        "cross_fit_caption": (
            "The gain that the map reads from an estimate. Black: fitted on all test cases, for later ones. Thin: without "
            "one fold each; they give the mapped estimates of that fold."
        ),
        "map_caption": (
            "The gain that the map reads from an estimate; it is fitted on calibration cases, never on the test cases."
        ),
        "one_delay": "Delay curve",
        "one_delay_caption": "The same curve as above, for this estimate alone.",
        "untold": "What cannot be told",
        "head_estimate": "Estimate",
        "head_runs": "Runs",
        "head_correlation": "ρ",
        "head_error": "EECE",
        "head_debiased": "EECE without bias",
        "head_calibrated_error": "EECE after the map",
        "head_excess": "Estimate − gain",
        "head_delayed": "Gain, 10 % wait",
        "head_random": "random 10 %",
        "head_mean_gain": "Mean gain",
        "data_interval": "Interval of the estimates",
        "data_epistemic": "Estimate",
        "data_gain": "Gain",
        "data_calibrated": "Mapped estimate",
        "data_true": "True epistemic uncertainty",
        "data_share": "Share that waits",
        "data_gained": "Gain, the most uncertain wait",
        "data_random": "Gain, a random choice waits",
        "data_map": "Map",
        "data_run": "run",
        "data_without_fold": "without fold",
    }


# Fixed sentences, headings and captions of the page of the disentanglement benchmark.


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
            f"ROC-AUC of each estimate for the cases of the class left out, with {intervals} over the runs. This "
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
        "quantile": "quantile of the cases",
        "floor": "floor",
        "together": "one estimate under both names",
        "line_chance": "chance",
    }
