"""The eight predictors of the unified evaluation and their training.

| preset | data sets | networks | epochs | runs |
|---|---|---|---|---|
| smoke | digits, 300 / 200 instances | MLP | 2 | 1 |
| cpu | digits; mnist-10k, 8,000 / 2,000 images, where its files are there | MLP | 100; 30 | 3 |
| paper | cifar-10, mnist | the convolutional "cnn", or ResNet-50 | 200 | 1 |
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, final

from uqassay.bench.cell import Cell
from uqassay.bench.config import PRESETS, BenchConfig
from uqassay.bench.methods import cells_of
from uqassay.errors import InputError, MissingDependencyError
from uqassay.wording import listed

__all__ = ["BACKBONES", "PREDICTORS", "RUNS", "Predictor", "available_data_sets", "data_set_names", "predictor_cells"]

DATA_SETS = {"smoke": ("digits",), "cpu": ("digits", "mnist-10k"), "paper": ("cifar-10", "mnist")}
RUNS = {"smoke": 1, "cpu": 3, "paper": 1}
BACKBONES = ("mlp", "cnn", "cnn-small", "resnet50")
MANY = 2000  # training instances; with more, 30 epochs have enough steps
ON_RESNET = "uqassay.experiments.unified.resnet:run_on_resnet50"


@final
@dataclass(frozen=True)
class Predictor:
    """One of the paper's predictors.

    Attributes
    ----------
    name : str
        As printed in the paper.
    method : str
        Key of `uqassay.methods.METHODS`.
    credal : bool
        Whether it states sets, so that Tables 2 and 8 rank it.
    averaged : bool
        Whether its mean is also a model of the tables, "… Avg".
    params : dict
        Options that differ from the defaults of the method.
    """

    name: str
    method: str
    credal: bool
    averaged: bool
    params: dict[str, Any]


PREDICTORS = (
    Predictor("LB-BNN", "laplace-bridge", True, True, {"posterior": "trained", "bridge": "plain"}),
    Predictor("DE", "deep-ensemble", True, True, {"n_members": 15}),
    Predictor("EDL", "evidential", True, False, {}),
    Predictor("CreINN", "creinn", True, False, {}),
    Predictor("E-CNN", "e-cnn", True, False, {}),
    Predictor("RS-NN", "rs-nn", True, False, {}),
    Predictor("SNN", "snn", False, False, {}),
    Predictor("DDU", "ddu", False, False, {}),
)


def data_set_names(preset: str, dataset: str | Sequence[str] | None) -> tuple[str, ...]:
    """The data sets asked for, or the preset's."""
    asked = (dataset,) if isinstance(dataset, str) else tuple(dataset or ())
    return asked or DATA_SETS.get(preset, ())


def available_data_sets(
    preset: str, dataset: str | Sequence[str] | None
) -> tuple[tuple[str, ...], dict[str, InputError]]:
    """Names of the data sets at hand, and the error of each other data set of the preset.

    Raises
    ------
    InputError
        An unknown data set, or one that was asked for by name and is not at hand.
    """
    from uqassay.datasets import load_dataset

    found: list[str] = []
    missing: dict[str, InputError] = {}
    for name in data_set_names(preset, dataset):
        try:
            load_dataset(name)
        except InputError as problem:
            if dataset or preset != "cpu" or name == DATA_SETS[preset][0]:
                raise
            missing[name] = problem
        else:
            found.append(name)
    return tuple(found), missing


def predictor_cells(
    preset: str,
    datasets: Sequence[str],
    seeds: Sequence[int],
    *,
    backbone: str | None = None,
    predictors: Sequence[str] | None = None,
) -> list[Cell]:
    """The cells to be trained.

    Parameters
    ----------
    preset : {"smoke", "cpu", "paper"}
    datasets : sequence of str
    seeds : sequence of int
    backbone : str, optional
        One of `BACKBONES`; None is the preset's.
    predictors : sequence of str, optional
        Some of `PREDICTORS` by name; all by default.

    Raises
    ------
    InputError
        An unknown name, or instances that do not fit the backbone.
    MissingDependencyError
        PyTorch is missing; for ResNet-50, torchvision.

    Examples
    --------
    >>> cells = predictor_cells("smoke", ["digits"], [0], predictors=["DE"])
    >>> [cell.name for cell in cells], cells[0].params["params"]["n_members"]
    (['digits, DE, test_limit 200, train_limit 300, seed 0'], 3)
    """
    if preset not in PRESETS:
        raise InputError(
            "preset", f"must be {listed(PRESETS, last='or')}", f"got {preset!r}", "cpu is the default", code="choice"
        )
    if backbone is not None and backbone not in BACKBONES:
        raise InputError(
            "backbone",
            f"must be {listed(BACKBONES, last='or')}",
            f"got {backbone!r}",
            "leave it out for the preset's",
            code="choice",
        )
    chosen = [p for p in PREDICTORS if predictors is None or p.name in predictors]
    unknown = [name for name in predictors or () if name not in {p.name for p in PREDICTORS}]
    if unknown or not chosen:
        known = ", ".join(p.name for p in PREDICTORS)
        got = repr(unknown[0]) if unknown else "none"
        raise InputError("predictors", f"must be among {known}", f"got {got}", "leave it out for all", code="choice")
    if backbone == "resnet50" and find_spec("torchvision") is None:
        raise MissingDependencyError(
            "torchvision",
            "is not installed",
            "the backbone resnet50 needs it",
            "install it in addition to PyTorch, or choose the backbone cnn",
            code="package",
        )
    body = backbone or ("cnn" if preset == "paper" else "mlp")
    cells = []
    for name in datasets:
        common = _common(name, preset) | ({} if body == "resnet50" else {"backbone": body})
        config = BenchConfig(
            dataset=name,
            method=[f"{p.name}={p.method}" for p in chosen],
            seeds=list(seeds),
            preset=preset,
            params={p.name: common | p.params | _small(p, preset) for p in chosen},
        )
        cells += cells_of(config)
    if body == "resnet50":
        cells = [replace(cell, function=ON_RESNET, rests_on=(*cell.rests_on, _module(cell.function))) for cell in cells]
    return cells


def _common(name: str, preset: str) -> dict[str, Any]:
    """Options of all predictors on a data set."""
    from uqassay.datasets import load_dataset

    epochs = {"smoke": 2, "cpu": 30 if len(load_dataset(name).y_train) > MANY else 100, "paper": 200}
    return {"epochs": epochs[preset], "progress": False}


def _small(predictor: Predictor, preset: str) -> dict[str, Any]:
    return {"n_members": 3} if preset == "smoke" and "n_members" in predictor.params else {}


def _module(function: str) -> str:
    return function.partition(":")[0]
