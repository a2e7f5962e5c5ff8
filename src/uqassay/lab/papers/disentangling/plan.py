"""What the reproduction of the disentanglement paper runs: methods, decompositions, conventions, presets, trainings."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, final

import numpy as np

from uqassay.checks import fail
from uqassay.evidence import DisentanglementStudy, join_studies
from uqassay.lab.bench.cell import canonical_json
from uqassay.lab.methods.registry import is_given, label_of, offered_options, option_names_of
from uqassay.lab.papers.disentangling.printed import SHORT
from uqassay.lab.papers.disentangling.tables import TableRow
from uqassay.lab.papers.disentangling.trainings import RUNS_PER_BLOCK, Conditions, smoothed_name
from uqassay.lab.papers.options import (
    GivenFiles,
    given_files,
    known_names,
)
from uqassay.measures import DECOMPOSITIONS
from uqassay.records import packed
from uqassay.text import count, counted, listed, percent

__all__ = [
    "CONVENTIONS",
    "DATASETS",
    "GAUSSIAN",
    "IN_PAPER",
    "METHODS",
    "PRESETS",
    "WHERE",
    "Asked",
    "Convention",
    "DataPlan",
    "Method",
    "PlannedTraining",
    "Row",
    "Slice",
    "asked_of",
    "chosen_convention",
    "chosen_datasets",
    "chosen_decompositions",
    "chosen_methods",
    "chosen_preset",
    "chosen_where",
    "method_options",
    "planned",
]

# Data sets and presets of the reproduction of the paper: what is trained, and how much of it.
#
# "paper" trains as printed. "smoke" only checks that the code runs. "cpu" takes about ten minutes on two cores and
# "gpu-hour" about an hour on one GPU; on images both train on a slice. Every number of a slice is in
# `DataPlan.sentence`.

PRESETS = ("smoke", "cpu", "gpu-hour", "paper")
BCI_SUBJECTS = 9
IN_PAPER = ("mc-dropout", "mc-dropconnect", "flipout", "deep-ensemble")


# ---- data sets and slices ----------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class Slice:
    """How much is trained."""

    runs: int = 5
    epochs: int = 100
    n_members: int = 10
    n_samples: int = 50
    batch_size: int = 128
    #: Greatest number of instances
    train_limit: int | None = None
    test_limit: int | None = None
    #: Arguments of `Conditions` that differ from the printed ones
    conditions: Mapping[str, Any] = field(default_factory=dict)
    methods: tuple[str, ...] = ()  #: Trained unless others are asked for; () means those of the data set
    as_printed: bool = False  #: Whether the numbers may be compared with the paper's


@final
@dataclass(frozen=True, kw_only=True)
class DataPlan:
    """A data set of the reproduction."""

    name: str  #: As in the command line
    #: Names for `uqassay.lab.datasets.load_dataset`: one, or one for each subject, whose runs are then those of the
    #: subjects
    sources: tuple[str, ...]
    printed: bool  #: Whether the paper's tables have it
    backbone: str | tuple[int, ...]
    network: str  #: The network in words
    methods: tuple[str, ...]  #: Trained by default
    slices: Mapping[str, Slice]  #: By preset

    @property
    def by_subject(self) -> bool:
        """Whether runs are subjects."""
        return len(self.sources) > 1

    def sentence(self, preset: str, slice_: Slice) -> str:
        """What a preset trains, in words, for the slice as it is after the options of the command line."""
        runs = counted(slice_.runs, "subject" if self.by_subject else "run")
        limits = [
            f"at most {count(limit)} {part} instances"
            for part, limit in (("training", slice_.train_limit), ("test", slice_.test_limit))
            if limit is not None
        ]
        sizes = [
            f"{runs}, {counted(slice_.epochs, 'epoch')} (Flipout {count(5 * slice_.epochs)})",
            f"batches of {slice_.batch_size}",
            f"ensembles of {slice_.n_members}",
            f"{slice_.n_samples} passes",
            *limits,
            *_condition_words(slice_.conditions),
        ]
        how = "as printed" if slice_.as_printed else "a slice, not compared with the paper"
        return f"{self.name}, preset {preset} ({how}): {self.network}; {', '.join(sizes)}"


def _condition_words(conditions: Mapping[str, Any]) -> list[str]:
    words = []
    for key, what in (("shares", "of the training instances"), ("noise_levels", "of the labels permuted")):
        if key in conditions:
            words.append(f"{listed([percent(value, 0) for value in conditions[key]])} {what}")
    if "left_out" in conditions:
        words.append(f"{counted(len(conditions['left_out']), 'class', 'classes')} left out")
    return words


FEW = {"shares": (0.1, 0.5, 1.0), "noise_levels": (0.0, 0.5, 1.0), "left_out": (0,)}
SMOKE = Slice(runs=2, epochs=2, n_members=2, n_samples=5, train_limit=300, test_limit=200, conditions=FEW)
SMOKE_IMAGES = replace(SMOKE, epochs=1, train_limit=120, test_limit=60, methods=("mc-dropout", "deep-ensemble"))
PRINTED = Slice(as_printed=True)
CPU_IMAGES = Slice(
    runs=3,
    epochs=5,
    n_members=3,
    n_samples=50,
    batch_size=16,
    train_limit=1000,
    test_limit=1000,
    conditions={"shares": (0.1, 0.25, 0.5, 1.0), "noise_levels": (0.0, 0.25, 0.5, 1.0), "left_out": (0, 5)},
    methods=("mc-dropout", "deep-ensemble"),
)
GPU_IMAGES = Slice(runs=3, epochs=35, n_members=5, train_limit=10_000, methods=("mc-dropout", "deep-ensemble"))
IMAGES = {"smoke": SMOKE_IMAGES, "cpu": CPU_IMAGES, "gpu-hour": GPU_IMAGES, "paper": PRINTED}
SMALL_CNN = "three 3 × 3 convolutions of 64 with 2 × 2 pooling and a Bayesian layer of 64"
OURS = ("mc-dropout", "deep-ensemble", "random-forest")
MLP = "an MLP with hidden layers of 64 and 64, the last one Bayesian"

DATASETS: Mapping[str, DataPlan] = MappingProxyType(
    {
        plan.name: plan
        for plan in (
            DataPlan(
                name="wine",
                sources=("wine",),
                printed=True,
                backbone=(32, 32, 16),
                network="13-32-32-16-3 on z-scores, the layer of 16 Bayesian",
                methods=IN_PAPER,
                slices={"smoke": SMOKE, "cpu": PRINTED, "gpu-hour": replace(PRINTED, runs=20), "paper": PRINTED},
            ),
            DataPlan(
                name="digits",
                sources=("digits",),
                printed=False,
                backbone="mlp",
                network=MLP,
                methods=OURS,
                slices={
                    "smoke": SMOKE,
                    "cpu": Slice(epochs=50, n_members=5),
                    "gpu-hour": Slice(),
                    "paper": Slice(),
                },
            ),
            DataPlan(
                name="mnist-10k",
                sources=("mnist-10k",),
                printed=False,
                backbone="mlp",
                network=MLP,
                methods=OURS,
                slices={
                    "smoke": SMOKE,
                    "cpu": Slice(runs=3, epochs=10, n_members=5, train_limit=4000, test_limit=1000),
                    "gpu-hour": Slice(),
                    "paper": Slice(),
                },
            ),
            *(
                DataPlan(
                    name=name,
                    sources=(name,),
                    printed=True,
                    backbone="cnn",
                    network=SMALL_CNN,
                    methods=IN_PAPER,
                    slices=IMAGES,
                )
                for name in ("fashion-mnist", "cifar-10")
            ),
            DataPlan(
                name="bci",
                sources=tuple(f"bci-iv-2a:{subject}" for subject in range(1, BCI_SUBJECTS + 1)),
                printed=True,
                backbone="eeg",
                network="the shallow network for EEG with a Bayesian layer of 32",
                methods=IN_PAPER,
                slices={
                    "smoke": replace(SMOKE_IMAGES, train_limit=24, test_limit=24),
                    "cpu": replace(
                        CPU_IMAGES,
                        runs=2,
                        epochs=20,
                        n_members=2,
                        train_limit=None,
                        test_limit=None,
                        conditions={**CPU_IMAGES.conditions, "left_out": (0, 1)},
                    ),
                    "gpu-hour": Slice(runs=BCI_SUBJECTS, n_members=5, methods=("mc-dropout", "deep-ensemble")),
                    "paper": replace(PRINTED, runs=BCI_SUBJECTS),
                },
            ),
        )
    }
)


# Methods, decompositions and conventions of the reproduction of the paper, found by the names of the command line.

WHERE = ("printed", "last", "all")
GAUSSIAN, INFORMATION = "gaussian-logits", "information-theoretic"
RULE = "must be a {} of the benchmark"


# ---- methods -----------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class Method:
    """A method of the benchmark."""

    name: str  #: Of `uqassay.lab.methods.METHODS`, as in the command line
    label: str  #: As the paper's tables write it
    #: Its option `where` by the name in `WHERE`; {} without such an option
    where: Mapping[str, str] = field(default_factory=dict)
    epochs_factor: int = 1  #: Epochs relative to those of the preset: Flipout has 500 where the others have 100
    heads: tuple[str, ...] = ("softmax", GAUSSIAN)  #: Heads that it can have; () for a method without networks

    @classmethod
    def given(cls, name: str) -> "Method":
        """A class of the user, ``module:Class``, which has heads if it has the option `head`."""
        heads = ("softmax", GAUSSIAN) if "head" in option_names_of(name) else ()
        return cls(name=name, label=label_of(name), heads=heads)

    def offers(self, decomposition: str) -> bool:
        """Whether it can be judged by a decomposition."""
        return decomposition != GAUSSIAN or GAUSSIAN in self.heads


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            Method(name="mc-dropout", label="MC-Dropout", where={"printed": "last", "last": "last", "all": "all"}),
            # the text: weights before and after the hidden layer; the authors' code: those before it
            Method(
                name="mc-dropconnect", label="MC-DropConnect", where={"printed": "all", "last": "hidden", "all": "all"}
            ),
            Method(
                name="flipout",
                label="Flipout",
                where={"printed": "hidden", "last": "hidden", "all": "all"},
                epochs_factor=5,
            ),
            Method(name="deep-ensemble", label="Deep Ensembles"),
            Method(name="random-forest", label="Random forest", heads=()),
        )
    }
)


# ---- conventions -------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class Convention:
    """One choice in which the authors' code differs from the printed text, or another reading."""

    name: str
    sentence: str  #: What it changes
    by_authors: bool = True  #: Whether it is a choice of the authors' code
    where: str = "printed"  #: Of `WHERE`
    options: Mapping[str, Any] = field(default_factory=dict)  #: Options of every network
    by_method: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  #: Options of one method
    by_data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  #: Options of every network on one data set
    sources: Mapping[str, str] = field(default_factory=dict)  #: Where other instances of a data set are found
    conditions: Mapping[str, Any] = field(default_factory=dict)  #: Arguments of `Conditions`
    epsilon: float = 0.0  #: In entropies −Σ p ln(p + ε); the trainings are the same
    experiments: tuple[str, ...] = ()  #: Experiments that it changes; () for all
    decompositions: tuple[str, ...] = ()  #: Decompositions that it concerns; () for all
    methods: tuple[str, ...] = ()  #: Methods that it concerns; () for all
    datasets: tuple[str, ...] = ()  #: Data sets that it concerns; () for all

    def concerns(self, method: str, decomposition: str, dataset: str) -> bool:
        """Whether it changes anything for a method and a decomposition on a data set."""
        pairs = ((self.methods, method), (self.decompositions, decomposition), (self.datasets, dataset))
        return all(not names or name in names for names, name in pairs)

    def own_options(self, method: str, dataset: str) -> dict[str, Any]:
        """Its options of the networks of a method on a data set."""
        return {**self.options, **self.by_method.get(method, {}), **self.by_data.get(dataset, {})}


