"""Ranking metrics against the ground truths of OASST2, for saved text classifiers.

Paper 003, section 4, Table 1 (rows OASST2): the ratings of each message, sorted into a negative and a positive class, are its
label distribution.
"""

import os
from collections.abc import Callable

import numpy as np

from uqassay.datasets.label_distributions import read_oasst2
from uqassay.experiments.figure_files import check_figures
from uqassay.experiments.ranking.human_labels import correlate_saved, progress_steps
from uqassay.experiments.ranking.saved_models import HumanLabels, check_folder
from uqassay.experiments.reproduction import Reproduction
from uqassay.wording import percent

__all__ = ["progress_steps", "reproduce_ranking_oasst2"]

NEEDED = (
    "put there one file NAME.npz for each model with probs or logits (n, 2), negative and positive, of the "
    "messages of OASST2's validation part, in the order of its file, or with ids, the ids of the messages in the languages of "
    "the model; the messages are read from the cache folder, oasst2/validation.parquet"
)
CHOICES = (
    "the paper does not print which of its 15 categories are positive: quality, helpfulness, creativity and humor are here; "
    "the weight of a rating is its value times the number of annotators",
    "the messages have no other label than their ratings: the metrics see the class with the greater weight, negative where "
    "both are equal, and the table below also has the ratings themselves as labels",
    "with these labels the gap of the UQ-C-index is ψ itself, so that without ties it equals (1 + τ) / 2 and its correlation "
    "with ψ is 100 % by construction: only the row of the ratings as labels can show that it follows ψ",
)

Progress = Callable[[str], None]


def reproduce_ranking_oasst2(
    *,
    data: str | os.PathLike[str] | None = None,
    figures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Correlate the ranking metrics with the ratings of the validation messages of OASST2 over saved models.

    Parameters
    ----------
    data : path
        Folder with prediction files (.npz) as `uqassay.load` reads them: all messages of ``read_oasst2(part="validation")`` in
        its order, or any of them with ``ids``, the ids of the messages, for models that do not know every language.
    figures : path, optional
        Folder for Figure 1 as a PNG file; needs matplotlib.
    progress : callable, optional
        Called with a line of text at every step.

    Returns
    -------
    Reproduction
        As of `human_labels.correlate_with_votes`.

    Raises
    ------
    InputError
        No folder, files that do not fit the messages, fewer than four models.
    MissingDependencyError
        pyarrow is missing.
    """
    folder = check_folder(data, NEEDED)
    check_figures(figures)
    messages = read_oasst2(part="validation")
    rows = np.arange(len(messages.ids))
    human = HumanLabels(
        "OASST2",
        messages.votes.argmax(axis=1),
        messages.votes,
        rows,
        len(rows),
        ids=messages.ids,
        instances="messages",
        models="zero-shot classifiers",
    )
    equal = float((messages.votes[:, 0] == messages.votes[:, 1]).mean())
    return correlate_saved(
        "ranking-oasst2",
        folder,
        human,
        needed=NEEDED,
        notes=(*CHOICES, f"both weights are equal in {percent(equal)} of the messages"),
        figures=figures,
        progress=progress,
    )
