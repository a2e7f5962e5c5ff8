"""The experiments of the paper with methods trained here: from options to trainings, and from results to tables."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, final

from uqassay.checks import fail
from uqassay.evidence import Contender, DisentanglementStudy, disentanglement_lines, join_studies
from uqassay.lab.bench.cell import Cell, canonical_json
from uqassay.lab.bench.store import older_notes
from uqassay.lab.papers.disentangling.plan import (
    CONVENTIONS,
    GAUSSIAN,
    PRESETS,
    Convention,
    DataPlan,
    Method,
    Slice,
    chosen_convention,
    chosen_datasets,
    chosen_decompositions,
    chosen_methods,
    chosen_preset,
    chosen_where,
    method_options,
)
from uqassay.lab.papers.disentangling.printed import LAYOUTS, SOURCE
from uqassay.lab.papers.disentangling.tables import TableRow, convention_lines, table_cells, table_lines
from uqassay.lab.papers.disentangling.trainings import RUNS_PER_BLOCK, Conditions, block_cells, study_of
from uqassay.lab.papers.figure_files import check_figures
from uqassay.lab.papers.options import (
    Figures,
    FirstSeed,
    GivenFiles,
    OtherFiles,
    Progress,
    Say,
    check_whole,
    given_files,
    taken_by,
)
from uqassay.lab.papers.reproduction import NO_EVIDENCE, Reproduction
from uqassay.lab.papers.trainings import all_failed, failure_notes, folder_of, train_cells, trained_cells
from uqassay.records import packed
from uqassay.text import counted, listed

__all__ = [
    "PRESETS",
    "Asked",
    "planned",
    "reproduce_disentanglement",
    "steps_of_disentanglement",
]


# From the options of a reproduction to its trainings, and from their results to the rows of its tables.
#
# Rows of the tables share trainings: all decompositions without a head of their own come from one training, and a
# convention that changes one experiment takes the others from the training as printed.

CONDITION_KEYS = {"dataset-size": "shares", "label-noise": "noise_levels", "left-out-class": "left_out"}
PRINTED_CONVENTIONS = ("exact", "paper-code")  # whose numbers may be compared with the printed ones


@final
@dataclass(frozen=True, kw_only=True)
class Asked:
    """The checked options of a reproduction."""

    preset: str
    plans: tuple[DataPlan, ...]
    methods: tuple[str, ...] | None  #: None takes those of the preset
    decompositions: tuple[str, ...]
    decompositions_given: bool  #: Whether they were asked for by name
    conventions: tuple[Convention, ...]
    where: str
    data: GivenFiles | None  #: In place of the files of the only data set

    def slices(self, runs: int | None) -> list[tuple[DataPlan, Slice]]:
        """Each data set with how much of it is trained."""
        found = []
        for plan in self.plans:
            slice_ = plan.slices[self.preset]
            slice_ = slice_ if runs is None else replace(slice_, runs=runs)
            if plan.by_subject and slice_.runs > len(plan.sources):
                rule = f"must be at most {len(plan.sources)} for {plan.name}, whose runs are subjects"
                fail("runs", rule, f"got {slice_.runs}", "ask for fewer", code="range")
            if self.data is not None or self.where != "printed":
                slice_ = replace(slice_, as_printed=False)
            found.append((plan, slice_))
        return found


@final
@dataclass(frozen=True, kw_only=True)
class PlannedTraining:
    """One method with one head on one data set under the conditions of some experiments, in all runs."""

    #: Name of the data, and where `uqassay.lab.datasets.load_dataset` finds them
    dataset: str
    source: str
    method: str  #: Of `uqassay.lab.methods.METHODS`
    label: str  #: For the reader
    options: Mapping[str, Any]  #: Of `uqassay.lab.methods.build_method`
    conditions: Conditions
    seeds: tuple[int, ...]
    decompositions: tuple[str, ...]  #: That are kept
    convention: str  #: Of the decompositions
    limits: Mapping[str, int]  #: train_limit and test_limit, where there are any

    @property
    def key(self) -> str:
        """The same for equal trainings, whatever their label."""
        fields = asdict(replace(self, dataset="", label="", conditions=Conditions()))
        return canonical_json(fields | {"conditions": packed(self.conditions)[0]})

    @property
    def n_blocks(self) -> int:
        """About the number of its cells: dense networks train several runs side by side."""
        backbone = self.options.get("backbone", "none")
        dense = backbone == "mlp" or not isinstance(backbone, str)
        return -(-len(self.seeds) // RUNS_PER_BLOCK) if dense else len(self.seeds)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Row:
    """A row of the tables before its trainings have run."""

    plan: DataPlan
    dataset: str  #: For the reader
    method: Method
    decomposition: str
    convention: Convention
    #: One for each subject, or one; `base` has the experiments that the convention leaves as they are
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
            join_studies([replace(one, method=self.method.label, dataset=self.dataset) for one in found])
            if found
            else None
        )


def planned(asked: Asked, runs: int | None, seed: int) -> tuple[list[Row], list[str]]:
    """The rows that are asked for, and sentences on those that cannot be.

    Parameters
    ----------
    runs : int or None
        In place of the preset's.
    seed : int
        Of the first run.
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
        rule = "must concern a method and a decomposition that are trained"
        fail("convention", rule, f"got {names}", "add one that it concerns", code="conflict")
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
            found[training.key] = join_studies([study_of(kept) for kept in results])
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


