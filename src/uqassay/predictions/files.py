"""Reading and writing predictions: load, load_answers, save, what_is_lost, load_labels, load_column, inspect_file, file_hash.

The extension decides the format and the named keys decide the kind of prediction; nothing is ever unpickled.

| format | holds | memory map |
|---|---|---|
| `.npz` | every kind, with labels, names, ids, groups | arrays of 16 MB and more; compressed ones as `.zarr` |
| `.npy` | the array of a `Point` or `Members`, or labels | always |
| `.safetensors` | as `.npz` | tensors of 16 MB and more |
| `.zarr` | as `.npz` | of a temporary file, from 256 MiB on; see `arrays_on_disk` |
| `.pt` | as `.npz`, through PyTorch's weights-only loader | by PyTorch |
| `.csv`, `.tsv`, `.parquet` | one `Point` with label, id and group columns | `.parquet` as `.zarr` |
| `.jsonl`, `.json` | one `Point` or `Members`, one object per instance, also with different numbers of options | no |

Files of other programs are read as `other_programs` says.

Sizes that a file declares are checked before anything is allocated; see `arrays_on_disk`.
"""

import hashlib
import os
import stat
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import as_array, as_numeric, lone_surrogates, still_whole
from uqassay.checks import a, fail
from uqassay.errors import FileFormatError, InputError
from uqassay.files import draft_of, problems_named
from uqassay.frames import FromFile
from uqassay.notes import Note
from uqassay.predictions.answers import Answers
from uqassay.predictions.arrays_on_disk import (
    ZARR_MARKERS,
    Arrays,
    Contents,
    StoredArray,
    check_expansion,
    check_fits,
    read_npz,
)
from uqassay.predictions.base import Prediction, checked_class_names
from uqassay.predictions.keys import (
    ALIASES,
    AS_IT_IS,
    FORMS,
    KEY,
    KNOWN_KEYS,
    TableReading,
    arrays_from_prediction,
    as_names,
    choose_form,
    is_key_column,
    key_of_bare_array,
    needed_keys,
    no_classes,
    prediction_from_arrays,
    roles,
    shown_keys,
    variance_meaning,
    vote_columns,
)
from uqassay.predictions.labels import class_indices, labels_for, portable_labels
from uqassay.predictions.other_programs import asks_layout, file_layout
from uqassay.predictions.points import not_normalisable
from uqassay.predictions.tables_on_disk import FORMATS, RECORDS, TABLES, Format, check_sums, refuse_empty_cell
from uqassay.text import listed

__all__ = [
    "LossyFormatWarning",
    "as_path",
    "check_exists",
    "file_hash",
    "inspect_file",
    "load",
    "load_answers",
    "load_column",
    "load_labels",
    "open_contents",
    "read_arrays",
    "read_contents",
    "save",
    "what_is_lost",
]


CONVERSIONS = {  # what to do with files of other formats
    ".ndjson": "rename it to .jsonl",
    ".txt": "write a line such as label above the values, and rename it to .csv",
    ".xlsx": "save it as .csv",
    ".xls": "save it as .csv",
    ".pth": "save the tensors as .pt, for example torch.save({'probs': probs}, path)",
}
MOST_NAMES = 2000  # of a folder that are looked at for a message
PICKLES = (".pkl", ".pickle", ".joblib", ".dill")


# -- reading -------------------------------------------------------------------------------------------------------------


