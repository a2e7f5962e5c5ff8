"""Which columns of a table are classes, labels, ids and groups: decided by names, and by sums where names say nothing.

Classes are, in this order: the columns asked for; those named like the labels; those of one name with a number
(``prob_10``) or of one decoration (``prob.cat``, ``P (y=cat)``, ``cat_probability``); those that together sum to 1. A class
that is never predicted stays a class, and a column of numbers that is none never becomes one: where the names and the sums
leave two readings, the table is refused.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import NEAR, rounding
from uqassay.checks import fail
from uqassay.text import listed

__all__ = [
    "OTHERS",
    "ROLE_NAMES",
    "Classes",
    "Table",
    "class_numbers",
    "class_order",
    "classes_by_sum",
    "classes_of",
    "roles_of",
    "undecorated",
]

#: Names of the columns with a role, in order of precedence; capitals do not count.
ROLE_NAMES: Mapping[str, tuple[str, ...]] = {
    "labels": (
        "label", "labels", "y_true", "true_label", "target", "truth", "actual", "ground_truth", "gold", "y",
    ),
    "ids": ("id", "ids", "row_id", "row_ids", ".row", "doc_id", "sample_id"),
    "groups": ("group", "groups"),
}  # fmt: skip
#: Names of columns of numbers that are no class, unless they are asked for or named like a label.
OTHERS = frozenset((
    ".pred_class", "age", "conf", "confidence", "cost", "count", "density", "duration", "entropy", "entropy_nats",
    "epoch", "error", "fold", "index", "inst#", "iteration", "latency", "length", "logit", "loss", "margin",
    "max_prob", "max_proba", "max_probability", "maxprob", "msp", "nll", "numpy_index", "pred", "predicted",
    "predicted_class", "prediction", "price", "rank", "response", "row", "run", "sample_weight", "score", "seed",
    "sex", "size", "split", "step", "temperature", "time", "timestamp", "uncertainty", "variance", "weight",
    "weights", "width", "y_pred", "year",
))  # fmt: skip
_WORD = (
    r"(?:proba?|probs|probabilit(?:y|ies)|p|pr|pred|prediction|score|scores|confidence|conf|softmax|class|posterior|logits?"
    r"|votes?|counts?|y_?(?:pred|hat|prob|proba|score)|output)"
)
_DECORATIONS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"(?P<before>scored probabilities for class [\"'])(?P<core>.+)(?P<after>[\"'])",  # Azure Machine Learning
        rf"(?P<before>{_WORD} ?\((?:\w+ ?= ?)?)(?P<core>.+)(?P<after>\))",  # P (y=cat) of Orange, confidence(cat) of RapidMiner
        rf"(?P<before>\.?{_WORD}(?:: |__|[._\-: ]))(?P<core>.+)(?P<after>)",  # proba_cat, prob.cat of mlr3, .pred_cat
        rf"(?P<before>)(?P<core>.+)(?P<after>[._\-: ]+{_WORD})",  # cat_probability
        rf"(?P<before>{_WORD})(?P<core>\d+)(?P<after>)",  # p10
        r"(?P<before>[^()]+\()(?P<core>.+)(?P<after>\))",  # Logistic Regression (cat): the model's name of Orange
    )
)
# words of a decoration that say what the numbers are; after "pred" or "class" there may be features or single predictions, too
_PROBABILITIES = re.compile(r"prob|^p[^a-z]*$|softmax|posterior|^confidence\(|^\.pred", re.IGNORECASE)
_SAVED = "proba_"  # what `save` writes before the name of a class, which may be empty
_NUMBERED = re.compile(r"([+-](?=[0-9]+(?:\.0*)?$)|.*?)([0-9]+)(?:\.0*)?", re.DOTALL)
MOST_ROWS = 100_000  # from which it is told whether columns sum to 1
MOST_LEFT_OUT = 3  # columns of numbers without which the others sum to 1
MOST_CHOICES = 200_000  # of columns to leave out that are tried; a table of 500 numbers has 20 million of three


class Classes(NamedTuple):
    """The columns that are classes, in the order of the classes.

    `names` is None where the classes are numbered 0 … K−1. `order` tells what an integer label may mean, see `class_order`.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...] | None
    order: str
    by_sum: bool = False  # found because their rows sum to 1, not by their names


# -- names of classes ---------------------------------------------------------------------------------------------------


