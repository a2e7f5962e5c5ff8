"""The cells of a benchmark of this package's methods on its data sets, and what each of them does.

A condition changes the data, in the same way for every method and seed, so that methods are compared on the same labels:

| key | what it does |
|---|---|
| train_limit, test_limit | so many instances at most, drawn once |
| train_share | this share of the training instances of each class |
| label_noise | the labels of this share of the instances are permuted |
"""

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.bench.cell import Cell, CellResult
from uqassay.bench.config import BenchConfig, nearest
from uqassay.errors import InputError

if TYPE_CHECKING:
    from uqassay.datasets.dataset import Dataset
    from uqassay.methods import MethodInfo

__all__ = ["CONDITIONS", "cells_of", "changed_data", "run_method"]

FUNCTION = "uqassay.bench.methods:run_method"
CONDITIONS = {
    "train_limit": "a whole number from 1 up",
    "test_limit": "a whole number from 1 up",
    "train_share": "a number in (0, 1]",
    "label_noise": "a number in [0, 1]",
}
LIMITS = {"smoke": (300, 200), "cpu": (8_000, 2_000), "paper": (None, None)}  # training and test instances
SMOKE = {"epochs": 2, "n_members": 2}  # where a method has these options
DATA_SEED = 0  # of what a condition draws


def cells_of(config: BenchConfig, sources: Mapping[str, str] | None = None) -> list[Cell]:
    """The cells of a benchmark, the first seed of everything first.

    Parameters
    ----------
    config : BenchConfig
    sources : dict of str to str, optional
        What `load_dataset` takes for a data set of the configuration, where that is not its name. Keys do not depend on it.

    Returns
    -------
    list of Cell

    Raises
    ------
    InputError
        A data set, method, parameter or key of a condition that is not known, a value out of range, or data from which no
        method can learn all classes.
    """
    from uqassay.methods import METHODS

    for condition in config.condition:
        check_condition(condition)
    params = {label: _params(label, method, config) for label, method in config.methods.items()}
    sources = sources or {}
    data = {name: _load(sources.get(name, name)) for name in config.dataset}
    for name, loaded in data.items():
        _check_data(name, loaded)
        for label in config.methods:
            _check_backbone(label, params[label], name, loaded)
    return [
        Cell(
            FUNCTION,
            dataset=name,
            method=label,
            seed=seed,
            params={"method": method, "params": params[label]},
            condition=_limited(condition, loaded, config.preset),
            data_hash=loaded.content_hash,
            source=sources.get(name, ""),
            rests_on=("uqassay.datasets.dataset", *_modules(METHODS[method])),
            threads=config.threads,
        )
        for seed in config.seeds
        for name, loaded in data.items()
        for condition in config.condition
        for label, method in config.methods.items()
    ]


def run_method(cell: Cell) -> CellResult:
    """Train a method on a data set, and let it predict the test instances.

    Raises
    ------
    InputError
        The data are not those of the cell, or the condition leaves a class without a training instance.
    """
    from uqassay.methods import build_method

    loaded = _loaded(cell.source or cell.dataset)
    if loaded.content_hash != cell.data_hash:
        _loaded.cache_clear()
        loaded = _loaded(cell.source or cell.dataset)
    if loaded.content_hash != cell.data_hash:
        raise InputError(
            "dataset",
            f"{cell.dataset} holds other data here than where the cell was sent from",
            "",
            "copy the same files",
            code="undefined",
        )
    data = changed_data(loaded, cell.condition)
    classes = np.unique(data.y_train)
    if len(classes) < data.n_classes:
        missing = sorted(set(range(data.n_classes)) - set(classes.tolist()))
        name = f"class {data.class_names[missing[0]]!r} of {cell.dataset}"
        raise InputError("condition", f"{name} has no training instance left", "", "keep more", code="missing")
    model = build_method(cell.params["method"], **_options(cell.params["params"]), random_state=cell.seed)
    start = time.perf_counter()
    with warnings.catch_warnings():
        # a worker's networks train one after another, whatever the method would rather do
        warnings.filterwarnings("ignore", message="Inside a Dask worker", category=UserWarning)
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
    }
    scores = getattr(model, "uncertainty_scores", None)  # what a method knows beside its prediction, such as a density
    return CellResult(
        said.with_metadata(class_names=data.class_names, groups=data.groups_test),
        data.y_test,
        scores={} if scores is None else scores(data.X_test),
        facts=facts,
    )


def changed_data(data: "Dataset", condition: Mapping[str, Any]) -> "Dataset":
    """The data under a condition.

    Raises
    ------
    InputError
        A key or value that is not known.
    """
    check_condition(condition)
    if "train_limit" in condition or "test_limit" in condition:
        rng = np.random.default_rng(DATA_SEED)
        train = np.sort(rng.permutation(len(data.y_train))[: condition.get("train_limit")])
        test = np.sort(rng.permutation(len(data.y_test))[: condition.get("test_limit")])
        data = data.subset(train, test)
    if "train_share" in condition:
        data = data.fraction(condition["train_share"], rng=DATA_SEED)
    if "label_noise" in condition:
        data = data.with_label_noise(condition["label_noise"], rng=DATA_SEED)
    return data


def check_condition(condition: Mapping[str, Any]) -> None:
    """Refuse keys that are not known and values out of range.

    Examples
    --------
    >>> check_condition({"train_share": 0.5, "label_noise": 0})
    """
    for key, value in condition.items():
        if key not in CONDITIONS:
            raise InputError("condition", f"{key!r} is not known{nearest(key, list(CONDITIONS))}", code="choice")
        if key.endswith("_limit"):
            good = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        else:
            good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
            good = good and (key == "label_noise" or value > 0)
        if not good:
            raise InputError(
                "condition",
                f"{key} must be {CONDITIONS[key]}",
                f"got {value!r}",
                "change it or leave it out",
                code="type",
            )


