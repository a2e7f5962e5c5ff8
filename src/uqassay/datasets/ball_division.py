"""A division of rows by balls: its parts with an account of them, and the rules that every division keeps."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.wording import count, counted, listed

__all__ = ["ADDED", "TEST", "TRAIN", "BallDivision", "TakenBalls", "division_of"]

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

TRAIN, TEST, ADDED = range(3)  # part of a row; ADDED is only in the augmented set
MOST_NAMED = 3  # classes in an error


@final
@dataclass(frozen=True, eq=False)
class BallDivision:
    """One division of rows into a training, a test and an augmented set.

    Attributes
    ----------
    train, test, augmented : int array
        Row numbers in rising order. The test set shares no row with the others; the training set is part of the augmented one.
    ball : int array (n,)
        Number of the ball that each row belongs to, −1 for none.
    centres : array (B, d)
        Centres of the balls, in the order in which they took their points.
    radius : float
    n_overlapping : int
        Rows that lie in several of the balls; each belongs to the first.
    notes : tuple of Note
        Sizes of the parts, overlaps, balls that were skipped.
    """

    train: Rows
    test: Rows
    augmented: Rows
    ball: NDArray[np.intp]
    centres: Array
    radius: float
    n_overlapping: int
    notes: tuple[Note, ...] = ()

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
    """The division with the part of each row `place`, ``(n,)``; `notes` come after those on sizes and overlaps.

    Raises
    ------
    InputError
        No row to train on, none that is added, or a class without training instances.
    """
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
    notes = [
        Note(
            "parts",
            f"{counted(len(taken.centres), 'ball')} with {count(int(in_balls.sum()))} of {counted(len(place), 'point')}: "
            f"{count(train)} in the training set, {count(test)} in the test set, {count(added)} only in the augmented set",
            {"balls": len(taken.centres), "points": len(place), "train": train, "test": test, "added": added},
        )
    ]
    if taken.n_overlapping:
        text = f"{counted(taken.n_overlapping, 'point')} in several balls, counted for the first"
        notes.append(Note("overlap", text, {"points": taken.n_overlapping}))
    return notes


def _check_parts(place: NDArray[np.int8], labels: NDArray[Any] | None) -> None:
    """Refuse a division without training or additional points, or without training instances of a class."""
    for part, what, remedy in (
        (TRAIN, "in the training set", "raise it, or lower the radius"),
        (ADDED, "for the augmented set alone", "lower it or test_share"),
    ):
        if not (place == part).any():
            raise InputError("train_share", f"must leave points {what}", "it leaves none", remedy, code="empty")
    if labels is None:
        return
    classes, counts = np.unique(labels, return_counts=True)
    gone = np.flatnonzero(~np.isin(classes, labels[place == TRAIN]))
    if len(gone):
        shown_classes = listed([f"{classes[k]} ({counted(int(counts[k]), 'instance')})" for k in gone[:MOST_NAMED]])
        raise InputError(
            "y",
            "every class needs a training instance, and the balls take all of some",
            f"none is left of {counted(len(gone), 'class', 'classes')}: {shown_classes}",
            "raise train_share, or take fewer or smaller balls",
            code="empty",
            facts={"classes": [classes[k].item() for k in gone]},
        )
