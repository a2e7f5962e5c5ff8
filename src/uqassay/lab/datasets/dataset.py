"""A data set with its split, and the changes that the papers' experiments make to it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, RandomState, as_labels, as_numeric, generator, row_chunks
from uqassay.checks import different, fail, number, whole
from uqassay.text import shown

__all__ = [
    "LIMIT",
    "NOISE",
    "SUBSET",
    "TRAINING",
    "Dataset",
    "as_features",
    "child_of",
    "class_shares",
    "count_of",
    "even_or_odd",
    "fit_components",
    "permuted_rows",
    "principal_components",
    "run_stream",
    "seed_source",
    "shares_of_bytes",
    "stratified_split",
]


# Splits and subsets that keep the share of every class, and permuted labels.
#
# The parts of one seed are nested: 5 % of the instances contain the 1 %, and 20 % permuted rows contain the 10 %.

ROUNDING = 1e-9  # 0.29 · 100 is 28.999999999999996 in binary and counts as 29

Rows = NDArray[np.intp]

SUBSET, NOISE, TRAINING, LIMIT = range(4)  # streams of random numbers of a run
STEPS = 10**9  # of a share, so that it is known by its value


def stratified_split(y: ArrayLike, test_size: float | int, rng: RandomState = None) -> tuple[Rows, Rows]:
    """Rows of a training and of a test part in which every class keeps its share.

    Parameters
    ----------
    y : int array (n,)
    test_size : float in (0, 1) or int
        Share (the number is rounded) or number of test instances.
    rng : int, SeedSequence, Generator or None

    Returns
    -------
    train, test : int array
        Row numbers in random order. Each class gives its share to the test part, rounded by largest remainders so that the
        sizes are exact, and keeps at least one training instance.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], [60, 40])
    >>> train, test = stratified_split(y, 0.2)
    >>> len(train), np.bincount(y[test]).tolist()
    (80, [12, 8])
    """
    labels = as_numeric(y, "y", ndim=1)
    n = len(labels)
    n_test = _test_count(test_size, n)
    classes, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if n_test > n - len(classes):
        rule = f"must leave at least one training instance for each of {len(classes)} classes"
        fail("test_size", rule, f"got {n_test} of {n} instances for the test", "choose a smaller test", code="range")
    taken = _largest_remainders(counts, n_test)
    g = generator(rng)
    order = g.permutation(n)
    test = np.concatenate([order[place[order] == k][: taken[k]] for k in range(len(classes))])
    in_test = np.zeros(n, dtype=bool)
    in_test[test] = True
    return order[~in_test[order]], order[in_test[order]]


def count_of(share: float, n: int) -> int:
    """Number of instances in a share of n, rounded down (and 29 for 0.29 of 100)."""
    return int(np.floor(share * n + ROUNDING * max(1, n)))


def run_stream(seed: int, *stream: int) -> np.random.SeedSequence:
    """Random numbers of a run for one use, such as `SUBSET`; every benchmark takes them from here.

    So runs of the same seed have the same subsets and the same permuted rows, in whatever way they are started.
    """
    return np.random.SeedSequence(seed, spawn_key=stream)


def seed_source(rng: RandomState = None) -> np.random.SeedSequence:
    """The seed sequence of an `rng` argument; a generator advances."""
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(int(rng.integers(2**63)))
    generator(rng)  # refuses what is no seed
    return np.random.SeedSequence(0 if rng is None else rng)


def class_shares(y: NDArray[np.int64], n_classes: int, share: float, rng: RandomState = None) -> Rows:
    """Rows of a share of every class, rounded down but at least one of each class with instances, in ascending order.

    Examples
    --------
    >>> y = np.repeat([0, 1], [60, 4])
    >>> [np.bincount(y[class_shares(y, 2, share)]).tolist() for share in (0.1, 0.5)]
    [[6, 1], [30, 2]]
    """
    order = generator(rng).permutation(len(y))
    by_class = [order[y[order] == k] for k in range(n_classes)]
    return np.sort(np.concatenate([rows[: max(1, count_of(share, len(rows)))] for rows in by_class]))


def permuted_rows(n: int, share: float, source: np.random.SeedSequence) -> Rows:
    """Row from which each of n rows has its label, ``(n,)``, where a share of the rows exchange theirs at random."""
    order = np.random.default_rng(source)
    shuffle = np.random.default_rng(child_of(source, round(share * STEPS)))
    rows = order.permutation(n)[: count_of(share, n)]
    came_from = np.arange(n)
    came_from[rows] = shuffle.permutation(rows)
    return came_from


def child_of(source: np.random.SeedSequence, *stream: int) -> np.random.SeedSequence:
    """A seed sequence below another one; unlike `spawn` it leaves the other one unchanged."""
    return np.random.SeedSequence(source.entropy, spawn_key=(*source.spawn_key, *stream))


def _test_count(test_size: float | int, n: int) -> int:
    number = isinstance(test_size, (int, np.integer)) and not isinstance(test_size, bool)
    known = (number or isinstance(test_size, (float, np.floating))) and np.isfinite(test_size)
    count = 0 if not known else int(test_size) if number else round(test_size * n)
    if not (0 < count < n and (number or 0.0 < test_size < 1.0)):
        rule = f"must be a share in (0, 1) or a number of instances in 1 … {n - 1}"
        got = f"got {shown(test_size)}, that is {count} of {n}"
        fail("test_size", rule, got, "0.2 holds out every fifth instance", code="range")
    return count


def _largest_remainders(counts: NDArray[np.intp], total: int) -> NDArray[np.intp]:
    """Number of instances that each class gives, `total` together and never all of a class."""
    exact = counts * (total / counts.sum())
    taken = np.minimum(np.floor(exact + ROUNDING).astype(np.intp), counts - 1)
    while (short := total - int(taken.sum())) > 0:
        remainder = np.where(taken < counts - 1, exact - taken, -np.inf)
        chosen: Sequence[int] = np.argsort(-remainder, kind="stable")[:short].tolist()
        for k in chosen:
            taken[k] += taken[k] < counts[k] - 1
    return taken


# A data set with its split: arrays, names, origin, and the changes that the papers' experiments make to it.
#
# Features are floating-point. Images are ``(n, channels, height, width)`` float32 in [0, 1], recordings ``(n, channels,
# samples)`` float32, other features ``(n, D)`` float64 unless a reader states otherwise. A data set is immutable; every
# change gives a new one.

Features = NDArray[np.floating[Any]]
Labels = NDArray[np.int64]
RowChoice = slice | ArrayLike


@final
@dataclass(frozen=True, eq=False)
class Dataset:
    """Training and test instances of one classification problem.

    Examples
    --------
    >>> data = Dataset("two", [[0.0], [1.0], [3.0]], [0, 1, 1], [[2.0]], [1], ("low", "high"))
    >>> data.n_classes, data.X_train.shape, data.standardised().X_test.round(3).tolist()
    (2, (3, 1), [[0.535]])
    """

    name: str
    X_train: Features  #: (n, ...); read-only views
    y_train: Labels  #: (n,): Classes 0 … K − 1
    X_test: Features  #: As X_train
    y_test: Labels  #: As y_train
    class_names: tuple[str, ...]  #: All K classes, including those without instances
    #: (n_test, K): Vote counts of several annotators, label distributions, or (toy data) the exact label probabilities
    votes_test: NDArray[Any] | None = None
    groups_train: NDArray[Any] | None = None  #: (n,): Groups of dependent instances: patients, recording runs
    groups_test: NDArray[Any] | None = None  #: As groups_train
    source: str = ""  #: Origin
    licence: str = ""  #: Terms of use
    notes: tuple[str, ...] = ()  #: Remarks for the reader on instances that were left out and on changes

    def __post_init__(self) -> None:
        names = tuple(str(name) for name in self.class_names)
        if len(names) < 2:
            fail("class_names", "needs at least two classes", f"got {len(names)}", "name them all", code="range")
        different(names, "class_names", "must differ from each other", "rename one")
        fields: dict[str, Any] = {"class_names": names, "notes": tuple(self.notes)}
        for part in ("train", "test"):
            x = as_features(getattr(self, f"X_{part}"), f"X_{part}")
            y = _labels(getattr(self, f"y_{part}"), len(names), len(x), f"y_{part}")
            fields |= {f"X_{part}": x, f"y_{part}": y}
            fields[f"groups_{part}"] = _groups(getattr(self, f"groups_{part}"), len(x), f"groups_{part}")
        if fields["X_train"].shape[1:] != fields["X_test"].shape[1:]:
            rule = f"instances must have the shape of the training instances, {fields['X_train'].shape[1:]}"
            fail("X_test", rule, f"got {fields['X_test'].shape[1:]}", "bring both to one shape", code="shape")
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

    def subset(self, train: RowChoice | None = None, test: RowChoice | None = None) -> "Dataset":
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
        whole(k, "k", "see class_names", least=0, most=self.n_classes - 1)
        if (self.y_train == k).all():
            rule = "must leave training instances of another class"
            fail("k", rule, f"all are of class {k}", "choose a data set with more classes", code="empty")
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
        number(share, "share", "1 keeps all training instances", low=0, high=1, ends="(]")
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
        number(share, "share", "0 changes nothing", low=0, high=1)
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
            rule = "must hold values whose squares do not overflow"
            got = f"the greatest is {np.abs(self.X_train).max():.3g}"
            fail("X_train", rule, got, "repair marks of missing values, or scale it down", code="size")
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
        fail(name, "must hold at least one instance", f"got shape {array.shape}", "check the selection", code="empty")
    if array.ndim < 2:
        rule = "needs an axis of instances and one of features"
        fail(name, rule, f"got shape {array.shape}", "reshape it", code="shape")
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    for rows in row_chunks(len(array), max(1, array[:1].nbytes)):
        finite = np.isfinite(array[rows])
        if not finite.all():
            row = rows.start + int(np.argwhere(~finite)[0, 0])
            fail(
                name, "must hold finite numbers", f"row {row} does not", "drop or repair such rows first", code="finite"
            )
    return array


def _labels(values: Any, n_classes: int, n: int, name: str) -> Labels:
    array = np.asarray(values)
    if n == 0 and array.shape == (0,):
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1:
        fail(
            name, "must hold one class per instance", f"got shape {array.shape}", "votes go to votes_test", code="shape"
        )
    return as_labels(array, n_classes, n_instances=n, name=name)


def _groups(values: Any, n: int, name: str) -> NDArray[Any] | None:
    if values is None:
        return None
    array = np.asarray(values)
    if array.shape != (n,) or array.dtype.kind == "O":
        rule = f"needs one number or text for each of {n} instances"
        fail(name, rule, f"got shape {array.shape}, dtype {array.dtype}", "give one group per row", code="shape")
    return array


def _positions(rows: ArrayLike, n: int, name: str) -> NDArray[np.intp]:
    at = np.asarray(rows)
    if at.dtype == bool and at.shape == (n,):
        return np.flatnonzero(at)
    if at.ndim != 1 or (at.size and at.dtype.kind not in "iu"):
        rule = f"needs row numbers or one truth value for each of {n} rows"
        got = f"got shape {at.shape}, dtype {at.dtype}"
        fail(name, rule, got, "select by a mask or by np.flatnonzero", code="shape")
    if at.size and (at.min() < -n or at.max() >= n):
        fail(name, f"rows must lie in 0 … {n - 1}", f"got {at.max()}", "check the selection", code="range")
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


# Preparation of data sets as in the papers: principal components, and two classes out of many.

CHUNK_BYTES = 2**24  # of rows in double precision


@final
@dataclass(frozen=True, eq=False)
class Components:
    """Principal components."""

    mean: Floats  #: (D,)
    #: (D, n_components): Orthonormal columns in falling order of variance; the largest loading of each is positive
    loadings: Floats

    def scores(self, part: NDArray[Any], *, unit: float = 1.0, dtype: Any = np.float64) -> NDArray[Any]:
        """Coordinates ``(n, n_components)`` of the instances ``(n, ...)`` on the components, divided by `unit`."""
        found = np.empty((len(part), self.loadings.shape[1]), dtype=dtype)
        for rows in row_chunks(len(part), 8 * len(self.mean), chunk_bytes=CHUNK_BYTES):
            found[rows] = (_rows_of(part, rows) - self.mean) @ self.loadings / unit
        return found


def fit_components(parts: Sequence[NDArray[Any]], n_components: int = 50) -> Components:
    """The first principal components of several arrays together, by the eigenvectors of their exact covariance.

    The covariance is summed in double precision over chunks of rows, so bytes and single precision are never copied as a whole.

    Parameters
    ----------
    parts : sequence of arrays (n_i, ...)
        Images become rows of pixels.
    n_components : int
        At most the number of features D.
    """
    n_features = int(np.prod(parts[0].shape[1:]))
    whole(n_components, "n_components", "the paper has 50", least=1, most=n_features)
    chunks = [(part, rows) for part in parts for rows in row_chunks(len(part), 8 * n_features, chunk_bytes=CHUNK_BYTES)]
    mean = np.sum([_rows_of(*chunk).sum(axis=0) for chunk in chunks], axis=0) / sum(map(len, parts))
    scatter = np.zeros((n_features, n_features))
    for chunk in chunks:
        centred = _rows_of(*chunk) - mean
        scatter += centred.T @ centred
    _, vectors = np.linalg.eigh(scatter)  # eigenvalues rise, so the first components are on the right
    loadings = vectors[:, ::-1][:, :n_components]
    return Components(mean, loadings * np.sign(loadings[np.abs(loadings).argmax(axis=0), np.arange(n_components)]))


def _rows_of(part: NDArray[Any], rows: slice) -> Floats:
    """Some instances as rows in double precision."""
    return part[rows].reshape(rows.stop - rows.start, -1).astype(np.float64)


def principal_components(dataset: Dataset, n_components: int = 50) -> Dataset:
    """The first principal components of the training instances, as the epistemic gain paper prepares EMNIST and Kuzushiji-49.

    Parameters
    ----------
    dataset : Dataset
        Images become rows of pixels.
    n_components : int
        At most the number of features.

    Returns
    -------
    Dataset
        Features ``(n, n_components)`` in the precision of the data: scores on the components in falling order of variance,
        with signs that make the largest loading of each positive. Test instances are projected on the same components.

    Examples
    --------
    >>> data = Dataset("d", [[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]], [0, 1, 1], [[3.0, 4.0]], [1], ("a", "b"))
    >>> principal_components(data, 1).X_train.round(6).tolist()
    [[-5.0], [0.0], [5.0]]
    """
    flat = dataset.flattened()
    components = fit_components([flat.X_train], n_components)
    kind = dataset.X_train.dtype
    return replace(
        flat, X_train=components.scores(flat.X_train, dtype=kind), X_test=components.scores(flat.X_test, dtype=kind)
    )


def even_or_odd(dataset: Dataset) -> Dataset:
    """Merge the classes into even and odd class numbers, as epistemic gain does with 47 and 49 classes; votes are added up."""
    votes = dataset.votes_test
    if votes is not None:
        votes = np.stack([votes[:, 0::2].sum(axis=1), votes[:, 1::2].sum(axis=1)], axis=1)
    return replace(
        dataset, y_train=dataset.y_train % 2, y_test=dataset.y_test % 2, class_names=("even", "odd"), votes_test=votes
    )
