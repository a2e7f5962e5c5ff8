"""Any result as plain text that is the same on every machine: names, texts, and numbers with nine significant digits.

Long arrays and long tables become their shape, range and digest, so that a difference is found and the text stays short.
"""

import inspect
import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

import uqassay as uq

DIGITS, DECIMALS = 9, 10  # the last digits of a float depend on the order of a sum, and on the processor
LONG_ARRAY, LONG_TABLE, LONG_LINE = 24, 24, 110
FROM_THE_MACHINE = {"seconds", "python", "numpy", "scipy", "uqassay", "version", "versions"}  # keys of volatile values
NOT_CALLED = {"plot", "show", "save", "load", "to_html", "shared"}  # methods with side effects, and a cache
DEEPEST = 6


def titled(title: str, text: str) -> str:
    """Text under a title."""
    return f"== {title}\n{text.rstrip()}\n"


def attempt(work: Callable[[], Any]) -> Any:
    """What a call gives, or the sentence of its refusal; warnings stand after it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = work()
        except uq.UqassayError as problem:
            found = f"refused ({type(problem).__name__}, {problem.code}): {problem}"
    told = [
        f"{one.category.__name__}: {one.message}"
        for one in caught
        if not issubclass(one.category, DeprecationWarning | PendingDeprecationWarning | ResourceWarning)
    ]
    return {"found": found, "warnings": told} if told else found


def text_of(value: Any) -> str:
    """The whole text of one value; of a result everything that it offers without a choice."""
    return scrubbed("\n".join(_lines(value, top=True)))


def scrubbed(text: str) -> str:
    """Text without paths and versions, its long decimals rounded, without spaces at the ends of lines."""
    text = text.replace(str(Path(uq.__file__).resolve().parents[2]), "<source>").replace(uq.__version__, "<version>")
    text = re.sub(r"(?<![\w.])-?\d+\.\d{9,}(?:e[-+]?\d+)?(?![\w.])", lambda m: number(float(m[0])), text)
    text = re.sub(r"Python 3[\d.]+\w*, NumPy [\d.]+\w*, SciPy [\d.]+\w*", "<versions>", text)
    text = re.sub(r"^(less than )?\d+(\.\d+)? s$", "<seconds>", text, flags=re.M)
    text = re.sub(r"\b[0-9a-f]{64}\b", "<sha256>", text)  # of numbers with all their digits
    text = re.sub(r"^compiled kernels: .*$", "compiled kernels: <kernels>", text, flags=re.M)
    return "\n".join(line.rstrip() for line in text.splitlines())


def number(value: float) -> str:
    """A number with nine significant digits, and no more than ten decimals."""
    return f"{round(value, DECIMALS) + 0.0:.{DIGITS}g}"


def digest(values: np.ndarray) -> str:
    """Shape, range, mean and the hash of the printed numbers (or words) of an array."""
    kind = f"{values.dtype} {values.shape}"
    if values.dtype.kind not in "biuf":
        return f"{kind} {_hash(map(str, values.ravel().tolist()))}"
    finite = values[np.isfinite(values)] if values.size else values
    told = (
        f" {number(float(finite.min()))} … {number(float(finite.max()))}, mean {round(float(finite.mean()), 6):g}"
        if finite.size
        else ""
    )
    return f"{kind}{told}, {_hash(number(float(v)) for v in values.ravel())}"


def _hash(words: Any) -> str:
    return "#" + sha256("\n".join(words).encode("utf-8", "backslashreplace")).hexdigest()[:12]


def digest_of(value: Any) -> str:
    """The hash of all that would be shown of a value."""
    return _hash([scrubbed("\n".join(_lines(value)))])


def _lines(value: Any, depth: int = 0, *, top: bool = False) -> list[str]:
    """The lines of one value; a short one has a single line."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, float) and hasattr(value, "low"):
        parts = [number(float(value)), f"[{number(value.low)}, {number(value.high)}]"]
        notes = [f"({note.code}: {note.text})" for note in value.notes]
        return [" ".join([*parts, f"level {value.level:g}, n {value.n}, {value.method}", *notes])]
    if isinstance(value, Enum):
        return [str(value.value)]
    if value is None or isinstance(value, bool | int):
        return [str(value)]
    if isinstance(value, float):
        return [number(value)]
    if isinstance(value, Path):
        return [value.name]
    if isinstance(value, str):
        return str(value).split("\n")
    if isinstance(value, np.ndarray):
        return _array(value)
    if type(value).__module__.startswith("pandas") and hasattr(value, "to_dict"):
        return _frame(value)
    if depth > DEEPEST:
        return [type(value).__name__]
    if top and type(value).__module__.startswith("uqassay") and not isinstance(value, uq.Prediction):
        return _result(value)
    if isinstance(value, uq.Prediction | uq.Assay):
        return [repr(value).partition("\n")[0]]
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif is_dataclass(value) and not isinstance(value, type):
        named = {f.name: getattr(value, f.name) for f in fields(value) if not f.name.startswith("_")}
        return [type(value).__name__, *(f"  {line}" for line in _lines(named, depth + 1))]
    if isinstance(value, Mapping):
        return [line for key, part in value.items() for line in _named(str(key), part, depth)]
    if isinstance(value, Sequence | set | frozenset):
        parts = sorted(value, key=str) if isinstance(value, set | frozenset) else list(value)
        return _parts(parts, depth)
    if callable(value):
        return ["<function>"]
    return [re.sub(r" at 0x[0-9a-f]+", "", repr(value))]


