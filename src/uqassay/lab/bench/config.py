"""The configuration of a benchmark, from a file or a command line, checked before anything runs."""

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, final

from uqassay.checks import fail, whole
from uqassay.errors import FileFormatError, InputError
from uqassay.files import optional_package, read_bytes
from uqassay.lab.bench.cell import MAX_SEED, canonical_json
from uqassay.text import listed, said

__all__ = [
    "CONDITION_SETS",
    "BenchConfig",
    "checked_conditions",
    "checked_decompositions",
    "checked_seeds",
    "nearest",
    "read_config",
    "read_params",
    "read_values",
    "to_toml",
    "toml_value",
    "toml_values",
    "yaml_values",
]


# Checks of the values of a configuration.

CONDITION_SETS = ("disentanglement",)
MAX_SEEDS = 10_000


def checked_names(values: Any, name: str, example: str) -> tuple[str, ...]:
    """One name or several, all different; methods may read LABEL=NAME.

    Examples
    --------
    >>> checked_names("snn", "method", "snn")
    ('snn',)
    """
    texts = [values] if isinstance(values, str) else values
    if not isinstance(texts, (list, tuple)) or not texts or not all(isinstance(t, str) and t.strip() for t in texts):
        fail(name, "must be one name or several", f"got {values!r}", f"name one, such as {example}", code="type")
    found = tuple(text.strip() for text in texts)
    if name == "method":
        found = tuple("=".join(part.strip() for part in text.split("=")) for text in found)
    labels = [text.partition("=")[0] if name == "method" else text for text in found]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        remedy = f"write label={twice} for another one" if name == "method" else "name each once"
        fail(name, "must be different names", f"{twice} is named twice", remedy, code="duplicate")
    if name == "method" and not all(re.fullmatch(r"[^=]+(=[^=]+)?", text) for text in found):
        fail("method", "must read NAME or LABEL=NAME", f"got {', '.join(found)}", "remove empty names", code="type")
    return found


def checked_seeds(values: Any) -> tuple[int, ...]:
    """The seeds: n stands for 0 … n − 1.

    Examples
    --------
    >>> checked_seeds(2), checked_seeds([5])
    ((0, 1), (5,))
    """
    if isinstance(values, int) and not isinstance(values, bool):
        whole(values, "seeds", "give a list of seeds to choose them", least=1, most=MAX_SEEDS)
        return tuple(range(values))
    good = isinstance(values, (list, tuple)) and all(
        isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed <= MAX_SEED for seed in values
    )
    if not good or not values or len(set(values)) < len(values):
        rule = f"must be a number of seeds, or a list of different whole numbers in 0 … {MAX_SEED}"
        fail("seeds", rule, f"got {values!r}", "3 means 0, 1, 2", code="type")
    return tuple(values)


def checked_tables(values: Any) -> dict[str, dict[str, Any]]:
    """A copy of the parameters of each method."""
    if not isinstance(values, Mapping) or not all(isinstance(table, Mapping) for table in values.values()):
        rule = "must hold a table for each method"
        fail("params", rule, f"got {values!r}", "write [params.snn] above them", code="type")
    return _plain(values, "params")


def checked_conditions(values: Any) -> tuple[dict[str, Any] | str, ...]:
    """A copy of the conditions, all different; a text is the name of a set of them.

    Examples
    --------
    >>> checked_conditions("disentanglement"), checked_conditions({"train_share": 0.5})
    (('disentanglement',), ({'train_share': 0.5},))
    """
    given = [values] if isinstance(values, (Mapping, str)) else values
    if not isinstance(given, (list, tuple)) or not given or not all(isinstance(one, (Mapping, str)) for one in given):
        fail(
            "condition", "must be a table or several", f"got {values!r}", "write [[condition]] above each", code="type"
        )
    found = tuple(one.strip() if isinstance(one, str) else _plain(one, "condition") for one in given)
    for one in found:
        if isinstance(one, str) and one not in CONDITION_SETS:
            rule = "must be a table or the name of a set of conditions"
            fail("condition", rule, f"got {one!r}", nearest(one, CONDITION_SETS), code="choice")
    texts = [canonical_json(one) for one in found]
    if len(set(texts)) < len(texts):
        fail("condition", "must be different conditions", "one is given twice", "remove it", code="duplicate")
    return found


def checked_decompositions(values: Any) -> tuple[str, ...] | None:
    """Names of `uqassay.measures.DECOMPOSITIONS`, or None."""
    from uqassay.measures import DECOMPOSITIONS

    if values is None:
        return None
    found = checked_names(values, "decomposition", "information-theoretic")
    for name in found:
        if name not in DECOMPOSITIONS:
            rule = "must be the name of a decomposition"
            fail("decomposition", rule, f"got {name!r}", nearest(name, DECOMPOSITIONS), code="choice")
    return found


