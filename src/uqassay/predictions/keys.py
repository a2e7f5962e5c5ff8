"""Which names of arrays make which kind of prediction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import as_array, as_bfloat16, as_numeric, near, one_row_for_each_pixel, precision_of
from uqassay.checks import fail, whole
from uqassay.errors import InputError
from uqassay.frames import Frame, as_frame, is_frame, positions, says_more
from uqassay.notes import Note
from uqassay.predictions.answers import Answers
from uqassay.predictions.arrays_on_disk import Contents, StoredArray
from uqassay.predictions.base import Prediction
from uqassay.predictions.column_roles import (
    OTHERS,
    ROLE_NAMES,
    Classes,
    Table,
    class_numbers,
    class_order,
    classes_by_sum,
    classes_of,
    roles_of,
)
from uqassay.predictions.labels import labels_for, portable_labels, take_table
from uqassay.predictions.points import Members, Point, not_normalisable
from uqassay.predictions.second_order import Dirichlet, Drawn, GaussianLogits, check_variance_is
from uqassay.predictions.sets import ClassSets, Intervals, Masses, Vertices
from uqassay.text import named, visible

__all__ = [
    "ALIASES",
    "AS_IT_IS",
    "CARRIED",
    "FORMS",
    "KEY",
    "KNOWN_KEYS",
    "PREFIX",
    "ROLES",
    "TableReading",
    "arrays_from_prediction",
    "as_names",
    "choose_form",
    "classes_in_order",
    "form_of_kind",
    "holds_truth_values",
    "is_key_column",
    "key_of_bare_array",
    "label_columns",
    "needed_keys",
    "no_classes",
    "prediction_from_arrays",
    "roles",
    "shown_keys",
    "values_of_classes",
    "variance_meaning",
    "vote_columns",
]


# Keys and columns of files and mappings: which of them make which kind of prediction, and which are labels, ids and
# groups.

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
    "answers": Form(("correct",), ("confidence",)),  # where no other form is complete
}
KINDS = ("point", "members", *FORMS)
KNOWN_KEYS = (
    {key for form in FORMS.values() for key in (*form.keys, *form.settings)}
    | {"labels", *CARRIED}
    | set(ALIASES)
)  # fmt: skip


# -- which kind -------------------------------------------------------------------------------------------------------


def choose_form(keys: Iterable[str], kind: str | None = None, *, others: Iterable[str] = ()) -> str:
    """Name of the form in `FORMS` that the keys make, or that `kind` asks for; errors show `others` too."""
    found = list(keys)
    shown = shown_keys([*found, *others])
    complete = [name for name, form in FORMS.items() if set(form.keys) <= set(found)]
    if kind is None and len(complete) > 1 and "answers" in complete:  # what was right may stand beside probabilities
        complete.remove("answers")
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
        of_one_class = "probabilities of one class go through Point.from_binary or Members.from_binary"
        if form.keys[0] == "logits":
            of_one_class = 'logits of one class go through uq.from_object(array, kind="logits", positive=1)'
        got = f"got shape {shape}"
        remedy = f"labels are read by load_labels, and {of_one_class}"
        fail(form.keys[0], "must be (n, K), one column per class", got, remedy, code="shape", facts={"bare": True})
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
    correct: str | None = None
    confidence: str | None = None


AS_IT_IS = TableReading()  # nothing is said


def roles(contents: Contents, reading: TableReading = AS_IT_IS) -> Contents:
    """Say which column of a table is what, as `columns` decides: classes, label, ids, groups, keys, or none of them.

    If the file states the prediction by arrays, no column is a class.
    """
    columns = contents.columns
    stated = any(set(form.keys) <= set(contents.arrays) for form in FORMS.values())
    graded = reading.correct is not None or reading.confidence is not None
    table = _table(contents, excepted=columns if stated or graded else ())
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
    classes = found.classes
    if classes is None and reading.normalise and not stated:
        free = [name for name in found.others if name in table.numbers and name.lower() not in OTHERS]
        classes = classes_by_sum(table, free, 100.0)
        of_counts = None if classes is not None else decide(replace(table, of="counts")).classes
        if of_counts is not None and not not_normalisable(table.values(of_counts.columns)).any():
            classes = of_counts
    arrays, other = dict(contents.arrays), dict(contents.other)
    answered = {} if stated or classes is not None else _columns_of_answers(columns, reading)
    arrays |= {role: columns[name].written or columns[name] for role, name in answered.items()}
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
        if role == "ids" and column.index and name != reading.id and not _distinct(column):
            continue
        if role not in arrays:
            arrays[role] = column.written or column
    taken = set(answered.values()) if classes is None else set(classes.columns)
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
    used_as = {"labels": "label", "ids": "id", "groups": "group"}
    told = [f"{shown_keys([name])} as {used_as[role]}" for role, name in found.used.items() if not columns[name].index]
    told += [f"{shown_keys([name])} may identify the rows" for name in identifying if name != found.ids]
    if classes is not None and classes.by_sum:
        taken_text = f"the classes are the columns that together sum to 1: {shown_keys(classes.columns)}"
        notes = (*notes, Note("columns-taken", taken_text, {"columns": classes.columns}))
    told += [f"{shown_keys([name])} as {role}" for role, name in answered.items() if role != name]
    if left and (classes is not None or stated or answered):
        text = f"columns left out: {shown_keys(left)}" + (f"; used: {', '.join(told)}" if told else "")
        notes = (*notes, Note("columns-ignored", text, {"columns": tuple(left)}))
    used = {} if classes is None else {name: columns[name] for name in classes.columns}
    return replace(contents, arrays=arrays, other=other, classes=used, notes=notes)


def _columns_of_answers(columns: Mapping[str, StoredArray], reading: TableReading) -> dict[str, str]:
    """The columns of what was right, and of the stated confidence if there is one; none where nothing was graded."""
    lower = {name.lower(): name for name in reversed(list(columns))}
    found = {}
    for role, asked in (("correct", reading.correct), ("confidence", reading.confidence)):
        if asked is not None and asked not in columns:
            fail(role, "must be a column of the file", f"found {shown_keys(columns)}", "check the name", code="choice")
        name = lower.get(role) if asked is None else asked
        if name is not None:
            found[role] = name
    return found if "correct" in found else {}


def no_classes(contents: Contents, reading: TableReading = AS_IT_IS) -> InputError:
    """The refusal of a table in which no columns are probabilities, with what its columns look like."""
    table = _table(contents)
    names = [name for name in contents.columns if not contents.columns[name].index]
    of_roles = {each for of_role in ROLE_NAMES.values() for each in of_role}
    free = [name for name in names if name in table.numbers and name.lower() not in (*OTHERS, *of_roles)]
    labels = next((name for name in names if name.lower() in ROLE_NAMES["labels"]), None)
    like = {*reading.like, *(_names_in(contents.columns[labels]) if labels else [])}
    likely = [name for name in free if name in like] if len(set(free) & like) > 1 else free
    choose = f"name the classes by columns=[{', '.join(map(repr, likely[:8]))}{', …' if len(likely) > 8 else ''}]"
    rule, got, remedy, look = "the columns of the classes must be known by their names", "", choose, ""
    values = table.values(free) if free else np.empty((0, 0))
    stated = next((name for name in names if name == reading.confidence or name.lower() == "confidence"), None)
    if len(free) < 2 and stated is not None:
        rule = "a stated confidence needs a column of what was right"
        remedy = "add a column correct, 1 where the answer is right and 0 where it is wrong"
    elif len(free) < 2:
        rule = "one column of probabilities is needed for each class"
        remedy = "name the columns of probabilities proba_<name of the class>"
        if len(free) == 1 and not np.isnan(values).all() and np.nanmin(values) >= -1e-6 and np.nanmax(values) <= 1:
            remedy = (
                f"name the column {free[0]!r} y_prob and the labels y_true, and pass positive= with the class it is of"
            )
            look = "binary"
    elif values.size and np.isnan(values).any():
        broken = free[int(np.flatnonzero(np.isnan(values).any(axis=0))[0])]
        try:
            contents.matrix([broken])
        except InputError as problem:  # names the row and the cell
            return problem.replace(remedy=f"{problem.remedy}; if it is no class, {choose}")
    elif values.size and np.isfinite(values).all():
        sums, whole = values.sum(axis=1), bool((values == np.round(values)).all())
        if (values < -1e-6).any() or ((values > 1).any() and not whole and not near(sums, 100.0)):
            look, rule = "logits", "these columns look like logits"
            remedy = choose if reading.logits else f'pass kind="logits" if they are, and {choose}'
        elif whole or near(sums, 100.0):
            look, rule = "counts", "these columns look like counts or per cent"
            tell = "pass normalise=True if they are"
            remedy = choose if reading.normalise else tell if near(sums, 100.0) else f"{tell}, and {choose}"
        elif (values <= 1).all():
            look = "sigmoids"
            rule = "the rows of these columns do not sum to 1, as probabilities of classes that exclude each other do"
            remedy = f"judge independent labels one at a time, or {choose}"
        got = f"{shown_keys(free)}; row 0 sums to {sums[0]:.4g}"
    facts = {"columns": tuple(likely), "look": look, "said": reading.logits or reading.normalise}
    return InputError("columns", rule, got or f"found {shown_keys(names)}", remedy, code="missing", facts=facts)


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


def _distinct(column: StoredArray) -> bool:
    """Whether an index has no value twice; one with a missing value is refused where it is read."""
    values = _written(column)
    return values is None or len(np.unique(values)) == len(values)


def _is_key(column: StoredArray) -> bool:
    """Whether a column may identify the rows: text or whole numbers, all different."""
    if not column.dtype.startswith(("int", "uint", "str")) or column.name.lower() in OTHERS:
        return False
    values = _written(column)
    return values is not None and values.dtype.kind in "iuU" and len(np.unique(values)) == len(values)


def _written(column: StoredArray) -> NDArray[Any] | None:
    """The values as they were written; None if one is missing."""
    try:
        return np.asarray((column.written or column).read())
    except InputError:
        return None


# Predictions from named arrays and back, for files and mappings alike.
#
# A prediction is written and read as arrays under the names of its fields (`probs`, `alpha`, `lower` and `upper`, …),
# together with what it carries (`class_names`, `ids`, `groups`, `row_numbers`, the texts and codes of `notes`) and its
# settings (`n_draws`, `variance_is`, …). `bfloat16` lists the arrays that were given in that type; NumPy lacks it, so
# they are stored as float32.

NOT_STORED = ("drawn", "_held")  # draws follow from their seed, and remembered arrays from the others


def prediction_from_arrays(
    arrays: Mapping[str, Any],
    *,
    kind: str | None = None,
    member_axis: int = 1,
    normalise: bool = False,
    variance_is: str | None = None,
    missing: float | None = None,
) -> Prediction:
    """Prediction of the kind that the keys make; keys that are not known are ignored.

    Parameters
    ----------
    arrays : mapping of str to array-like
    kind : str, optional
        One of `KINDS`, where the keys make several.
    member_axis : int
        Where the members stand in `probs`, `logits`, or `mean` and `variance` with three axes.
    normalise : bool
        Divide non-negative probabilities by their sums first.
    variance_is : {"aleatoric", "epistemic"}, optional
        Meaning of `variance`, where the arrays do not state it; see `GaussianLogits`.
    missing : float, optional
        What a missing confidence of `Answers` counts as.
    """
    _check_options(member_axis, normalise)
    form = choose_form(arrays, kind)
    if missing is not None and form != "answers":
        got = f"found {' and '.join(FORMS[form].keys)}"
        fail("missing", "applies to answers with a stated confidence", got, "leave it out", code="conflict")
    if normalise and form not in ("probs", "vertices"):
        rule = "applies to probs and vertices"
        fail("normalise", rule, f"found {' and '.join(FORMS[form].keys)}", "leave it out", code="conflict")
    named = _with_precision(_by_role(arrays))
    carried = _carried(named)
    settings = _settings(named, form)
    if form == "gaussian-logits" or variance_is is not None:
        settings["variance_is"] = variance_meaning(form, settings.get("variance_is"), variance_is)
    match form:
        case "probs":
            probs, weights = named["probs"], named.get("weights")
            carried["log_partition"] = named.get("log_partition")
            if _is_members(_shape(probs, "probs"), kind):
                return Members(probs, weights, member_axis=member_axis, normalise=normalise, **carried)
            return Point(probs, normalise=normalise, **carried)
        case "logits":
            logits = as_frame(named["logits"], "logits") or as_numeric(named["logits"], "logits", ndim=(2, 3))
            if logits.ndim == 2:
                return Point.from_logits(logits, **carried)
            return Members.from_logits(logits, named.get("weights"), member_axis=member_axis, **carried)
        case "dirichlet":
            return Dirichlet(named["alpha"], **settings, **carried)
        case "answers":
            return Answers(named["correct"], named.get("confidence"), missing, **(carried | {"class_names": None}))
        case "intervals":
            return Intervals(named["lower"], named["upper"], **carried)
        case "class-sets":
            return ClassSets(named["sets"], **carried)
        case "vertices":
            return Vertices(named["vertices"], normalise=normalise, **carried)
        case "gaussian-logits":
            mean, variance = (_members_second(named[key], key, member_axis) for key in ("mean", "variance"))
            return GaussianLogits(mean, variance, **settings, **carried)
    if isinstance(
        carried.get("class_names"), (list, tuple, np.ndarray)
    ):  # K, where focal sets are collections of indices
        settings.setdefault("n_classes", len(carried["class_names"]))
    make = Masses if form == "masses" else Masses.from_beliefs
    return make(named[form], named["focal_sets"], **settings, **carried)


def arrays_from_prediction(prediction: Prediction, labels: ArrayLike | None = None) -> dict[str, NDArray[Any]]:
    """Everything that a prediction is made of, as numeric and text arrays by name; the way back loses nothing."""
    arrays: dict[str, NDArray[Any]] = {}
    for f in fields(prediction):
        value = getattr(prediction, f.name)
        empty = value is None or (f.name in ("notes", "signed", "keys") and not value)
        empty |= f.name == "class_order" and (value == "stated" or prediction.class_names is None)
        if f.name == "notes" and value:
            arrays["notes"] = np.array([note.text for note in value])
            arrays["note_codes"] = np.array([note.code for note in value])
        elif f.name == "keys" and value:
            arrays["key_names"] = np.array(list(value))
            arrays |= {KEY(i): _storable(column, name) for i, (name, column) in enumerate(value.items())}
        elif not empty and f.name not in NOT_STORED:
            arrays[f.name] = _storable(value, f.name)
    coarse = [key for key, value in arrays.items() if precision_of(value) == "bfloat16"]
    if coarse:
        arrays |= {key: arrays[key].view(np.float32) for key in coarse}
        arrays["bfloat16"] = np.array(coarse)
    if labels is not None:
        stored = _storable_labels(labels, prediction)
        # votes and label distributions are divided by their sums, so their precision does not matter
        arrays["labels"] = stored.view(np.float32) if precision_of(stored) == "bfloat16" else stored
    return arrays


def variance_meaning(kind: str, stated: str | None, asked: str | None) -> str:
    """Meaning of the variance of Gaussian logits: the one that the arrays state, or else the one asked for."""
    if asked is not None:
        check_variance_is(asked)
        if kind != "gaussian-logits":
            got = f"found {' and '.join(FORMS[form_of_kind(kind)].keys)}"
            fail("variance_is", "applies to mean and variance", got, "leave it out", code="conflict")
        if stated is not None and stated != asked:
            got = f"got {asked!r}, and the key states {stated!r:.60}"
            remedy = "leave it out, or repair the key"
            fail("variance_is", "must not contradict the key variance_is", got, remedy, code="conflict")
    meaning = asked if stated is None else stated
    check_variance_is(meaning)
    return str(meaning)


def as_text(values: Any, name: str = "text") -> NDArray[np.str_]:
    """Text or bytes in any container as a unicode array."""
    array = as_array(values, name)
    if array.dtype.kind == "S":
        try:
            return np.char.decode(array, "utf-8")
        except UnicodeDecodeError as problem:
            got = f"got the bytes {problem.object[:40]!r}"
            raise InputError(name, "must be in UTF-8", got, "decode them first", code="encoding") from problem
    if array.dtype.kind == "T" or (
        array.dtype.kind == "O" and array.size and all(isinstance(item, str) for item in array.ravel())
    ):
        return array.astype(str)
    if array.dtype.kind != "U":
        fail(name, "must hold text alone", f"got dtype {array.dtype}", "convert it by .astype(str)", code="type")
    return array


def as_names(values: Any, name: str = "text") -> tuple[str, ...]:
    """Text or numbers in any container as a tuple of str."""
    array = as_array(values, name)
    texts = as_text(array, name) if array.dtype.kind in "SOUT" else array
    return tuple(str(text) for text in texts.reshape(-1).tolist())


# -- helpers ----------------------------------------------------------------------------------------------------------


def _check_options(member_axis: Any, normalise: Any) -> None:
    whole(member_axis, "member_axis", "pass 0 or 1")
    if not isinstance(normalise, (bool, np.bool_)):
        rule = "must be True or False"
        fail("normalise", rule, f"got {type(normalise).__name__}", "pass True or leave it out", code="type")


def _by_role(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays under their full names; one that is there under two names is refused."""
    named: dict[str, Any] = {}
    for key, values in arrays.items():
        role = ALIASES.get(key, key)
        if role in named:
            rule = "must be given once"
            fail(role, rule, f"it is there under two names, one of them {key}", "drop one", code="duplicate")
        named[role] = values
    return named


