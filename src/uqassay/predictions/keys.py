"""Keys and columns of files and mappings: which of them make which kind of prediction, and which are labels, ids and groups."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions.arrays_on_disk import Contents, StoredArray
from uqassay.predictions.columns import OTHERS, ROLE_NAMES, Classes, Table, class_order, classes_of, roles_of
from uqassay.predictions.probabilities import near, not_normalisable
from uqassay.wording import named, visible

__all__ = [
    "ALIASES",
    "AS_IT_IS",
    "CARRIED",
    "FORMS",
    "KEY",
    "KINDS",
    "KNOWN_KEYS",
    "PREFIX",
    "ROLES",
    "Form",
    "TableReading",
    "choose_form",
    "form_of_kind",
    "holds_truth_values",
    "is_key_column",
    "key_of_bare_array",
    "needed_keys",
    "no_classes",
    "roles",
    "shown_keys",
    "vote_columns",
]

ALIASES = {"label": "labels", "classes": "class_names", "id": "ids", "group": "groups"}
PREFIX = "proba_"  # of the columns of probabilities
ROLES = {"label": "labels", "id": "ids", "group": "groups"}  # what `save` calls the columns beside the classes
CARRIED = ("class_names", "class_order", "ids", "groups", "notes", "note_codes", "row_numbers", "bfloat16", "key_names")
KEY = "key_{}".format  # of the columns that may identify the rows, whose names are in `key_names`


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
    "masses": Form(("masses", "focal_sets"), ("signed", "n_classes")),
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
            "logits": f"rename {named(likely)} to logits, of which the softmax is taken",
            "counts": f"count how often {named(likely)} has each class, and give the counts as probs with normalise=True",
            "probs": f"rename {named(likely)} to probs if it holds class probabilities",
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
    texts = [visible(str(key)) for key in keys]
    short = [named(text if len(text) <= 40 else f"{text[:39]}…") for text in texts[:12]]
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
    return [key for key in found if ALIASES.get(key, key) in wanted or is_key_column(key, found)]


def is_key_column(key: str, keys: Iterable[str]) -> bool:
    """Whether a key holds a column that may identify the rows."""
    return "key_names" in keys and key.startswith("key_") and key.removeprefix("key_").isdecimal()


# -- columns of a table -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableReading:
    """What the caller says of a table: see `files.load`."""

    columns: Sequence[str] | None = None
    id: str | None = None
    like: Sequence[str] = ()
    logits: bool = False
    normalise: bool = False


AS_IT_IS = TableReading()  # nothing is said


def roles(contents: Contents, reading: TableReading = AS_IT_IS) -> Contents:
    """Say which column of a table is what, as `columns` decides: classes, label, ids, groups, keys, or none of them.

    If the file states the prediction by arrays, no column is a class.

    Raises
    ------
    InputError
        Columns that are asked for and not there; several sets of columns that may be the classes.
    """
    columns = contents.columns
    stated = any(set(form.keys) <= set(contents.arrays) for form in FORMS.values())
    table = _table(contents, excepted=columns if stated else ())
    if reading.logits:
        table = replace(table, of="logits")
    decide = partial(
        roles_of,
        columns=reading.columns,
        id=reading.id,
        like=reading.like,
        index=[name for name, column in columns.items() if column.index],
        label_values=lambda name: _names_in(columns[name]),
    )
    found = decide(table)
    if found.classes is None and reading.normalise and not stated:
        of_counts = decide(replace(table, of="counts"))
        if of_counts.classes is not None and _normalisable(table, of_counts.classes.columns):
            found = of_counts
    classes = found.classes
    free = [name for name in found.others if name in table.numbers and name.lower() not in OTHERS]
    if classes is None and len(free) > 1 and (reading.logits or (reading.normalise and _normalisable(table, free))):
        order, names = class_order(free)
        classes = Classes(tuple(free[i] for i in order), names, "columns")
    arrays, other = dict(contents.arrays), dict(contents.other)
    order_of_names = contents.class_order
    if classes is not None and not stated:
        wanted = classes.columns
        shape = (*columns[wanted[0]].shape, len(wanted))
        key = "logits" if reading.logits else "probs"
        arrays[key] = StoredArray(shape, contents.matrix_type(wanted), partial(contents.matrix, wanted))
        if classes.names is not None:
            arrays["class_names"] = StoredArray.in_memory(np.array(classes.names))
            order_of_names = classes.order
    if order_of_names and "class_names" in arrays:
        arrays["class_order"] = StoredArray.in_memory(np.array([order_of_names]))
    for role, name in found.used.items():
        column = columns[name]
        if role == "ids" and column.index and name != reading.id and _counts(column):
            continue  # the default index of pandas says nothing
        if role not in arrays:
            arrays[role] = column.written or column
    taken = set() if classes is None else set(classes.columns)
    rest = [name for name in found.others if name not in taken and not columns[name].index]
    identifying = [
        name
        for name in (*rest, *([found.ids] if found.ids in columns and not columns[found.ids].index else []))
        if _is_key(columns[name])
    ]
    if identifying:
        arrays["key_names"] = StoredArray.in_memory(np.array(identifying))
        arrays |= {KEY(i): columns[name].written or columns[name] for i, name in enumerate(identifying)}
    other |= {name: columns[name] for name in (*found.others, *found.used.values()) if name not in taken}
    notes = contents.notes
    left = [name for name in rest if name not in identifying]
    if classes is not None and classes.by_sum:
        taken_text = f"the classes are the columns that together sum to 1: {shown_keys(classes.columns)}"
        notes = (*notes, Note("columns-taken", taken_text, {"columns": classes.columns}))
    if left and (classes is not None or stated):
        notes = (*notes, Note("columns-ignored", f"columns left out: {shown_keys(left)}", {"columns": tuple(left)}))
    used = {} if classes is None else {name: columns[name] for name in classes.columns}
    return replace(contents, arrays=arrays, other=other, classes=used, notes=notes)


def no_classes(contents: Contents) -> InputError:
    """The refusal of a table in which no columns are probabilities, with what its columns look like."""
    table = _table(contents)
    names = [name for name in contents.columns if not contents.columns[name].index]
    of_roles = {each for of_role in ROLE_NAMES.values() for each in of_role}
    free = [name for name in names if name in table.numbers and name.lower() not in (*OTHERS, *of_roles)]
    values = table.values(free) if free else np.empty((0, 0))
    got = f"found {shown_keys(names)}"
    choose = f"name them by columns=[{', '.join(repr(name) for name in free[:3])}{', …' if len(free) > 3 else ''}]"
    rule, remedy, look = "the columns of the classes must be known by their names", choose, ""
    if len(free) < 2:
        rule = "one column of probabilities is needed for each class"
        remedy = "name the columns of probabilities proba_<name of the class>"
        if len(free) == 1 and values.size and ((values >= 0) & (values <= 1) | np.isnan(values)).all():
            remedy = (
                f"name the column {free[0]!r} y_prob and the labels y_true, and pass positive= with the class it is of"
            )
    elif values.size and np.isfinite(values).all():
        row = values.sum(axis=1)
        if (values < 0).any() or ((values > 1).any() and (values != np.round(values)).any() and not near(row, 100.0)):
            look = "logits"
            rule, remedy = "these columns look like logits", 'pass kind="logits" if they are'
        elif (values == np.round(values)).all() or near(row, 100.0):
            look = "counts"
            rule, remedy = "these columns look like counts or per cent", "pass normalise=True if they are"
        elif (values <= 1).all():
            look = "sigmoids"
            rule = "the rows of these columns do not sum to 1, as probabilities of classes that exclude each other do"
            remedy = f"judge independent labels one at a time, or {choose}"
    if look:
        got = f"{shown_keys(free)}; row 0 sums to {values[0].sum():.4g}"
    return InputError("columns", rule, got, remedy, code="missing", facts={"columns": tuple(free), "look": look})


def vote_columns(contents: Contents, reading: TableReading = AS_IT_IS) -> Classes | None:
    """Columns of votes or one-hot labels in a file of labels: all columns of numbers without another role."""
    table = _table(contents)
    index = [name for name, column in contents.columns.items() if column.index]
    if reading.columns is not None:
        return classes_of(table, asked=reading.columns)
    found = roles_of(table, id=reading.id, like=reading.like, index=index)
    if found.classes is not None:
        return _whole(table, found.classes.columns)
    free = [name for name in found.others if name in table.numbers and name.lower() not in OTHERS and name not in index]
    free = [name for name in free if not _is_key(contents.columns[name])] if len(free) > 2 else free
    return _whole(table, free)


def _whole(table: Table, free: Sequence[str]) -> Classes | None:
    """Columns of whole numbers: others may be the probabilities of a model, which are no labels."""
    if len(free) < 2 or not (table.values(free) == np.round(table.values(free))).all():
        return None
    order, names = class_order(free)
    return Classes(tuple(free[i] for i in order), names, "columns")


def _table(contents: Contents, excepted: Iterable[str] = ()) -> Table:
    """The columns as `columns.Table`; numbers that a column lacks are nan here."""
    columns, no = contents.columns, set(excepted)

    def values(names: Sequence[str]) -> NDArray[Any]:
        return np.stack([_lenient(columns[name]) for name in names], axis=1)

    numbers = {
        name
        for name, column in columns.items()
        if name not in no and not column.index and column.dtype.startswith(("float", "int", "uint"))
    }
    return Table(list(columns), frozenset(numbers), values)


def _lenient(column: StoredArray) -> NDArray[np.float64]:
    try:
        return np.asarray(column.read(), dtype=np.float64)
    except InputError:  # a value is missing; where the column is a class, reading it says so
        return np.full(column.shape, np.nan)


def _names_in(column: StoredArray) -> list[str]:
    """The distinct texts of a column of labels; none where they are numbers."""
    if column.dtype != "str":
        return []
    return [text for text in np.unique(np.asarray(column.read())).tolist() if text.strip()]


def _normalisable(table: Table, names: Sequence[str]) -> bool:
    values = table.values(names)
    return bool(values.size) and not not_normalisable(values).any()


def _counts(column: StoredArray) -> bool:
    try:
        values = np.asarray((column.written or column).read())
    except InputError:
        return False
    return values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values)))


def _is_key(column: StoredArray) -> bool:
    """Whether a column may identify the rows: text or whole numbers, all different."""
    if not column.dtype.startswith(("int", "uint", "str")) or column.name.lower() in OTHERS:
        return False
    try:
        values = np.asarray((column.written or column).read())
    except InputError:
        return False
    return values.dtype.kind in "iuU" and len(np.unique(values)) == len(values)