def _plain(values: Any, name: str) -> Any:
    """A copy of plain values. Null is refused, since TOML has none: a parameter is left out instead."""
    found = json.loads(canonical_json(values, name))

    def check(value: Any) -> None:
        if value is None:
            fail(name, "must not hold null", "", "leave the key out for its default", code="type")
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(inner)

    check(found)
    return found


def nearest(name: Any, known: Iterable[Any]) -> str:
    """The remedy for an unknown name: the most similar known name, or all of them.

    Examples
    --------
    >>> known = ("smoke", "cpu", "paper")
    >>> nearest("smok", known), nearest("all", known)
    ('did you mean smoke?', 'choose smoke, cpu or paper')
    """
    names = [str(one) for one in known]
    near = difflib.get_close_matches(str(name), names, n=1)
    return f"did you mean {near[0]}?" if near else f"choose {listed(names, last='or')}"


# Values from TOML and YAML text. Invalid text, keys given twice, and values that could not be printed are refused.

MAX_DEPTH = 50  # of lists in lists; far below Python's own limit
MAX_BITS = 4096  # of a whole number; Python refuses to print much longer ones


def toml_value(text: str, parameter: str) -> Any:
    """One value as TOML reads it; text that is not a TOML value stays text.

    Examples
    --------
    >>> toml_value("1e-3", "params.snn.rate"), toml_value("adam", "params.snn.name")
    (0.001, 'adam')
    """
    try:
        found = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text.strip()
    except (RecursionError, ValueError) as problem:  # valid TOML, but too long or too deep for Python
        raise InputError(parameter, "must be readable", _reason(problem), "change it", code="size") from problem
    _check_size(found["value"], parameter)
    return found["value"] if len(found) == 1 else text.strip()


