"""Keys and columns of files and mappings: which of them make which kind of prediction, and which are labels, ids and groups."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from uqassay.checks import fail
from uqassay.notes import Note
from uqassay.predictions.arrays_on_disk import Contents, StoredArray

__all__ = [
    "ALIASES",
    "CARRIED",
    "FORMS",
    "KINDS",
    "KNOWN_KEYS",
    "PREFIX",
    "ROLES",
    "Form",
    "choose_form",
    "columns_by_type",
    "form_of_kind",
    "holds_truth_values",
    "key_of_bare_array",
    "needed_keys",
    "probability_columns",
    "roles",
    "shown_keys",
]

ALIASES = {"label": "labels", "classes": "class_names", "id": "ids", "group": "groups"}
PREFIX = "proba_"  # of the columns of probabilities
ROLES = {"label": "labels", "id": "ids", "group": "groups"}  # columns beside the classes
CARRIED = ("class_names", "ids", "groups", "notes", "note_codes", "row_numbers", "bfloat16")


@dataclass(frozen=True)
class Form:
    """The keys that state one kind of prediction, and those that may accompany them."""

    keys: tuple[str, ...]
    settings: tuple[str, ...] = ()


FORMS = {
    "probs": Form(("probs",), ("weights", "log_partition")),  # (n, K): Point; (n, M, K): Members
    "dirichlet": Form(("alpha",), ("n_draws", "unit_concentration", "seed")),
    "intervals": Form(("lower", "upper")),
    "class-sets": Form(("sets",)),
    "masses": Form(("masses", "focal_sets"), ("signed", "precision", "n_classes")),
    "beliefs": Form(("beliefs", "focal_sets"), ("n_classes",)),
    "vertices": Form(("vertices",)),
    "gaussian-logits": Form(("mean", "variance"), ("variance_is", "n_draws", "seed", "shared_draws")),
    "logits": Form(("logits",), ("weights",)),  # (n, K): Point; (n, M, K): Members
}
KINDS = ("point", "members", *FORMS)
KNOWN_KEYS = (
    {key for form in FORMS.values() for key in (*form.keys, *form.settings)}
    | {"labels", *CARRIED}
    | set(ALIASES)
)  # fmt: skip


# -- which kind -------------------------------------------------------------------------------------------------------


def choose_form(keys: Iterable[str], kind: str | None = None, *, others: Iterable[str] = ()) -> str:
    """Name of the form in `FORMS` that the keys make, or that `kind` asks for; errors show `others` too.

    Raises
    ------
    InputError
        The keys make no kind or several, or not the kind asked for; the keys found and those known are listed.
    """
    found = list(keys)
    shown = shown_keys([*found, *others])
    complete = [name for name, form in FORMS.items() if set(form.keys) <= set(found)]
    if kind is not None:
        wanted = form_of_kind(kind)
        if wanted not in complete:
            needed = " and ".join(FORMS[wanted].keys)
            got = f"found {shown}"
            fail("kind", f"{kind!r} needs {needed}", got, "leave kind out or rename the keys", code="missing")
        return wanted
    if len(complete) == 1:
        return complete[0]
    if complete:
        rule, got = "must make one kind of prediction", f"found {shown}, which make {' and '.join(complete)}"
        remedy = f"choose one by kind={complete[0]!r} or kind={complete[1]!r}"
        fail("keys", rule, got, remedy, code="ambiguous", facts={"kinds": tuple(complete)})
    likely, meant = likely_form([*found, *others])
    known = ", ".join("+".join(form.keys) for form in FORMS.values())
    fail(
        "keys",
        f"one kind of prediction must be among them ({known})",
        f"found {shown}",
        {
            "logits": f"rename {likely} to logits, of which the softmax is taken",
            "counts": f"count how often {likely} has each class, and give the counts as probs with normalise=True",
            "probs": f"rename {likely} to probs if it holds class probabilities",
        }.get(meant, "give the arrays such names: class probabilities are probs"),
        code="choice",
        facts={"key": likely, "meant": meant},
    )


def likely_form(keys: Sequence[str]) -> tuple[str, str]:
    """A key that may be meant as probabilities, and what it seems to hold: logits, counts or probs; else two empty texts."""
    for key in keys:
        plain = key.lower().replace("_", "").replace("-", "")
        if plain in ("logprobs", "logprobabilities", "logprob"):
            return key, "logits"  # their softmax is the probabilities
        if plain in ("samples", "answers", "responses", "generations", "counts", "votes"):
            return key, "counts"
    own = [key for key in keys if key not in KNOWN_KEYS]
    return (own[0], "probs") if len(own) == 1 else ("", "")


def shown_keys(keys: Iterable[Any]) -> str:
    """The first dozen keys for a message, long ones shortened."""
    texts = [" ".join(str(key).split()) for key in keys]
    short = [text if len(text) <= 40 else f"{text[:39]}…" for text in texts[:12]]
    return ", ".join([*short, "…"] if len(texts) > 12 else short) or "nothing"


def form_of_kind(kind: str) -> str:
    """Name of the form behind a value of `kind=`; spelling with hyphens, underscores or capitals is the same."""
    plain = kind.lower().replace("_", "-") if isinstance(kind, str) else ""
    plain = "gaussian-logits" if plain == "gaussianlogits" else plain
    if plain in ("point", "members"):
        return "probs"
    if plain not in FORMS:
        got = f"got {kind!r:.60}"
        fail("kind", f"must be one of {', '.join(KINDS)}", got, "leave it out to go by the keys", code="choice")
    return plain


def holds_truth_values(array: Any) -> bool:
    """True for arrays, stored arrays and tables of truth values alone."""
    types = [str(each) for each in getattr(array, "dtypes", [getattr(array, "dtype", "")])]
    return bool(types) and all(each.endswith(("bool", "boolean")) for each in types)  # torch.bool, too


def key_of_bare_array(kind: str | None, array: Any) -> str:
    """Key under which one array without a name is read: `probs`, or `sets` of truth values, unless `kind` says otherwise."""
    form = FORMS[form_of_kind(kind) if kind is not None else "class-sets" if holds_truth_values(array) else "probs"]
    shape = tuple(array.shape)
    if len(form.keys) > 1:
        rule = f"{kind!r} needs {' and '.join(form.keys)}, and this is one array without a name"
        fail("kind", rule, "", "give the arrays under these names", code="missing")
    if len(shape) < 2:
        fail(
            form.keys[0],
            "must be (n, K), one column per class",
            f"got shape {shape}",
            "labels are read by load_labels, and probabilities of one class go through "
            "Point.from_binary or Members.from_binary",
            code="shape",
            facts={"bare": True},
        )
    return form.keys[0]


def needed_keys(keys: Iterable[str], kind: str | None = None, *, others: Iterable[str] = ()) -> list[str]:
    """Those of the keys that the prediction is made of; everything else need not be read."""
    found = list(keys)
    form = FORMS[choose_form(found, kind, others=others)]
    wanted = {*form.keys, *form.settings, *CARRIED}
    return [key for key in found if ALIASES.get(key, key) in wanted]


# -- columns of a table -----------------------------------------------------------------------------------------------


def probability_columns(header: Sequence[str]) -> list[int]:
    """Places of the columns ``proba_…``, in the order of the classes.

    Names that are the digits 0 … K−1 in another order are put in order, so that a class index means the same everywhere.

    Examples
    --------
    >>> probability_columns(["id", "proba_0", "proba_1", "proba_10", *(f"proba_{k}" for k in range(2, 10))])
    [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 3]
    >>> probability_columns(["proba_dog", "proba_cat"])
    [0, 1]
    """
    return _in_class_order(header, [i for i, name in enumerate(header) if name.startswith(PREFIX)])


def columns_by_type(header: Sequence[str], decimal: Sequence[int]) -> list[int]:
    """Places of the classes in a table without a column ``proba_…``: two or more columns of decimal numbers, else none.

    Parameters
    ----------
    header : sequence of str
        Names of all columns.
    decimal : sequence of int
        Places of the columns that hold decimal numbers.

    Examples
    --------
    >>> columns_by_type(["image", "cat", "dog"], [1, 2]), columns_by_type(["patient", "age"], [1])
    ([1, 2], [])
    """
    places = [i for i in decimal if header[i] and ALIASES.get(header[i], header[i]) not in ROLES.values()]
    return _in_class_order(header, places) if len(places) > 1 else []


def roles(contents: Contents) -> Contents:
    """Say which column of a table is what: classes, labels, ids, groups or none of them.

    The columns ``proba_…`` are the classes; if there are none, the columns of decimal numbers are, and a note says so. If the
    file states the prediction by arrays, no column is a class.
    """
    columns = contents.columns
    header = [name for name, column in columns.items() if not column.index]
    stated = any(set(form.keys) <= set(contents.arrays) for form in FORMS.values())
    by_name = [] if stated else probability_columns(header)
    decimal = [i for i, name in enumerate(header) if columns[name].dtype.startswith("float")]
    by_type = [] if stated or by_name else columns_by_type(header, decimal)
    wanted = [header[i] for i in by_name or by_type]
    arrays, other = dict(contents.arrays), dict(contents.other)
    if wanted:
        shape = (*columns[wanted[0]].shape, len(wanted))
        arrays["probs"] = StoredArray(shape, contents.matrix_type(wanted), partial(contents.matrix, wanted))
        names = [name.removeprefix(PREFIX) for name in wanted]
        if names != [str(i) for i in range(len(names))]:
            arrays["class_names"] = StoredArray.in_memory(np.array(names))
    for name, column in columns.items():
        role = ALIASES.get(name, name)
        if name in wanted:
            continue
        if role in ROLES.values() and role not in arrays:
            arrays[role] = column.written or column
        else:
            other[name] = column
    classes = {header[i]: columns[header[i]] for i in by_type}
    notes = contents.notes
    if classes:
        taken = (
            f"no column is named {PREFIX}…, so the classes are the columns of decimal numbers: {shown_keys(classes)}"
        )
        notes = (*notes, Note("columns-by-type", taken, {"columns": tuple(classes)}))
    ignored = tuple(name for name, column in other.items() if not column.index)
    if ignored and (wanted or stated):
        notes = (*notes, Note("columns-ignored", f"columns ignored: {shown_keys(ignored)}", {"columns": ignored}))
    return replace(contents, arrays=arrays, other=other, classes=classes, notes=notes)


def _in_class_order(header: Sequence[str], places: list[int]) -> list[int]:
    """The places in the order of the classes if the names are the digits 0 … K−1, else as they are."""
    place = {header[i].removeprefix(PREFIX): i for i in places}
    in_order = [place.get(str(k)) for k in range(len(places))]
    return places if None in in_order else [i for i in in_order if i is not None]
