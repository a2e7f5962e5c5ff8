"""Options of protocols: as a command line needs them, those that several have, and files in place of a data set's own."""

import inspect
import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, final, get_args, get_origin, get_type_hints

from uqassay.checks import fail, whole
from uqassay.errors import InputError
from uqassay.lab.bench.cell import MAX_SEED
from uqassay.lab.bench.config import nearest
from uqassay.lab.methods.registry import is_given, option_names_of
from uqassay.text import listed

__all__ = [
    "Figures",
    "FirstFigure",
    "FirstSeed",
    "GivenFiles",
    "NamedOptions",
    "OtherFiles",
    "OwnMethod",
    "Progress",
    "ProtocolOption",
    "Say",
    "Workers",
    "check_whole",
    "given_files",
    "known_names",
    "named_options",
    "option_value",
    "protocol_options",
    "taken_by",
]

# The options of a protocol are the keyword-only parameters of its function, each declared once in the signature:
#
#     members: Annotated[int | None, "Number of members of DE."] = None,
#
# Name, type and default are Python's own; the text after the type is the sentence of `--help`; a tuple after it has the
# values that the option may take.

_UNREADABLE = object()
_SEVERAL = (Sequence, Collection, Iterable, list, tuple)
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text", NoneType: ""}


@final
@dataclass(frozen=True, slots=True)
class ProtocolOption:
    """One option of a protocol."""

    name: str
    default: Any
    text: str  #: The meaning, in one or more sentences
    choices: tuple[str, ...] = ()  #: The values that it may take; empty for all of its type


def protocol_options(function: Callable[..., Any]) -> tuple[ProtocolOption, ...]:
    """The options of a function, in the order of its signature.

    Examples
    --------
    >>> from typing import Annotated
    >>> def run(*, seed: Annotated[int, "Of every draw."] = 0): ...
    >>> protocol_options(run)
    (ProtocolOption(name='seed', default=0, text='Of every draw.', choices=()),)
    """
    hints = get_type_hints(function, include_extras=True)
    return tuple(
        ProtocolOption(name, parameter.default, *getattr(hints.get(name), "__metadata__", ("",)))
        for name, parameter in inspect.signature(function).parameters.items()
    )


def option_value(function: Callable[..., Any], name: str, text: str) -> Any:
    """The value of an option from text: JSON, else the text itself, as the type of the option takes it.

    Parameters
    ----------
    function : callable
    name : str
        A parameter of the function.
    text : str
        Several values may be a JSON list, or have commas between them.

    Examples
    --------
    >>> def run(*, share: float = 0.5, models: Sequence[str] | None = None): ...
    >>> option_value(run, "share", ".25"), option_value(run, "models", "DE,SNN"), option_value(run, "models", "null")
    (0.25, ['DE', 'SNN'], None)
    """
    hint = get_type_hints(function).get(name, Any)
    for value in _readings(text, hint):
        if _fits(value, hint):
            return value
    words = listed(list(dict.fromkeys(filter(None, _kinds(hint)))), last="or")
    fail(name, f"must be {words or 'another value'}", f"got {text!r}", "", code="type")


# ---- values ----------------------------------------------------------------------------------------------------------


def _readings(text: str, hint: Any) -> Iterable[Any]:
    """What the text may mean, the likeliest first."""
    yield _from_json(text)
    if "," in text and _takes_several(hint):
        yield [_scalar(part.strip(), hint) for part in text.split(",") if part.strip()]
    yield _from_number(text)
    yield text
    if _takes_several(hint):
        yield [_scalar(text, hint)]


def _scalar(text: str, hint: Any) -> Any:
    """A member of several values: a number where members may be numbers."""
    for value in (_from_json(text), _from_number(text), text):
        if _fits([value], hint):
            return value
    return text


def _from_json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=lambda name: _UNREADABLE)
    except (ValueError, RecursionError):
        return _UNREADABLE