def load(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    member_axis: int = 1,
    normalise: bool = False,
    variance_is: str | None = None,
    columns: Sequence[str] | None = None,
    id: str | None = None,
    positive: str | None = None,
    correct: str | None = None,
    confidence: str | None = None,
    missing: float | None = None,
    like: Sequence[str] = (),
) -> Prediction:
    """Read a prediction from a file.

    Parameters
    ----------
    path : str or path
        A file of one of the formats above. The keys decide the kind: `probs` with two axes is a `Point`, with three
        (n, M, K) `Members` (optional `weights`); `alpha`; `lower` and `upper`; `masses` or `beliefs` with `focal_sets`;
        `vertices`; `mean`, `variance` and `variance_is`; `logits`, which go through a softmax; `sets`; where none of these is
        there, `correct`, perhaps with `confidence`, for `Answers`. A `.npy` file holds `probs`, or `sets` as truth values.
        Also read where present: `class_names` (or `classes`), `ids`, `groups`, and the settings of the kind. Other keys
        are ignored. Labels are read by `load_labels`.
    kind : str, optional
        "point", "members", "dirichlet", "intervals", "masses", "beliefs", "vertices", "gaussian-logits" or "logits",
        where a file holds several kinds or is an array without a name; "fd-shifts" for that package's output (files
        named ``raw_logits*.npz`` or ``raw_output*.npz`` are known by their name).
    member_axis : int
        Where the members stand in `probs` or `logits`; (M, n, K) has `member_axis=0`.
    normalise : bool
        Divide probabilities by their sums first, which repairs rounding, per cent and counts.
    variance_is : {"aleatoric", "epistemic"}, optional
        Meaning of `variance` in a file that does not state it; see `GaussianLogits`.
    columns : sequence of str, optional
        Columns of a table that are the classes, in their order; by default their names tell, see docs/files.md.
    id : str, optional
        Column of a table that identifies the instances.
    positive : str, optional
        The class whose probability `y_prob` is, in a table of `y_true` and `y_prob`.
    correct, confidence : str, optional
        Columns of `Answers`: what was right, and the stated confidence; by default those of these names.
    missing : float, optional
        What a missing confidence of `Answers` counts as; by default it is refused.
    like : sequence of str
        Names that some classes are known to have, such as those of the labels in another file.

    Returns
    -------
    Prediction
        Its large arrays are read-only memory maps where the format allows.

    Raises
    ------
    FileFormatError
        The file is missing, damaged, of an unknown kind or holds pickled objects; its values break a rule.
    MissingDependencyError
        The format needs a package that is not installed.

    Examples
    --------
    >>> import pathlib, tempfile, uqassay as uq
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "ensemble.npz")
    >>> uq.save(uq.Members([[[0.6, 0.4], [0.9, 0.1]]]), path)
    >>> uq.load(path)
    Members(probs=(1, 2, 2))
    >>> folder.cleanup()
    """
    path = as_path(path)
    with problems_named(path):
        reading = TableReading(
            columns, id, like, asks_logits(kind), normalise=normalise, correct=correct, confidence=confidence
        )
        contents = open_contents(path, kind, reading=reading, positive=positive)
        kind = None if asks_layout(kind) else kind
        if contents.bare:
            values = contents.arrays["array"].read()
            values = values if hasattr(values, "shape") else as_numeric(values, "array")  # lists and text in .pt
            arrays = {key_of_bare_array(kind, values): values}
        else:
            _check_classes(contents, path, reading)
            arrays = {
                key: contents.arrays[key].read() for key in needed_keys(contents.arrays, kind, others=contents.other)
            }
        if contents.notes:  # of the reader; formats that give such notes hold none themselves
            arrays["notes"] = contents.notes
        _check_draws_ordered(arrays, path)
        try:
            return prediction_from_arrays(
                arrays,
                kind=kind,
                member_axis=member_axis,
                normalise=normalise,
                variance_is=variance_is,
                missing=missing,
            )
        except InputError as problem:
            if contents.classes and problem.code in ("sum", "not-probabilities"):
                facts = problem.facts | {"columns": tuple(contents.classes)}
                problem = problem.replace(
                    got=f"{problem.got}, in the columns {shown_keys(contents.classes)}", facts=facts
                )
                if problem.code == "not-probabilities":
                    counted = not not_normalisable(contents.matrix(list(contents.classes))).any()
                    remedy = (
                        "normalise=True if these are counts or per cent"
                        if counted
                        else 'kind="logits" if these are logits'
                    )
                    facts = problem.facts | {"look": "counts" if counted else "logits"}
                    problem = problem.replace(remedy=f"pass {remedy}", facts=facts)
            row = problem.facts.get("row")
            if contents.lines is None or not isinstance(row, (int, np.integer)) or row >= len(contents.lines):
                raise problem from None
            line = int(contents.lines[row])
            source = f"{path.name}, {contents.counted} {line}"
            raise problem.replace(source=source, facts=problem.facts | {"line": line}) from problem


def load_answers(
    path: str | os.PathLike[str],
    *,
    model_column: str = "model",
    correct: str | None = None,
    confidence: str | None = None,
    id: str | None = None,
    missing: float | None = None,
) -> dict[str, Answers]:
    r"""Read the answers of several models from one table, whose rows are divided by a column that names the model.

    Parameters
    ----------
    path : str or path
        A `.csv`, `.tsv`, `.parquet`, `.jsonl` or `.json` file with a row for each model and question.
    model_column : str
        The column that names the model.
    correct, confidence, id, missing
        As in `load`. Without ids, the rows of every model must be about the same questions in the same order.

    Returns
    -------
    dict of str to Answers
        The models in the order in which they first occur, as `assay` takes them.

    Raises
    ------
    FileFormatError
        As for `load`; there is no such column.

    Examples
    --------
    >>> import pathlib, tempfile, uqassay as uq
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "answers.csv")
    >>> _ = path.write_text("model,id,correct,confidence\na,q1,1,0.9\na,q2,0,0.4\nb,q2,1,0.7\nb,q1,0,0.2\n")
    >>> found = uq.load_answers(path)
    >>> {name: answers.confidence.tolist() for name, answers in found.items()}, found["b"].ids.tolist()
    ({'a': [0.9, 0.4], 'b': [0.7, 0.2]}, ['q2', 'q1'])
    >>> folder.cleanup()
    """
    path = as_path(path)
    with problems_named(path):
        contents, reading = read_contents(path), TableReading(id=id, correct=correct, confidence=confidence)
        if model_column not in contents.columns:
            got, remedy = f"found {shown_keys(contents.columns)}", "name the column that has the name of the model"
            fail("model_column", f"{model_column!r} must be a column of the file", got, remedy, code="choice")
        values = {name: np.asarray((each.written or each).read()) for name, each in contents.columns.items()}
        names = np.array([str(name) for name in values.pop(model_column).tolist()])
        found = {}
        for name in dict.fromkeys(names.tolist()):
            rows = np.flatnonzero(names == name)
            columns = {key: _in_memory(column[rows], key) for key, column in values.items()}
            part = roles(Contents(columns=columns, in_text=contents.in_text), reading)
            if "correct" not in part.arrays:
                rule, remedy = "must have a column of what was right", "name it correct, or pass its name"
                fail("correct", rule, f"found {shown_keys(columns)}", remedy, code="missing")
            arrays = {key: part.arrays[key].read() for key in needed_keys(part.arrays, "answers")}
            try:
                answers = prediction_from_arrays(arrays | {"notes": part.notes}, kind="answers", missing=missing)
            except InputError as problem:  # whose rows are those of this model
                raise problem.replace(source=f"{path.name}, answers of {name}") from problem
            found[name] = a(Answers, answers, "correct", "")
        return found