def _with_precision(named: dict[str, Any]) -> dict[str, Any]:
    """The same arrays; those that were written from bfloat16 are marked as such again."""
    for key in as_names(named["bfloat16"], "bfloat16") if named.get("bfloat16") is not None else ():
        values = None if named.get(key) is None else as_array(named[key], key)
        if values is not None and values.dtype == np.float32:
            named[key] = as_bfloat16(values.astype(np.float32, copy=False))
    return named


def _carried(named: Mapping[str, Any]) -> dict[str, Any]:
    carried: dict[str, Any] = {}
    if named.get("class_names") is not None:
        names = named["class_names"]
        carried["class_names"] = names.reshape(-1) if isinstance(names, np.ndarray) else names
        if named.get("class_order") is not None:
            carried["class_order"] = _one_text(named["class_order"], "class_order")
    if named.get("key_names") is not None:
        names = as_names(named["key_names"], "key_names")
        carried["keys"] = {name: named[KEY(i)] for i, name in enumerate(names) if KEY(i) in named}
    for key in ("ids", "groups"):
        if named.get(key) is not None:
            values = as_frame(named[key], key) or as_array(named[key], key)
            carried[key] = as_text(values, key) if values.dtype.kind in "ST" else values
    if named.get("notes") is not None:
        carried["notes"] = _notes(named["notes"], named.get("note_codes"))
    if named.get("row_numbers") is not None:
        numbers = as_numeric(named["row_numbers"], "row_numbers", ndim=1)
        if numbers.dtype.kind not in "iu" or (numbers < 0).any() or (numbers > np.iinfo(np.int64).max).any():
            remedy = "leave them out"
            fail("row_numbers", "must be whole numbers from 0 up", f"got {numbers.dtype}", remedy, code="type")
        carried["row_numbers"] = numbers.astype(np.int64)
    return carried


