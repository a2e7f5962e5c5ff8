"""BallSplit: most points of some balls are held back from training, so that more data teach more there."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, RandomState, as_array, as_numeric, generator, row_chunks
from uqassay.checks import fail, number, same_length, whole
from uqassay.errors import InputError
from uqassay.lab.datasets.dataset import as_features, count_of
from uqassay.notes import Note
from uqassay.text import count, counted, listed, shown

__all__ = [
    "ADDED",
    "TEST",
    "TRAIN",
    "BallDivision",
    "BallSplit",
    "RadiusSearch",
    "TakenBalls",
    "as_points",
    "division_of",
    "neighbour_distances",
    "parts_note",
    "suggested_radius",
]


# A division of rows by balls: its parts with an account of them, and the rules that every division keeps.

Rows = NDArray[np.intp]

TRAIN, TEST, ADDED = range(3)  # part of a row; ADDED is only in the augmented set
MOST_NAMED = 3  # classes in an error


@final
@dataclass(frozen=True, eq=False)
class BallDivision:
    """One division of rows into a training, a test and an augmented set."""

    #: Row numbers in rising order. The test set shares no row with the others; the training set is part of the augmented
    #: one.
    train: Rows
    test: Rows
    augmented: Rows
    ball: NDArray[np.intp]  #: (n,): Number of the ball that each row belongs to, −1 for none
    centres: Floats  #: (B, d): Centres of the balls, in the order in which they took their points
    radius: float
    n_overlapping: int  #: Rows that lie in several of the balls; each belongs to the first
    notes: tuple[Note, ...] = ()  #: Sizes of the parts, overlaps, balls that were skipped

    @property
    def counts(self) -> NDArray[np.intp]:
        """Points of each ball in the training set, in the test set, and only in the augmented set, ``(B, 3)``."""
        added = np.setdiff1d(self.augmented, self.train, assume_unique=True)
        per_ball = [
            np.bincount(self.ball[rows][self.ball[rows] >= 0], minlength=len(self.centres))
            for rows in (self.train, self.test, added)
        ]
        return np.stack(per_ball, axis=1)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of rows of each part, of balls, and of rows in several balls."""
        return {
            "train": len(self.train),
            "test": len(self.test),
            "augmented": len(self.augmented),
            "balls": len(self.centres),
            "overlapping": self.n_overlapping,
        }


@final
class TakenBalls:
    """The balls so far: which rows each has taken, and how many balls each row lies in."""

    def __init__(self, n: int) -> None:
        self.ball = np.full(n, -1, dtype=np.intp)
        self.cover = np.zeros(n, dtype=np.int32)
        self.rows: list[Rows] = []
        self.centres: list[NDArray[Any]] = []
        self.numbers: list[int] = []  # in the list of given centres
        self.n_tried = self.fullest = self.n_skipped = 0

    def take(self, centre: NDArray[Any], number: int, inside: NDArray[np.bool_], least: int) -> None:
        """Make a ball of the rows inside that no earlier ball took, unless they are fewer than `least`."""
        rows = np.flatnonzero(inside & (self.ball < 0))
        self.n_tried += 1
        self.fullest = max(self.fullest, len(rows))
        if len(rows) < least:
            self.n_skipped += 1
            return
        self.ball[rows] = len(self.centres)
        self.cover += inside
        self.rows.append(rows)
        self.centres.append(centre)
        self.numbers.append(number)

    @property
    def n_overlapping(self) -> int:
        """Number of rows in several balls."""
        return int((self.cover > 1).sum())


def division_of(
    place: NDArray[np.int8], taken: TakenBalls, radius: float, labels: NDArray[Any] | None, notes: list[Note]
) -> BallDivision:
    """The division with the part of each row `place`, ``(n,)``; `notes` come after those on sizes and overlaps."""
    _check_parts(place, labels)
    return BallDivision(
        train=np.flatnonzero(place == TRAIN),
        test=np.flatnonzero(place == TEST),
        augmented=np.flatnonzero(place != TEST),
        ball=taken.ball,
        centres=np.array(taken.centres, dtype=np.float64),
        radius=radius,
        n_overlapping=taken.n_overlapping,
        notes=(*_place_notes(place, taken), *notes),
    )


