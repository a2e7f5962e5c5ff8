"""The configuration of a benchmark, from a file or a command line: data sets, methods, parameters, conditions and seeds.

    dataset = ["digits"]
    method = ["snn", "narrow=mc-dropout"]     # the method mc-dropout, shown as narrow
    seeds = 3                                  # 0, 1, 2; or a list
    preset = "cpu"

    [params.narrow]
    rate = 0.1

    [[condition]]
    train_share = 0.5

``condition = ["disentanglement"]`` is a set of conditions by its name: see `uqassay.bench.conditions`. TOML and YAML files have
the same keys. The configuration is stored with the results as TOML and gives the same cells again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, final

from uqassay._files import read_bytes
from uqassay.bench.config_values import (
    checked_conditions,
    checked_decompositions,
    checked_names,
    checked_seeds,
    checked_tables,
    nearest,
)
from uqassay.bench.parsing import toml_value, toml_values, yaml_values
from uqassay.errors import FileFormatError, InputError

__all__ = [
    "PRESETS",
    "BenchConfig",
    "read_config",
    "read_params",
    "read_values",
    "to_toml",
]

PRESETS = ("smoke", "cpu", "paper")


@final
@dataclass(frozen=True)
class BenchConfig:
    """A benchmark, validated.

    Attributes
    ----------
    dataset : tuple of str
    method : tuple of str
        ``"name"``, or ``"label=name"`` for a method under another name.
    seeds : tuple of int
        Given as a whole number n, they are 0 … n − 1.
    preset : {"smoke", "cpu", "paper"}
        How much is computed.
    params : dict of str to dict
        Parameters of the methods by their labels; they replace those of the preset.
    condition : tuple of dict or str
        Changes of the data, and names of sets of them, such as "disentanglement"; one empty condition unless given.
    decomposition : tuple of str or None
        Names of `uqassay.measures.DECOMPOSITIONS` for the page on disentanglement; None means "information-theoretic", and
        "gaussian-logits" where a method offers it. The results do not depend on them.
    threads : int
        Threads of BLAS and PyTorch in each worker; they change the last digits of the results.
    common_members : int or None
        As in `uqassay.assay`: number of members that span every sampled set in the report.
    workers : int or None
    scheduler : str or None
        As in `run_cells`; the results do not depend on them.

    Raises
    ------
    InputError
        A value of another type, an unknown preset, or parameters of a method that is not listed.

    Examples
    --------
    >>> config = BenchConfig(dataset=["digits"], method=["snn", "narrow=mc-dropout"], seeds=2)
    >>> config.seeds, config.methods
    ((0, 1), {'snn': 'snn', 'narrow': 'mc-dropout'})
    """

    dataset: Sequence[str]
    method: Sequence[str]
    seeds: Any = 1
    preset: str = "cpu"
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    condition: Sequence[Mapping[str, Any] | str] = field(default=({},), hash=False)
    threads: int = 1
    common_members: int | None = None
    decomposition: Sequence[str] | None = None
    workers: int | None = None
    scheduler: str | None = None

    def __post_init__(self) -> None:
        checked = {
            "dataset": checked_names(self.dataset, "dataset", "digits"),
            "method": checked_names(self.method, "method", "snn"),
            "seeds": checked_seeds(self.seeds),
            "params": checked_tables(self.params),
            "condition": checked_conditions(self.condition),
            "decomposition": checked_decompositions(self.decomposition),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.preset not in PRESETS:
            raise InputError(
                "preset",
                "must be the name of a preset",
                f"got {self.preset!r}",
                nearest(self.preset, PRESETS),
                code="choice",
            )
        for name, least in (("threads", 1), ("common_members", 1), ("workers", 0)):
            value = getattr(self, name)
            if value is None and name != "threads":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(
                    name,
                    f"must be a whole number of at least {least}",
                    f"got {value!r}",
                    "change it",
                    code="range",
                )
        if self.scheduler is not None and not (isinstance(self.scheduler, str) and "://" in self.scheduler):
            raise InputError(
                "scheduler",
                "must be an address such as tcp://host:8786",
                f"got {self.scheduler!r}",
                "see the output of dask scheduler",
                code="type",
            )
        unknown = [label for label in self.params if label not in self.methods]
        if unknown:
            raise InputError(
                f"params.{unknown[0]}",
                "must be parameters of a method of this benchmark",
                f"got {unknown[0]!r}",
                nearest(unknown[0], self.methods),
                code="choice",
            )

    @property
    def methods(self) -> dict[str, str]:
        """The method behind each label, in order."""
        pairs = [text.partition("=")[::2] for text in self.method]
        return {label: name or label for label, name in pairs}

    def to_dict(self) -> dict[str, Any]:
        """Plain values of all fields that are set; `BenchConfig` accepts them."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        found: dict[str, Any] = json.loads(json.dumps({k: v for k, v in values.items() if v is not None}))
        return found

    def changed(self, **values: Any) -> "BenchConfig":
        """A copy with other values of some fields; None leaves a field unchanged, and parameters are merged."""
        given = {name: value for name, value in values.items() if value is not None}
        if "params" in given:
            merged = {label: dict(table) for label, table in self.params.items()}
            for label, table in given["params"].items():
                merged[label] = {**merged.get(label, {}), **table}
            given["params"] = merged
        return replace(self, **given)


