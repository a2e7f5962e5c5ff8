"""What a file of predictions holds, found without reading its arrays, and the hash that identifies it."""

import hashlib
import os
from typing import Any

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions.file_contents import Contents
from uqassay.predictions.file_opening import (
    as_path,
    asks_fd_shifts,
    check_exists,
    open_contents,
    parts_of,
    problems_named,
)
from uqassay.predictions.named_arrays import as_names, variance_meaning
from uqassay.predictions.prediction_keys import ALIASES, FORMS, KNOWN_KEYS, choose_form, key_of_bare_array

__all__ = ["file_hash", "inspect_file"]

SIZES = ("n_instances", "n_classes", "n_members", "n_vertices", "n_focal_sets")


def inspect_file(
    path: str | os.PathLike[str], *, kind: str | None = None, member_axis: int = 1, variance_is: str | None = None
) -> dict[str, Any]:
    """What a file holds, from names and shapes alone (tables of text are read); JSON-able.

    Parameters
    ----------
    path, kind, member_axis, variance_is
        As in `load`.

    Returns
    -------
    dict
        `file`, `format`, `bytes`; `kind` of the prediction (None where there is none, and then `problem` holds the fields
        of the error that says why); `n_instances`, `n_classes`, `n_members`, `n_vertices`, `n_focal_sets` (None where there
        are none); `variance_is` of Gaussian logits; `class_names`; whether `labels`, `ids` and `groups` are inside; `arrays`
        with shape and dtype by key; `ignored` keys; `notes`, each with code and text.

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
        contents = open_contents(path, kind)
        everything = contents.arrays | contents.other
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
            **{key: any(ALIASES.get(k, k) == key for k in contents.arrays) for key in ("labels", "ids", "groups")},
            "arrays": {key: {"shape": list(a.shape), "dtype": a.dtype} for key, a in everything.items()},
            "ignored": [key for key in everything if key not in contents.arrays or key not in known],
            "notes": [note.to_dict() for note in (*_notes(contents), *contents.notes)],
        }
        try:
            sizes = _sizes(contents, None if asks_fd_shifts(kind) else kind, member_axis)
            if sizes["kind"] == "gaussian-logits" or variance_is is not None:
                stated = _texts(contents, "variance_is")
                sizes["variance_is"] = variance_meaning(sizes["kind"], stated[0] if stated else None, variance_is)
            found |= sizes
        except InputError as problem:
            fields = ("parameter", "rule", "got", "remedy", "code")
            found["problem"] = {name: getattr(problem, name) for name in fields} | {"source": path.name}
        return found


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


# -- helpers ----------------------------------------------------------------------------------------------------------


def _texts(contents: Contents, key: str) -> list[str]:
    """A short text array under its own name or an alias of it."""
    for name, stored in contents.arrays.items():
        if ALIASES.get(name, name) == key:
            return list(as_names(stored.read(), key))
    return []


def _notes(contents: Contents) -> list[Note]:
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
    if len(shape) not in (2, 3):
        raise InputError(
            FORMS[form].keys[0], "must have two or three axes", f"got shape {shape}", "reshape it", code="shape"
        )
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