def _place_notes(place: NDArray[np.int8], taken: TakenBalls) -> list[Note]:
    """Sizes of the parts, and overlaps."""
    in_balls = taken.ball >= 0
    train, test, added = (int((in_balls & (place == part)).sum()) for part in (TRAIN, TEST, ADDED))
    notes = [parts_note(len(taken.centres), len(place), train=train, test=test, added=added)]
    if taken.n_overlapping:
        text = f"{counted(taken.n_overlapping, 'point')} in several balls, counted for the first"
        notes.append(Note("overlap", text, {"points": taken.n_overlapping}))
    return notes


def parts_note(balls: int, points: int, *, train: int, test: int, added: int, left_out: int = 0) -> Note:
    """How many points of the balls are in each part; `left_out` were in the test set."""
    sizes = [
        f"{count(train)} in the training set",
        f"{count(test)} in the test set",
        *([f"{count(left_out)} left out of it"] if left_out else []),
        f"{count(added)} only in the augmented set",
    ]
    inside = count(train + test + left_out + added)
    facts = {"balls": balls, "points": points, "train": train, "test": test, "added": added}
    text = f"{counted(balls, 'ball')} with {inside} of {counted(points, 'point')}: {', '.join(sizes)}"
    return Note("parts", text, facts | ({"left_out": left_out} if left_out else {}))


def _check_parts(place: NDArray[np.int8], labels: NDArray[Any] | None) -> None:
    """Refuse a division without training or additional points, or without training instances of a class."""
    for part, what, remedy in (
        (TRAIN, "in the training set", "raise it, or lower the radius"),
        (ADDED, "for the augmented set alone", "lower it or test_share"),
    ):
        if not (place == part).any():
            fail("train_share", f"must leave points {what}", "it leaves none", remedy, code="empty")
    if labels is None:
        return
    classes, counts = np.unique(labels, return_counts=True)
    gone = np.flatnonzero(~np.isin(classes, labels[place == TRAIN]))
    if len(gone):
        shown_classes = listed([f"{classes[k]} ({counted(int(counts[k]), 'instance')})" for k in gone[:MOST_NAMED]])
        fail(
            "y",
            "every class needs a training instance, and the balls take all of some",
            f"none is left of {counted(len(gone), 'class', 'classes')}: {shown_classes}",
            "raise train_share, or take fewer or smaller balls",
            code="empty",
            facts={"classes": [classes[k].item() for k in gone]},
        )


# Points within a radius of centres, and distances to the n-th neighbour, by products of matrices in any number of
# dimensions.
#
# In fifty dimensions a tree visits nearly every point, and a product of matrices is many times faster; in the plane
# both take less than a second. Benchmark: ``benchmarks/bench_ball_split.py``.

Points = NDArray[np.floating[Any]]

BLOCK_BYTES = 2**20  # of distances at a time, which stay in the cache
PAIR_BYTES = 2**23
CENTRES_AT_ONCE = 64
FIRST_SAMPLED = 500
SAFE_EXPONENT = 400  # squares of values up to 2^400, summed over dimensions, lie well inside double precision


def as_points(values: Any, name: str = "X") -> Points:
    """Finite points ``(n, d)`` in their own precision; `name` is for errors."""
    return as_features(as_numeric(values, name, ndim=2), name)


