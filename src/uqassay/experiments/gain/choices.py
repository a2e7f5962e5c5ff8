"""Methods of the reproduction of paper 002, and the choices of the command line."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

import numpy as np

from uqassay.datasets import disc_layout
from uqassay.errors import InputError
from uqassay.experiments.gain.presets import DATASETS, PRESETS, SPREADS, GainData, GainSlice
from uqassay.experiments.gain.regions import RANDOM, Share
from uqassay.experiments.named_options import known_names
from uqassay.wording import number

__all__ = ["METHODS", "AskedGain", "GainMethod", "chosen", "method_options"]


# ---- methods -----------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class GainMethod:
    """A classifier of the protocol.

    Attributes
    ----------
    name : str
        As in the command line.
    label : str
        For the reader.
    of : str
        Its name in `uqassay.methods.METHODS`, where that is another one.
    toy, images : dict
        Options on toy data and on principal components of images.
    in_paper : bool
        Whether it is a form of the paper's classifier.
    """

    name: str
    label: str
    of: str = ""
    toy: Mapping[str, Any] = field(default_factory=dict)
    images: Mapping[str, Any] = field(default_factory=dict)
    in_paper: bool = False


LEARNT = {"lengthscale": "bound", "signal_variance": "bound"}

METHODS: Mapping[str, GainMethod] = MappingProxyType(
    {
        method.name: method
        for method in (
            GainMethod(name="local-gp", label="local GP", in_paper=True),
            GainMethod(
                name="local-gp-learnt",
                label="local GP, kernel learnt",
                of="local-gp",
                toy=LEARNT,
                images=LEARNT,
                in_paper=True,
            ),
            GainMethod(name="sparse-gp", label="sparse GP", in_paper=True),
            GainMethod(
                name="random-forest",
                label="random forest",
                toy={"n_members": 100, "min_samples_leaf": 5},
                images={"n_members": 100},
            ),
            GainMethod(
                name="deep-ensemble",
                label="deep ensemble",
                toy={"n_members": 5, "backbone": (128, 128), "epochs": 30, "batch_size": 512},
                images={"n_members": 5, "backbone": (128, 128), "epochs": 10, "batch_size": 256},
            ),
        )
    }
)


def method_options(method: GainMethod, plan: GainData, slice_: GainSlice) -> dict[str, Any]:
    """Options of `uqassay.methods.build_method` for a method on a data set."""
    return {**(method.toy if plan.is_toy else method.images), **slice_.options.get(method.name, {})}


RULE = "must be a {} of this reproduction"


# ---- choices of the command line ---------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class AskedGain:
    """The checked options of a reproduction.

    Attributes
    ----------
    preset : str
    plans : tuple of GainData
        With the reference of every mismatch study before it; toy data once for each asked share.
    methods : tuple of GainMethod or None
        None takes those of the preset.
    spreads : tuple of float
        Of the toy data.
    data : str
        The file or folder of images; "" without.
    """

    preset: str
    plans: tuple[GainData, ...]
    methods: tuple[GainMethod, ...] | None
    spreads: tuple[float, ...]
    data: str

    def methods_of(self, slice_: GainSlice) -> tuple[GainMethod, ...]:
        """The methods of a data set."""
        return tuple(METHODS[name] for name in slice_.methods) if self.methods is None else self.methods


def chosen(
    *,
    preset: str = "cpu",
    dataset: str | Sequence[str] | None = None,
    method: str | Sequence[str] | None = None,
    spread: float | Sequence[float] | None = None,
    data: str | os.PathLike[str] | None = None,
    train_share: float | str | Sequence[float | str] | None = None,
) -> AskedGain:
    """Check the options of a reproduction.

    Raises
    ------
    InputError
        An unknown name or one given twice, a spread or share without toy data, a spread that is not positive, a share that
        leaves no instance to add, images without their files, or files for several kinds of images.
    """
    names = known_names("toy" if dataset is None else dataset, "dataset", DATASETS, RULE.format("data set"))
    plans = [DATASETS[name] for name in names]
    given = None if method is None else known_names(method, "method", METHODS, RULE.format("method"))
    return AskedGain(
        preset=known_names([preset], "preset", PRESETS, RULE.format("preset"))[0],
        plans=tuple(_with_shares(_with_references(plans), _chosen_shares(train_share, plans))),
        methods=None if given is None else tuple(METHODS[name] for name in given),
        spreads=_chosen_spreads(spread, plans),
        data=_chosen_data(data, plans),
    )


def _with_references(plans: Sequence[GainData]) -> list[GainData]:
    """The plans, each mismatch study after the data set that it is compared with."""
    found: dict[str, GainData] = {}
    for plan in plans:
        if plan.reference:
            found.setdefault(plan.reference, DATASETS[plan.reference])
        found.setdefault(plan.name, plan)
    return list(found.values())


def _chosen_spreads(spread: float | Sequence[float] | None, plans: Sequence[GainData]) -> tuple[float, ...]:
    if spread is None:
        return SPREADS
    if not any(plan.is_toy for plan in plans):
        raise InputError("spread", "is of the toy data alone", f"got {spread}", "leave it out", code="conflict")
    values = [spread] if isinstance(spread, (int, float)) else list(spread)
    for value in values:
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < np.inf:
            raise InputError("spread", "must be above 0", f"got {value!r}", "0.35, say", code="range")
    if len(set(values)) < len(values) or not values:
        raise InputError("spread", "must hold different numbers", f"got {values}", "0.35, say", code="duplicate")
    return tuple(float(value) for value in values)


def _chosen_shares(given: float | str | Sequence[float | str] | None, plans: Sequence[GainData]) -> tuple[Share, ...]:
    if given is None:
        return ()
    if not any(plan.is_toy for plan in plans):
        raise InputError("train_share", "is of the toy data alone", f"got {given}", "leave it out", code="conflict")
    values = [_share(value) for value in ([given] if isinstance(given, (int, float, str)) else given)]
    if len(set(values)) < len(values) or not values:
        raise InputError("train_share", "must hold different shares", f"got {given}", "0.1, say", code="duplicate")
    return tuple(values)


def _share(value: float | str) -> Share:
    """A share of the instances of a disc that leaves some to add; the command line gives text."""
    if value == RANDOM:
        return RANDOM
    most = 1.0 - float(disc_layout("figure-2").test_share.max())
    try:
        share = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        share = float("nan")
    if not 0.0 <= share < most:
        rule = f"must be {RANDOM} or at least 0 and below {number(most, 1)}, since the rest of a disc is for the test"
        raise InputError("train_share", rule, f"got {value!r}", "0.1, say", code="range")
    return share


def _with_shares(plans: Sequence[GainData], shares: Sequence[Share]) -> list[GainData]:
    """Toy data once for each share that was asked for, other data once."""
    if not shares:
        return list(plans)
    toys = [plan.with_train_share(share) for share in shares for plan in plans if plan.is_toy]
    return [*toys, *(plan for plan in plans if not plan.is_toy)]


def _chosen_data(data: str | os.PathLike[str] | None, plans: Sequence[GainData]) -> str:
    needing = [plan.name for plan in plans if plan.needs_data]
    if data is None:
        if needing:
            raise InputError(
                "data",
                f"must be the file with the images for {needing[0]}",
                "got none",
                "give an .npz file with X (n, 28, 28) and y (n,)",
                code="missing",
            )
        return ""
    if not needing or len({plan.source for plan in plans if not plan.is_toy}) != 1:
        names = ", ".join(plan.name for plan in plans)
        raise InputError(
            "data", "is for emnist-bymerge alone", f"got it for {names}", "ask for one of them", code="conflict"
        )
    path = Path(data)
    if not path.is_file():
        raise InputError("data", "must be a file", f"got {path}", "give the .npz file with the images", code="missing")
    return str(path)