# -- helpers ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def _loaded(name: str) -> "Dataset":
    """A data set, kept for the next cell of this process."""
    return _load(name)


def _load(name: str) -> "Dataset":
    """A data set by name; a sentence on its name is one on `dataset` here."""
    from uqassay.datasets import load_dataset

    try:
        return load_dataset(name)
    except InputError as problem:
        parameter, _, rule = str(problem).partition(": ")
        if parameter != "name":
            raise
        raise InputError("dataset", rule, code="undefined") from problem


def _params(label: str, method: str, config: BenchConfig) -> dict[str, Any]:
    """Every option of a method that is not its class's default: the name's own, those of the preset, those given."""
    from uqassay.methods import METHODS
    from uqassay.methods.registry import method_class

    known = method_class(method)._get_param_names()
    given = config.params.get(label, {})
    for key, value in given.items():
        if any(
            isinstance(v, int) and not -(2**63) <= v < 2**63 for v in (value if isinstance(value, list) else [value])
        ):
            raise InputError(
                "params",
                f"{label}.{key}: whole numbers must fit 64 bits",
                f"got {value}",
                "choose a smaller one",
                code="type",
            )
    if "random_state" in given:
        raise InputError(
            "params", f"random_state of {label} is the seed of each cell", "", "give seeds instead", code="undefined"
        )
    small = {key: value for key, value in SMOKE.items() if key in known} if config.preset == "smoke" else {}
    params = {**METHODS[method].defaults, **small, **given}
    _check_options(label, method, params, here=config.scheduler is None)
    return params


def _check_options(label: str, method: str, params: Mapping[str, Any], *, here: bool) -> None:
    """Refuse what a method does not have, and values out of range, as far as it can tell without the data.

    A method looks at its options before its data. So it is given one class alone, which it refuses before anything is trained;
    scikit-learn's forests look at some options of their own while they learn, which two instances are enough for.
    """
    from uqassay.methods import build_method

    with _told_of(label):
        model = build_method(method, **_options(params))
        try:
            model.fit([[0.0], [1.0]], [0, 0])
        except InputError as problem:
            if not str(problem).startswith("y:"):
                raise
        if not hasattr(model, "backbone"):
            model.set_params(n_members=1).fit([[0.0], [1.0]], [0, 1])
        elif here:  # the workers of a scheduler may have devices that this machine lacks
            from uqassay.methods.devices import chosen_device

            chosen_device(model.device)


def _check_data(name: str, data: "Dataset") -> None:
    """Refuse data on which every cell would fail."""
    if not len(data.y_test):
        raise InputError(
            "dataset",
            f"{name} has no test instances, on which methods are judged",
            "",
            "give it a test part",
            code="missing",
        )
    if not data.X_train[0].size:
        raise InputError(
            "dataset",
            f"{name} has instances without features, {data.X_train.shape[1:]}",
            "",
            "give them some",
            code="shape",
        )
    missing = np.setdiff1d(np.arange(data.n_classes), data.y_train)
    if missing.size:
        raise InputError(
            "dataset",
            f"class {data.class_names[missing[0]]!r} of {name} has no training instance",
            "",
            "leave it out of the class names and the test",
            code="missing",
        )


def _check_backbone(label: str, params: Mapping[str, Any], name: str, data: "Dataset") -> None:
    """Refuse a network that does not fit the instances; a method without a network has none."""
    if "backbone" not in params:
        return
    from uqassay.methods.backbones import make_backbone

    try:
        make_backbone(_options(params)["backbone"], data.X_train.shape[1:])
    except InputError as problem:  # told of X where the instances are of another shape
        rule = str(problem).partition(": ")[2]
        raise InputError("params", f"{label}.backbone on {name}: {rule}", code="undefined") from problem


@contextmanager
def _told_of(label: str) -> Iterator[None]:
    """A method's sentence on one of its options, as one on METHOD.OPTION of the configuration."""
    try:
        yield
    except (ArithmeticError, TypeError, ValueError) as problem:
        sentence = " ".join(str(problem).split())
        if isinstance(problem, InputError):
            raise InputError("params", f"{label}.{sentence}", code="undefined") from problem
        raise InputError(
            "params", f"{label}: {sentence.rstrip('.')}", "", "change it or leave it out", code="undefined"
        ) from problem


def _options(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with tuples for lists, as the methods take them."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in params.items()}


def _device(model: Any) -> str:
    """Where a method trained: its networks' device, or the CPU."""
    if not hasattr(model, "device"):
        return "cpu"
    from uqassay.methods.devices import chosen_device

    return str(chosen_device(model.device))


def _modules(info: "MethodInfo") -> tuple[str, ...]:
    return tuple(f"uqassay.methods.{name.removesuffix('.py')}" for name in info.source_files)


def _limited(condition: Mapping[str, Any], data: "Dataset", preset: str) -> dict[str, Any]:
    """The condition with the limits of the preset, where the data exceed them and the condition sets none."""
    found = dict(condition)
    sizes = {"train_limit": len(data.y_train), "test_limit": len(data.y_test)}
    for (key, size), limit in zip(sizes.items(), LIMITS[preset], strict=True):
        if limit is not None and size > limit:
            found.setdefault(key, limit)
    return found