# The experiments of the paper with methods trained here: Tables 1 to 5 with their averages, and Figures 1 to 13.
#
# Every method is trained on more and less data, on noisy labels and without a class, and its aleatoric and epistemic
# estimates are judged by how they move.


N_MAPS = 4  # figures of maps

NOTES = (
    "error: mean of the four deviations, as Table 2 has it; the equation in section 6 prints their sum. Intervals are t "
    "intervals over the runs, 95 %; ± as authors is 2 · standard deviation / 5",
    "correlations: mean over the runs on Fisher's scale; pooled: of the curves averaged over the runs, as Tables 3 and 4 print "
    "them",
    "every run has its own subsets, its own permuted rows and its own initial weights; the test instances are the same",
    "a share of p of the training instances is trained for epochs / p; inputs are scaled once, by the whole training part, and "
    "those of bci by the instances that a network is trained on",
    "not printed, so chosen here: the weight of Flipout's divergence is 1/N; Gaussian logits are trained by the mean "
    "likelihood of 100 draws",
)


def reproduce_disentanglement(
    *,
    preset: Annotated[
        str,
        'How many instances, runs, epochs and members. "smoke" only checks that the code runs; "paper" is as printed.',
    ] = "cpu",
    dataset: Annotated[
        str | Sequence[str] | None,
        '"wine" (by default), "digits", "mnist-10k", "fashion-mnist", "cifar-10", "bci".',
    ] = None,
    method: Annotated[
        str | Sequence[str] | None,
        '"mc-dropout", "mc-dropconnect", "flipout", "deep-ensemble", "random-forest"; by default those of the preset.',
    ] = None,
    decomposition: Annotated[
        str | Sequence[str] | None,
        '"information-theoretic" ("IT"), "gaussian-logits" ("GL"), "variance", "label-wise", "zero-one", "brier", "log" '
        'or "spherical"; the paper\'s "IT" and "GL" by default.',
    ] = None,
    convention: Annotated[
        str,
        '"exact"; "last-layer", "ten-levels", "gaussian-code" and "data-code" make one choice as the authors\' code does, '
        'and "paper-code" all of these; "all-layers" and "own-scale" make another one; "each" runs all and shows the '
        "differences.",
    ] = "exact",
    where: Annotated[
        str,
        "Which layers are Bayesian: as printed, the last hidden layer, or every dense layer.",
        ("printed", "last", "all"),
    ] = "printed",
    data: OtherFiles = None,
    runs: Annotated[int | None, 'Number of runs, instead of the preset\'s; for "bci" the number of subjects.'] = None,
    seed: FirstSeed = 0,
    workers: Annotated[int, "Number of processes; the results do not depend on it, to rounding."] = 1,
    resume: Annotated[
        str | os.PathLike[str] | None,
        "Folder for the results of the trainings; those that are there are not trained again.",
    ] = None,
    figures: Figures = None,
    progress: Progress = None,
) -> Reproduction:
    """Train the methods of the paper under all conditions of its three experiments, and compare with its tables.

    Returns
    -------
    Reproduction
        The rows of `tables.table_cells`. Printed values are compared only where the paper's own data are trained as printed.

    Raises
    ------
    InputError
        An unknown name, an option out of range, missing data, or no method that could be trained.
    MissingDependencyError
        PyTorch is missing; with several workers, Dask; for "bci", MOABB; for figures, matplotlib.

    Notes
    -----
    A script that starts several workers needs the guard ``if __name__ == "__main__":``.

    Examples
    --------
    >>> result = reproduce_disentanglement(preset="smoke", method="mc-dropout", decomposition="IT")
    >>> result.rows[0].name, result.rows[0].paper, result.rows[0].agrees
    ('table2/wine/MC-Dropout/IT', 0.645, None)
    """
    asked = _asked(
        preset=preset,
        dataset=dataset,
        method=method,
        decomposition=decomposition,
        convention=convention,
        where=where,
        data=data,
    )
    check_whole(1, runs=runs, workers=workers)
    check_whole(0, seed=seed)
    check_figures(figures)
    say = progress or (lambda step: None)
    rows, skipped = planned(asked, runs, seed)
    trainings = list({training.key: training for row in rows for training in row.trainings}.values())
    cells = training_cells(trainings)
    notes = [*NOTES, *(plan.sentence(preset, slice_) for plan, slice_ in asked.slices(runs)), *skipped]
    with folder_of(resume) as folder:
        failed = train_cells(cells, folder, workers=workers, say=say)
        notes += [*failure_notes(failed), *older_notes(cells, folder)]
        studies = studies_of(trainings, folder)
    judged = [one for row in rows if (one := row.judged(studies)) is not None]
    if not judged:
        raise all_failed("method", failed)
    say("judging")
    reading = _reading(judged)
    if preset == "smoke":
        notes.append(NO_EVIDENCE)
    if figures is not None:
        reading += ["", *(f"figure: {path}" for path in _figures(Path(figures), judged, preset, say))]
    return Reproduction(
        "disentanglement", SOURCE, tuple(table_cells(judged)), tuple(notes), tuple(reading), layouts=LAYOUTS
    )