@final
class RadiusSearch:
    """Which points lie within a radius of a centre: exactly those whose squared distance in double precision is at most R².

    Distances are first found in single precision. Those within the rounding error of R² are found again in double precision, so
    the result depends neither on the library of linear algebra nor on its number of threads.

    Parameters
    ----------
    points : array (n, d)
        Finite.
    radius : float
        Positive.
    """

    def __init__(self, points: Points, radius: float) -> None:
        self.points, self.radius = points, float(radius)
        self._exponent = int(np.frexp(self.radius)[1])
        with np.errstate(over="ignore", invalid="ignore"):  # infinite values are unsure, and so found again
            shift = points.mean(axis=0, dtype=np.float64)
            self._shift = np.where(np.isfinite(shift), shift, 0.0)
            self._scaled = np.empty(points.shape, dtype=np.float32)
            for rows in row_chunks(len(points), 8 * points.shape[1]):
                self._scaled[rows] = self._in_radii(points[rows])
            self._squares = np.einsum("ij,ij->i", self._scaled, self._scaled)

    def each(self, centres: Points) -> Iterator[NDArray[np.bool_]]:
        """Membership ``(n,)`` of the ball about each centre in turn; the members of some balls are found together."""
        for start in range(0, len(centres), CENTRES_AT_ONCE):
            yield from self.within(centres[start : start + CENTRES_AT_ONCE])

    def within(self, centres: ArrayLike) -> NDArray[np.bool_]:
        """Membership ``(B, n)`` of the points in the closed balls about B centres ``(B, d)``."""
        at = np.asarray(centres, dtype=np.float64)
        inside = np.empty((len(at), len(self.points)), dtype=bool)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = self._in_radii(at).astype(np.float32)
            squares = np.einsum("ij,ij->i", scaled, scaled)[:, None]  # (B, 1)
            # |c|² + |x|² − 2 c·x in single precision is wrong by at most about (d + 8) ε (|c| + |x|)²
            unit = np.float32(self.points.shape[1] + 8) * np.finfo(np.float32).eps
            for rows in row_chunks(len(self.points), 4 * len(at), chunk_bytes=BLOCK_BYTES):
                own = self._squares[rows]
                distance = scaled @ self._scaled[rows].T  # (B, rows)
                distance *= np.float32(-2.0)
                distance += own
                distance += squares
                margin = unit * (np.sqrt(squares) + np.sqrt(own.max())) ** 2
                sure = distance <= np.float32(1.0) - margin
                unsure = ~(sure | (distance > np.float32(1.0) + margin))  # nan is unsure as well
                if unsure.any():
                    ball, row = np.divmod(np.flatnonzero(unsure), len(own))
                    sure[ball, row] = self._exactly(at, ball, row + rows.start)
                inside[:, rows] = sure
        return inside

    def _in_radii(self, points: Points) -> Floats:
        return np.asarray((points - self._shift) / self.radius)

    def _exactly(self, centres: Floats, ball: NDArray[np.intp], row: NDArray[np.intp]) -> NDArray[np.bool_]:
        inside = np.empty(len(ball), dtype=bool)
        for pairs in row_chunks(len(ball), 8 * centres.shape[1], chunk_bytes=PAIR_BYTES):
            apart = self.points[row[pairs]].astype(np.float64) - centres[ball[pairs]]
            # powers of two change no digit, and with a radius in [0.5, 1) no square that matters over- or underflows
            apart = np.ldexp(apart, -self._exponent)
            inside[pairs] = (apart**2).sum(axis=1) <= np.ldexp(self.radius, -self._exponent) ** 2
        return inside