def class_order(columns: Sequence[str], *, stated: bool = False) -> tuple[list[int], tuple[str, ...] | None]:
    """The order in which columns of classes are taken, and the names of the classes (None for 0 … K−1).

    Columns of one name with a number are sorted by the number, because tables sort them as text (1, 10, 2).

    Examples
    --------
    >>> class_order(["prob_0", "prob_10", *(f"prob_{k}" for k in range(1, 10))])[0]
    [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1]
    >>> class_order(["Class_3", "Class_1"]), class_order(["P (y=no)", "P (y=yes)"])
    (([1, 0], ('1', '3')), ([0, 1], ('no', 'yes')))
    """
    cores, decorated = undecorated(columns)
    numbers = None if stated and not decorated else class_numbers(cores, "columns")
    if numbers is None or len(set(numbers)) < len(numbers):
        return list(range(len(columns))), tuple(cores)
    order = sorted(range(len(columns)), key=numbers.__getitem__)
    plain = decorated or all(core.isdecimal() for core in cores)
    if plain and [numbers[i] for i in order] == list(range(len(columns))) and all(c.isdecimal() for c in cores):
        return order, None
    return order, tuple(cores[i] for i in order)


def undecorated(names: Sequence[str]) -> tuple[list[str], bool]:
    """Names without a decoration that all of them share, such as ``prob_``; and whether they have one.

    Examples
    --------
    >>> undecorated(["prob.cat", "prob.dog"]), undecorated(["cat", "dog"])
    ((['cat', 'dog'], True), (['cat', 'dog'], False))
    """
    if names and all(name.startswith(_SAVED) for name in names):
        return [name.removeprefix(_SAVED) for name in names], True
    for pattern in _DECORATIONS:
        found = [pattern.fullmatch(name) for name in names]
        matches = [match for match in found if match is not None]
        if names and len(matches) == len(names) and len({(m["before"], m["after"]) for m in matches}) == 1:
            return [match["core"].strip() for match in matches], True
    return list(names), False


def class_numbers(names: Sequence[str], order: str = "stated") -> list[int] | None:
    """What a whole number means as a label: the number in each class name; None where names are no numbers.

    Names that are whole numbers mean themselves. Columns of one prefix and a number (``V3``) mean that number, unless the
    order of the classes was stated, which makes a label an index.

    Examples
    --------
    >>> class_numbers(["1", "2"]), class_numbers(["V3", "V4"], "columns"), class_numbers(["V3", "V4"])
    ([1, 2], [3, 4], None)
    """
    found = [_NUMBERED.fullmatch(name) for name in names if len(name) < 1000]
    matches = [match for match in found if match is not None]
    signs = [match[1] if match[1] in ("+", "-") else "" for match in matches]
    prefixes = {match[1].removeprefix(sign) for match, sign in zip(matches, signs, strict=True)}
    if len(matches) < len(names) or not names or len(prefixes) > 1:
        return None
    if any(prefixes) and order == "stated":
        return None
    return [int(sign + match[2]) for match, sign in zip(matches, signs, strict=True)]


# -- which columns are classes ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """What must be known of a table."""

    names: Sequence[str]  #: All columns.
    numbers: frozenset[str]  #: Those that hold numbers alone.
    matrix: Callable[[Sequence[str]], NDArray[Any]]  #: The values of some columns of numbers side by side, (n, k).
    of: str = "probabilities"  #: What the classes have: "probabilities", "logits", or "counts" and per cent.

    def sums(self, columns: Sequence[str]) -> bool:
        """Whether these columns are probabilities whose rows sum to 1, but for rounding; other numbers may have any sum."""
        if self.of != "probabilities":
            return len(columns) > 1
        values = self.values(columns)
        if not len(values) or values.shape[1] < 2:
            return False
        with np.errstate(invalid="ignore"):
            inside = (values >= -NEAR).all() and (values <= 1 + NEAR).all()
            return bool(inside and (np.abs(values.sum(axis=1) - 1.0) <= rounding(values)).all())

    def values(self, columns: Sequence[str]) -> NDArray[Any]:
        """The values in the first rows, (n, k)."""
        return np.asarray(self.matrix(columns))[:MOST_ROWS].astype(np.float64, copy=False)