def _notes(texts: Any, codes: Any) -> Any:
    """Notes from their texts and codes; files of older versions have texts alone."""
    if isinstance(texts, (list, tuple)) and any(isinstance(text, Note) for text in texts):
        return texts
    texts = as_names(texts, "notes")
    codes = ("stated",) * len(texts) if codes is None else as_names(codes, "note_codes")
    if len(codes) != len(texts):
        rule = "must be as many as there are notes"
        fail("note_codes", rule, f"got {len(codes)} for {len(texts)} notes", "leave them out", code="mismatch")
    return tuple(Note(code, text) for code, text in zip(codes, texts, strict=True))


def _settings(named: Mapping[str, Any], form: str) -> dict[str, Any]:
    """Scalar settings as Python numbers and text."""
    found: dict[str, Any] = {}
    for key in FORMS[form].settings:
        if key == "variance_is" and named.get(key) is not None:
            found[key] = _one_text(named[key], key)
        elif key not in ("weights", "log_partition", "confidence") and named.get(key) is not None:
            value = as_array(named[key], key)
            if value.size != 1 or value.dtype.kind not in "iub":
                fail(key, "must be one number", f"got {value.dtype} of shape {value.shape}", "repair it", code="shape")
            found[key] = value.reshape(()).item()
    return found


