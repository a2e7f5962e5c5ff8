"""The files of one cell's result: prediction, further scores, and metadata with the SHA-256 of each."""

import hashlib
import json
import math
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._files import whole_file
from uqassay.bench.cell import Cell, CellResult, canonical_json
from uqassay.bench.files import METADATA, RESULT_SCHEMA, json_object
from uqassay.errors import FileFormatError, InputError
from uqassay.evidence.saved_folder import read_arrays
from uqassay.predictions import Prediction
from uqassay.predictions.files import file_hash, load, load_labels, save
from uqassay.predictions.labels import class_indices

__all__ = [
    "PREDICTION",
    "SCORES",
    "StoredResult",
    "metadata_of",
    "named_labels",
    "read_result",
    "whole_metadata",
    "write_result",
]

PREDICTION, SCORES = "prediction.npz", "scores.npz"


@final
@dataclass(frozen=True, eq=False)
class StoredResult:
    """The stored result of one cell.

    Attributes
    ----------
    prediction : Prediction
        Without class names, since `labels` are indices.
    labels : array (n,) or (n, K)
        Class indices, or label distributions.
    scores : dict of str to array (n,)
    metadata : dict
        ``cell``, ``seconds``, ``accuracy``, ``facts``, ``versions``, ``files`` (the SHA-256 of each) and ``hash`` (of them
        all).
    class_names : tuple of str or None
    """

    prediction: Prediction
    labels: NDArray[Any]
    scores: dict[str, NDArray[Any]]
    metadata: dict[str, Any]
    class_names: tuple[str, ...] | None = None


def write_result(folder: Path, cell: Cell, result: CellResult, seconds: float) -> None:
    """Write the files of a result into an empty folder and flush them to the disk.

    Raises
    ------
    InputError
        Labels, scores or facts that do not fit the prediction.
    """
    from uqassay import __version__

    n = result.prediction.n_instances
    if len(result.labels) != n:
        raise InputError(
            "labels",
            "must have one row for each instance of the prediction",
            f"got {len(result.labels)} rows for {n} instances",
            "correct the cell's function",
            code="mismatch",
        )
    save(result.prediction, folder / PREDICTION, labels=named_labels(result.labels, result.prediction.class_names))
    if result.scores:
        scores = {name: np.asarray(values, dtype=np.float64) for name, values in result.scores.items()}
        for name, values in scores.items():
            if values.shape != (n,):
                raise InputError(
                    f"scores[{name!r}]",
                    f"must have shape ({n},), one score for each instance",
                    f"got {values.shape}",
                    "correct the cell's function",
                    code="shape",
                )
        with whole_file(folder / SCORES) as stream:
            np.savez(stream, **dict(sorted(scores.items())))  # type: ignore[arg-type]
    files = {path.name: file_hash(path) for path in sorted(folder.iterdir())}
    metadata = {
        "schema": RESULT_SCHEMA,
        "key": cell.key,
        "cell": json.loads(cell.to_json()),
        "files": files,
        "bytes": {name: (folder / name).stat().st_size for name in files},
        "hash": _hash_of(files),
        "seconds": seconds,
        "accuracy": _accuracy(result),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "facts": json.loads(canonical_json(dict(result.facts), "facts")),
        "versions": {"uqassay": __version__, **_versions()},
    }
    with whole_file(folder / METADATA) as stream:
        stream.write(json.dumps(metadata, allow_nan=False, indent=1).encode())


def metadata_of(folder: Path, key: str) -> dict[str, Any] | None:
    """The metadata of a cell's result, None if they are missing or damaged; the other files are not looked at."""
    metadata = json_object(folder / METADATA) or {}
    files = metadata.get("files")
    whole = (
        metadata.get("schema") == RESULT_SCHEMA
        and metadata.get("key") == key
        and isinstance(metadata.get("cell"), dict)
        and isinstance(files, dict)
        and isinstance(sizes := metadata.get("bytes"), dict)
        and sizes.keys() == files.keys()
        and all(isinstance(digest, str) for digest in files.values())
        and PREDICTION in files
        and files.keys() <= {PREDICTION, SCORES}
        and metadata.get("hash") == _hash_of(files)
        and _is_number(metadata.get("seconds"))
        and ("accuracy" in metadata and (metadata["accuracy"] is None or _is_number(metadata["accuracy"])))
    )
    return metadata if whole else None


def whole_metadata(folder: Path, key: str) -> dict[str, Any] | None:
    """The metadata of a cell's result whose files all have their recorded SHA-256; None for any other."""
    metadata = metadata_of(folder, key)
    if metadata is None:
        return None
    try:
        # opening a pipe would wait without end, and a file that was made longer may have any size
        same = all(
            (folder / name).is_file()
            and (folder / name).stat().st_size == metadata["bytes"][name]
            and file_hash(folder / name) == digest
            for name, digest in metadata["files"].items()
        )
    except (OSError, ValueError, FileFormatError):
        return None
    return metadata if same else None


def read_result(folder: Path, metadata: dict[str, Any]) -> StoredResult:
    """The result whose metadata `whole_metadata` has found."""
    scores: dict[str, NDArray[Any]] = {}
    if SCORES in metadata["files"]:
        scores = read_arrays(folder / SCORES)
    prediction, labels = load(folder / PREDICTION), np.asarray(load_labels(folder / PREDICTION))
    names = prediction.class_names
    if names is not None and labels.ndim == 1:
        labels = class_indices(labels, names)
    return StoredResult(prediction.without_class_names(), labels, scores, metadata, names)


def named_labels(labels: NDArray[Any], class_names: Sequence[str] | None) -> NDArray[Any]:
    """Class indices as class names, because a file or an assay takes numbers for names where the names are numbers."""
    return labels if class_names is None or np.ndim(labels) != 1 else np.array(class_names)[np.asarray(labels)]


# -- helpers ----------------------------------------------------------------------------------------------------------


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _hash_of(files: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical_json(dict(files)).encode()).hexdigest()


def _accuracy(result: CellResult) -> float | None:
    """Share of the instances whose most probable class is the label; None for label distributions."""
    labels = np.asarray(result.labels)
    if labels.ndim != 1 or not len(labels):
        return None
    return float((result.prediction.mean_probs().argmax(axis=1) == labels).mean())


def _versions() -> dict[str, str]:
    """Versions of Python and of the loaded packages on which the numbers may depend."""
    found = {"python": platform.python_version()}
    for name in ("numpy", "scipy", "sklearn", "torch"):
        if name in sys.modules:
            found[name] = str(sys.modules[name].__version__)
    return found