def _in_memory(values: NDArray[Any], name: str) -> StoredArray:
    """A column that was read; text has the type that readers give it, by which columns that identify the rows are known."""
    if values.dtype.kind != "U":
        return StoredArray.in_memory(values, name)
    return StoredArray(values.shape, "str", lambda: values, name=name)


def load_labels(
    path: str | os.PathLike[str],
    key: str | None = None,
    *,
    class_names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    id: str | None = None,
    positive: str | None = None,
    ignore_label: str | None = None,
) -> FromFile:
    """Read labels from a file of their own or from a prediction's file.

    Parameters
    ----------
    path : str or path
        The array of a `.npy` file; the key `labels` or `label` of the other formats; the column `label` of a table. A table
        without such a column holds votes or label distributions, one column for each class.
    key : str, optional
        Another key or column.
    class_names : sequence of str, optional
        Names of the classes in the order in which the result numbers them; otherwise those in the file.
    columns : sequence of str, optional
        Columns of a table of votes that are the classes.
    id : str, optional
        Column of a table that identifies the instances.
    positive : str, optional
        As in `load`.
    ignore_label : str, optional
        A text that is no class and marks instances without a label; labels among which it is stay text, for `assay`, which
        leaves these instances out by its argument of this name.

    Returns
    -------
    FromFile (n,) or (n, K)
        An array of labels, votes or label distributions that keeps the ids and class names of the file, so that `assay` puts
        its rows and classes in the order of the predictions. Names become int64 indices; numbers come as they are: an index
        into the class names of the file, or, where these are whole numbers (1, 2, 3), a class name.

    Raises
    ------
    FileFormatError
        As for `load`; the key is missing; a label is neither a number nor the name of a class.

    Examples
    --------
    >>> import pathlib, tempfile, uqassay as uq
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "labels.csv")
    >>> _ = path.write_text("id,label\\na,cat\\nb,dog\\n")
    >>> labels = uq.load_labels(path, class_names=("dog", "cat"))
    >>> labels.tolist(), labels.ids.tolist()
    ([1, 0], ['a', 'b'])
    >>> folder.cleanup()
    """
    path = as_path(path)
    with problems_named(path):
        if not isinstance(key, (str, NoneType)):
            fail("key", "must be text", f"got {type(key).__name__}", "leave it out", code="type")
        reading = TableReading(id=id)
        contents = open_contents(path, None, reading=reading, positive=positive)
        known = _rows_in(contents)
        own, order = _class_names_in(contents)
        if key is None and contents.columns and contents.arrays.keys().isdisjoint(("labels", "label")):
            votes = vote_columns(contents, replace(reading, columns=columns))
            if votes is not None:
                values = contents.matrix(votes.columns)
                return FromFile(values, class_names=votes.names, class_order=votes.order, **known)
        stored, name = _labels_in(contents, key, path.name)
        values = np.array(as_array(stored.read(), name))
        if not values.ndim:
            fail(name, "must be a list with one label per instance", f"got {str(values)!r:.60}", "", code="shape")
        if contents.in_text and "" not in (own or ()):
            _refuse_empty(values, stored.name or name)
        if values.dtype == np.uint64 and values.size and values.max() > np.iinfo(np.int64).max:
            row = int(np.flatnonzero((values > np.iinfo(np.int64).max).reshape(len(values), -1).any(axis=1))[0])
            got = f"row {row} holds {values[row]}"
            fail(name, "must be below 2^63", got, "mark it otherwise or drop it", code="range", facts={"row": row})
        if values.ndim != 1:
            fits = own is not None and order != "keys" and values.ndim == 2 and values.shape[1] == len(own)
            return FromFile(values, class_names=own if fits else None, class_order=order, **known)
        if key is not None and values.dtype.kind in "iuf":  # other columns may hold any numbers
            return FromFile(values, class_names=own, class_order=order, **known)
        if class_names is not None:
            listed = isinstance(class_names, (list, tuple))
            count = len(class_names) if listed else as_array(class_names, "class_names").size
            wanted = checked_class_names(class_names, count)
            held = FromFile(values, class_names=own, class_order=order)
            found = labels_for(held, n_instances=len(values), n_classes=count, class_names=wanted, name=name)
            return FromFile(portable_labels(np.array(wanted)[found], wanted, name=name), class_names=wanted, **known)
        text = values.dtype.kind in "UOS"
        ignored = text and ignore_label is not None and bool((values == ignore_label).any())
        plain = values if ignored or (text and own is None) else portable_labels(values, own, name=name)
        # indices that were names a moment ago mean the order of `own`, whatever that rests on
        order = "stated" if text and plain.dtype.kind in "iu" else order
        return FromFile(plain, class_names=own, class_order=order, **known)