def classes_of(
    table: Table, *, asked: Sequence[str] | None = None, like: Iterable[str] = (), taken: Iterable[str] = ()
) -> Classes | None:
    """The columns that are classes; None if there are none.

    `asked`: columns that the caller names, in the order of the classes; `like`: names among the labels; `taken`: columns
    with another role.
    """
    if asked is not None:
        return _asked(table, tuple(asked))
    others = set(taken)
    free = [name for name in table.names if name not in others]
    numbers = [name for name in free if name in table.numbers]
    saved = [name for name in free if name.startswith(_SAVED)]
    if len(saved) > 1 or saved == [_SAVED]:
        return _ordered(saved)
    if table.of == "logits" and len(logits := [name for name in numbers if "logit" in name.lower()]) > 1:
        numbers = logits  # beside probabilities of the same model
    named = _named_like(table, numbers, tuple(like))
    families = _families(numbers)
    if table.of == "logits":  # a family that says that it holds probabilities has no part in it
        families = [f for f in families if not _says_probabilities(f)] or families
    sure = [family for family in families if table.sums(family)]
    readings: list[tuple[str, ...]] = []
    if named:
        readings = [one.columns for one in named]
        readings += [one for one in sure if _says_probabilities(one) and not any(set(one) == set(r) for r in readings)]
    elif sure:
        readings = list(sure)
        rest = [name for name in numbers if name not in sure[0] and name.lower() not in OTHERS]
        said = _says_probabilities(sure[0]) or table.of != "probabilities"
        also = None if len(sure) > 1 or said else _summing(table, rest)
        readings += [] if also is None else [also]
    else:
        by_sum = _summing(table, [name for name in numbers if name.lower() not in OTHERS])
        if by_sum is not None:
            return _ordered(by_sum)._replace(by_sum=True)
        # columns of one name with a number may be features where there are others, too
        alone = len([name for name in numbers if name.lower() not in OTHERS]) == len(max(families, key=len, default=()))
        readings = [family for family in families if alone or _says_probabilities(family)]
    if len(readings) > 1:
        shown = [listed(list(reading), most=4) for reading in readings[:3]]
        fail(
            "columns",
            "one set of columns must be the classes",
            f"{listed(shown, last='or')} may be",
            f"name the classes, columns=[{', '.join(repr(name) for name in readings[0][:3])}"
            f"{', …' if len(readings[0]) > 3 else ''}]",
            code="ambiguous",
            facts={"columns": readings[0]},
        )
    return named[0] if named else _ordered(readings[0]) if readings else None


def _asked(table: Table, asked: tuple[str, ...]) -> Classes:
    absent = next((name for name in asked if name not in table.names), None)
    if absent is not None:
        got = f"{absent!r} is not among {listed(list(table.names), most=8)}"
        fail("columns", "must be columns of the file", got, "check the names", code="choice")
    text = next((name for name in asked if name not in table.numbers), None)
    if text is not None:
        table.matrix([text])  # names the cell that is no number
    twice = next((name for i, name in enumerate(asked) if name in asked[:i]), None)
    if twice is not None or len(asked) < 2:
        got = f"got {len(asked)}" if twice is None else f"{twice!r} occurs twice"
        remedy = "name one column for each class" if twice else "name one column for each class, or pass positive="
        fail("columns", "must be two or more different columns", got, remedy, code="duplicate")
    order, names = class_order(asked, stated=True)
    return Classes(tuple(asked[i] for i in order), names, "stated")


def _ordered(columns: Sequence[str]) -> Classes:
    order, names = class_order(columns)
    return Classes(tuple(columns[i] for i in order), names, "columns")


def _named_like(table: Table, numbers: Sequence[str], like: tuple[str, ...]) -> list[Classes]:
    """Columns named by the labels alone, or by the labels within one decoration, as often as there are such sets.

    Others of that decoration are classes, too.
    """
    labels = set(like)
    if not labels or "" in labels:
        return []
    found = []
    alone = [name for name in numbers if name in labels]
    if len(alone) == len(labels):
        # a class that no label has is a column without which the rows do not sum to 1, or one of zeros
        rest = [name for name in numbers if name not in labels and name.lower() not in OTHERS]
        classes: Sequence[str] | None = None
        if table.of != "probabilities":  # whose sums do not tell: a column beside them may be a class, or not
            classes = alone if len(alone) > 1 and not rest else None
        elif len(alone) > 1 and table.sums(alone):
            classes = [*alone, *(name for name in rest if not table.values([name]).any())]
        else:
            classes = _summing(table, [*alone, *rest], kept=alone)
        if classes:
            ordered = _ordered([name for name in numbers if name in classes])
            found.append(ordered._replace(by_sum=len(classes) > len(alone)))
    around = Counter(pair for name in numbers for pair in set(_around(name, like)) if any(pair))
    shared = [pair for pair, count in around.items() if count >= len(labels)]
    for before, after in sorted(shared, key=lambda pair: (-len(pair[0]) - len(pair[1]), pair)):
        inside = [
            n for n in numbers if n.startswith(before) and n.endswith(after) and len(n) > len(before) + len(after)
        ]
        cores = [n[len(before) : len(n) - len(after)].strip() for n in inside]
        if len(inside) > 1 and labels <= set(cores) and table.sums(inside):
            order, names = class_order(cores)
            one = Classes(tuple(inside[i] for i in order), names, "columns")
            if not any(set(one.columns) == set(other.columns) for other in found):
                found.append(one)
    return found