def neighbour_distances(
    X: ArrayLike, n_neighbours: int, *, n_sampled: int = FIRST_SAMPLED, rng: RandomState = None
) -> Floats:
    """Distances of sampled points to their n-th neighbour.

    Parameters
    ----------
    X : array (n, d)
    n_neighbours : int
        In 1 … n − 1; the point itself does not count.
    n_sampled : int
        Number of points; all n if there are fewer.
    rng : int, SeedSequence, Generator or None

    Returns
    -------
    array (n_sampled,)
        Euclidean distances in rising order.
    """
    points = as_points(X)
    n = len(points)
    if n < 2:
        fail("X", "must hold at least two points", f"got {n}", "add instances", code="empty")
    n_neighbours = whole(n_neighbours, "n_neighbours", "choose fewer than there are other points", least=1, most=n - 1)
    n_sampled = whole(n_sampled, "n_sampled", "500, say", least=1)
    sampled = generator(rng).choice(n, size=min(n, n_sampled), replace=False)
    points, exponent = _within_squares(points)
    centred = points - points.mean(axis=0, dtype=np.float64)  # double precision, (n, d)
    squares = np.einsum("ij,ij->i", centred, centred)
    found = np.empty(len(sampled))
    for part in row_chunks(len(sampled), 8 * n):
        at = sampled[part]
        distance = centred[at] @ centred.T
        distance *= -2.0
        distance += squares
        distance[np.arange(len(at)), at] = -np.inf  # first in the order, so that the n-th neighbour is at place n
        nth = np.partition(distance, n_neighbours, axis=1)[:, n_neighbours] + squares[at]
        found[part] = np.sqrt(np.maximum(nth, 0.0))
    with np.errstate(over="ignore"):
        distances = np.ldexp(np.sort(found), exponent)
    if not np.isfinite(distances[-1]):
        got = f"got values up to {np.ldexp(np.abs(points).max(), exponent):.3g}"
        fail("X", "must have distances that double precision can hold", got, "divide X by a constant", code="range")
    return distances


def _within_squares(points: Points) -> tuple[Points, int]:
    """The points divided by 2^e, and e: not 0 where the squares of their values would over- or underflow."""
    exponent = int(np.frexp(np.abs(points).max())[1])
    if abs(exponent) <= SAFE_EXPONENT:
        return points, 0
    return np.ldexp(points.astype(np.float64), -exponent - 1), exponent + 1


def suggested_radius(X: ArrayLike, n_neighbours: int, *, quantile: float = 0.5, rng: RandomState = None) -> float:
    """A radius with which a ball about a typical point has `n_neighbours` others.

    It is a quantile of the distance of 500 sampled points to their n-th neighbour. With the median, half of the points have at
    least that many neighbours in their ball; a lower quantile keeps the balls to denser regions.

    Parameters
    ----------
    X : array (n, d)
    n_neighbours : int
    quantile : float
        In [0, 1].
    rng : int, SeedSequence, Generator or None

    Examples
    --------
    >>> line = np.arange(100.0)[:, None]
    >>> suggested_radius(line, 10)
    5.0
    """
    quantile = number(quantile, "quantile", "0.5 is the median", low=0, high=1)
    radius = float(np.quantile(neighbour_distances(X, n_neighbours, rng=rng), quantile))
    if radius == 0.0:
        got = f"a typical point has {n_neighbours} equal ones"
        fail("X", "must have distinct points", got, "ask for more neighbours", code="undefined")
    return radius


# A split by balls: most points of some balls are held back from training, so that more data later fill the gap (paper
# 002).

DENSE = "dense"
LEAST_POINTS = 3
LEAST_GIVEN, LEAST_DENSE = 1, 100  # points of a ball, unless stated
ROUNDING = 1e-9  # of a sum of shares