def load_column(
    path: str | os.PathLike[str],
    names: Sequence[str],
    *,
    columns: Sequence[str] | None = None,
    id: str | None = None,
    positive: str | None = None,
    normalise: bool = False,
    like: Sequence[str] = (),
) -> FromFile:
    """Read one array, with the ids in the same file where it has any.

    Parameters
    ----------
    path : str or path
        A file of any of the formats.
    names : sequence of str
        Keys or columns, of which the first that is there is read. A `.npy` file, and a file with one array besides its
        ids, need none of these names.
    columns, id, positive, like
        As in `load`.
    normalise : bool
        Find the columns of the classes as `load` does with this option; the values stay as they are.

    Returns
    -------
    FromFile
        The values, with `ids` and `keys` that identify the rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "sites.csv")
    >>> _ = path.write_text("id,site\\n7,north\\n9,south\\n")
    >>> values = load_column(path, ["groups"])
    >>> values.tolist(), values.ids.tolist()
    (['north', 'south'], [7, 9])
    >>> folder.cleanup()
    """
    path = as_path(path)
    with problems_named(path):
        contents = open_contents(path, reading=TableReading(columns, id, like, normalise=normalise), positive=positive)
        arrays = contents.arrays if contents.classes and names[0] == "probs" else contents.everything()
        roles = [name for key in names for name in (key, ALIASES.get(key, key))]
        index = {name for name, column in contents.columns.items() if column.index}
        others = [key for key in arrays if not _identifies(key, contents) and key not in index | _twice(contents)]
        wanted = next((key for key in roles if key in arrays), others[0] if len(others) == 1 else None)
        if wanted is None:
            rule, got = "must be a key or column of the file", f"found {shown_keys(others)}"
            remedy = f"name one of them {names[0]}"
            fail(names[0], rule, got, remedy, code="missing", facts={"file": path.name, "found": tuple(others)})
        values = np.array(as_array(arrays[wanted].read(), wanted))
        if contents.in_text:
            _refuse_empty(values, arrays[wanted].name or wanted)
        own, order = _class_names_in(contents)
        return FromFile(values, class_names=own, class_order=order, **_rows_in(contents))


def _rows_in(contents: Contents) -> dict[str, Any]:
    """The ids and keys of a file."""
    ids = next((array for key, array in contents.arrays.items() if ALIASES.get(key, key) == "ids"), None)
    keys = {}
    if "key_names" in contents.arrays:
        names = as_names(contents.arrays["key_names"].read(), "key_names")
        keys = {name: np.array(as_array(contents.arrays[KEY(i)].read(), name)) for i, name in enumerate(names)}
    return {"ids": None if ids is None else np.array(as_array(ids.read(), "ids")), "keys": keys}


def _class_names_in(contents: Contents) -> tuple[tuple[str, ...] | None, str]:
    """The class names of a file, and what their order rests on."""
    names = _texts(contents, "class_names")
    order = _texts(contents, "class_order")
    return (tuple(map(str, names)) if names else None), (order[0] if order else "stated")


def _check_classes(contents: Contents, path: Path, reading: TableReading) -> None:
    """Refuse a table without columns of classes, unless arrays in it state the prediction."""
    stated = any(set(form.keys) <= set(contents.arrays) for form in FORMS.values())
    if path.suffix.lower() in TABLES and not stated and not contents.bare:
        raise no_classes(contents, reading)


def _made(contents: Contents) -> set[str]:
    """Keys that the columns of a table were given here."""
    return {key for key in contents.arrays if key == "key_names" or is_key_column(key, contents.arrays)}


def _twice(contents: Contents) -> set[str]:
    """Roles of columns, which are there under their own names too, and what was made of the names of columns."""
    of_roles = {key for key, array in contents.arrays.items() if key != array.name and array.name in contents.columns}
    return of_roles | ({"class_names", "class_order"} & set(contents.arrays) if contents.classes else set())


def _identifies(key: str, contents: Contents) -> bool:
    """Whether an array identifies the rows: ids, or the one key of a table."""
    own = _texts(contents, "key_names")
    named = key in own and len(own) == 1 and "ids" not in contents.arrays
    return ALIASES.get(key, key) == "ids" or key in _made(contents) or named


def _refuse_empty(values: NDArray[Any], name: str) -> None:
    """Refuse the first empty cell of a column of text."""
    empty = np.flatnonzero(np.char.strip(values) == "" if values.dtype.kind == "U" else False)
    if empty.size:
        refuse_empty_cell(name, int(empty[0]))


def _check_draws_ordered(arrays: Mapping[str, Any], path: Path) -> None:
    """Refuse a number of draws for which those of one instance, which are held at once, take more memory than the file may."""
    n_draws, of_class = np.asarray(arrays.get("n_draws", 0)), arrays.get("alpha", arrays.get("mean"))
    if of_class is not None and n_draws.size == 1 and n_draws.dtype.kind in "iu":
        stored = sum(part.stat().st_size for part in parts_of(path))
        check_expansion(
            "n_draws", (max(int(n_draws.item()), 0), np.shape(of_class)[-1] if np.ndim(of_class) else 1), 8, stored
        )


def _labels_in(contents: Contents, key: str | None, file: str) -> tuple[StoredArray, str]:
    if contents.bare and key is None:
        return contents.arrays["array"], "labels"
    everything = contents.everything()
    wanted = ("labels", "label") if key is None else (key, ALIASES.get(key, key))
    for name in wanted:
        if name in everything:
            return everything[name], name
    own = [name for name in everything if name not in _made(contents) | _twice(contents)]
    found = shown_keys(own)
    what = "labels or label" if key is None else repr(key)
    fail(
        "key",
        f"the file has no {what}",
        f"found {found}",
        "give one of them as key, or labels of their own",
        code="missing",
        facts={"file": file, "found": tuple(name for name in own if ALIASES.get(name, name) != "ids")},
    )


