"""A data set with its split: arrays, names, origin, and the changes that the papers' experiments make to it.

Features are floating-point. Images are ``(n, channels, height, width)`` float32 in [0, 1], recordings
``(n, channels, samples)`` float32, other features ``(n, D)`` float64 unless a reader states otherwise. A data set is
immutable; every change gives a new one.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState, as_labels, as_numeric, row_chunks
from uqassay.datasets.splits import child_of, class_shares, permuted_rows, seed_source
from uqassay.errors import InputError

__all__ = ["Dataset", "as_features", "shares_of_bytes"]

Features = NDArray[np.floating[Any]]
Labels = NDArray[np.int64]
Rows = slice | ArrayLike


@final
@dataclass(frozen=True, eq=False)
class Dataset:
    """Training and test instances of one classification problem.

    Attributes
    ----------
    name : str
    X_train, X_test : array (n, ...)
        Features; read-only views.
    y_train, y_test : int array (n,)
        Classes 0 … K − 1.
    class_names : tuple of K str
        All K classes, including those without instances.
    votes_test : array (n_test, K), optional
        Vote counts of several annotators, label distributions, or (toy data) the exact label probabilities.
    groups_train, groups_test : array (n,), optional
        Groups of dependent instances: patients, recording runs.
    source, licence : str
        Origin and terms of use.
    notes : tuple of str
        Remarks for the reader on instances that were left out and on changes.

    Raises
    ------
    InputError
        Arrays that do not fit together, features that are not finite, labels that are no classes.

    Examples
    --------
    >>> data = Dataset("two", [[0.0], [1.0], [3.0]], [0, 1, 1], [[2.0]], [1], ("low", "high"))
    >>> data.n_classes, data.X_train.shape, data.standardised().X_test.round(3).tolist()
    (2, (3, 1), [[0.535]])
    """

    name: str
    X_train: Features
    y_train: Labels
    X_test: Features
    y_test: Labels
    class_names: tuple[str, ...]
    votes_test: NDArray[Any] | None = None
    groups_train: NDArray[Any] | None = None
    groups_test: NDArray[Any] | None = None
    source: str = ""
    licence: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = tuple(str(name) for name in self.class_names)
        if len(names) < 2:
            raise InputError(
                "class_names", "needs at least two classes", f"got {len(names)}", "name them all", code="range"
            )
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(
                "class_names", "must differ from each other", f"{twice!r} occurs twice", "rename one", code="duplicate"
            )
        fields: dict[str, Any] = {"class_names": names, "notes": tuple(self.notes)}
        for part in ("train", "test"):
            x = as_features(getattr(self, f"X_{part}"), f"X_{part}")
            y = _labels(getattr(self, f"y_{part}"), len(names), len(x), f"y_{part}")
            fields |= {f"X_{part}": x, f"y_{part}": y}
            fields[f"groups_{part}"] = _groups(getattr(self, f"groups_{part}"), len(x), f"groups_{part}")
        if fields["X_train"].shape[1:] != fields["X_test"].shape[1:]:
            raise InputError(
                "X_test",
                f"instances must have the shape of the training instances, {fields['X_train'].shape[1:]}",
                f"got {fields['X_test'].shape[1:]}",
                "bring both to one shape",
                code="shape",
            )
        if self.votes_test is not None:
            votes = np.asarray(self.votes_test)
            if len(fields["X_test"]) or votes.size:
                as_labels(votes, len(names), n_instances=len(fields["X_test"]), name="votes_test")
            fields["votes_test"] = votes
        for field, value in fields.items():
            object.__setattr__(self, field, _read_only(value) if isinstance(value, np.ndarray) else value)

    def __repr__(self) -> str:
        shape = " × ".join(str(size) for size in self.X_train.shape[1:])
        return (
            f"Dataset({self.name!r}: {len(self.y_train)} training and {len(self.y_test)} test instances of {shape}, "
            f"{self.n_classes} classes)"
        )

    @property
    def n_classes(self) -> int:
        """Number of classes K, including those without instances."""
        return len(self.class_names)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 over arrays and class names, in hexadecimal; name and source do not count."""
        digest = hashlib.sha256()
        for part in ("X_train", "y_train", "X_test", "y_test", "votes_test", "groups_train", "groups_test"):
            array = getattr(self, part)
            if array is None:
                continue
            array = array.astype(array.dtype.newbyteorder("<"), copy=False)
            digest.update(f"{part} {array.dtype.str} {array.shape}\n".encode())
            for rows in row_chunks(len(array), array[:1].nbytes):
                digest.update(array[rows].tobytes())
        digest.update("\n".join(self.class_names).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    # -- parts --------------------------------------------------------------------------------------------------------

    def subset(self, train: Rows | None = None, test: Rows | None = None) -> "Dataset":
        """The given rows of the training and of the test instances; None keeps all.

        Parameters
        ----------
        train, test : slice, int array or bool array (n,), optional
        """
        fields: dict[str, Any] = {}
        for part, rows in (("train", train), ("test", test)):
            if rows is not None:
                at = rows if isinstance(rows, slice) else _positions(rows, len(getattr(self, f"y_{part}")), part)
                for field in (f"X_{part}", f"y_{part}", f"groups_{part}", f"votes_{part}"):
                    array = getattr(self, field, None)
                    if array is not None:
                        fields[field] = array[at]
        return replace(self, **fields)

    def without_class(self, k: int) -> tuple["Dataset", Features]:
        """Leave class k out of the training; its test instances are then out of distribution.

        Parameters
        ----------
        k : int

        Returns
        -------
        inside : Dataset
            Without training and test instances of class k. It still has K classes, so a network keeps all its outputs.
        X_out : array (n, ...)
            The test instances of class k.

        Examples
        --------
        >>> data = Dataset("d", [[0.0], [1.0], [2.0]], [0, 1, 2], [[0.0], [2.0]], [0, 2], ("a", "b", "c"))
        >>> inside, outside = data.without_class(2)
        >>> inside.y_train.tolist(), inside.n_classes, outside.tolist()
        ([0, 1], 3, [[2.0]])
        """
        if not 0 <= k < self.n_classes:
            raise InputError(
                "k", f"must be a class 0 … {self.n_classes - 1}", f"got {k}", "see class_names", code="range"
            )
        if (self.y_train == k).all():
            raise InputError(
                "k",
                "must leave training instances of another class",
                f"all are of class {k}",
                "choose a data set with more classes",
                code="empty",
            )
        inside = self.subset(self.y_train != k, self.y_test != k)
        return inside, self.X_test[self.y_test == k]

    def fraction(self, share: float, rng: RandomState = None) -> "Dataset":
        """A share of the training instances of every class, rounded down, at least one of each; the test part is kept.

        Parameters
        ----------
        share : float
            In (0, 1].
        rng : int, SeedSequence, Generator or None
            With the same seed, larger parts contain the smaller ones. (A generator advances between calls.)

        Returns
        -------
        Dataset
            Rows in the same order as before.
        """
        if not 0.0 < share <= 1.0:
            raise InputError(
                "share", "must lie in (0, 1]", f"got {share}", "1 keeps all training instances", code="range"
            )
        return self.subset(train=class_shares(self.y_train, self.n_classes, share, rng))

    # -- changes ------------------------------------------------------------------------------------------------------

    def with_label_noise(self, share: float, rng: RandomState = None) -> "Dataset":
        """Permute the labels of a share of the rows among each other, in the training and the test part separately.

        A permuted row may get its old label back, so fewer labels are wrong than were permuted. Votes of the test part move
        with the labels.

        Parameters
        ----------
        share : float
            In [0, 1]; the number of rows is rounded down.
        rng : int, SeedSequence, Generator or None
            With the same seed, the permuted rows of a greater share contain those of a smaller one. (A generator advances
            between calls.)

        Examples
        --------
        >>> data = Dataset("d", [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], [[0.0], [1.0]], [0, 1], ("a", "b"))
        >>> sorted(data.with_label_noise(1.0, 1).y_train.tolist())
        [0, 0, 1, 1]
        """
        if not 0.0 <= share <= 1.0:
            raise InputError("share", "must lie in [0, 1]", f"got {share}", "0 changes nothing", code="range")
        source = seed_source(rng)
        fields = {}
        for stream, part in enumerate(("train", "test")):
            came_from = permuted_rows(len(getattr(self, f"y_{part}")), share, child_of(source, stream))
            fields[f"y_{part}"] = getattr(self, f"y_{part}")[came_from]
            if part == "test" and self.votes_test is not None:
                fields["votes_test"] = self.votes_test[came_from]
        return replace(self, **fields)

    def standardised(self) -> "Dataset":
        """z-scores by the training instances: each feature of ``(n, D)``, each channel of images and recordings.

        A feature that is constant in training is only shifted.
        """
        axes = (0, *range(2, self.X_train.ndim))
        with np.errstate(over="ignore", invalid="ignore"):
            mean = self.X_train.mean(axis=axes, dtype=np.float64, keepdims=True)
            spread = self.X_train.std(axis=axes, dtype=np.float64, keepdims=True)
        if not np.isfinite(spread).all():
            raise InputError(
                "X_train",
                "must hold values whose squares do not overflow",
                f"the greatest is {np.abs(self.X_train).max():.3g}",
                "repair marks of missing values, or scale it down",
                code="size",
            )
        constant = spread <= 10 * np.finfo(np.float64).eps * np.abs(mean)  # rounding error of a constant feature
        kind = np.promote_types(self.X_train.dtype, np.float32)  # half precision would overflow in the difference
        shift, scale = mean.astype(kind), np.where(constant, 1.0, spread).astype(kind)
        return replace(self, X_train=(self.X_train - shift) / scale, X_test=(self.X_test - shift) / scale)

    def flattened(self) -> "Dataset":
        """Every instance as one row of features, ``(n, D)``."""
        return replace(
            self,
            X_train=self.X_train.reshape(len(self.X_train), -1),
            X_test=self.X_test.reshape(len(self.X_test), int(np.prod(self.X_test.shape[1:]))),
        )


# -- checks -----------------------------------------------------------------------------------------------------------


def as_features(values: Any, name: str) -> Features:
    """Instances as finite floating-point numbers; `name` is for errors. Only whole numbers are copied."""
    array = as_numeric(values, name)
    if array.ndim and len(array) == 0 and name == "X_train":
        raise InputError(
            name, "must hold at least one instance", f"got shape {array.shape}", "check the selection", code="empty"
        )
    if array.ndim < 2:
        raise InputError(
            name,
            "needs an axis of instances and one of features",
            f"got shape {array.shape}",
            "reshape it",
            code="shape",
        )
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    for rows in row_chunks(len(array), max(1, array[:1].nbytes)):
        finite = np.isfinite(array[rows])
        if not finite.all():
            row = rows.start + int(np.argwhere(~finite)[0, 0])
            raise InputError(
                name, "must hold finite numbers", f"row {row} does not", "drop or repair such rows first", code="finite"
            )
    return array


def _labels(values: Any, n_classes: int, n: int, name: str) -> Labels:
    array = np.asarray(values)
    if n == 0 and array.shape == (0,):
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1:
        raise InputError(
            name, "must hold one class per instance", f"got shape {array.shape}", "votes go to votes_test", code="shape"
        )
    return as_labels(array, n_classes, n_instances=n, name=name)


def _groups(values: Any, n: int, name: str) -> NDArray[Any] | None:
    if values is None:
        return None
    array = np.asarray(values)
    if array.shape != (n,) or array.dtype.kind == "O":
        raise InputError(
            name,
            f"needs one number or text for each of {n} instances",
            f"got shape {array.shape}, dtype {array.dtype}",
            "give one group per row",
            code="shape",
        )
    return array


def _positions(rows: ArrayLike, n: int, name: str) -> NDArray[np.intp]:
    at = np.asarray(rows)
    if at.dtype == bool and at.shape == (n,):
        return np.flatnonzero(at)
    if at.ndim != 1 or (at.size and at.dtype.kind not in "iu"):
        raise InputError(
            name,
            f"needs row numbers or one truth value for each of {n} rows",
            f"got shape {at.shape}, dtype {at.dtype}",
            "select by a mask or by np.flatnonzero",
            code="shape",
        )
    if at.size and (at.min() < -n or at.max() >= n):
        raise InputError(name, f"rows must lie in 0 … {n - 1}", f"got {at.max()}", "check the selection", code="range")
    return at.astype(np.intp)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def shares_of_bytes(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Bytes as float32 in [0, 1], computed in place in the result."""
    shares = pixels.astype(np.float32, order="C")
    shares /= np.float32(255)
    return shares