def _named(name: str, value: Any, depth: int) -> list[str]:
    if name in FROM_THE_MACHINE:
        return [f"{name}: <{name}>"]
    shown = _lines(value, depth + 1)
    if len(shown) == 1 and len(shown[0]) <= 4 * LONG_LINE:
        return [f"{name}: {shown[0]}"]
    return [f"{name}:", *(f"  {line}" for line in shown)]


def _parts(parts: list[Any], depth: int) -> list[str]:
    """A list: rows as a table, short parts on one line, longer ones below each other."""
    if parts and all(isinstance(part, Mapping) for part in parts) and len({tuple(p) for p in parts}) == 1:
        return _table(list(parts[0]), [list(part.values()) for part in parts])
    if (
        len(parts) > 1
        and is_dataclass(parts[0])
        and len({type(part) for part in parts}) == 1
        and not hasattr(parts[0], "low")
    ):
        names = [f.name for f in fields(parts[0]) if not f.name.startswith("_")]
        rows = [[getattr(part, name) for name in names] for part in parts]
        return [type(parts[0]).__name__, *(f"  {line}" for line in _table(names, rows))]
    if len(parts) > LONG_ARRAY and all(isinstance(part, bool | int | float) for part in parts):
        return _array(np.array(parts))
    if len(parts) > LONG_TABLE:
        return [f"{len(parts)} parts, {_hash(line for part in parts for line in _lines(part, depth + 1))}"]
    shown = [_lines(part, depth + 1) for part in parts]
    flat = ", ".join(lines[0] for lines in shown if lines)
    if all(len(lines) <= 1 for lines in shown) and len(flat) <= LONG_LINE:
        return [f"[{flat}]"]
    return [("- " if not i else "  ") + line for lines in shown for i, line in enumerate(lines or [""])]


def _array(value: np.ndarray) -> list[str]:
    if value.size > LONG_ARRAY or value.dtype.kind == "V":
        return [digest(value)]
    if value.ndim > 1:
        return [
            f"{value.dtype} {value.shape}",
            *(f"  {_array(row)[0] if row.ndim < 2 else digest(row)}" for row in value),
        ]
    return ["[" + ", ".join(_lines(part)[0] for part in value.tolist()) + "]"]


def _frame(value: Any) -> list[str]:
    """A table of pandas; a single column is a table of one."""
    table = value if hasattr(value, "columns") else value.to_frame()
    kinds = ["str" if str(kind) in ("object", "str", "string") else str(kind) for kind in table.dtypes]
    rows = [list(row) for row in table.itertuples(index=False, name=None)]
    return [
        f"columns: {', '.join(f'{c} ({k})' for c, k in zip(table.columns, kinds, strict=True))}",
        *_table(list(table.columns), rows),
    ]