# -- writing -------------------------------------------------------------------------------------------------------------


# what a format leaves out with a warning, in words; what else it cannot hold is refused
_PARTS = {
    "notes": "notes",
    "note_codes": "",
    "row_numbers": "",
    "bfloat16": "",
    "log_partition": "log-partitions, on which measures of logits are based",
    "class_order": "that the order of the class names means nothing",
}
_LEFT_OUT = dict.fromkeys((".npy", ".csv", ".tsv", ".parquet", ".jsonl", ".json"), _PARTS)
_TABLE = {"probs", "class_names", "ids", "groups", "labels", "correct", "confidence"}
_HELD = {".npy": {"probs"}} | dict.fromkeys(TABLES, _TABLE) | dict.fromkeys(RECORDS, _TABLE | {"weights"})


class LossyFormatWarning(UserWarning):
    """A format cannot hold a part of a prediction, which is left out."""


def save(prediction: Prediction, path: str | os.PathLike[str], *, labels: ArrayLike | None = None) -> None:
    """Write a prediction, and labels with it, so that `load` gives it back as it is.

    Parameters
    ----------
    prediction : Prediction
        Any of the nine kinds; `.npy` and `.jsonl` take `Point` and `Members`, `.csv` and `.parquet` take `Point`; `Answers`
        go into all but `.npy`. Numbers
        in text (`.csv`, `.jsonl`) come back as float64, and ids that are plain whole numbers as int64.
    path : str or path
        The extension decides the format. The file appears whole or not at all: it is written under another name in the
        same folder first, and an older file stays intact until then. A symbolic link stays, and what it leads to is
        replaced; a pipe, a device, a folder or a file that may not be written is not.
    labels : array (n,) or (n, K), optional
        Class indices or names, or votes and label distributions; not in `.npy`.

    Warns
    -----
    LossyFormatWarning
        The format leaves a part of the prediction out; `what_is_lost` says which.

    Raises
    ------
    FileFormatError
        The format cannot hold the prediction, or the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile, uqassay as uq
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "edl.npz")
    >>> uq.save(uq.Dirichlet([[8.0, 1.0, 1.0]], n_draws=50), path, labels=[0])
    >>> uq.load(path).n_draws, uq.load_labels(path).tolist()
    (50, [0])
    >>> folder.cleanup()
    """
    path = as_path(path)
    if not isinstance(prediction, Prediction):
        raise _no_prediction(prediction)
    with problems_named(path, "written"):
        write = format_of(path, to_write=True).write
        if not path.parent.is_dir():
            raise FileFormatError("folder", f"{path.parent} does not exist", "", "create it first", code="missing")
        arrays, suffix = arrays_from_prediction(prediction, labels), path.suffix.lower()
        if suffix in (*TABLES, *RECORDS):
            arrays = _labels_by_name(arrays)
        _check_held(arrays, suffix)
        _check_text(arrays, suffix)
        _check_sums(prediction, suffix)
        lost = _lost(arrays, suffix)
        arrays = {key: value for key, value in arrays.items() if key not in _LEFT_OUT.get(suffix, ())}
        folder = suffix == ".zarr"
        if folder and path.exists() and not any((path / marker).exists() for marker in ZARR_MARKERS):
            got, remedy = f"it is {'another folder' if path.is_dir() else 'a file'}", "choose another name"
            raise FileFormatError("path", "only a zarr store is replaced by one", got, remedy, code="conflict")
        for value in arrays.values():  # a map may be of a file that has become shorter since it was loaded
            still_whole(value)
        with draft_of(path, folder=folder) as draft:
            write(draft, arrays)
    for note in lost:
        warnings.warn(f"{path.name}: {note}; save it as .npz to keep them.", LossyFormatWarning, stacklevel=2)


def what_is_lost(prediction: Prediction, path: str | os.PathLike[str]) -> tuple[Note, ...]:
    """What the format of a file would leave out of a prediction.

    Parameters
    ----------
    prediction : Prediction
    path : str or path
        The extension decides.

    Returns
    -------
    tuple of Note
        Empty for the formats that hold everything.

    Examples
    --------
    >>> import uqassay as uq
    >>> p = uq.Point.from_logits([[0.0, 1.0]])
    >>> [note.code for note in what_is_lost(p, "p.csv")], what_is_lost(p, "p.npz")
    (['log-partition-lost'], ())
    """
    suffix = as_path(path).suffix.lower()
    if not isinstance(prediction, Prediction):
        raise _no_prediction(prediction)
    return _lost({f.name: getattr(prediction, f.name) for f in fields(prediction)}, suffix)


def _no_prediction(value: Any) -> InputError:
    return InputError(
        "prediction",
        "must be a prediction such as Point or Members",
        f"got {type(value).__name__}",
        "make one by from_object",
        code="type",
    )


def _check_held(arrays: Arrays, suffix: str) -> None:
    """Refuse a prediction whose statement itself the format cannot hold."""
    if suffix not in _HELD:
        return
    keys = {key for key in arrays if key == "key_names" or is_key_column(key, arrays)}
    beyond = sorted(set(arrays) - _HELD[suffix] - set(_LEFT_OUT[suffix]) - keys)
    if not {"probs", "correct"} & set(arrays) or beyond:
        rule, remedy = f"{suffix} holds {listed(sorted(_HELD[suffix]))}, and no more", "save it as .npz"
        fail("prediction", rule, f"this prediction has {listed(beyond or sorted(arrays))}", remedy, code="format")


