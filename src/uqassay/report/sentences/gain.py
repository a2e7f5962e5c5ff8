"""Fixed sentences, headings and captions of the page on the gain from more data."""

from uqassay.report.sentences.static import static_text
from uqassay.wording import level_text

__all__ = ["gain_text"]


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
            f"Means over the runs with their {intervals} below; with one run the intervals are over its instances. Gain where "
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
            "The gain that the map reads from an estimate. Black: fitted on all test instances, for later cases. Thin: without "
            "one fold each; they give the mapped estimates of that fold."
        ),
        "map_caption": (
            "The gain that the map reads from an estimate; it is fitted on calibration instances, never on the test instances."
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
