"""The eight predictors of the unified evaluation and their training; `uqassay.experiments.unified.presets` says how much."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

from uqassay.bench.cell import Cell
from uqassay.bench.config import BenchConfig
from uqassay.bench.methods import cells_of
from uqassay.errors import InputError
from uqassay.experiments.given_files import GivenFiles
from uqassay.experiments.unified.presets import PLANS, TrainingSetting, setting_of
from uqassay.experiments.unified.tables import PrintedData, printed_beside

if TYPE_CHECKING:
    from uqassay.datasets.dataset import Dataset

__all__ = [
    "PREDICTORS",
    "PUBLISHED",
    "Predictor",
    "TrainedData",
    "chosen_predictors",
    "data_set_names",
    "trained_data",
    "training_cells",
]

# training and test images of the paper's data sets
PUBLISHED = {"cifar-10": (50_000, 10_000), "cifar-100": (50_000, 10_000), "mnist": (60_000, 10_000)}


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
        Options that differ from the defaults of the method, in every preset.
    """

    name: str
    method: str
    credal: bool
    averaged: bool
    params: dict[str, Any]


PREDICTORS = (
    Predictor("LB-BNN", "laplace-bridge", True, True, {"posterior": "trained", "bridge": "plain"}),
    Predictor("DE", "deep-ensemble", True, True, {}),
    Predictor("EDL", "evidential", True, False, {}),
    Predictor("CreINN", "creinn", True, False, {}),
    Predictor("E-CNN", "e-cnn", True, False, {}),
    Predictor("RS-NN", "rs-nn", True, False, {}),
    Predictor("SNN", "snn", False, False, {}),
    Predictor("DDU", "ddu", False, False, {}),
)


@final
@dataclass(frozen=True)
class TrainedData:
    """A data set on which the predictors are trained.

    Attributes
    ----------
    dataset : str
        As in the command line.
    name : str
        For the reader.
    label : str
        In the cells; like `name` another one where files of the user take the place of the data set.
    source : str
        Argument of `uqassay.datasets.load_dataset`.
    setting : TrainingSetting
    n_train, n_test : int
        Of the published parts.
    n_classes : int
    """

    dataset: str
    name: str
    label: str
    source: str
    setting: TrainingSetting
    n_train: int
    n_test: int
    n_classes: int

    @property
    def beside(self) -> PrintedData:
        """The printed data set whose values stand beside ours."""
        return printed_beside(
            self.dataset,
            given=self.source != self.dataset,
            compared=self.setting.as_printed,
            differences=self.setting.differences,
        )

    def sentence(self, preset: str) -> str:
        """What is trained, in words."""
        return self.setting.sentence(self.name, preset, self.n_train, self.n_test)


def data_set_names(preset: str, dataset: str | Sequence[str] | None) -> tuple[str, ...]:
    """The data sets asked for, or the preset's."""
    asked = (dataset,) if isinstance(dataset, str) else tuple(dataset or ())
    return asked or (PLANS[preset].datasets if preset in PLANS else ())


def trained_data(
    preset: str,
    dataset: str | Sequence[str] | None = None,
    *,
    given: GivenFiles | None = None,
    changes: Mapping[str, Any] | None = None,
) -> tuple[list[TrainedData], dict[str, InputError]]:
    """The data sets at hand with their settings, and the error of each other data set of the preset.

    Parameters
    ----------
    preset : str
        A key of `PLANS`.
    dataset : str or sequence of str, optional
    given : GivenFiles, optional
        In place of the only data set.
    changes : dict, optional
        Values of `TrainingSetting` in place of the preset's.

    Raises
    ------
    InputError
        An unknown data set, one that was asked for by name and is not at hand, or a value out of range.
    """
    from uqassay.datasets import load_dataset

    found: list[TrainedData] = []
    missing: dict[str, InputError] = {}
    for name in data_set_names(preset, dataset):
        source = name if given is None else given.source
        try:
            data = load_dataset(source)
        except InputError as problem:
            if problem.parameter == "name":
                raise problem.replace(parameter="dataset") from problem
            if dataset or not PLANS[preset].optional or name == PLANS[preset].datasets[0]:
                raise
            missing[name] = problem
            continue
        n_train, n_test = len(data.y_train), len(data.y_test)
        setting = setting_of(preset, name, n_train).changed(changes or {})
        if given is not None or (n_train, n_test) != PUBLISHED.get(name):
            setting = replace(setting, as_printed=False)
        _check_fit(setting, data)
        shown, label = (name, name) if given is None else (given.shown(name), given.label(name))
        found.append(TrainedData(name, shown, label, source, setting, n_train, n_test, data.n_classes))
    return found, missing


def _check_fit(setting: TrainingSetting, data: "Dataset") -> None:
    """Refuse options that no network takes, or instances that do not fit the backbone."""
    from uqassay.methods import build_method

    try:
        build_method("snn", **setting.options("snn")).check_options(data.X_train.shape[1:], data.n_classes)
    except InputError as problem:
        if problem.parameter != "X":
            raise
        raise problem.replace(parameter="backbone", source=data.name) from problem


def training_cells(data: TrainedData, *, seed: int = 0, predictors: Sequence[str] | None = None) -> list[Cell]:
    """The trainings on a data set, run by run.

    Parameters
    ----------
    data : TrainedData
    seed : int
        Of the first run; the next ones count up from it.
    predictors : sequence of str, optional
        Some of `PREDICTORS` by name; all but the setting's `left_out` by default.

    Raises
    ------
    InputError
        An unknown name, options out of range, or instances that do not fit the backbone.
    MissingDependencyError
        PyTorch is missing.

    Examples
    --------
    >>> (digits,), _ = trained_data("smoke")
    >>> cells = training_cells(digits, predictors=["DE"])
    >>> [cell.name for cell in cells], cells[0].params["params"]["n_members"]
    (['digits, DE, test_limit 200, train_limit 300, seed 0'], 3)
    """
    params: dict[str, dict[str, Any]] = {}
    methods = []
    for predictor in chosen_predictors(predictors, data.setting.left_out):
        parts = data.setting.parts(predictor.method)
        for m, options in enumerate(parts, start=1):
            label = predictor.name if len(parts) == 1 else f"{predictor.name} member {m}"
            params[label] = options | predictor.params
            methods.append(f"{label}={predictor.method}")
    config = BenchConfig(
        dataset=[data.label],
        method=methods,
        seeds=[seed + i for i in range(data.setting.runs)],
        preset="paper",  # no limits and no options but those of the setting
        params=params,
        condition=[data.setting.limits(data.n_train, data.n_test)],
    )
    return cells_of(config, {data.label: data.source})


def chosen_predictors(names: Sequence[str] | None, left_out: Sequence[str] = ()) -> tuple[Predictor, ...]:
    """The predictors asked for, in the order of Table 1; all but those left out unless some are asked for.

    Raises
    ------
    InputError
        An unknown name, or none.
    """
    asked = [p.name for p in PREDICTORS if p.name not in left_out] if names is None else list(names)
    known = [p.name for p in PREDICTORS]
    unknown = [name for name in asked if name not in known]
    if unknown or not asked:
        got = repr(unknown[0]) if unknown else "none"
        raise InputError(
            "predictors", f"must be among {', '.join(known)}", f"got {got}", "leave it out for all", code="choice"
        )
    return tuple(p for p in PREDICTORS if p.name in asked)