def read_config(path: Path) -> dict[str, Any]:
    """Fields of a `BenchConfig` from a TOML or YAML file, its keys checked.

    Raises
    ------
    InputError
        No such file, text that does not parse, or an unknown key.
    MissingDependencyError
        A YAML file without PyYAML.
    """
    try:
        text = read_bytes(path).decode("utf-8")
    except FileFormatError as problem:
        raise problem.replace(parameter="config", source=str(path)) from problem
    except OSError as problem:
        raise InputError(
            "config",
            "must be a file that can be read",
            str(problem.strerror),
            "check the path",
            code="unreadable",
            source=str(path),
        ) from problem
    except UnicodeDecodeError as problem:
        raise InputError(
            "config", "must be text in UTF-8", "", "save it as UTF-8", code="unreadable", source=str(path)
        ) from problem
    parsed = yaml_values if path.suffix.lower() in (".yaml", ".yml") else toml_values
    values = parsed(text, str(path))
    if not isinstance(values, dict):
        got = f"got {type(values).__name__}"
        raise InputError("config", "must hold keys and values", got, "see the guide", code="type", source=str(path))
    known = [f.name for f in fields(BenchConfig)]
    for key in values:
        if key not in known:
            remedy = nearest(str(key), known)
            raise InputError(str(key), "is not a key of a configuration", "", remedy, code="choice", source=str(path))
    return values


def read_params(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Parameters from ``method.key=value``; values are read as TOML, or as text if they are not TOML.

    Raises
    ------
    InputError
        Text of another form, or a parameter given twice; it is named ``params.METHOD.KEY``.

    Examples
    --------
    >>> read_params(["mc-dropout.rate=0.1", "snn.hidden=[32, 32]", "snn.device=cpu"])
    {'mc-dropout': {'rate': 0.1}, 'snn': {'hidden': [32, 32], 'device': 'cpu'}}
    """
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        place, equals, value = text.partition("=")
        label, dot, key = place.rpartition(".")
        if not (equals and dot and label.strip() and key.strip()):
            raise InputError(
                "param", "must read METHOD.KEY=VALUE", f"got {text!r}", "for example mc-dropout.rate=0.1", code="type"
            )
        label, key = label.strip(), key.strip()
        _add(found.setdefault(label, {}), key, value, f"params.{label}.{key}")
    return found


def read_values(texts: Sequence[str], name: str) -> dict[str, Any]:
    """Values from ``key=value``, read as by `read_params`.

    Raises
    ------
    InputError
        Text of another form; a key given twice, which is named ``name.key``.

    Examples
    --------
    >>> read_values(["train_share=0.1", "label_noise=0"], "condition")
    {'train_share': 0.1, 'label_noise': 0}
    """
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (equals and key.strip()):
            raise InputError(name, "must read KEY=VALUE", f"got {text!r}", "for example train_share=0.1", code="type")
        _add(found, key.strip(), value, f"{name}.{key.strip()}")
    return found


def to_toml(config: BenchConfig) -> str:
    """The configuration as TOML text, from which `read_config` returns exactly the same values.

    Examples
    --------
    >>> print(to_toml(BenchConfig(dataset=["digits"], method=["snn"], params={"snn": {"epochs": 5}})))
    dataset = ["digits"]
    method = ["snn"]
    seeds = [0]
    preset = "cpu"
    threads = 1
    condition = [{}]
    params = {"snn" = {"epochs" = 5}}
    """
    values = config.to_dict()
    last = [name for name in ("condition", "params") if name in values]
    order = [name for name in values if name not in last] + last
    return "\n".join(f"{name} = {_toml(values[name])}" for name in order)


def _add(table: dict[str, Any], key: str, text: str, parameter: str) -> None:
    """Set a key to its value as TOML, or as text."""
    if key in table:
        raise InputError(parameter, "is given twice", "", "give it once", code="duplicate")
    table[key] = toml_value(text, parameter)


# -- values -----------------------------------------------------------------------------------------------------------


def _toml(value: Any) -> str:
    """One value on one line; texts, numbers and truth values are written as in JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
