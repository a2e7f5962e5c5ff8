"""The cells of a benchmark of this package's methods on its data sets, and the function that runs one of them."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.conditions import changed_data, check_classes, check_condition, conditions_of, epochs_at
from uqassay.lab.bench.config import BenchConfig

if TYPE_CHECKING:
    from uqassay.lab.datasets.dataset import Dataset

__all__ = ["cells_of", "run_method"]

FUNCTION = "uqassay.lab.bench.methods:run_method"
LIMITS = {"smoke": (300, 200), "cpu": (8_000, 2_000), "paper": (None, None)}  # training and test instances
SET_HERE = {  # options of methods that a cell sets
    "random_state": ("the seed of each cell is used", "give seeds instead"),
    "classes": ("the classes of the data set are used", "use condition.left_out_class to leave one out"),
}
SMOKE = {"epochs": 2, "n_members": 2}  # for methods with these options


def cells_of(config: BenchConfig, sources: Mapping[str, str] | None = None) -> list[Cell]:
    """The cells of a benchmark; those of the first seed come first.

    Parameters
    ----------
    sources : dict of str to str, optional
        Argument of `load_dataset` for a data set, if that is not its name. Keys do not depend on it.
    """

    for condition in config.condition:
        if not isinstance(condition, str):
            check_condition(condition)
    params = {label: _params(label, method, config) for label, method in config.methods.items()}
    sources = sources or {}
    data = {name: _load(sources.get(name, name)) for name in config.dataset}
    conditions: dict[str, list[dict[str, Any]]] = {}
    for name, loaded in data.items():
        _check_data(name, loaded)
        asked = conditions_of(config.condition, loaded, name)
        conditions[name] = [_limited(condition, loaded, config.preset) for condition in asked]
        _check_conditions(conditions[name], loaded, name, config.seeds)
        for label, method in config.methods.items():
            _check_fit(label, method, params[label], name, loaded)
    return [
        Cell(
            FUNCTION,
            dataset=name,
            method=label,
            seed=seed,
            params={"method": method, "params": params[label]},
            condition=condition,
            data_hash=loaded.content_hash,
            source=sources.get(name, ""),
            threads=config.threads,
        )
        for seed in config.seeds
        for name, loaded in data.items()
        for condition in conditions[name]
        for label, method in config.methods.items()
    ]


def run_method(cell: Cell, objects: Mapping[str, Any] | None = None) -> CellResult:
    """Train a method on a data set, and let it predict the test instances.

    Parameters
    ----------
    objects : dict, optional
        Options of the method that are no plain values, such as a backbone that is a function; the cell must determine them.
    """
    from uqassay.lab.methods import build_method

    loaded = _loaded(cell.source or cell.dataset)
    if loaded.content_hash != cell.data_hash:
        _loaded.cache_clear()
        loaded = _loaded(cell.source or cell.dataset)
    if loaded.content_hash != cell.data_hash:
        rule = "must hold the same data at the worker and at the driver"
        fail("dataset", rule, f"those of {cell.dataset} differ", "copy the same files", code="mismatch")
    data = changed_data(loaded, cell.condition, cell.seed)
    check_classes(loaded, cell.condition, cell.seed, cell.dataset)
    options = {**_options(cell.params["params"]), **(objects or {})}
    model = build_method(cell.params["method"], **options, random_state=cell.seed)
    if "left_out_class" in cell.condition:
        model.set_params(classes=tuple(range(data.n_classes)))
    epochs = getattr(model, "epochs", None)
    if epochs is not None:
        model.set_params(epochs=epochs_at(epochs, cell.condition))
    start = time.perf_counter()
    model.fit(data.X_train, data.y_train)
    fitted = time.perf_counter()
    said = model.predict_uncertainty(data.X_test)
    facts = {
        "n_train": len(data.y_train),
        "n_test": len(data.y_test),
        "train_counts": np.bincount(data.y_train, minlength=data.n_classes).tolist(),
        "fit_seconds": fitted - start,
        "predict_seconds": time.perf_counter() - fitted,
        "device": _device(model),
        **({} if epochs is None else {"epochs": model.epochs}),
    }
    scores = getattr(model, "uncertainty_scores", None)  # uncertainties outside the prediction, such as a density
    return CellResult(
        said.with_metadata(class_names=data.class_names, groups=data.groups_test),
        data.y_test,
        scores={} if scores is None else scores(data.X_test),
        facts=facts,
    )


# -- helpers ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def _loaded(name: str) -> "Dataset":
    """A data set, cached for the next cell of this process."""
    return _load(name)


def _load(name: str) -> "Dataset":
    """A data set by name; an error about the name is one about `dataset` here."""
    from uqassay.lab.datasets import load_dataset

    try:
        return load_dataset(name)
    except InputError as problem:
        if problem.parameter != "name":
            raise
        raise problem.replace(parameter="dataset") from problem


def _params(label: str, method: str, config: BenchConfig) -> dict[str, Any]:
    """Options of a method that differ from its class's defaults: those of its name, of the preset, and those given."""
    from uqassay.lab.methods import build_method
    from uqassay.lab.methods.registry import defaults_of, option_names_of

    known = option_names_of(method)
    given = config.params.get(label, {})
    for key, value in given.items():
        numbers = [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, int)]
        if not all(-(2**63) <= v < 2**63 for v in numbers):
            rule = "whole numbers must fit 64 bits"
            fail(f"params.{label}.{key}", rule, f"got {value}", "choose a smaller one", code="range")
    for key, (reason, remedy) in SET_HERE.items():
        if key in given:
            fail(f"params.{label}.{key}", f"must be left out, because {reason}", "", remedy, code="conflict")
    small = {key: value for key, value in SMOKE.items() if key in known} if config.preset == "smoke" else {}
    params = {**defaults_of(method), **small, **given}
    with _full_names(label):
        model = build_method(method, **_options(params))
        model.check_options()
        if config.scheduler is None:  # the workers of a scheduler may have devices that this machine lacks
            _device(model)
    return params