TEN = tuple(float(level) for level in np.linspace(0, 1, 10).round(12))
IMAGES_OF_PAPER = ("fashion-mnist", "cifar-10")
EACH = "each"  # all conventions, for the table of the differences

_CHOICES = (
    Convention(
        name="last-layer",
        sentence="DropConnect drops the weights before the hidden layer only",
        where="last",
        methods=("mc-dropconnect",),
    ),
    Convention(
        name="head-dropout",
        sentence="members of ensembles learn with dropout of 0.3 before the head; appendix C prints it for images",
        by_method={"deep-ensemble": {"rate": 0.3}},
        methods=("deep-ensemble",),
    ),
    Convention(
        name="flipout-weight",
        sentence="Flipout's divergence is weighted by 32/N",
        by_method={"flipout": {"kl_weight": 32.0}},
        methods=("flipout",),
    ),
    Convention(
        name="unstratified-split",
        sentence="Wine is split by scikit-learn with seed 0, unstratified",
        sources={"wine": "wine-unstratified"},
        datasets=("wine",),
    ),
    Convention(
        name="code-network",
        sentence="images have convolutions of 32, 64 and 64 without padding and two poolings; recordings have no ReLU, filters "
        "of norm 2 at most, and are not scaled",
        by_data={
            **{name: {"backbone": "cnn-valid"} for name in IMAGES_OF_PAPER},
            "bci": {"backbone": "eeg-max-norm", "standardise": False},
        },
        methods=IN_PAPER,
        datasets=(*IMAGES_OF_PAPER, "bci"),
    ),
    Convention(
        name="ten-levels",
        sentence="10 levels of label noise instead of 11",
        conditions={"noise_levels": TEN},
        experiments=("label-noise",),
    ),
    Convention(
        name="fresh-noise",
        sentence="every level of label noise permutes new rows; the rows of a level are not among those of the next",
        conditions={"nested_noise": False},
        experiments=("label-noise",),
    ),
    Convention(
        name="deleted-column",
        sentence="the probability of the class left out is deleted, and the others are not renormalised",
        conditions={"delete_column": True},
        experiments=("left-out-class",),
        decompositions=(INFORMATION, GAUSSIAN),
    ),
    Convention(
        name="gaussian-code",
        sentence="the second head is trained as a standard deviation and read as a variance",
        options={"convention": "paper-code"},
        decompositions=(GAUSSIAN,),
        methods=IN_PAPER,
    ),
    Convention(
        name="entropy-epsilon",
        sentence="entropies are −Σ p ln(p + 1e-6)",
        epsilon=1e-6,
        decompositions=(INFORMATION, GAUSSIAN),
    ),
    Convention(
        name="all-layers",
        sentence="every dense layer is Bayesian",
        by_authors=False,
        where="all",
        methods=("mc-dropout", "flipout"),
    ),
    Convention(
        name="own-scale",
        sentence="inputs become z-scores by the instances of each network, not once by the whole training part",
        by_authors=False,
        options={"standardise": True},
        experiments=("dataset-size", "left-out-class"),
        methods=IN_PAPER,
    ),
)