def _labels_by_name(arrays: Arrays) -> Arrays:
    """The same arrays with class names in place of class indices, which tables and JSON objects give no order."""
    labels, names = arrays.get("labels"), arrays.get("class_names")
    if labels is None or names is None or labels.ndim != 1 or labels.dtype.kind == "U":
        return arrays
    return arrays | {"labels": names[class_indices(labels, names.tolist())]}


def _check_text(arrays: Arrays, suffix: str) -> None:
    """Refuse text that the formats of text cannot give back: NUL, and lone surrogates, as of file names that are not UTF-8."""
    if suffix not in _HELD:
        return
    for key, value in arrays.items():
        cut = next((text for text in value.ravel().tolist() if "\0" in text), None) if value.dtype.kind == "U" else None
        if cut is not None:
            rule = f"{suffix} holds text without NUL characters"
            fail(key, rule, f"got {cut!r:.60}", "save it as .npz", code="format")
        if (broken := lone_surrogates(value)).any():
            got = f"got {str(np.atleast_1d(value)[broken][0])!r}"
            fail(key, f"{suffix} is UTF-8, which has no lone surrogates", got, "save it as .npz", code="encoding")


def _check_sums(prediction: Prediction, suffix: str) -> None:
    """Refuse probabilities whose type the format does not keep, if their sums are then too far from 1."""
    probs = getattr(prediction, "probs", None)
    if probs is not None and suffix in _HELD:
        check_sums(probs, suffix, np.float64 if suffix in (".csv", ".tsv", *RECORDS) else probs.dtype.type)


def _lost(arrays: Any, suffix: str) -> tuple[Note, ...]:
    """One note for each part that is there and that the format leaves out."""
    lost = []
    for key, part in _LEFT_OUT.get(suffix, {}).items():
        value = arrays.get(key)
        if key == "class_order":  # columns have the order in which the keys came; keys of objects have none again
            value = value if suffix in TABLES and "keys" in np.atleast_1d(value).tolist() else None
        if part and value is not None and len(value):
            lost.append(Note(f"{key.replace('_', '-')}-lost", f"{suffix} does not hold {part}", {"key": key}))
    return tuple(lost)


# -- inspecting ----------------------------------------------------------------------------------------------------------


SIZES = ("n_instances", "n_classes", "n_members", "n_vertices", "n_focal_sets")


def inspect_file(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    member_axis: int = 1,
    variance_is: str | None = None,
    columns: Sequence[str] | None = None,
    id: str | None = None,
    positive: str | None = None,
    correct: str | None = None,
    confidence: str | None = None,
    missing: float | None = None,
    like: Sequence[str] = (),
) -> dict[str, Any]:
    """What a file holds, from names and shapes alone (tables of text are read); JSON-able.

    Parameters
    ----------
    path, kind, member_axis, variance_is, columns, id, positive, correct, confidence, missing, like
        As in `load`.

    Returns
    -------
    dict
        `file`, `format`, `bytes`; `kind` of the prediction (None where there is none, and then `problem` holds the fields
        of the error that says why); `n_instances`, `n_classes`, `n_members`, `n_vertices`, `n_focal_sets` (None where there
        are none); `variance_is` of Gaussian logits; `class_names`, and what their order rests on (`class_order`: "stated",
        "columns", or "keys" of JSON objects, which have no order); whether `labels`, `ids` and `groups` are inside; `arrays`
        with shape and dtype by key; `columns` of a table, the classes first in their order, each with what it is taken for
        ("class", "label", "id", "group", "may identify the rows", "index" or "left out"); `ignored` keys; `notes`, each with
        code and text.

    Raises
    ------
    FileFormatError
        The file is missing, damaged or of an unknown format.

    Examples
    --------
    >>> import pathlib, tempfile, uqassay as uq
    >>> from uqassay.predictions.files import inspect_file
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "ensemble.npz")
    >>> uq.save(uq.Members([[[0.6, 0.4], [0.9, 0.1]]]), path)
    >>> found = inspect_file(path)
    >>> found["kind"], found["n_members"], found["arrays"]
    ('members', 2, {'probs': {'shape': [1, 2, 2], 'dtype': 'float64'}})
    >>> folder.cleanup()
    """
    path = as_path(path)
    with problems_named(path):
        reading = TableReading(columns, id, like, asks_logits(kind), correct=correct, confidence=confidence)
        contents = open_contents(path, kind, reading=reading, positive=positive)
        roles = _taken_for(contents) if path.suffix.lower() in (*TABLES, *RECORDS) else {}
        made = _made(contents) | _twice(contents) | {"class_order"}
        everything = {k: array for k, array in (contents.arrays | contents.other).items() if k not in made}
        known = KNOWN_KEYS | {"array"}
        found: dict[str, Any] = {
            "file": path.name,
            "format": path.suffix.lower().removeprefix("."),
            "bytes": sum(part.stat().st_size for part in parts_of(path)),
            "kind": None,
            "problem": None,
            **dict.fromkeys(SIZES),
            "variance_is": None,
            "class_names": _texts(contents, "class_names") or None,
            "class_order": _class_names_in(contents)[1] if _texts(contents, "class_names") else None,
            **{key: any(ALIASES.get(k, k) == key for k in contents.arrays) for key in ("labels", "ids", "groups")},
            "arrays": {key: {"shape": list(a.shape), "dtype": a.dtype} for key, a in everything.items()},
            "columns": roles,
            "ignored": [
                key
                for key in everything
                if (key not in contents.arrays or key not in known) and roles.get(key, "left out") == "left out"
            ],
            "notes": [note.to_dict() for note in (*_stated_notes(contents), *contents.notes)],
        }
        try:
            _check_classes(contents, path, reading)
            sizes = _sizes(contents, None if asks_layout(kind) else kind, member_axis)
            if sizes["kind"] == "gaussian-logits" or variance_is is not None:
                stated = _texts(contents, "variance_is")
                sizes["variance_is"] = variance_meaning(sizes["kind"], stated[0] if stated else None, variance_is)
            found |= sizes
        except InputError as problem:
            fields = ("parameter", "rule", "got", "remedy", "code")
            own = {name: getattr(problem, name) for name in fields}
            found["problem"] = own | {"source": path.name, "facts": dict(problem.facts)}
        return found


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an archive that `numpy.savez` wrote; together they take no more memory than the archive has bytes."""
    with problems_named(path):
        check_exists(path)
        if not path.is_file():
            fail("file", "must be a file", "it is a folder", "check the path", code="not-a-file")
        with zipfile.ZipFile(path) as archive:
            needed = sum(info.file_size for info in archive.infolist())
            check_fits("arrays", (needed,), 1, path.stat().st_size)  # entries may be compressed, or share their bytes
            return {name: np.array(array.read()) for name, array in read_npz(path, archive).arrays.items()}


def file_hash(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file, in hexadecimal; of a folder (zarr) over the sorted names and contents of its files.

    Raises
    ------
    FileFormatError
        The file is missing or may not be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from uqassay.predictions.files import file_hash
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "labels.csv")
    >>> _ = path.write_bytes(b"abc")
    >>> file_hash(path)[:16]
    'ba7816bf8f01cfea'
    >>> folder.cleanup()
    """
    path = as_path(path)
    with problems_named(path):
        check_exists(path)
        digest = hashlib.sha256()
        for part in parts_of(path):
            if path.is_dir():  # names and sizes too, so that moving bytes between files changes the hash
                digest.update(
                    f"{part.relative_to(path).as_posix()}\0{part.stat().st_size}\0".encode("utf-8", "surrogateescape")
                )
            with part.open("rb") as stream:
                while block := stream.read(2**20):
                    digest.update(block)
        return digest.hexdigest()