def _check_data(name: str, data: "Dataset") -> None:
    """Refuse data on which every cell would fail."""
    if not len(data.y_test):
        rule = "must have test instances, on which methods are compared"
        fail("dataset", rule, f"{name} has none", "give it a test part", code="empty")
    if not data.X_train[0].size:
        got = f"those of {name} have shape {data.X_train.shape[1:]}"
        fail("dataset", "must have instances with features", got, "add features", code="shape")
    missing = np.setdiff1d(np.arange(data.n_classes), data.y_train)
    if missing.size:
        got = f"class {data.class_names[missing[0]]!r} of {name} has none"
        remedy = "leave the class out of the class names and the test part"
        fail("dataset", "must have a training instance of each class", got, remedy, code="missing")


def _check_conditions(
    conditions: Sequence[Mapping[str, Any]], data: "Dataset", name: str, seeds: Sequence[int]
) -> None:
    """Refuse conditions under which a class vanishes or that leave out a class without a test instance."""
    for condition in conditions:
        for seed in seeds if condition.get("subsets_by_seed") else seeds[:1]:
            check_classes(data, condition, seed, name)


def _check_fit(label: str, method: str, params: Mapping[str, Any], name: str, data: "Dataset") -> None:
    """Refuse options that do not fit the instances or the classes of a data set."""
    from uqassay.lab.methods import build_method

    with _full_names(label, source=name):
        build_method(method, **_options(params)).check_options(data.X_train.shape[1:], data.n_classes)


@contextmanager
def _full_names(label: str, source: str = "") -> Iterator[None]:
    """Re-raise a method's error with the option's full name, ``params.METHOD.OPTION``."""
    try:
        yield
    except InputError as problem:
        option = "backbone" if problem.parameter == "X" else problem.parameter  # instances that do not fit the backbone
        raise problem.replace(parameter=f"params.{label}.{option}", source=source) from problem


def _options(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with tuples in place of lists, as the methods expect."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in params.items()}


def _device(model: Any) -> str:
    """The device on which a method trains: its networks' device, or the CPU."""
    if not hasattr(model, "device"):
        return "cpu"
    from uqassay.lab.methods.training import chosen_device

    return str(chosen_device(model.device))


def _limited(condition: Mapping[str, Any], data: "Dataset", preset: str) -> dict[str, Any]:
    """The condition with the preset's limits added, if the data exceed them and the condition has none."""
    found = dict(condition)
    sizes = {"train_limit": len(data.y_train), "test_limit": len(data.y_test)}
    for (key, size), limit in zip(sizes.items(), LIMITS[preset], strict=True):
        if limit is not None and size > limit:
            found.setdefault(key, limit)
    return found