def _one_text(value: Any, key: str) -> str:
    texts = as_names(value, key)
    if len(texts) != 1:
        fail(key, "must be one text", f"got {len(texts)}", "repair it", code="shape")
    return texts[0]


def _shape(values: Any, name: str) -> tuple[int, ...]:
    try:
        return tuple(np.shape(values))
    except (TypeError, ValueError):  # no array, or rows of unequal lengths, which as_numeric refuses with its remedy
        return as_numeric(values, name).shape


def _storable_labels(labels: Any, prediction: Prediction) -> NDArray[Any]:
    """Labels in the order of the instances, in the form that `portable_labels` describes."""
    names = prediction.class_names
    checked = labels_for(
        labels,
        n_instances=prediction.n_instances,
        n_classes=prediction.n_classes,
        ids=prediction.ids,
        keys=prediction.keys,
        class_names=names,
        class_order=prediction.class_order,
        name="labels",
    )
    if is_frame(labels):  # aligned to the ids
        return checked if checked.ndim == 2 or names is None else portable_labels(np.array(names)[checked], names)
    return as_numeric(labels, "labels") if checked.ndim == 2 else portable_labels(labels, names)


def _is_members(shape: tuple[int, ...], kind: str | None) -> bool:
    if kind is not None and kind.lower() in ("point", "members"):
        return kind.lower() == "members"
    if len(shape) not in (1, 2, 3):
        rule = "must be (n, K) for one distribution per instance or (n, M, K) for members"
        remedy = one_row_for_each_pixel("probs", shape[1]) if len(shape) == 4 else "reshape it"
        fail("probs", rule, f"got shape {tuple(shape)}", remedy, code="shape")
    return len(shape) == 3