def _taken_for(contents: Contents) -> dict[str, str]:
    """What each column of a table is taken for."""
    roles = {"labels": "label", "ids": "id", "groups": "group", "probs": "class"}
    roles |= {key: key for key in ("correct", "confidence")}
    role = {
        array.name: roles[ALIASES.get(key, key)]
        for key, array in contents.arrays.items()
        if ALIASES.get(key, key) in roles and array.name
    }
    keys = _texts(contents, "key_names")
    others = {
        name: role.get(name) or ("may identify the rows" if name in keys else "index" if column.index else "left out")
        for name, column in contents.columns.items()
        if name not in contents.classes
    }
    return dict.fromkeys(contents.classes, "class") | role | others  # layouts take columns away


def _texts(contents: Contents, key: str) -> list[str]:
    """A short text array under its own name or an alias of it."""
    for name, stored in contents.arrays.items():
        if ALIASES.get(name, name) == key:
            return list(as_names(stored.read(), key))
    return []


def _stated_notes(contents: Contents) -> list[Note]:
    """Notes of the prediction itself; files of older versions hold no codes."""
    texts, codes = _texts(contents, "notes"), _texts(contents, "note_codes")
    if len(codes) != len(texts):
        codes = ["stated"] * len(texts)
    return [Note(code, text) for code, text in zip(codes, texts, strict=True)]


def _sizes(contents: Contents, kind: str | None, member_axis: int) -> dict[str, Any]:
    """Kind and sizes, by the shapes alone."""
    if contents.bare:
        shape = contents.arrays["array"].shape
        form = choose_form([key_of_bare_array(kind, contents.arrays["array"])], kind)
    else:
        form = choose_form(contents.arrays, kind)
        shape = contents.arrays[FORMS[form].keys[0]].shape
    if form == "answers":
        return {"kind": form, "n_instances": shape[0]}
    if len(shape) not in (2, 3):
        fail(FORMS[form].keys[0], "must have two or three axes", f"got shape {shape}", "reshape it", code="shape")
    by_member = form in ("probs", "logits", "gaussian-logits") and len(shape) == 3
    n_instances = shape[1] if by_member and member_axis % 3 == 0 else shape[0]
    sizes: dict[str, Any] = {"kind": form, "n_instances": n_instances, "n_classes": shape[-1]}
    if by_member:
        sizes["n_members"] = shape[member_axis % 3]
    if form in ("probs", "logits"):
        sizes["kind"] = "members" if by_member else "point"
    elif form in ("masses", "beliefs"):
        sets = contents.arrays["focal_sets"].shape
        sizes |= {"kind": "masses", "n_focal_sets": shape[1], "n_classes": sets[1] if len(sets) == 2 else None}
    elif form == "vertices":
        sizes["n_vertices"] = shape[1]
    return sizes


# -- opening -------------------------------------------------------------------------------------------------------------


