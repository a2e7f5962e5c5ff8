"""What can go wrong, as one exception tree whose members carry fields.

An error says which parameter broke which rule, what was found and what to do. The sentence is made from these fields here and
nowhere else, and no code reads it. Another door (an option of the command line, a key of a configuration, a file) takes the
fields, renames the parameter by `replace`, and chooses its own remedy by the code.
"""

from collections.abc import Mapping
from typing import Any, Self

__all__ = ["CODES", "FileFormatError", "InputError", "MissingDependencyError", "TooManyClassesError", "UqassayError"]

CODES: Mapping[str, str] = {
    # what is wrong with a value
    "type": "of another type, or text that is not a number",
    "shape": "of another shape, number of dimensions or length",
    "range": "a number outside its range",
    "finite": "nan or infinite",
    "sum": "rows that do not sum to 1",
    "choice": "none of the known names",
    "missing": "needed and not there",
    "duplicate": "given twice",
    "mismatch": "two inputs that do not belong together",
    "conflict": "options that exclude each other, or have no meaning here",
    "empty": "nothing in it, or too little",
    "size": "too large",
    "undefined": "a quantity that is not defined for this input",
    "syntax": "text that cannot be read as what it should state",
    # arrays of probabilities
    "not-probabilities": "values outside [0, 1]",
    "one-column": "the probabilities of one class alone",
    "member-axis": "members on another axis",
    "class-sets": "sets of classes in place of probabilities",
    "bounds": "lower and upper bounds with no distribution between them",
    "not-belief-functions": "masses of no belief function",
    "masked": "a masked array",
    "sparse": "a sparse matrix",
    "ragged": "rows of unequal lengths",
    "common-members": "more members asked for than there are",
    # labels, names and rows
    "class-names": "class names that do not fit",
    "ambiguous": "more than one possible meaning",
    "ids": "ids of rows that do not match",
    # what a kind of prediction cannot give
    "no-distribution": "a set without a distribution over it",
    "no-members": "a single distribution, without members that could differ",
    "no-logits": "probabilities without logits",
    # tests and conventions
    "needs-draws": "more draws are needed",
    "needs-paper-convention": "an option of the paper's convention alone",
    # files, folders and packages
    "unreadable": "a file that is damaged or of an unknown kind",
    "unwritable": "a place that cannot be written to",
    "not-a-file": "a folder, a pipe or a device in place of a file",
    "truncated": "a file that ends too early",
    "format": "a file format that cannot hold this",
    "pickle": "a pickled object, which is never loaded",
    "encoding": "text that is not UTF-8",
    "separator": "a table with another separator than commas",
    "package": "an optional package that is not installed",
    # runs
    "usage": "a command line that cannot be read",
    "all-failed": "nothing to report, because every training failed",
}


class UqassayError(Exception):
    """Base class of every error that uqassay raises on purpose.

    Parameters
    ----------
    parameter : str
        What the error is about: an argument, a column, an option, a package.
    rule : str
        What must hold, or what is wrong.
    got : str
        What was found, with the row where there is one; empty where the rule says it.
    remedy : str
        What to do.
    code : str
        One of `CODES`: the kind of rule that is broken.
    source : str
        Where the parameter was read, such as the name of a file.
    facts : mapping
        Values that another door needs for its own remedy.

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
        sentence = place + "; ".join(_on_one_line(part) for part in (self.rule, self.got, self.remedy) if part)
        return sentence if sentence.endswith((".", "?")) else f"{sentence}."

    def replace(self, **fields: Any) -> Self:
        """The same error with some of its fields changed."""
        names = ("parameter", "rule", "got", "remedy", "code", "source", "facts")
        return type(self)(**({name: getattr(self, name) for name in names} | fields))

    def inside(self, owner: str) -> Self:
        """The same error about a part of `owner`: ``probs`` becomes ``models['DE'].probs``."""
        return self.replace(parameter=f"{owner}.{self.parameter}" if self.parameter else owner)


def _on_one_line(text: str, most: int = 300) -> str:
    """Part of a sentence; values such as tables are written in several lines, and may be long."""
    if "\n" in text:
        text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


class InputError(UqassayError, ValueError):
    """An argument, or the data in it, breaks a stated rule."""


class TooManyClassesError(InputError):
    """All 2^K events were asked for where K is too large to enumerate them."""


class FileFormatError(InputError):
    """A file is missing, truncated, of an unknown kind, or holds what is never loaded (pickled objects)."""


class MissingDependencyError(UqassayError, ImportError):
    """An optional package is needed for this call; the remedy names the extra that installs it."""