def _together(name: str, sentence: str, choices: Sequence[Convention]) -> Convention:
    """Several choices as one, for all that they concern together."""
    merged: dict[str, Any] = {key: {} for key in ("options", "by_method", "by_data", "sources", "conditions")}
    for choice in choices:
        for key, found in merged.items():
            found.update(getattr(choice, key))
    wheres = {choice.where for choice in choices} - {"printed"}
    return Convention(
        name=name,
        sentence=sentence,
        where=wheres.pop() if wheres else "printed",
        epsilon=max(choice.epsilon for choice in choices),
        **merged,
    )


CONVENTIONS: Mapping[str, Convention] = MappingProxyType(
    {
        convention.name: convention
        for convention in (
            Convention(name="exact", sentence="as printed, Gaussian logits by variances", by_authors=False),
            *_CHOICES,
            _together(
                "authors", "all choices of the authors' code together", [one for one in _CHOICES if one.by_authors]
            ),
        )
    }
)


# ---- choices of the command line ---------------------------------------------------------------------------------------


def chosen_datasets(names: str | Sequence[str] | None) -> list[DataPlan]:
    """The data sets by name, wine by default."""
    given = "wine" if names is None else names
    return [DATASETS[name] for name in known_names(given, "dataset", DATASETS, RULE.format("data set"))]