def as_path(path: Any) -> Path:
    """The path given as str or path object."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str):
        fail("path", "must be a str or a path", f"got {type(path).__name__}", "pass a name", code="type")
    if not text or "\0" in text:
        fail("path", "must be the name of a file", f"got {text!r:.60}", "check the path", code="empty")
    return Path(text)


def format_of(path: Path, *, to_write: bool = False) -> Format:
    """The format behind the extension; pickles are refused by name."""
    suffix = path.suffix.lower()
    if suffix in PICKLES:
        got, remedy = f"got {suffix}", "save the arrays as .npz, for example np.savez(path, probs=probs)"
        raise FileFormatError("extension", "pickles can run any code and are never loaded", got, remedy, code="pickle")
    if suffix not in FORMATS:
        raise FileFormatError(
            "extension",
            f"must be one of {', '.join(FORMATS)}",
            f"got {suffix or 'none'!r}",
            "end the name of the file in one of them"
            if to_write
            else CONVERSIONS.get(suffix, "convert or rename the file"),
            code="choice",
        )
    return FORMATS[suffix]


def open_contents(
    path: Path, kind: str | None = None, *, reading: TableReading = AS_IT_IS, positive: str | None = None
) -> Contents:
    """Names, shapes and types of what a file holds, each array and column with its role.

    `kind` may be "fd-shifts", a layout that a file may not show; other kinds are those of `load`.
    """
    contents = read_contents(path, kind, options=tuple(reading.like) or None, positive=positive)
    return roles(contents, reading) if contents.columns or contents.lines is not None else contents


def read_contents(
    path: Path, kind: str | None = None, *, options: Sequence[str] | None = None, positive: str | None = None
) -> Contents:
    """What a file holds, after the checks that need no reading; nobody has decided which column of a table is what.

    `options`: names of the classes in their order, for layouts of records that do not list them all; `positive`: name of the
    positive class, for layouts that hold the probability of one of two classes.
    """
    check_exists(path)
    suffix = path.suffix.lower()
    folder = suffix == ".zarr"
    if path.is_dir() and not folder:
        names = [part.name for part in islice(path.iterdir(), MOST_NAMES) if part.suffix.lower() in FORMATS]
        held = sorted(names, key=lambda name: (name.lower().endswith(".json"), name))  # which often hold settings
        remedy = f"give the files in it, such as {path / held[0]}" if held else "give a file"
        remedy = "give a kept assay alone, or read it by uq.Assay.load" if (path / "assay.json").is_file() else remedy
        raise FileFormatError("path", "must be a file", "it is a folder", remedy, code="type")
    read = format_of(path).read
    if folder and not path.is_dir():
        raise FileFormatError("path", ".zarr must be a folder", "it is a file", "check the path", code="type")
    if folder:
        parts_of(path)  # a pipe in a store would be waited for without end
    elif path.stat().st_size == 0:
        raise FileFormatError("file", "must not be empty", "it has 0 bytes", "write it again", code="empty")
    contents = read(path, options) if suffix in RECORDS else read(path)
    layout = file_layout(path, contents, kind)
    if layout is not None:
        return layout.read(path, contents, positive)
    if set(contents.arrays) == {"arr_0"}:  # np.savez wrote one array without a name
        return Contents({"array": contents.arrays["arr_0"]}, bare=True)
    return contents


def check_exists(path: Path) -> None:
    """Refuse a path that leads nowhere, or to a pipe or device, which would be waited for without end."""
    try:
        mode = path.stat().st_mode
    except PermissionError:
        raise
    except (OSError, ValueError) as problem:
        link = os.path.islink(path)
        raise FileFormatError(
            "path",
            "must lead to a file",
            "it is a symbolic link that leads nowhere"
            if link
            else f"there is none of this name in {path.absolute().parent}",
            _nearest(path),
            code="missing",
        ) from problem
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise _no_plain_file("path", "it is a pipe or a device")


def _nearest(path: Path) -> str:
    """The remedy for a path that leads nowhere: the files in its folder that are named most alike."""
    try:
        names = [entry.name for entry in islice(os.scandir(path.absolute().parent), MOST_NAMES)]
    except OSError:
        return "check the path"
    same = [name for name in sorted(names) if Path(name).stem == path.stem and Path(name).suffix.lower() in FORMATS]
    alike = same[:3] or get_close_matches(path.name, names, n=3, cutoff=0.75)
    return f"did you mean {listed(alike, last='or')}" if alike else "check the path"


def parts_of(path: Path) -> list[Path]:
    """The files of which a file or folder consists, sorted; a file consists of itself.

    Folders behind symbolic links are not entered.
    """
    if not path.is_dir():
        return [path]
    parts = []
    for place, _, names in os.walk(path):
        for name in names:
            part = Path(place, name)
            try:
                plain = stat.S_ISREG(part.stat().st_mode)
            except OSError:
                plain = False
            if not plain:
                raise _no_plain_file("path", f"{part.relative_to(path)} is a pipe, a device or a broken link")
            parts.append(part)
    return sorted(parts)


def asks_logits(kind: str | None) -> bool:
    """Whether `kind` says that the numbers are logits."""
    return isinstance(kind, str) and kind.lower() == "logits"


def _no_plain_file(parameter: str, found: str) -> FileFormatError:
    return FileFormatError(parameter, "must be a plain file", found, "write it to a file first", code="not-a-file")