def _members_second(values: Any, name: str, member_axis: int) -> Any:
    """Three axes with the members on the second; two axes as they are."""
    given = as_frame(values, name)
    array = as_numeric(given or values, name, ndim=(2, 3))
    if member_axis not in (0, 1, -2, -3):
        fail("member_axis", "must be 0 or 1", f"got {member_axis}", "name the axis of the members", code="range")
    moved = array.ndim == 3 and member_axis in (0, -3)
    array = np.moveaxis(array, 0, 1) if moved else array
    if given is None:
        return array
    return Frame(array, (given.labels[1], given.labels[0], given.labels[2]) if moved else given.labels)


def _storable(value: Any, name: str) -> NDArray[Any]:
    array = np.atleast_1d(value) if isinstance(value, str) else np.asarray(value)
    if array.dtype.kind in "OST":
        try:
            return as_text(array, name)
        except InputError as problem:
            rule = "must hold numbers or text to be stored"
            got = f"got dtype {array.dtype}"
            raise InputError(name, rule, got, "convert it by .astype(str)", code="type") from problem
    if array.dtype.kind not in "biufU":
        got = f"got dtype {array.dtype}"
        fail(name, "must hold numbers or text to be stored", got, "convert it by .astype(str)", code="type")
    return array


# Classes of a prediction, and values of classes, in the order of given names.