def chosen_methods(names: str | Sequence[str] | None, plan: DataPlan, slice_: Slice) -> list[Method]:
    """The methods by name, or by their label in the paper; by default those of the preset."""
    if names is None:
        return [METHODS[name] for name in slice_.methods or plan.methods]
    given = [names] if isinstance(names, str) else list(names)
    by_label = {method.label.lower(): name for name, method in METHODS.items()}
    given = [by_label.get(str(name).lower(), str(name)) for name in given]
    known = known_names(given, "method", METHODS, RULE.format("method"), own=True)
    return [Method.given(name) if is_given(name) else METHODS[name] for name in known]


def chosen_decompositions(names: str | Sequence[str] | None) -> list[str]:
    """Decompositions by name, or by "IT" and "GL"; both of the paper by default."""
    if names is None:
        return [INFORMATION, GAUSSIAN]
    long = {short.lower(): name for name, short in SHORT.items()}
    given = [long.get(str(name).lower(), str(name)) for name in ([names] if isinstance(names, str) else names)]
    return known_names(given, "decomposition", DECOMPOSITIONS, RULE.format("decomposition"))


def chosen_convention(name: str) -> list[Convention]:
    """A convention by name, or the printed one and all others for "each"."""
    if name == EACH:
        return list(CONVENTIONS.values())
    (known,) = known_names([name], "convention", [*CONVENTIONS, EACH], RULE.format("convention"))
    return [CONVENTIONS[known]]