def _around(name: str, like: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What stands before and after each label that a name holds."""
    for label in like:
        at = name.find(label)
        while at >= 0:
            yield name[:at], name[at + len(label) :]
            at = name.find(label, at + 1)


def _says_probabilities(columns: Sequence[str]) -> bool:
    """Whether the decoration of columns says that they are probabilities."""
    match = next((m for p in _DECORATIONS if (m := p.fullmatch(columns[0]))), None)
    return match is not None and any(_PROBABILITIES.search(match[part]) for part in ("before", "after") if match[part])


def _families(numbers: Sequence[str]) -> list[tuple[str, ...]]:
    """Columns of numbers of one decoration, or of one name with a number."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in numbers:
        decoration = next((m for p in _DECORATIONS if (m := p.fullmatch(name))), None)
        numbered = _NUMBERED.fullmatch(name)
        if decoration is not None:
            found.setdefault((decoration["before"].lower(), decoration["after"].lower()), []).append(name)
        elif numbered is not None:
            found.setdefault((numbered[1], ""), []).append(name)
    return [tuple(names) for names in found.values() if len(names) > 1]


def _summing(
    table: Table, numbers: Sequence[str], kept: Sequence[str] = (), whole: float = 1.0
) -> tuple[str, ...] | None:
    """The largest set of columns whose rows sum to `whole`, with as few as possible left out; None if there is none or two.

    Columns of zeros change no sum and stay.
    """
    if len(numbers) < 2:
        return None
    values = table.values(numbers) / whole
    if not len(values):
        return None
    with np.errstate(invalid="ignore"):
        inside = [bool((column >= -NEAR).all() and (column <= 1 + NEAR).all()) for column in values.T]
    held = [i for i, name in enumerate(numbers) if inside[i]]
    if not set(kept) <= {numbers[i] for i in held}:
        return None
    free = [i for i in held if numbers[i] not in kept and values[:, i].any()]  # a column of zeros changes no sum
    total, near = values[:, held].sum(axis=1), rounding(values[:, held])
    above, first = float(total[0]) - 1.0, values[0].tolist()  # of the first row, which excludes most choices soonest
    for left_out in range(min(MOST_LEFT_OUT, len(free)) + 1):
        if comb(len(free), left_out) > MOST_CHOICES:
            return None
        fits = [
            out
            for out in combinations(free, left_out)
            if abs(above - sum(first[i] for i in out)) <= near
            and (np.abs(total - values[:, list(out)].sum(axis=1) - 1.0) <= near).all()
        ]
        if len(fits) > 1:
            return None
        if fits and len(held) - left_out > 1:
            return tuple(numbers[i] for i in held if i not in fits[0])
    return None


def classes_by_sum(table: Table, numbers: Sequence[str], whole: float) -> Classes | None:
    """The columns of numbers whose rows sum to `whole`, such as 100 per cent."""
    found = _summing(table, numbers, whole=whole)
    return None if found is None else _ordered(found)._replace(by_sum=True)


# -- all roles ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Roles:
    """What every column of a table is taken for; `others` are used for nothing."""

    classes: Classes | None
    labels: str | None
    ids: str | None
    groups: str | None
    others: tuple[str, ...]
    like: frozenset[str] = frozenset()  # names that labels have

    @property
    def used(self) -> dict[str, str]:
        """The column of each role."""
        found = {"labels": self.labels, "ids": self.ids, "groups": self.groups}
        return {role: name for role, name in found.items() if name is not None}


def roles_of(
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    id: str | None = None,
    like: Iterable[str] = (),
    index: Sequence[str] = (),
    label_values: Callable[[str], Iterable[str]] | None = None,
) -> Roles:
    """What every column of a table is taken for.

    `like`: names among labels of another file; `index`: columns that were the index of a table of pandas; `label_values`
    gives the names in the column of labels.
    """
    asked = set(columns or ())
    if id is not None and id not in table.names:
        remedy = "check the name"
        fail("id", "must be a column of the file", f"found {listed(list(table.names), most=8)}", remedy, code="choice")
    lower = {name.lower(): name for name in reversed(table.names)}
    found: dict[str, str | None] = {"ids": id or (index[0] if len(index) == 1 else None)}
    for role, names in ROLE_NAMES.items():
        if found.get(role) is None:
            found[role] = next((lower[n] for n in names if n in lower and lower[n] not in asked), None)
    if id is None and found["ids"] in index and any(n in lower for n in ROLE_NAMES["ids"]):
        found["ids"] = next(
            lower[n] for n in ROLE_NAMES["ids"] if n in lower
        )  # a column named id says more than an index
    taken = {name for name in found.values() if name is not None} | set(index)
    known = set(like)
    if found["labels"] is not None and label_values is not None:
        known |= set(label_values(found["labels"]))
    classes = classes_of(table, asked=columns, like=sorted(known), taken=taken)
    used = taken | set(classes.columns if classes else ())
    return Roles(
        classes,
        found["labels"],
        found["ids"],
        found["groups"],
        tuple(name for name in table.names if name not in used),
        frozenset(known),
    )
