"""Methods, decompositions and conventions of the reproduction of paper 004, found by the names of the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, final

import numpy as np

from uqassay.errors import InputError
from uqassay.experiments.disentangling.presets import DATASETS, IN_PAPER, PRESETS, DataPlan, Slice
from uqassay.experiments.named_options import known_names
from uqassay.measures import DECOMPOSITIONS

__all__ = [
    "CONVENTIONS",
    "EACH",
    "GAUSSIAN",
    "METHODS",
    "WHERE",
    "Convention",
    "Method",
    "chosen_convention",
    "chosen_datasets",
    "chosen_decompositions",
    "chosen_methods",
    "chosen_preset",
    "chosen_where",
    "method_options",
    "short_name",
]

WHERE = ("printed", "last", "all")
GAUSSIAN, INFORMATION = "gaussian-logits", "information-theoretic"
RULE = "must be a {} of the benchmark"
SHORT = {INFORMATION: "IT", GAUSSIAN: "GL"}  # as the paper's tables write them


# ---- methods -----------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class Method:
    """A method of the benchmark.

    Attributes
    ----------
    name : str
        Of `uqassay.methods.METHODS`, as in the command line.
    label : str
        As the paper's tables write it.
    where : dict of str to str
        Its option `where` by the name in `WHERE`; {} without such an option.
    epochs_factor : int
        Epochs relative to those of the preset: Flipout has 500 where the others have 100.
    heads : tuple of str
        Heads that it can have; () for a method without networks.
    """

    name: str
    label: str
    where: Mapping[str, str] = field(default_factory=dict)
    epochs_factor: int = 1
    heads: tuple[str, ...] = ("softmax", GAUSSIAN)

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
                name="mc-dropconnect",
                label="MC-DropConnect",
                where={"printed": "all", "last": "hidden", "all": "all"},
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
    """One choice in which the authors' code differs from the printed text, or from ours.

    Attributes
    ----------
    name : str
    sentence : str
        What it changes.
    where : str
        Of `WHERE`.
    options : dict
        Options of every network.
    conditions : dict
        Arguments of `Conditions`.
    experiments : tuple of str
        Experiments that it changes; () for all.
    only : str
        The decomposition that it concerns; "" for all.
    methods : tuple of str
        Methods that it concerns; () for all.
    """

    name: str
    sentence: str
    where: str = "printed"
    options: Mapping[str, Any] = field(default_factory=dict)
    conditions: Mapping[str, Any] = field(default_factory=dict)
    experiments: tuple[str, ...] = ()
    only: str = ""
    methods: tuple[str, ...] = ()

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
    """The data sets by name, wine by default.

    Raises
    ------
    InputError
        An unknown name, or one given twice; the remedy is the most similar name.
    """
    given = "wine" if names is None else names
    return [DATASETS[name] for name in known_names(given, "dataset", DATASETS, RULE.format("data set"))]


def chosen_methods(names: str | Sequence[str] | None, plan: DataPlan, slice_: Slice) -> list[Method]:
    """The methods by name, or by their label in the paper; by default those of the preset.

    Raises
    ------
    InputError
        An unknown name, or one given twice.
    """
    if names is None:
        return [METHODS[name] for name in slice_.methods or plan.methods]
    given = [names] if isinstance(names, str) else list(names)
    by_label = {method.label.lower(): name for name, method in METHODS.items()}
    given = [by_label.get(str(name).lower(), str(name)) for name in given]
    return [METHODS[name] for name in known_names(given, "method", METHODS, RULE.format("method"))]


def chosen_decompositions(names: str | Sequence[str] | None) -> list[str]:
    """Decompositions by name, or by "IT" and "GL"; both of the paper by default.

    Raises
    ------
    InputError
        An unknown name, or one given twice.
    """
    if names is None:
        return [INFORMATION, GAUSSIAN]
    long = {short.lower(): name for name, short in SHORT.items()}
    given = [long.get(str(name).lower(), str(name)) for name in ([names] if isinstance(names, str) else names)]
    return known_names(given, "decomposition", DECOMPOSITIONS, RULE.format("decomposition"))


def chosen_convention(name: str) -> list[Convention]:
    """A convention by name, or the printed one and all others for "each".

    Raises
    ------
    InputError
        An unknown name.
    """
    if name == EACH:
        return list(CONVENTIONS.values())
    (known,) = known_names([name], "convention", [*CONVENTIONS, EACH], RULE.format("convention"))
    return [CONVENTIONS[known]]


def chosen_where(name: str) -> str:
    """Which layers are Bayesian, by name.

    Raises
    ------
    InputError
        An unknown name.
    """
    return known_names([name], "where", WHERE, "must say which layers are Bayesian")[0]


def chosen_preset(name: str) -> str:
    """A preset by name.

    Raises
    ------
    InputError
        An unknown name.
    """
    return known_names([name], "preset", PRESETS, RULE.format("preset"))[0]


def method_options(
    method: Method, decomposition: str, plan: DataPlan, slice_: Slice, *, where: str, extra: Mapping[str, Any]
) -> dict[str, Any]:
    """Options of `uqassay.methods.build_method` for a method with the head of a decomposition.

    Parameters
    ----------
    method : Method
    decomposition : str
        "gaussian-logits" takes the head of that name, every other one softmax.
    plan : DataPlan
    slice_ : Slice
    where : str
        Of `WHERE`.
    extra : dict
        Of a convention; only for methods with networks.

    Raises
    ------
    InputError
        Gaussian logits of a method without networks.
    """
    if not method.offers(decomposition):
        raise InputError(
            "decomposition",
            f"cannot be {decomposition} for {method.name}, which has no logits",
            "",
            f"use {INFORMATION}, or a method with networks",
            code="conflict",
        )
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
