"""Predictions from named arrays and back, for files and mappings alike.

A prediction is written and read as arrays under the names of its fields (`probs`, `alpha`, `lower` and `upper`, …),
together with what it carries (`class_names`, `ids`, `groups`, `row_numbers`, the texts and codes of `notes`) and its settings
(`n_draws`, `variance_is`, …). `bfloat16` lists the arrays that were given in that type; NumPy lacks it, so they are stored as
float32.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_array, as_bfloat16, as_numeric, one_row_for_each_pixel, precision_of
from uqassay._frames import Frame, as_frame, is_frame
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions.base import Prediction
from uqassay.predictions.class_sets import ClassSets
from uqassay.predictions.dirichlet import Dirichlet
from uqassay.predictions.gaussian_logits import GaussianLogits, check_variance_is
from uqassay.predictions.intervals import Intervals
from uqassay.predictions.keys import ALIASES, FORMS, KEY, choose_form, form_of_kind
from uqassay.predictions.labels import labels_for, portable_labels
from uqassay.predictions.masses import Masses
from uqassay.predictions.members import Members
from uqassay.predictions.point import Point
from uqassay.predictions.vertices import Vertices

__all__ = ["NOT_STORED", "arrays_from_prediction", "as_names", "as_text", "prediction_from_arrays", "variance_meaning"]

NOT_STORED = ("drawn", "_held")  # draws follow from their seed, and remembered arrays from the others


def prediction_from_arrays(
    arrays: Mapping[str, Any],
    *,
    kind: str | None = None,
    member_axis: int = 1,
    normalise: bool = False,
    variance_is: str | None = None,
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
    """
    _check_options(member_axis, normalise)
    form = choose_form(arrays, kind)
    if normalise and form not in ("probs", "vertices"):
        raise InputError(
            "normalise",
            "applies to probs and vertices",
            f"found {' and '.join(FORMS[form].keys)}",
            "leave it out",
            code="conflict",
        )
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
    """Meaning of the variance of Gaussian logits: the one that the arrays state, or else the one asked for.

    Raises
    ------
    InputError
        Neither; two that differ; a meaning asked for where the arrays make another kind of prediction.
    """
    if asked is not None:
        check_variance_is(asked)
        if kind != "gaussian-logits":
            raise InputError(
                "variance_is",
                "applies to mean and variance",
                f"found {' and '.join(FORMS[form_of_kind(kind)].keys)}",
                "leave it out",
                code="conflict",
            )
        if stated is not None and stated != asked:
            raise InputError(
                "variance_is",
                "must not contradict the key variance_is",
                f"got {asked!r}, and the key states {stated!r:.60}",
                "leave it out, or repair the key",
                code="conflict",
            )
    meaning = asked if stated is None else stated
    check_variance_is(meaning)
    return str(meaning)


def as_text(values: Any, name: str = "text") -> NDArray[np.str_]:
    """Text or bytes in any container as a unicode array.

    Raises
    ------
    InputError
        Values that are not text, or bytes that are not UTF-8.
    """
    array = as_array(values, name)
    if array.dtype.kind == "S":
        try:
            return np.char.decode(array, "utf-8")
        except UnicodeDecodeError as problem:
            raise InputError(
                name, "must be in UTF-8", f"got the bytes {problem.object[:40]!r}", "decode them first", code="encoding"
            ) from problem
    if array.dtype.kind == "T" or (
        array.dtype.kind == "O" and array.size and all(isinstance(item, str) for item in array.ravel())
    ):
        return array.astype(str)
    if array.dtype.kind != "U":
        raise InputError(
            name, "must hold text alone", f"got dtype {array.dtype}", "convert it by .astype(str)", code="type"
        )
    return array


def as_names(values: Any, name: str = "text") -> tuple[str, ...]:
    """Text or numbers in any container as a tuple of str."""
    array = as_array(values, name)
    texts = as_text(array, name) if array.dtype.kind in "SOUT" else array
    return tuple(str(text) for text in texts.reshape(-1).tolist())