def classes_in_order(
    prediction: Prediction, names: Sequence[str] | None, parameter: str, *, of: str = "the other prediction"
) -> Prediction:
    """The same statement with its classes in the order of these names; as it is if one of the two has no names."""
    own = prediction.class_names
    if names is None or own is None or own == tuple(names):
        return prediction
    order = positions(np.array(own), np.array(names), f"{parameter}.class_names", part="names", of=of)
    # a number as a label may mean one order or the other, unless it is the name of a class
    differs = prediction.class_order if class_numbers(own, prediction.class_order) else "differs"
    if isinstance(prediction, Masses):
        sets = prediction.focal_sets[:, order]
        return replace(prediction, class_names=tuple(names), class_order=differs, focal_sets=sets)
    drawn = isinstance(prediction, Drawn) and prediction.drawn is not None
    moved: dict[str, Any] = {
        name: getattr(prediction, name)[..., order]
        for name in (*prediction.array_names(), *(["drawn"] if drawn else []))
        if name not in ("weights", "log_partition") and getattr(prediction, name).shape[-1] == prediction.n_classes
    }
    return replace(prediction, class_names=tuple(names), class_order=differs, **moved)


def values_of_classes(values: Any, class_names: Sequence[str] | None, n_classes: int, name: str) -> NDArray[Any]:
    """Numbers for each class, or each pair of classes, in the order of the classes; labels of a table or column name them.

    Classes without names are 0 … K−1. A default index says nothing about classes that have names.

    Examples
    --------
    >>> import pandas as pd
    >>> values_of_classes(pd.Series([1, 2], index=["dog", "cat"]), ("cat", "dog"), 2, "prior").tolist()
    [2, 1]
    """
    frame = as_frame(values, name)
    if frame is None:
        return as_numeric(values, name)
    wanted = np.array(class_names if class_names is not None else range(n_classes))
    for axis, labels in enumerate(frame.labels):
        if labels is not None and (says_more(labels) or not says_more(wanted)):
            places = positions(labels, wanted, name, part="labels", of="the classes")
            known = all(other is not None and says_more(other) for other in frame.labels)
            if not known and (places != np.arange(len(places))).any():
                rule = "needs the classes as labels of rows and columns, because one of them stands in another order"
                fail(name, rule, "got one of them", "label both, or put them in the order of the classes", code="ids")
            frame = frame.moved(places, axis)
    return as_numeric(frame, name)


def label_columns(values: Any, class_names: Sequence[str], name: str) -> Any:
    """Label distributions (n, K) with their columns in the order of the classes; as they are without names."""
    array, names, _ = take_table(values, name)
    if names is None:
        return array
    return array[:, positions(names, class_names, name, part="columns", of="the class names")]