def toml_values(text: str, source: str) -> Any:
    """The content of a TOML file.

    Examples
    --------
    >>> toml_values("seeds = 3", "a.toml")
    {'seeds': 3}
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        remedy = "correct it, or give a YAML file the extension .yaml"
        raise InputError(
            "config", "must be valid TOML", _reason(problem), remedy, code="unreadable", source=source
        ) from problem
    except (RecursionError, ValueError) as problem:  # valid TOML, but too long or too deep for Python
        raise InputError(
            "config", "must be readable", _reason(problem), "correct it", code="size", source=source
        ) from problem
    _check_size(found, "config", source)
    return found


def yaml_values(text: str, source: str) -> Any:
    """The content of a YAML file."""
    yaml = optional_package("yaml", "lab", "a YAML file", otherwise="write the file as TOML")
    # PyYAML does not catch Python's errors for malformed dates and numbers
    known = (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        twice = None if node is None else _key_given_twice(node)
        found = None if node is None else loader.construct_document(node)
    except known as problem:
        raise InputError(
            "config", "must be valid YAML", _reason(problem), "correct it", code="unreadable", source=source
        ) from problem
    if twice is not None:
        rule = "the key is given twice"
        got = f"again in line {twice.start_mark.line + 1}"
        raise InputError(str(twice.value), rule, got, "give it once", code="duplicate", source=source)
    _check_size(found, "config", source)
    return found


# -- helpers ----------------------------------------------------------------------------------------------------------


def _key_given_twice(node: Any) -> Any:
    """A node of a YAML document that repeats a key of its mapping, or None; PyYAML would keep the last one."""
    waiting, seen = [node], set()
    while waiting:
        node = waiting.pop()
        if node.id == "scalar" or id(node) in seen:  # a node may contain itself
            continue
        seen.add(id(node))
        if node.id == "sequence":
            waiting += node.value
            continue
        keys = set()
        for key, value in node.value:
            waiting.append(value)
            if key.id == "scalar" and (key.tag, key.value) in keys:
                return key
            keys.add((key.tag, key.value) if key.id == "scalar" else id(key))
    return None


def _reason(problem: Exception) -> str:
    """The message of a parser on one line."""
    if isinstance(problem, RecursionError):
        return "too many lists in lists"
    return said(problem)


def _check_size(value: Any, parameter: str, source: str = "", depth: int = 0) -> None:
    """Refuse values that could not be printed: lists nested too deeply or in themselves, and very long whole numbers."""
    if depth > MAX_DEPTH:
        rule = f"must not nest lists or tables more than {MAX_DEPTH} deep"
        raise InputError(parameter, rule, "", "make it flatter", code="size", source=source)
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        rule, got = f"must hold whole numbers of at most {MAX_BITS} bits", f"got one of {value.bit_length()}"
        raise InputError(parameter, rule, got, "choose a smaller one", code="size", source=source)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_size(inner, parameter, source, depth + 1)


# The configuration of a benchmark, from a file or a command line: data sets, methods, parameters, conditions and seeds.
#
#     dataset = ["digits"]
#     method = ["snn", "narrow=mc-dropout"]     # the method mc-dropout, shown as narrow
#     seeds = 3                                  # 0, 1, 2; or a list
#     preset = "cpu"
#
#     [params.narrow]
#     rate = 0.1
#
#     [[condition]]
#     train_share = 0.5
#
# ``condition = ["disentanglement"]`` is a set of conditions by its name: see `uqassay.lab.bench.conditions`. TOML and YAML
# files have the same keys. The configuration is stored with the results as TOML and gives the same cells again.

PRESETS = ("smoke", "cpu", "paper")


@final
@dataclass(frozen=True)
class BenchConfig:
    """A benchmark, validated.

    Examples
    --------
    >>> config = BenchConfig(dataset=["digits"], method=["snn", "narrow=mc-dropout"], seeds=2)
    >>> config.seeds, config.methods
    ((0, 1), {'snn': 'snn', 'narrow': 'mc-dropout'})
    """

    dataset: Sequence[str]
    method: Sequence[str]  #: ``"name"``, or ``"label=name"`` for a method under another name
    seeds: Any = 1  #: Given as a whole number n, they are 0 … n − 1
    preset: str = "cpu"  #: {"smoke", "cpu", "paper"}: How much is computed
    #: Parameters of the methods by their labels; they replace those of the preset
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    #: Changes of the data, and names of sets of them, such as "disentanglement"; one empty condition unless given
    condition: Sequence[Mapping[str, Any] | str] = field(default=({},), hash=False)
    threads: int = 1  #: Threads of BLAS and PyTorch in each worker; they change the last digits of the results
    #: As in `uqassay.assay`: number of members that span every sampled set in the report
    common_members: int | None = None
    #: Names of `uqassay.measures.DECOMPOSITIONS` for the page on disentanglement; None means "information-theoretic", and
    #: "gaussian-logits" where a method offers it. The results do not depend on them.
    decomposition: Sequence[str] | None = None
    workers: int | None = None
    scheduler: str | None = None  #: As in `run_cells`; the results do not depend on them

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
            rule = "must be the name of a preset"
            fail("preset", rule, f"got {self.preset!r}", nearest(self.preset, PRESETS), code="choice")
        for name, least in (("threads", 1), ("common_members", 1), ("workers", 0)):
            value = getattr(self, name)
            if value is None and name != "threads":
                continue
            object.__setattr__(self, name, whole(value, name, "change it", least=least))
        if self.scheduler is not None and not (isinstance(self.scheduler, str) and "://" in self.scheduler):
            rule = "must be an address such as tcp://host:8786"
            fail("scheduler", rule, f"got {self.scheduler!r}", "see the output of dask scheduler", code="type")
        unknown = [label for label in self.params if label not in self.methods]
        if unknown:
            rule = "must be parameters of a method of this benchmark"
            fail(f"params.{unknown[0]}", rule, f"got {unknown[0]!r}", nearest(unknown[0], self.methods), code="choice")

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
    """Fields of a `BenchConfig` from a TOML or YAML file, its keys checked."""
    try:
        text = read_bytes(path).decode("utf-8")
    except FileFormatError as problem:
        raise problem.replace(parameter="config", source=str(path)) from problem
    except OSError as problem:
        rule = "must be a file that can be read"
        got = str(problem.strerror)
        raise InputError("config", rule, got, "check the path", code="unreadable", source=str(path)) from problem
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
            fail("param", "must read METHOD.KEY=VALUE", f"got {text!r}", "for example mc-dropout.rate=0.1", code="type")
        label, key = label.strip(), key.strip()
        _add(found.setdefault(label, {}), key, value, f"params.{label}.{key}")
    return found


def read_values(texts: Sequence[str], name: str) -> dict[str, Any]:
    """Values from ``key=value``, read as by `read_params`.

    Examples
    --------
    >>> read_values(["train_share=0.1", "label_noise=0"], "condition")
    {'train_share': 0.1, 'label_noise': 0}
    """
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (equals and key.strip()):
            fail(name, "must read KEY=VALUE", f"got {text!r}", "for example train_share=0.1", code="type")
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
        fail(parameter, "is given twice", "", "give it once", code="duplicate")
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
