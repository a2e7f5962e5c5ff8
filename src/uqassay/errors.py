"""The exceptions of uqassay, one tree; an error carries its parts as fields.

The fields are the parameter, the broken rule, the value found and the remedy. `__str__` alone makes the sentence from them, and
no code reads that sentence. The command line, a configuration or a file reader renames the parameter by `replace` and chooses
another remedy by the code.
"""

from collections.abc import Mapping
from typing import Any, Self

from uqassay.text import visible

__all__ = ["CODES", "FileFormatError", "InputError", "MissingDependencyError", "TooManyClassesError", "UqassayError"]

CODES: Mapping[str, str] = {
    # any value
    "type": "a value of the wrong type, or text that is not a number",
    "shape": "a wrong shape, number of dimensions or length",
    "range": "a number outside its range",
    "finite": "nan or infinite",
    "sum": "rows that do not sum to 1",
    "choice": "not one of the known names",
    "missing": "a required value that is absent",
    "duplicate": "given twice",
    "mismatch": "two inputs that do not fit together",
    "conflict": "options that exclude each other, or have no effect here",
    "empty": "no values, or too few",
    "size": "too large",
    "undefined": "a quantity that is not defined for this input",
    "syntax": "text that cannot be parsed",
    # arrays of probabilities
    "not-probabilities": "values outside [0, 1]",
    "one-column": "probabilities of only one class",
    "member-axis": "members on another axis",
    "class-sets": "sets of classes instead of probabilities",
    "bounds": "lower and upper bounds with no distribution between them",
    "not-belief-functions": "masses that do not form a belief function",
    "masked": "a masked array",
    "sparse": "a sparse matrix",
    "ragged": "rows of unequal lengths",
    "common-members": "more members requested than there are",
    # labels, names and rows
    "class-names": "class names that do not fit",
    "class-order": "class indices where the classes have no order",
    "ambiguous": "more than one possible meaning",
    "ids": "ids of rows that do not match",
    # kinds of prediction without the quantity
    "no-distribution": "a set without a distribution over it",
    "no-members": "a single distribution, without members that could differ",
    "no-logits": "probabilities without logits",
    # tests and conventions
    "needs-draws": "more draws are needed",
    "needs-paper-convention": "an option that only the paper's convention has",
    # files, folders and packages
    "unreadable": "a file that is damaged or of an unknown kind",
    "unwritable": "a place that cannot be written to",
    "not-a-file": "a folder, a pipe or a device instead of a file",
    "truncated": "a file that ends too early",
    "format": "a file format that cannot hold this",
    "pickle": "a pickled object, which is never loaded",
    "encoding": "text that is not UTF-8",
    "package": "an optional package that is not installed",
    # runs
    "usage": "a command line that cannot be parsed",
    "all-failed": "nothing to report, because every training failed",
}


class UqassayError(Exception):
    """Base class of every error that uqassay raises on purpose.

    Parameters
    ----------
    parameter : str
        Argument, column, option or package that the error is about.
    rule : str
        Rule that is broken, or the fault itself.
    got : str
        Value found, with its row; empty if the rule says it.
    remedy : str
        How to repair the input.
    code : str
        One of `CODES`: the kind of rule that is broken.
    source : str
        Origin of the parameter, such as the name of a file.
    facts : mapping
        Values for programs, such as the row, from which callers make another remedy.

    Examples
    --------
    >>> problem = InputError("level", "must lie between 0 and 1", "got 95", "write 0.95", code="range")
    >>> print(problem)
    level: must lie between 0 and 1; got 95; write 0.95.
    >>> print(problem.replace(parameter="--level", source="run.toml"))
    run.toml: --level: must lie between 0 and 1; got 95; write 0.95.
    """

    def __init__(
        self,
        parameter: str,
        rule: str,
        got: str = "",
        remedy: str = "",
        *,
        code: str = "",
        source: str = "",
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(parameter, rule, got, remedy)
        self.parameter, self.rule, self.got, self.remedy = parameter, rule, got, remedy
        self.code, self.source, self.facts = code, source, dict(facts or {})

    def __str__(self) -> str:
        place = "".join(f"{part}: " for part in (self.source, self.parameter) if part)
        parts = (_on_one_line(self.rule), _cut(_on_one_line(self.got)), _on_one_line(self.remedy))
        sentence = place + "; ".join(part for part in parts if part)
        return visible(sentence if sentence.endswith((".", "?")) else f"{sentence}.")

    def replace(self, **fields: Any) -> Self:
        """The same error with some of its fields changed."""
        names = ("parameter", "rule", "got", "remedy", "code", "source", "facts")
        return type(self)(**({name: getattr(self, name) for name in names} | fields))

    def inside(self, owner: str) -> Self:
        """The same error, about a part of `owner`: ``probs`` becomes ``models['DE'].probs``."""
        return self.replace(parameter=f"{owner}.{self.parameter}" if self.parameter else owner)


def _on_one_line(text: str) -> str:
    """A part of the sentence without line breaks."""
    return " ".join(text.split()) if "\n" in text else text


def _cut(text: str, most: int = 300) -> str:
    """The value found, cut to `most` characters: tables are long. Rule and remedy list the names to choose from, and stay."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


class InputError(UqassayError, ValueError):
    """An argument, or the data in it, breaks a stated rule."""


class TooManyClassesError(InputError):
    """K is too large to enumerate all 2^K events."""


class FileFormatError(InputError):
    """A file is missing, truncated or of an unknown kind, or holds pickled objects, which are never loaded."""


class MissingDependencyError(UqassayError, ImportError):
    """An optional package is not installed; the remedy names the extra that installs it."""
