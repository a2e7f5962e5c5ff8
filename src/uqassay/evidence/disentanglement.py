"""How the aleatoric and epistemic estimates of one method move with more data, with label noise, and for a class left out.

A study holds the predictions of one method for the same n test instances in R runs of three experiments (paper 004, sections
3 to 5). Each experiment has its own conditions: shares of the training instances, shares of permuted labels, or the class that
was left out of the training.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from uqassay._array import shown
from uqassay._shown import Shown
from uqassay._shown_table import ShownTable
from uqassay.errors import InputError
from uqassay.evidence.disentanglement_detection import ClassDetection, class_detection
from uqassay.evidence.disentanglement_measured import EXPERIMENTS, PARTS, Measured, chosen
from uqassay.evidence.disentanglement_ranking import contenders_of, rank_disentanglement
from uqassay.evidence.disentanglement_rows import study_rows, study_table
from uqassay.evidence.disentanglement_storage import read_study, save_study, study_json
from uqassay.evidence.disentanglement_verdict import disentanglement_sentences, disentanglement_table
from uqassay.measures import Decomposition
from uqassay.metrics.disentanglement import Disentanglement, disentanglement_error
from uqassay.notes import Note, distinct
from uqassay.wording import counted, listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EXPERIMENTS", "ClassDetection", "DisentanglementStudy", "Measured", "joined"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class DisentanglementStudy(Shown):
    """The three experiments of one method on one data set.

    Attributes
    ----------
    method, dataset : str
    seeds : tuple of R int
        One for each run.
    class_names : tuple of K str
    measured : dict of str to Measured
        By the name of the experiment, one of `EXPERIMENTS`; not all need to be there.
    facts : dict
        Plain values for the reader: options, sizes, times.
    notes : tuple of Note

    Raises
    ------
    InputError
        For unknown experiments, numbers of runs or classes that differ, or a seed that occurs twice.
    """

    _shown_more: ClassVar[str] = "summary(), error(decomposition), table(name)"

    method: str
    dataset: str
    seeds: tuple[int, ...]
    class_names: tuple[str, ...]
    measured: Mapping[str, Measured]
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        seeds, names = tuple(_whole(seed) for seed in self.seeds), tuple(str(name) for name in self.class_names)
        if len(set(seeds)) < len(seeds):
            raise InputError(
                "seeds", "must differ from run to run", f"got {seeds}", "count every run once", code="duplicate"
            )
        if not self.measured:
            raise InputError("measured", "needs at least one experiment", "got none", "run one first", code="empty")
        if not isinstance(self.facts, Mapping):
            raise InputError(
                "facts", "must be a mapping", f"got {shown(self.facts)}", 'pass {"epochs": 100}', code="type"
            )
        for name, found in self.measured.items():
            chosen("measured", name, EXPERIMENTS)
            _check_experiment(name, found, len(seeds), len(names))
        ordered = {name: self.measured[name] for name in EXPERIMENTS if name in self.measured}
        for key, value in {"seeds": seeds, "class_names": names, "measured": ordered}.items():
            object.__setattr__(self, key, value)

    @property
    def n_runs(self) -> int:
        """R."""
        return len(self.seeds)

    @property
    def decompositions(self) -> tuple[str, ...]:
        """Names of the decompositions that all experiments have."""
        first, *others = (measured.parts for measured in self.measured.values())
        return tuple(name for name in first if all(name in parts for parts in others))

    def experiment(self, name: str) -> Measured:
        """The results of one experiment.

        Raises
        ------
        InputError
            The study has no such experiment.
        """
        return self.measured[chosen("experiment", name, tuple(self.measured))]

    def error(self, decomposition: str, *, aggregate: str = "mean", level: float = 0.95) -> Disentanglement:
        """The disentanglement error of one decomposition: see `uqassay.metrics.disentanglement_error`."""
        size, noise = (self.experiment(name).curves(decomposition) for name in EXPERIMENTS[:2])
        return disentanglement_error(size, noise, aggregate=aggregate, level=level)

    def detection(self, decomposition: str, *, level: float = 0.95) -> ClassDetection:
        """ROC-AUC of both estimates for the instances of a class that the training did not have (paper 004, section 5).

        A class without test instances, or the only one of the test set, has the value nan and is left out of the means.
        """
        measured = self.experiment("left-out-class")
        return class_detection(measured, decomposition, self.class_names, level=level)

    def rows(self, name: str, *, level: float = 0.95) -> list[dict[str, Any]]:
        """One finding as rows of plain values.

        Parameters
        ----------
        name : {"curves", "errors", "terms", "detection"}
            "curves": accuracy and mean estimates of every experiment, run and condition. "errors": the disentanglement error
            of every decomposition. "terms": its four terms. "detection": ROC-AUC of both estimates for each class left out,
            and their means. A finding whose experiment was not run has no rows.
        level : float
            Confidence level of the intervals.
        """
        return study_rows(self, name, level=level)

    def table(self, name: str, *, level: float = 0.95) -> "pd.DataFrame":
        """The same rows as a table."""
        return study_table(self, name, level=level)

    def to_json(self, *, level: float = 0.95) -> dict[str, Any]:
        """Every finding as plain values for strict JSON, without the values of single instances."""
        return study_json(self, level=level)

    def _shown_title(self) -> str:
        on = f" on {self.dataset}" if self.dataset else ""
        return f"Disentanglement of {self.method}{on}: {listed(list(self.measured))}, {counted(self.n_runs, 'run')}"

    def _shown_sentences(self) -> Sequence[str]:
        return disentanglement_sentences(contenders_of(self))

    def _shown_table(self) -> ShownTable:
        return disentanglement_table(rank_disentanglement(contenders_of(self)))

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]

    def save(self, folder: str | Path) -> Path:
        """Write the study into a folder, whole or not at all; nothing is pickled.

        Raises
        ------
        FileFormatError
            A path that holds something else than a study, or cannot be written.
        """
        return save_study(self, folder)

    @classmethod
    def load(cls, folder: str | Path) -> "DisentanglementStudy":
        """Read the study that `save` wrote.

        Raises
        ------
        FileFormatError
            A folder without a study, or with a damaged one, or one of another version.
        """
        return read_study(folder, cls)


def joined(studies: Sequence[DisentanglementStudy]) -> DisentanglementStudy:
    """Studies of the same method, data and conditions as one, with the runs one after another.

    Raises
    ------
    InputError
        For studies that differ in something else than their runs, or share a seed.
    """
    studies = list(studies)
    if not studies:
        raise InputError("studies", "needs at least one study", "got none", "pass a list of studies", code="empty")
    first = studies[0]
    for study in studies[1:]:
        if (different := _first_difference(first, study)) is not None:
            raise InputError(
                "studies",
                "must be of the same method, data set, classes, conditions and decompositions",
                different,
                "join the studies of each one separately",
                code="mismatch",
            )
    measured = {}
    for name in first.measured:
        blocks = [study.measured[name] for study in studies]
        parts = {
            key: Decomposition(*(np.concatenate([getattr(b.parts[key], part) for b in blocks]) for part in PARTS))
            for key in blocks[0].parts
        }
        measured[name] = Measured(
            blocks[0].conditions,
            np.concatenate([b.labels for b in blocks]),
            np.concatenate([b.probs for b in blocks]),
            parts,
        )
    seeds = tuple(seed for study in studies for seed in study.seeds)
    notes = distinct(*(study.notes for study in studies))
    return replace(first, seeds=seeds, measured=measured, notes=notes)


# -- checks -------------------------------------------------------------------------------------------------------------


def _whole(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise InputError(
            "seeds", "must be whole numbers", f"got {shown(seed)}", "give the seed of each run", code="type"
        )
    return int(seed)


def _check_experiment(name: str, found: Measured, n_runs: int, n_classes: int) -> None:
    if not isinstance(found, Measured):
        raise InputError(
            f"measured[{name!r}]",
            "must be a Measured",
            f"got {shown(found)}",
            "pass Measured(conditions, labels, probs, parts)",
            code="type",
        )
    got = (found.n_runs, found.n_classes)
    if got != (n_runs, n_classes):
        raise InputError(
            f"measured[{name!r}]",
            "must have one run for each seed and one probability for each class name",
            f"got {counted(got[0], 'run')} of {counted(got[1], 'class', 'classes')} for {counted(n_runs, 'seed')} "
            f"and {counted(n_classes, 'class name')}",
            "give the seeds and class names of this experiment",
            code="mismatch",
        )
    classes = found.labels if name != "left-out-class" else np.append(found.labels.ravel(), found.conditions)
    if classes.min() < 0 or classes.max() >= n_classes or (classes % 1 != 0).any():
        raise InputError(
            f"measured[{name!r}]",
            f"must have class indices from 0 to {n_classes - 1} as labels and as classes left out",
            f"found {classes.min():g} to {classes.max():g}",
            "number the classes from 0",
            code="range",
        )


def _first_difference(a: DisentanglementStudy, b: DisentanglementStudy) -> str | None:
    """The first thing in which two studies differ, with both values."""
    for name in ("method", "dataset", "class_names"):
        if getattr(a, name) != getattr(b, name):
            return f"{name} {getattr(a, name)!r} and {getattr(b, name)!r}"
    if list(a.measured) != list(b.measured):
        return f"experiments {list(a.measured)} and {list(b.measured)}"
    for name in a.measured:
        for field_name in ("conditions", "n_instances"):
            mine, other = getattr(a.measured[name], field_name), getattr(b.measured[name], field_name)
            if mine != other:
                return f"{field_name} of {name}: {mine} and {other}"
        mine, other = list(a.measured[name].parts), list(b.measured[name].parts)
        if mine != other:
            return f"decompositions of {name}: {mine} and {other}"
    return None
