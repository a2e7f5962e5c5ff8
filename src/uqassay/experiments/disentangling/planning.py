"""From the options of a reproduction to its trainings, and from their results to the rows of its tables.

Rows of the tables share trainings: all decompositions without a head of their own come from one training, and a convention
that changes one experiment takes the others from the training as printed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

from uqassay.bench.cell import Cell, canonical_json
from uqassay.errors import InputError
from uqassay.evidence.disentanglement import DisentanglementStudy, joined
from uqassay.experiments.disentangling.blocks import RUNS_PER_BLOCK, block_cells, study_of
from uqassay.experiments.disentangling.choices import (
    GAUSSIAN,
    Convention,
    Method,
    chosen_methods,
    method_options,
)
from uqassay.experiments.disentangling.conditions import Conditions
from uqassay.experiments.disentangling.presets import DataPlan, Slice
from uqassay.experiments.disentangling.tables import TableRow
from uqassay.experiments.given_files import GivenFiles
from uqassay.experiments.trainings import trained_cells
from uqassay.wording import listed

__all__ = ["Asked", "PlannedTraining", "Row", "planned", "studies_of", "training_cells"]

CONDITION_KEYS = {"dataset-size": "shares", "label-noise": "noise_levels", "left-out-class": "left_out"}
PRINTED_CONVENTIONS = ("exact", "paper-code")  # whose numbers may be compared with the printed ones


@final
@dataclass(frozen=True, kw_only=True)
class Asked:
    """The checked options of a reproduction.

    Attributes
    ----------
    preset : str
    plans : tuple of DataPlan
    methods : tuple of str or None
        None takes those of the preset.
    decompositions : tuple of str
    decompositions_given : bool
        Whether they were asked for by name.
    conventions : tuple of Convention
    where : str
    data : GivenFiles or None
        In place of the files of the only data set.
    """

    preset: str
    plans: tuple[DataPlan, ...]
    methods: tuple[str, ...] | None
    decompositions: tuple[str, ...]
    decompositions_given: bool
    conventions: tuple[Convention, ...]
    where: str
    data: GivenFiles | None

    def slices(self, runs: int | None) -> list[tuple[DataPlan, Slice]]:
        """Each data set with how much of it is trained.

        Raises
        ------
        InputError
            More runs than subjects.
        """
        found = []
        for plan in self.plans:
            slice_ = plan.slices[self.preset]
            slice_ = slice_ if runs is None else replace(slice_, runs=runs)
            if plan.by_subject and slice_.runs > len(plan.sources):
                raise InputError(
                    "runs",
                    f"must be at most {len(plan.sources)} for {plan.name}, whose runs are subjects",
                    f"got {slice_.runs}",
                    "ask for fewer",
                    code="range",
                )
            if self.data is not None or self.where != "printed":
                slice_ = replace(slice_, as_printed=False)
            found.append((plan, slice_))
        return found


@final
@dataclass(frozen=True, kw_only=True)
class PlannedTraining:
    """One method with one head on one data set under the conditions of some experiments, in all runs.

    Attributes
    ----------
    dataset, source : str
        Name of the data, and where `uqassay.datasets.load_dataset` finds them.
    method : str
        Of `uqassay.methods.METHODS`.
    label : str
        For the reader.
    options : dict
        Of `uqassay.methods.build_method`.
    conditions : Conditions
    seeds : tuple of int
    decompositions : tuple of str
        That are kept.
    convention : str
        Of the decompositions.
    limits : dict
        train_limit and test_limit, where there are any.
    """

    dataset: str
    source: str
    method: str
    label: str
    options: Mapping[str, Any]
    conditions: Conditions
    seeds: tuple[int, ...]
    decompositions: tuple[str, ...]
    convention: str
    limits: Mapping[str, int]

    @property
    def key(self) -> str:
        """The same for equal trainings, whatever their label."""
        fields = asdict(replace(self, dataset="", label="", conditions=Conditions()))
        return canonical_json(fields | {"conditions": self.conditions.to_dict()})

    @property
    def n_blocks(self) -> int:
        """About the number of its cells: dense networks train several runs side by side."""
        backbone = self.options.get("backbone", "none")
        dense = backbone == "mlp" or not isinstance(backbone, str)
        return -(-len(self.seeds) // RUNS_PER_BLOCK) if dense else len(self.seeds)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Row:
    """A row of the tables before its trainings have run.

    Attributes
    ----------
    plan : DataPlan
    dataset : str
        For the reader.
    method : Method
    decomposition : str
    convention : Convention
    own, base : tuple of PlannedTraining
        One for each subject, or one; `base` has the experiments that the convention leaves as they are.
    compared : bool
    """

    plan: DataPlan
    dataset: str
    method: Method
    decomposition: str
    convention: Convention
    own: tuple[PlannedTraining, ...]
    base: tuple[PlannedTraining, ...] = ()
    compared: bool = False

    @property
    def trainings(self) -> tuple[PlannedTraining, ...]:
        """All that it needs."""
        return (*self.base, *self.own)

    def judged(self, studies: Mapping[str, DisentanglementStudy]) -> TableRow | None:
        """The row with the runs that have results; None if there are none, or other ones for `own` than for `base`.

        Parameters
        ----------
        studies : dict of str to DisentanglementStudy
            By the key of the training.
        """
        parts = [self._joined(group, studies) for group in (self.base, self.own) if group]
        study = parts[-1]
        if study is None or any(part is None or part.seeds != study.seeds for part in parts):
            return None
        measured = {name: one for part in parts if part is not None for name, one in part.measured.items()}
        study = replace(study, measured={name: measured[name] for name in CONDITION_KEYS if name in measured})
        if self.decomposition not in study.decompositions:
            return None
        return TableRow(
            dataset=self.dataset,
            method=self.method.label,
            decomposition=self.decomposition,
            study=study,
            convention=self.convention.name,
            printed_as=self.plan.name if self.plan.printed else "",
            compared=self.compared,
        )

    def _joined(
        self, group: Sequence[PlannedTraining], studies: Mapping[str, DisentanglementStudy]
    ) -> DisentanglementStudy | None:
        """One study of all subjects, under the names of the tables."""
        found = [studies[training.key] for training in group if training.key in studies]
        return (
            joined([replace(one, method=self.method.label, dataset=self.dataset) for one in found]) if found else None
        )


def planned(asked: Asked, runs: int | None, seed: int) -> tuple[list[Row], list[str]]:
    """The rows that are asked for, and sentences on those that cannot be.

    Parameters
    ----------
    asked : Asked
    runs : int or None
        In place of the preset's.
    seed : int
        Of the first run.

    Raises
    ------
    InputError
        A method that offers none of the decompositions, or was asked for by name together with one that it does not offer.
    """
    rows, skipped = [], []
    for plan, slice_ in asked.slices(runs):
        for method in chosen_methods(asked.methods, plan, slice_):
            maker = _RowMaker(asked, plan, slice_, method, seed)
            absent = [name for name in asked.decompositions if not method.offers(name)]
            both_named = asked.methods is not None and asked.decompositions_given
            if absent and (both_named or len(absent) == len(asked.decompositions)):
                maker.options(absent[0])  # raises
            if absent:
                skipped.append(f"{method.label} offers no {listed(absent)}")
            for convention in asked.conventions:
                for decomposition in asked.decompositions:
                    if decomposition not in absent and convention.concerns(method.name, decomposition):
                        rows.append(maker.row(decomposition, convention))
    if not rows:
        names = listed([convention.name for convention in asked.conventions])
        raise InputError(
            "convention",
            "must concern a method and a decomposition that are trained",
            f"got {names}",
            "add one that it concerns",
            code="conflict",
        )
    return rows, list(dict.fromkeys(skipped))


@final
@dataclass(frozen=True)
class _RowMaker:
    """The rows of one method on one data set."""

    asked: Asked
    plan: DataPlan
    slice_: Slice
    method: Method
    seed: int

    @property
    def dataset(self) -> str:
        """For the reader."""
        data = self.asked.data
        return self.plan.name if data is None else data.label(self.plan.name)

    def row(self, decomposition: str, convention: Convention) -> Row:
        given = {**self.slice_.conditions, **convention.conditions}
        if "noise_levels" in self.slice_.conditions and convention.experiments != ("label-noise",):
            given["noise_levels"] = self.slice_.conditions["noise_levels"]
        base: tuple[PlannedTraining, ...] = ()
        if convention.experiments and any(other.name == "exact" for other in self.asked.conventions):
            base = self.trainings(decomposition, self.options(decomposition), self.slice_.conditions)
            given |= {key: () for name, key in CONDITION_KEYS.items() if name not in convention.experiments}
        where = self.asked.where if convention.where == "printed" else convention.where
        options = self.options(decomposition, where=where, extra=convention.options)
        return Row(
            plan=self.plan,
            dataset=self.dataset,
            method=self.method,
            decomposition=decomposition,
            convention=convention,
            own=self.trainings(decomposition, options, given),
            base=base,
            compared=self.slice_.as_printed and convention.name in PRINTED_CONVENTIONS,
        )

    def options(
        self, decomposition: str, *, where: str | None = None, extra: Mapping[str, Any] = MappingProxyType({})
    ) -> dict[str, Any]:
        where = self.asked.where if where is None else where
        return method_options(self.method, decomposition, self.plan, self.slice_, where=where, extra=extra)

    def trainings(
        self, decomposition: str, options: Mapping[str, Any], conditions: Mapping[str, Any]
    ) -> tuple[PlannedTraining, ...]:
        """One for each subject, or one with all runs."""
        n = self.slice_.runs
        seeds = tuple(range(self.seed, self.seed + n))
        sources = self.plan.sources if self.asked.data is None else (self.asked.data.source,)
        parts = [(source, (seed,)) for source, seed in zip(sources, seeds, strict=False)]
        head = GAUSSIAN if decomposition == GAUSSIAN else ""
        kept = tuple(name for name in self.asked.decompositions if (name == GAUSSIAN) == (decomposition == GAUSSIAN))
        limits = {"train_limit": self.slice_.train_limit, "test_limit": self.slice_.test_limit}
        return tuple(
            PlannedTraining(
                dataset=source if len(sources) > 1 else self.dataset,
                source=source,
                method=self.method.name,
                label=", ".join(filter(None, [self.method.label, head])),
                options=options,
                conditions=Conditions(**conditions),
                seeds=own_seeds,
                decompositions=kept,
                convention=options.get("convention", "exact") if head else "exact",
                limits={key: limit for key, limit in limits.items() if limit is not None},
            )
            for source, own_seeds in (parts if len(sources) > 1 else [(sources[0], seeds)])
        )


# ---- trainings as cells ------------------------------------------------------------------------------------------------


def training_cells(trainings: Sequence[PlannedTraining]) -> list[Cell]:
    """The cells of trainings, each once."""
    return [cell for training in trainings for cell in _cells(training)]


def studies_of(trainings: Sequence[PlannedTraining], folder: Path) -> dict[str, DisentanglementStudy]:
    """The study of each training with the runs that have a result, by the key of the training."""
    found = {}
    for training in trainings:
        results = [kept for _, kept in trained_cells(_cells(training), folder)]
        if results:
            found[training.key] = joined([study_of(kept) for kept in results])
    return found


def _cells(training: PlannedTraining) -> list[Cell]:
    return block_cells(
        training.dataset,
        training.method,
        training.options,
        training.seeds,
        source=training.source,
        label=training.label,
        conditions=training.conditions,
        options={"decompositions": list(training.decompositions), "convention": training.convention},
        limits=training.limits,
    )