def _from_number(text: str) -> Any:
    """A number that JSON writes otherwise, such as .5."""
    try:
        return float(text)
    except ValueError:
        return _UNREADABLE


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of the type that a parameter is annotated with."""
    origin, arguments = get_origin(hint), get_args(hint)
    if value is _UNREADABLE:
        return False
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in arguments)
    if hint is Any:
        return True
    if origin is Literal:
        return value in arguments
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and _finite(value)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint in (bool, str, NoneType):
        return isinstance(value, hint)
    if origin in _SEVERAL:
        return isinstance(value, list) and all(_fits(one, arguments[0] if arguments else Any) for one in value)
    if origin in (Mapping, dict):
        return isinstance(value, dict)
    return _is_path(hint) and isinstance(value, str)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _takes_several(hint: Any) -> bool:
    return get_origin(hint) in _SEVERAL or any(_takes_several(one) for one in get_args(hint))


def _is_path(hint: Any) -> bool:
    kind = get_origin(hint) or hint
    return isinstance(kind, type) and (kind is Path or kind.__name__ == "PathLike")


def _kinds(hint: Any) -> Iterable[str]:
    """The types of a parameter in words."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        for one in arguments:
            yield from _kinds(one)
    elif origin is Literal:
        yield listed([str(one) for one in arguments], last="or")
    elif origin in _SEVERAL:
        yield from _kinds(arguments[0] if arguments else Any)
        yield "several with commas between"
    elif origin in (Mapping, dict):
        yield "a JSON object"
    else:
        yield "a path" if _is_path(hint) else _WORDS.get(hint, "")


# Options that several protocols have.

PathOption = str | os.PathLike[str] | None

Say = Callable[[str], None]
Progress = Annotated[Say | None, "Called with a line of text at every step."]
Figures = Annotated[PathOption, "Folder for the figures as PNG files; needs matplotlib."]
FirstFigure = Annotated[PathOption, "Folder for Figure 1 as a PNG file; needs matplotlib."]
FirstSeed = Annotated[int, "Seed of the first run; the next ones count up from it."]
OwnMethod = 'Your own class is "module:Class": its row stands in the tables beside the printed ones.'
Workers = Annotated[int, "Number of processes; the results do not depend on it."]
OtherFiles = Annotated[
    PathOption,
    "Folder with train.npz and test.npz in place of the data set's own files, such as a copy of CIFAR-10; needs exactly one "
    "data set. The numbers are then not compared with the paper.",
]


# Options of protocols: names, functions, several of them or a dict that names them, and whole numbers.

NamedOptions = str | Callable[..., Any] | Sequence[Any] | Mapping[str, Any] | None


def named_options(given: NamedOptions, parameter: str, known: Collection[str]) -> dict[str, Any] | None:
    """Names and functions by name; None stands for all that are there.

    Parameters
    ----------
    given : str, callable, several, dict or None
        In a dict functions have names of their own; else a function has its `__name__`.
    parameter : str
        For errors.

    Examples
    --------
    >>> named_options(["a", len], "scores", ["a", "b"])
    {'a': 'a', 'len': <built-in function len>}
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        each = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
        pairs = [(_name(one), one) for one in each]
    found: dict[str, Any] = {}
    for name, one in pairs:
        if not isinstance(name, str) or not (callable(one) or (isinstance(one, str) and one in known)):
            got = f"got {one!r}" if isinstance(name, str) else f"got the name {name!r}"
            rule = f"must be {listed(list(known), last='or')}, a function, several of them, or a dict that names them"
            fail(parameter, rule, got, "None takes all that a prediction offers", code="choice")
        if name in found:
            fail(parameter, "must have different names", f"got {name!r} twice", "give a dict", code="duplicate")
        found[name] = one
    if not found:
        fail(parameter, "must hold at least one", "got none", "None takes all", code="empty")
    return found


def known_names(
    given: str | Sequence[str], parameter: str, known: Collection[str], rule: str = "", *, own: bool = False
) -> list[str]:
    """One or several names that are known, each once.

    Parameters
    ----------
    parameter : str
        For errors.
    rule : str
        The rule of the error for an unknown name; by default that it must be one of the known ones. The remedy is the most
        similar name.
    own : bool
        Also take ``module:Class``, a class of the user, which must be there.

    Examples
    --------
    >>> known_names("a", "scores", ["a", "b"])
    ['a']
    """
    names = [given] if isinstance(given, str) else list(given)
    if not names:
        fail(parameter, "must hold at least one name", "got none", "leave it out", code="empty")
    for i, name in enumerate(names):
        if own and is_given(name):
            check_given(name, parameter)
        elif name not in known:
            said = (rule or f"must be {listed(list(known), last='or')}") + (", or your own module:Class" if own else "")
            fail(parameter, said, f"got {name!r}", nearest(name, list(known)), code="choice")
        if name in names[:i]:
            fail(parameter, "must be named once", f"got {name} twice", "remove one", code="duplicate")
    return names


def check_given(name: str, parameter: str) -> None:
    """Refuse a ``module:Class`` that is not there or is no classifier."""
    try:
        option_names_of(name)
    except InputError as problem:
        raise problem.replace(parameter=parameter) from problem


def check_whole(least: int, **values: int | None) -> None:
    """Refuse numbers of runs, seeds or processes that are not whole or too small; None is accepted."""
    for name, value in values.items():
        if value is not None:
            whole(value, name, "leave it out", least=least, most=MAX_SEED // 2)


def taken_by(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a function has parameters for.

    Examples
    --------
    >>> taken_by(known_names, {"known": ["a"], "seed": 3})
    {'known': ['a']}
    """
    return {name: options[name] for name in inspect.signature(function).parameters if name in options}