@final
@dataclass(frozen=True, eq=False, repr=False)
class BallSplit:
    """Split rows by balls: a share of each ball trains, a share tests, and the rest is added later (epistemic gain, Sec. 5.2).

    The balls take their points one after another. A point belongs to the first ball that contains it, and points at distance R
    lie in the ball. Of the n points of a ball, ⌊q n⌋ random ones are for the test and ⌊p n⌋ others stay in the training set.
    The rest is only in the augmented set, which also contains the training set. Points in no ball stay in the training set.

    Parameters
    ----------
    radius : float
        R, in the units of X; `suggested_radius` finds one.
    centres : "dense", array (B, d) or None
        Given centres, or (None, "dense") dense regions: random rows in random order, each of which becomes a centre if its ball
        has at least `min_neighbours` points that no earlier ball took.
    n_balls : int, optional
        Of dense regions: stop after so many. By default the number of shares, or all that are found.
    train_share, test_share : float or array (B,)
        p and q, for all balls or for each one in turn.
    min_neighbours : int, optional
        Least number of points, the centre included, that no earlier ball took. Balls with fewer are skipped. By default 100 for
        dense regions, 1 for given centres.
    n_candidates : int
        Of dense regions: the number of random rows that are tried.
    n_splits : int
        Number of divisions of `split`. Division i has the random state ``random_state + i``.
    random_state : int

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(0, 10, (2000, 2))
    >>> split = BallSplit(1.5, centres=[[3, 3], [7, 7]], train_share=[0.1, 0.5], test_share=0.3)
    >>> for train, test, augmented in split.split(X):
    ...     print(len(train), len(test), len(augmented))
    1810 79 1921
    >>> print(split.divide(X).notes[0])
    2 balls with 267 of 2,000 points: 77 in the training set, 79 in the test set, 111 only in the augmented set
    """

    radius: float
    centres: ArrayLike | Literal["dense"] | None = None
    n_balls: int | None = None
    train_share: float | ArrayLike = 0.1
    test_share: float | ArrayLike = 0.3
    min_neighbours: int | None = None
    n_candidates: int = 2000
    n_splits: int = 1
    random_state: int = 0

    def __post_init__(self) -> None:
        number(self.radius, "radius", "uqassay.lab.datasets.suggested_radius finds one", low=0, ends="()")
        for name, least in (("n_balls", 1), ("min_neighbours", 1), ("n_candidates", 1), ("n_splits", 1)):
            if getattr(self, name) is not None or name in ("n_candidates", "n_splits"):
                whole(getattr(self, name), name, f"{least}, say", least=least)
        whole(self.random_state, "random_state", "0, say", least=0)
        if isinstance(self.centres, str) and self.centres != DENSE:
            rule = 'must be "dense" or an array of centres (B, d)'
            fail("centres", rule, f"got {self.centres!r}", "choose one", code="choice")
        if not self._dense and self.n_balls is not None:
            remedy = "leave it out, or give fewer centres"
            fail("n_balls", "has no effect with given centres", f"got {self.n_balls}", remedy, code="conflict")
        self._shares()

    def __repr__(self) -> str:
        given = [(f.name, getattr(self, f.name), f.default) for f in fields(self)]
        parts = []
        for name, value, default in given:
            if np.ndim(value):
                parts.append(f"{name}=<array of shape {np.shape(value)}>")
            elif value != default:
                parts.append(f"{name}={value!r}")
        return f"BallSplit({', '.join(parts)})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, as in scikit-learn; `deep` has no effect."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of divisions that `split` yields."""
        return self.n_splits

    def split(self, X: ArrayLike, y: ArrayLike | None = None, groups: Any = None) -> Iterator[tuple[Rows, Rows, Rows]]:
        """Row numbers of the training, the test and the augmented set, `n_splits` times.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,), optional
            Classes; a division without training instances of one of them is refused.
        groups : ignored
            For scikit-learn.

        Yields
        ------
        train, test, augmented : int array
        """
        for i in range(self.n_splits):
            division = self.divide(X, self.random_state + i, y=y)
            yield division.train, division.test, division.augmented

    def divide(self, X: ArrayLike, random_state: int | None = None, *, y: ArrayLike | None = None) -> BallDivision:
        """Divide the rows once, with an account of it.

        Parameters
        ----------
        X : array (n, d)
        random_state : int, optional
            In place of that of the split.
        y : array (n,), optional
            Classes; a division without training instances of one of them is refused.

        Returns
        -------
        BallDivision
        """
        points = as_points(X)
        if len(points) < LEAST_POINTS:
            rule = f"must hold at least {LEAST_POINTS} points: for the training, for the test and to add"
            fail("X", rule, f"got {len(points)}", "add instances", code="empty")
        labels = None if y is None else _class_labels(y, len(points))
        seed = self.random_state if random_state is None else random_state
        whole(seed, "random_state", "0, say", least=0)
        g = generator(seed)
        search = RadiusSearch(points, self.radius)
        taken = TakenBalls(len(points))
        notes = self._take_dense(points, search, g, taken) if self._dense else self._take_given(points, search, taken)
        place = self._placed(taken, g)
        return division_of(place, taken, float(self.radius), labels, notes)

    # -- the balls ------------------------------------------------------------------------------------------------------

    @property
    def _dense(self) -> bool:
        return self.centres is None or isinstance(self.centres, str)

    def _take_given(self, points: Points, search: RadiusSearch, taken: TakenBalls) -> list[Note]:
        centres = as_points(_centre_array(self.centres), "centres")
        if centres.shape[1] != points.shape[1]:
            rule = f"must have the {points.shape[1]} dimensions of X"
            fail("centres", rule, f"got shape {centres.shape}", "give one column per feature", code="shape")
        least = LEAST_GIVEN if self.min_neighbours is None else self.min_neighbours
        for i, inside in enumerate(search.each(centres)):
            self._check_caught(inside, f"ball {i}", points)
            taken.take(centres[i], i, inside, least)
        if not taken.centres:
            raise self._too_few(taken, least, "no ball has")
        if not taken.n_skipped:
            return []
        return [
            Note(
                "skipped",
                f"{counted(taken.n_skipped, 'ball')} skipped with fewer than {counted(least, 'point')} left",
                {"balls": taken.n_skipped, "least": least},
            )
        ]

    def _take_dense(
        self, points: Points, search: RadiusSearch, g: np.random.Generator, taken: TakenBalls
    ) -> list[Note]:
        wanted = self._n_wanted()
        least = LEAST_DENSE if self.min_neighbours is None else self.min_neighbours
        candidates = g.choice(len(points), size=min(len(points), self.n_candidates), replace=False)
        for row, inside in zip(candidates, search.each(points[candidates]), strict=True):
            self._check_caught(inside, f"the ball about row {row}", points)
            taken.take(points[row], len(taken.centres), inside, least)
            if len(taken.centres) == wanted:
                break
        if not taken.centres:
            raise self._too_few(taken, least, f"none of {counted(len(candidates), 'candidate')} has")
        found = f"{counted(len(taken.centres), 'dense region')} found"
        wished = "" if wanted is None or len(taken.centres) == wanted else f" of {count(wanted)} asked for"
        facts = {"found": len(taken.centres), "wanted": wanted, "tried": taken.n_tried, "skipped": taken.n_skipped}
        text = f"{found}{wished} among {counted(taken.n_tried, 'random row')}"
        if taken.n_skipped:
            text += f", {count(taken.n_skipped)} skipped with fewer than {counted(least, 'point')} left"
        return [Note("skipped", text, facts)]

    def _check_caught(self, inside: NDArray[np.bool_], which: str, points: Points) -> None:
        if not inside.any():
            rule = "must catch at least one point in every ball"
            got = f"{which} has none within {self.radius:g}"
            fail("radius", rule, got, "raise it, or move the centre", code="empty")
        if inside.all():
            got = f"{which} has all {count(len(inside))} points within {self.radius:g}"
            remedy = "give other data: all points are equal" if (points == points[0]).all() else "lower it"
            fail("radius", "must leave points outside of every ball", got, remedy, code="size")

    def _too_few(self, taken: TakenBalls, least: int, who: str) -> InputError:
        return InputError(
            "min_neighbours",
            f"must be met by at least one ball, and {who} {counted(least, 'point')} within the radius {self.radius:g}",
            f"the fullest has {count(taken.fullest)}",
            "raise the radius (suggested_radius finds one), or lower min_neighbours",
            code="empty",
            facts={"fullest": taken.fullest, "least": least},
        )

    def _placed(self, taken: TakenBalls, g: np.random.Generator) -> NDArray[np.int8]:
        """Part of each row, ``(n,)``."""
        train_share, test_share = self._shares()
        place = np.full(len(taken.ball), TRAIN, dtype=np.int8)
        for ball, rows in zip(taken.numbers, taken.rows, strict=True):
            p, q = (float(share[ball % len(share)]) for share in (train_share, test_share))
            n_train, n_test = count_of(p, len(rows)), count_of(q, len(rows))
            if n_test == 0:
                fail(
                    "test_share",
                    "must give every ball at least one test point",
                    f"ball {ball} has {counted(len(rows), 'point')} and a share of {q:g}",
                    "raise the share, the radius or min_neighbours",
                    code="empty",
                    facts={"ball": ball, "points": len(rows)},
                )
            drawn = g.permutation(rows)
            place[drawn[:n_test]] = TEST
            place[drawn[n_test + n_train :]] = ADDED
        return place

    # -- shares ---------------------------------------------------------------------------------------------------------

    def _shares(self) -> tuple[Floats, Floats]:
        """p and q, each of length 1 or one per ball; checked."""
        train, test = (_share_array(getattr(self, name), name) for name in ("train_share", "test_share"))
        if (test == 0).any():
            fail("test_share", "must be positive", "got 0", "0.3, say", code="range")
        numbers = {len(share) for share in (train, test) if len(share) > 1}
        n_balls = self.n_balls if self._dense else len(_centre_array(self.centres))
        if n_balls is not None and numbers:
            numbers.add(n_balls)
        if len(numbers) > 1:
            fail(
                "train_share" if len(train) > 1 else "test_share",
                "must be one number, or one for each ball",
                f"got {len(train)} and {len(test)} shares"
                + (f" for {counted(n_balls, 'ball')}" if n_balls is not None else ""),
                "give as many as there are balls",
                code="mismatch",
            )
        together = train + test
        if (together > 1.0 + ROUNDING).any():
            at = int(np.argmax(together))
            got = f"ball {at} has {together[at]:g}" if len(together) > 1 else f"got {together[0]:g}"
            remedy = "lower one of them: the rest of the ball is the additional data"
            fail("train_share", "and test_share must not exceed 1 together", got, remedy, code="range")
        return train, test

    def _n_wanted(self) -> int | None:
        longest = max(len(share) for share in self._shares())
        return self.n_balls if self.n_balls is not None or longest == 1 else longest


# -- checks of values ---------------------------------------------------------------------------------------------------


def _centre_array(value: Any) -> NDArray[Any]:
    centres = as_array(value, "centres")
    if centres.ndim != 2 or not len(centres):
        rule = "must hold at least one centre, as an array (B, d)"
        remedy = "write [[3, 4]] for one centre in the plane, or leave centres out for dense regions"
        fail("centres", rule, f"got shape {centres.shape}", remedy, code="shape")
    return as_numeric(centres, "centres")


def _share_array(value: Any, name: str) -> Floats:
    share = np.atleast_1d(as_array(value, name))
    if share.dtype.kind not in "fiu" or share.ndim != 1 or not len(share):
        rule = "must be one number, or one for each ball"
        got = f"got {shown(value)}"
        fail(name, rule, got, "0.3 is 30 %", code="type" if share.dtype.kind not in "fiu" else "shape")
    share = share.astype(np.float64)
    wrong = ~((share >= 0.0) & (share <= 1.0))
    if wrong.any():
        at = int(np.argmax(wrong))
        where = f"ball {at} has " if len(share) > 1 else "got "
        fail(name, "must lie in [0, 1]", f"{where}{share[at]:g}", "0.3 is 30 %", code="range")
    return share


def _class_labels(y: ArrayLike, n: int) -> NDArray[Any]:
    labels = as_array(y, "y")
    if labels.ndim != 1:
        fail("y", "must hold one class for each row", f"got shape {labels.shape}", "check it", code="shape")
    same_length(labels, "y", n, "give one class for each row", of="row")
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels.tolist()):
        return labels.astype(np.str_)  # text of pandas
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        row = int(np.argmax(np.isnan(labels)))
        fail("y", "must hold a class for each row", f"row {row} has none", "drop such rows", code="missing")
    if labels.dtype.kind not in "biufUS" or (labels.dtype.kind == "f" and np.isinf(labels).any()):
        fail("y", "must hold numbers or text", f"got values of {labels.dtype}", "convert all to text", code="type")
    return labels