def _table(names: list[str], rows: list[list[Any]]) -> list[str]:
    """Rows below their names; of many rows each column by itself, so that the column that changed is named."""
    keep = [i for i, name in enumerate(names) if name not in FROM_THE_MACHINE]
    cells = [["; ".join(line.strip() for line in _lines(row[i], 3)) for i in keep] for row in rows]
    heads = [str(names[i]) for i in keep]
    if len(rows) <= LONG_TABLE:
        return [" | ".join(heads), *(" | ".join(row) for row in cells)]
    return [
        f"{len(rows)} rows",
        *(f"{head}: {_column(column)}" for head, column in zip(heads, zip(*cells, strict=True), strict=True)),
    ]


def _column(cells: Sequence[str]) -> str:
    """The different words of a column where they are few, and a digest."""
    words = list(dict.fromkeys(cells))
    told = ", ".join(words)
    return (
        f"{told if len(words) <= LONG_ARRAY and len(told) <= 4 * LONG_LINE else f'{len(words)} values'}, {_hash(cells)}"
    )


def _result(value: Any) -> list[str]:
    """The looks of a result, its fields, and all that its properties and methods give without an argument."""
    out: list[str] = []
    for name in dir(type(value)) if not isinstance(value, type) else ():
        if (name.startswith("_") and name != "_repr_html_") or name in NOT_CALLED or name in _field_names(value):
            continue
        part = _offered(value, name)
        if part is None:
            continue
        shown = page_text(part) if name == "_repr_html_" else _lines(part, 1)
        out += [f"{name}:", *(f"  {line}" for line in shown)] if len(shown) > 1 else [f"{name}: {''.join(shown)}"]
    look = repr(value)
    plain = look.startswith((f"{type(value).__name__}(", "<"))  # the fields again
    head = [] if plain else ["repr:", *(f"  {line}" for line in look.split("\n"))]
    return [type(value).__name__, *head, *_lines(_fields(value), 1), *out]


def _field_names(value: Any) -> set[str]:
    return {f.name for f in fields(value)} if is_dataclass(value) else set(getattr(value, "_fields", ()))


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in sorted(_field_names(value)) if not name.startswith("_")}


def _offered(value: Any, name: str) -> Any:
    """A property's value, or that of a method without arguments; None for anything else."""
    held = inspect.getattr_static(type(value), name)
    if isinstance(held, property | cached_property):
        return attempt(lambda: getattr(value, name))
    if not inspect.isfunction(held):
        return None
    needed = [p for p in list(inspect.signature(held).parameters.values())[1:] if p.default is p.empty and p.kind < 2]
    only = [p for p in inspect.signature(held).parameters.values() if p.kind == p.KEYWORD_ONLY and p.default is p.empty]
    return None if needed or only else attempt(getattr(value, name))


class _Page(HTMLParser):
    """The words of a page, and those of attributes that readers see or hear."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.hidden = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden = tag if tag in ("script", "style") else ""
        self.words += [f"({key}) {word}" for key, word in attrs if key in ("title", "aria-label", "alt") and word]

    def handle_endtag(self, tag: str) -> None:
        self.hidden = ""

    def handle_data(self, data: str) -> None:
        if not self.hidden and data.strip():
            self.words.append(" ".join(data.split()))


def page_text(page: str) -> list[str]:
    """What a reader of HTML or SVG sees, one piece on each line."""
    reader = _Page()
    reader.feed(page)
    return reader.words


def sentences_of(payload: Any) -> dict[str, None]:
    """The texts of a page's values that are more than a word, each once, in their order."""
    if isinstance(payload, str):
        return {scrubbed(payload): None} if " " in payload else {}
    parts = payload.values() if isinstance(payload, Mapping) else payload if isinstance(payload, list | tuple) else ()
    return {text: None for part in parts for text in sentences_of(part)}


def json_text(text: str) -> str:
    """JSON as its values, where it is JSON; other text as it is."""
    try:
        return text_of(json.loads(text))
    except ValueError:
        return scrubbed(text)