def _name(one: Any) -> str:
    return one if isinstance(one, str) else getattr(one, "__name__", type(one).__name__)


# Files of the user in place of a data set's own: a folder with train.npz and test.npz, such as a copy of CIFAR-10.


@final
@dataclass(frozen=True)
class GivenFiles:
    """Files in place of those of one data set.

    Examples
    --------
    >>> given = GivenFiles(Path("copies/jpeg"), "My copy")
    >>> given.source, given.label("cifar-10"), given.shown("cifar-10")
    ('npz:copies/jpeg', 'cifar-10 from jpeg', 'My copy')
    """

    folder: Path
    name: str = ""  #: Of the data, for the reader; "" for one made from the data set and the folder

    @property
    def source(self) -> str:
        """Argument of `uqassay.lab.datasets.load_dataset`."""
        return f"npz:{self.folder}"

    def label(self, dataset: str) -> str:
        """What stands in for a data set; cells have it, so that another name of the data trains nothing anew."""
        return f"{dataset} from {self.folder.resolve().name}"

    def shown(self, dataset: str) -> str:
        """Name for the reader."""
        return self.name or self.label(dataset)


def given_files(
    data: str | os.PathLike[str] | None, datasets: Sequence[str], *, name: str | None = None
) -> GivenFiles | None:
    """The files of an option ``data``, checked; None without.

    Parameters
    ----------
    datasets : sequence of str
        The data sets asked for; the files stand in for exactly one.
    name : str, optional
        Of the data, for the reader.
    """
    if data is None:
        if name is not None:
            rule = "names the files of --data"
            fail("data_name", rule, "there are none", "add --data or leave it out", code="conflict")
        return None
    if name is not None and (not isinstance(name, str) or not name.strip() or "/" in name or "\n" in name):
        fail("data_name", "must be a line of text without /", f"got {name!r}", "for example my copy", code="type")
    if len(datasets) != 1:
        fail(
            "data", "needs one data set", f"got {len(datasets)}", "name the data set that it replaces", code="conflict"
        )
    folder = Path(data)
    if not folder.exists():
        rule = "must be a folder with train.npz and test.npz"
        fail("data", rule, f"got {folder}, which does not exist", "see docs/datasets.md", code="missing")
    there = [name for name in ("train.npz", "test.npz") if (folder / name).is_file()]
    if len(there) == 1:
        rule = "must hold train.npz and test.npz"
        fail("data", rule, f"{folder} has {there[0]} alone", "put the other part there", code="missing")
    return GivenFiles(folder, name or "")
