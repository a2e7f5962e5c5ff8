"""Ranking metrics against the ground truths of OASST2, for saved text classifiers.

Paper 003, section 4, Table 1 (rows OASST2): the ratings of each message, sorted into a negative and a positive class, are its
label distribution.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from uqassay.datasets.label_distributions import read_oasst2
from uqassay.experiments.figure_files import check_figures
from uqassay.experiments.ranking.human_labels import correlate_saved
from uqassay.experiments.ranking.human_labels import progress_steps as steps_of_files
from uqassay.experiments.ranking.saved_models import HumanLabels, check_folder
from uqassay.experiments.ranking.text_classifiers import chosen_classifiers
from uqassay.experiments.ranking.text_predictions import make_text_predictions
from uqassay.experiments.reproduction import Reproduction
from uqassay.wording import percent

__all__ = ["progress_steps", "reproduce_ranking_oasst2"]

NEEDED = (
    "put there one file NAME.npz for each model with probs or logits (n, 2), negative and positive, of the "
    "messages of OASST2's validation part, in the order of its file, or with ids, the ids of the messages in the languages of "
    "the model, or name classifiers that make these files; the messages are read from the cache folder, "
    "oasst2/validation.parquet"
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
    classifiers: str | Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    batch_size: int = 32,
    device: str = "auto",
    figures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Correlate the ranking metrics with the ratings of the validation messages of OASST2 over saved or other models.

    Parameters
    ----------
    data : path
        Folder with prediction files (.npz) with ``probs`` or ``logits`` (n, 2): all validation messages of OASST2 in the
        order of its file, or any of them with ``ids``, the ids of the messages, for models that do not know every language.
    classifiers : str, sequence of str, or dict, optional
        Classifiers that predict the messages first; the files are written to `data`, where finished ones are kept. "tf-idf":
        four own ones, which learn from OASST2's training part; "zero-shot": those of the paper's list that it identifies; a
        name of the Hugging Face Hub, or the path of a folder. ``{"NAME": ["en", "de"]}`` names the languages that each knows.
    batch_size : int
        Texts, or pairs of text and category, that a classifier takes at once.
    device : str
        "auto", "cpu", "cuda", …
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
        No folder, files that do not fit the messages, fewer than four models, classifiers that cannot be loaded.
    MissingDependencyError
        pyarrow is missing; for own classifiers scikit-learn, for others transformers and PyTorch.
    """
    check_figures(figures)
    if classifiers is None or data is None:
        check_folder(data, NEEDED)
    messages = read_oasst2(part="validation")
    notes = list(CHOICES)
    if classifiers is not None and data is not None:
        say = progress or (lambda step: None)
        notes += make_text_predictions(Path(data), messages, classifiers, batch_size=batch_size, device=device, say=say)
    folder = check_folder(data, NEEDED)
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
        notes=(*notes, f"both weights are equal in {percent(equal)} of the messages"),
        figures=figures,
        progress=progress,
    )


def progress_steps(
    *,
    data: str | os.PathLike[str] | None = None,
    classifiers: str | Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    **_: object,
) -> int:
    """About how often the protocol reports its progress."""
    return steps_of_files(data=data) + (0 if classifiers is None else len(chosen_classifiers(classifiers)))
