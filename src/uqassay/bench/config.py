"""The configuration of a benchmark, from a file or a command line: data sets, methods, parameters, conditions and seeds.

    dataset = ["digits"]
    method = ["snn", "narrow=mc-dropout"]     # the method mc-dropout, shown as narrow
    seeds = 3                                  # 0, 1, 2; or a list
    preset = "cpu"

    [params.narrow]
    rate = 0.1

    [[condition]]
    train_share = 0.5

TOML and YAML files have the same keys. The configuration is stored with the results as TOML and gives the same cells again.
"""

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, final

from uqassay.bench.cell import MAX_SEED, canonical_json
from uqassay.bench.parsing import toml_value, toml_values, yaml_values
from uqassay.errors import InputError
from uqassay.wording import listed

__all__ = ["PRESETS", "BenchConfig", "nearest", "read_config", "read_params", "read_values", "to_toml"]

PRESETS = ("smoke", "cpu", "paper")
MAX_SEEDS = 10_000


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
    condition : tuple of dict
        Changes of the data; one empty condition unless given.
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
    condition: Sequence[Mapping[str, Any]] = field(default=({},), hash=False)
    threads: int = 1
    common_members: int | None = None
    workers: int | None = None
    scheduler: str | None = None

    def __post_init__(self) -> None:
        checked = {
            "dataset": _names(self.dataset, "dataset", "digits"),
            "method": _names(self.method, "method", "snn"),
            "seeds": _seeds(self.seeds),
            "params": _tables(self.params),
            "condition": _conditions(self.condition),
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
        text = path.read_text(encoding="utf-8")
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


def _names(values: Any, name: str, example: str) -> tuple[str, ...]:
    texts = [values] if isinstance(values, str) else values
    if not isinstance(texts, (list, tuple)) or not texts or not all(isinstance(t, str) and t.strip() for t in texts):
        raise InputError(
            name, "must be one name or several", f"got {values!r}", f"name one, such as {example}", code="type"
        )
    found = tuple(text.strip() for text in texts)
    if name == "method":
        found = tuple("=".join(part.strip() for part in text.split("=")) for text in found)
    labels = [text.partition("=")[0] if name == "method" else text for text in found]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        remedy = f"write label={twice} for another one" if name == "method" else "name each once"
        raise InputError(name, "must be different names", f"{twice} is named twice", remedy, code="duplicate")
    if name == "method" and not all(re.fullmatch(r"[^=]+(=[^=]+)?", text) for text in found):
        raise InputError(
            "method",
            "must read NAME or LABEL=NAME",
            f"got {', '.join(found)}",
            "remove empty names",
            code="type",
        )
    return found


def _seeds(values: Any) -> tuple[int, ...]:
    if isinstance(values, int) and not isinstance(values, bool):
        if not 1 <= values <= MAX_SEEDS:
            raise InputError(
                "seeds",
                f"must be a number in 1 … {MAX_SEEDS}",
                f"got {values}",
                "give a list of seeds to choose them",
                code="range",
            )
        return tuple(range(values))
    good = isinstance(values, (list, tuple)) and all(
        isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed <= MAX_SEED for seed in values
    )
    if not good or not values or len(set(values)) < len(values):
        raise InputError(
            "seeds",
            f"must be a number of seeds, or a list of different whole numbers in 0 … {MAX_SEED}",
            f"got {values!r}",
            "3 means 0, 1, 2",
            code="type",
        )
    return tuple(values)


def _tables(values: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(values, Mapping) or not all(isinstance(table, Mapping) for table in values.values()):
        raise InputError(
            "params",
            "must hold a table for each method",
            f"got {values!r}",
            "write [params.snn] above them",
            code="type",
        )
    return _plain(values, "params")


def _conditions(values: Any) -> tuple[dict[str, Any], ...]:
    tables = [values] if isinstance(values, Mapping) else values
    if not isinstance(tables, (list, tuple)) or not tables or not all(isinstance(table, Mapping) for table in tables):
        raise InputError(
            "condition", "must be a table or several", f"got {values!r}", "write [[condition]] above each", code="type"
        )
    found = tuple(_plain(table, "condition") for table in tables)
    texts = [canonical_json(table) for table in found]
    if len(set(texts)) < len(texts):
        raise InputError(
            "condition", "must be different conditions", "one is given twice", "remove it", code="duplicate"
        )
    return found


def _plain(values: Any, name: str) -> Any:
    """A copy of plain values. Null is refused, since TOML has none: a parameter is left out instead."""
    found = json.loads(canonical_json(values, name))

    def check(value: Any) -> None:
        if value is None:
            raise InputError(name, "must not hold null", "", "leave the key out for its default", code="type")
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(inner)

    check(found)
    return found


def nearest(name: Any, known: Iterable[Any]) -> str:
    """The remedy for an unknown name: the most similar known name, or all of them.

    Examples
    --------
    >>> nearest("smok", PRESETS), nearest("all", PRESETS)
    ('did you mean smoke?', 'choose smoke, cpu or paper')
    """
    names = [str(one) for one in known]
    near = difflib.get_close_matches(str(name), names, n=1)
    return f"did you mean {near[0]}?" if near else f"choose {listed(names, last='or')}"