# -- helpers ----------------------------------------------------------------------------------------------------------


def _check_options(member_axis: Any, normalise: Any) -> None:
    if isinstance(member_axis, (bool, np.bool_)) or not isinstance(member_axis, (int, np.integer)):
        raise InputError(
            "member_axis", "must be a whole number", f"got {member_axis!r:.60}", "pass 0 or 1", code="type"
        )
    if not isinstance(normalise, (bool, np.bool_)):
        raise InputError(
            "normalise",
            "must be True or False",
            f"got {type(normalise).__name__}",
            "pass True or leave it out",
            code="type",
        )


def _by_role(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays under their full names; one that is there under two names is refused."""
    named: dict[str, Any] = {}
    for key, values in arrays.items():
        role = ALIASES.get(key, key)
        if role in named:
            raise InputError(
                role,
                "must be given once",
                f"it is there under two names, one of them {key}",
                "drop one",
                code="duplicate",
            )
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
            raise InputError(
                "row_numbers", "must be whole numbers from 0 up", f"got {numbers.dtype}", "leave them out", code="type"
            )
        carried["row_numbers"] = numbers.astype(np.int64)
    return carried


def _notes(texts: Any, codes: Any) -> Any:
    """Notes from their texts and codes; files of older versions have texts alone."""
    if isinstance(texts, (list, tuple)) and any(isinstance(text, Note) for text in texts):
        return texts
    texts = as_names(texts, "notes")
    codes = ("stated",) * len(texts) if codes is None else as_names(codes, "note_codes")
    if len(codes) != len(texts):
        raise InputError(
            "note_codes",
            "must be as many as there are notes",
            f"got {len(codes)} for {len(texts)} notes",
            "leave them out",
            code="mismatch",
        )
    return tuple(Note(code, text) for code, text in zip(codes, texts, strict=True))


def _settings(named: Mapping[str, Any], form: str) -> dict[str, Any]:
    """Scalar settings as Python numbers and text."""
    found: dict[str, Any] = {}
    for key in FORMS[form].settings:
        if key == "variance_is" and named.get(key) is not None:
            found[key] = _one_text(named[key], key)
        elif key not in ("weights", "log_partition") and named.get(key) is not None:
            value = as_array(named[key], key)
            if value.size != 1 or value.dtype.kind not in "iub":
                raise InputError(
                    key, "must be one number", f"got {value.dtype} of shape {value.shape}", "repair it", code="shape"
                )
            found[key] = value.reshape(()).item()
    return found


def _one_text(value: Any, key: str) -> str:
    texts = as_names(value, key)
    if len(texts) != 1:
        raise InputError(key, "must be one text", f"got {len(texts)}", "repair it", code="shape")
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
        raise InputError(
            "probs",
            "must be (n, K) for one distribution per instance or (n, M, K) for members",
            f"got shape {tuple(shape)}",
            one_row_for_each_pixel("probs", shape[1]) if len(shape) == 4 else "reshape it",
            code="shape",
        )
    return len(shape) == 3


def _members_second(values: Any, name: str, member_axis: int) -> Any:
    """Three axes with the members on the second; two axes as they are."""
    given = as_frame(values, name)
    array = as_numeric(given or values, name, ndim=(2, 3))
    if member_axis not in (0, 1, -2, -3):
        raise InputError(
            "member_axis", "must be 0 or 1", f"got {member_axis}", "name the axis of the members", code="range"
        )
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
            raise InputError(
                name,
                "must hold numbers or text to be stored",
                f"got dtype {array.dtype}",
                "convert it by .astype(str)",
                code="type",
            ) from problem
    if array.dtype.kind not in "biufU":
        raise InputError(
            name,
            "must hold numbers or text to be stored",
            f"got dtype {array.dtype}",
            "convert it by .astype(str)",
            code="type",
        )
    return array