def steps_of_disentanglement(*, runs: int | None = None, figures: object = None, **options: Any) -> int:
    """Approximate number of calls of ``progress`` with these options of `reproduce_disentanglement`."""
    rows, _skipped = planned(_asked(**taken_by(_asked, options)), runs, 0)
    trainings = {training.key: training for row in rows for training in row.trainings}
    blocks = sum(training.n_blocks for training in trainings.values())
    return blocks + 2 + (N_MAPS if figures is not None else 0)


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _asked(
    *,
    preset: str = "cpu",
    dataset: str | Sequence[str] | None = None,
    method: str | Sequence[str] | None = None,
    decomposition: str | Sequence[str] | None = None,
    convention: str = "exact",
    where: str = "printed",
    data: str | os.PathLike[str] | None = None,
) -> Asked:
    """The options checked."""
    plans = chosen_datasets(dataset)
    known = chosen_preset(preset)
    methods = None
    if method is not None:
        methods = tuple(one.name for one in chosen_methods(method, plans[0], plans[0].slices[known]))
    return Asked(
        preset=known,
        plans=tuple(plans),
        methods=methods,
        decompositions=tuple(chosen_decompositions(decomposition)),
        decompositions_given=decomposition is not None,
        conventions=tuple(chosen_convention(convention)),
        where=chosen_where(where),
        data=given_files(data, [plan.name for plan in plans]),
    )


def _figures(folder: Path, judged: Sequence[TableRow], preset: str, say: Say) -> list[Path]:
    """Figures 1 to 13, as far as their data sets were trained; those of the first convention."""
    from uqassay.lab.papers.disentangling.figures import (
        MOONS,
        TRIANGLE,
        write_disentanglement_figures,
        write_map_figures,
    )

    drawn = [one for one in judged if one.convention == judged[0].convention]
    written = write_disentanglement_figures(folder, [_contender(one) for one in drawn])
    moons, triangle = (
        replace(setting, epochs=2, n_passes=5) if preset == "smoke" else setting for setting in (MOONS, TRIANGLE)
    )
    return [*written, *write_map_figures(folder, moons=moons, triangle=triangle, progress=say)]


def _contender(one: TableRow) -> Contender:
    return Contender(one.row_label, one.study, one.decomposition)


def _reading(judged: Sequence[TableRow]) -> list[str]:
    """Tables, the table of conventions, and sentences on each data set."""
    lines: list[str] = []
    for dataset in dict.fromkeys(one.dataset for one in judged):
        here = [one for one in judged if one.dataset == dataset]
        study = here[0].study
        n_test = study.measured[next(iter(study.measured))].probs.shape[2]
        lines += ["", f"{dataset}: {counted(study.n_runs, 'run')}, {counted(n_test, 'test instance')}", ""]
        lines += table_lines(here)
        conventions = {
            one.convention: CONVENTIONS[one.convention].sentence for one in here if one.convention != "exact"
        }
        differences = convention_lines(here, conventions)
        lines += ["", *differences] if differences else []
        lines += ["", *disentanglement_lines([_contender(one) for one in here])]
    return lines[1:]