def chosen_where(name: str) -> str:
    """Which layers are Bayesian, by name."""
    return known_names([name], "where", WHERE, "must say which layers are Bayesian")[0]


def chosen_preset(name: str) -> str:
    """A preset by name."""
    return known_names([name], "preset", PRESETS, RULE.format("preset"))[0]


def method_options(
    method: Method, decomposition: str, plan: DataPlan, slice_: Slice, *, where: str, extra: Mapping[str, Any]
) -> dict[str, Any]:
    """Options of `uqassay.lab.methods.build_method` for a method with the head of a decomposition.

    Parameters
    ----------
    decomposition : str
        "gaussian-logits" takes the head of that name, every other one softmax.
    where : str
        Of `WHERE`.
    extra : dict
        Of a convention; only for methods with networks.
    """
    if not method.offers(decomposition):
        rule = f"cannot be {decomposition} for {method.name}, which has no logits"
        fail("decomposition", rule, "", f"use {INFORMATION}, or a method with networks", code="conflict")
    if not method.heads and not is_given(method.name):
        return {}
    options: dict[str, Any] = {
        "backbone": plan.backbone,
        "epochs": method.epochs_factor * slice_.epochs,
        "batch_size": slice_.batch_size,
        "head": GAUSSIAN if decomposition == GAUSSIAN else "softmax",
        # inputs are scaled once, by the whole training part: z-scores of the three instances of a share of 1 % are another task
        "standardise": plan.by_subject,
        "progress": False,
        **extra,
    }
    if is_given(method.name):
        return offered_options(method.name, options | {"n_members": slice_.n_members, "n_samples": slice_.n_samples})
    if method.name == "deep-ensemble":
        options["n_members"] = slice_.n_members
    else:
        options |= {"n_samples": slice_.n_samples, "where": method.where[where]}
        if method.name != "flipout":
            options["rate"] = 0.3
    return options


# From the options of a reproduction to its trainings, and from their results to the rows of its tables.
#
# Rows of the tables share trainings: all decompositions without a head of their own come from one training, and a
# convention that changes one experiment takes the others from the training as printed.

CONDITION_KEYS = {"dataset-size": "shares", "label-noise": "noise_levels", "left-out-class": "left_out"}
PRINTED_CONVENTIONS = ("exact", "authors")  # whose numbers may be compared with the printed ones


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
    epsilon: float  #: Where it is not 0, decompositions are also kept with entropies −Σ p ln(p + ε)
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
        kept = smoothed_name(self.decomposition) if self.convention.epsilon else self.decomposition
        if any(kept not in one.parts for one in measured.values()):
            return None
        measured = {name: replace(one, parts={self.decomposition: one.parts[kept]}) for name, one in measured.items()}
        study = replace(study, measured={name: measured[name] for name in CONDITION_KEYS if name in measured})
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
                if asked.data is not None and convention.sources:
                    continue  # it exchanges the instances of a data set
                for decomposition in asked.decompositions:
                    if decomposition not in absent and convention.concerns(method.name, decomposition, plan.name):
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
            base = self.trainings(decomposition, CONVENTIONS["exact"], self.slice_.conditions)
            given |= {key: () for name, key in CONDITION_KEYS.items() if name not in convention.experiments}
        return Row(
            plan=self.plan,
            dataset=self.dataset,
            method=self.method,
            decomposition=decomposition,
            convention=convention,
            own=self.trainings(decomposition, convention, given),
            base=base,
            compared=self.slice_.as_printed and convention.name in PRINTED_CONVENTIONS,
        )

    def options(self, decomposition: str, convention: Convention = CONVENTIONS["exact"]) -> dict[str, Any]:
        where = self.asked.where if convention.where == "printed" else convention.where
        extra = convention.own_options(self.method.name, self.plan.name)
        return method_options(self.method, decomposition, self.plan, self.slice_, where=where, extra=extra)

    def trainings(
        self, decomposition: str, convention: Convention, conditions: Mapping[str, Any]
    ) -> tuple[PlannedTraining, ...]:
        """One for each subject, or one with all runs."""
        options = self.options(decomposition, convention)
        n = self.slice_.runs
        seeds = tuple(range(self.seed, self.seed + n))
        found = [convention.sources.get(source, source) for source in self.plan.sources]
        sources = found if self.asked.data is None else [self.asked.data.source]
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
                epsilon=max(one.epsilon for one in self.asked.conventions),
                limits={key: limit for key, limit in limits.items() if limit is not None},
            )
            for source, own_seeds in (parts if len(sources) > 1 else [(sources[0], seeds)])
        )


def asked_of(
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
