"""What the reproduction of the paper may choose: methods, decompositions, conventions, presets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, final

import numpy as np

from uqassay.checks import fail
from uqassay.lab.papers.options import known_names
from uqassay.measures import DECOMPOSITIONS
from uqassay.text import count, counted, listed, percent

__all__ = [
    "CONVENTIONS",
    "DATASETS",
    "GAUSSIAN",
    "IN_PAPER",
    "METHODS",
    "PRESETS",
    "WHERE",
    "Convention",
    "DataPlan",
    "Method",
    "Slice",
    "chosen_convention",
    "chosen_datasets",
    "chosen_decompositions",
    "chosen_methods",
    "chosen_preset",
    "chosen_where",
    "method_options",
    "short_name",
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
SHORT = {INFORMATION: "IT", GAUSSIAN: "GL"}  # as the paper's tables write them


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
    """One choice in which the authors' code differs from the printed text, or from ours."""

    name: str
    sentence: str  #: What it changes
    where: str = "printed"  #: Of `WHERE`
    options: Mapping[str, Any] = field(default_factory=dict)  #: Options of every network
    conditions: Mapping[str, Any] = field(default_factory=dict)  #: Arguments of `Conditions`
    experiments: tuple[str, ...] = ()  #: Experiments that it changes; () for all
    only: str = ""  #: The decomposition that it concerns; "" for all
    methods: tuple[str, ...] = ()  #: Methods that it concerns; () for all

    def concerns(self, method: str, decomposition: str) -> bool:
        """Whether it changes anything for a method and a decomposition."""
        return decomposition == (self.only or decomposition) and (not self.methods or method in self.methods)


TEN = tuple(float(level) for level in np.linspace(0, 1, 10).round(12))
ELEVEN = tuple(float(level) for level in np.linspace(0, 1, 11).round(12))
EACH = "each"  # all conventions, for the table of the differences

CONVENTIONS: Mapping[str, Convention] = MappingProxyType(
    {
        convention.name: convention
        for convention in (
            Convention(name="exact", sentence="as printed, Gaussian logits by variances"),
            Convention(
                name="last-layer",
                sentence="DropConnect drops the weights before the hidden layer only (authors' code)",
                where="last",
                methods=("mc-dropconnect",),
            ),
            Convention(
                name="all-layers",
                sentence="every dense layer is Bayesian",
                where="all",
                methods=("mc-dropout", "flipout"),
            ),
            Convention(
                name="ten-levels",
                sentence="10 levels of label noise instead of 11 (authors' code)",
                conditions={"noise_levels": TEN},
                experiments=("label-noise",),
            ),
            Convention(
                name="gaussian-code",
                sentence="the second head is trained as a standard deviation and read as a variance (authors' code)",
                options={"convention": "paper-code"},
                only=GAUSSIAN,
                methods=IN_PAPER,
            ),
            Convention(
                name="data-code",
                sentence="the same first instances in every run, and the column of the class left out deleted (authors' code)",
                conditions={"convention": "paper-code", "noise_levels": ELEVEN},
                experiments=("dataset-size", "left-out-class"),
            ),
            Convention(
                name="own-scale",
                sentence="inputs become z-scores by the instances of each network, not once by the whole training part",
                options={"standardise": True},
                experiments=("dataset-size", "left-out-class"),
                methods=IN_PAPER,
            ),
            Convention(
                name="paper-code",
                sentence="all choices of the authors' code together",
                where="last",
                options={"convention": "paper-code"},
                conditions={"convention": "paper-code", "noise_levels": TEN},
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
    return [METHODS[name] for name in known_names(given, "method", METHODS, RULE.format("method"))]


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
    if not method.heads:
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
    if method.name == "deep-ensemble":
        options["n_members"] = slice_.n_members
    else:
        options |= {"n_samples": slice_.n_samples, "where": method.where[where]}
        if method.name != "flipout":
            options["rate"] = 0.3
    return options


def short_name(decomposition: str) -> str:
    """The paper's abbreviation of a decomposition, or its name.

    Examples
    --------
    >>> short_name("gaussian-logits"), short_name("variance")
    ('GL', 'variance')
    """
    return SHORT.get(decomposition, decomposition)
