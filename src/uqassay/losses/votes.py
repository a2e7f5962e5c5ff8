"""Distance and loss against people's votes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, as_array, as_numeric, check_class_count, check_rows
from uqassay.errors import InputError
from uqassay.frames import is_frame, positions
from uqassay.ids import aligned
from uqassay.measures.variance import probability_moments
from uqassay.predictions import Prediction, PredictionLike, as_prediction, class_indices, sum_over_classes
from uqassay.predictions.base import checked_class_names
from uqassay.predictions.labels import (
    MOST_VOTES,
    check_order,
    check_single_meaning,
    in_order_of_ids,
    take_index,
    take_table,
)
from uqassay.statistics.units import check_choice
from uqassay.text import shown

__all__ = [
    "FewVotes",
    "VoteCounts",
    "VotesAre",
    "checked_votes",
    "counts_of_votes",
    "of_same_rows",
    "second_order_gap",
    "squared_truth_distance",
]


# Votes of several people for the class of each instance: counts for each class, from counts or from single votes.
#
# A table with one column for each class can be read in two ways if all its values are class indices. It is then read as
# counts only if all rows have the same sum, which single votes have by chance alone.

FewVotes = Literal["refuse", "leave-out"]
VotesAre = Literal["counts", "single"]

LEAST = 2  # votes of an instance
IF_SINGLE = "pass votes_are='single' if each entry is one vote"


@final
@dataclass(frozen=True, eq=False)
class VoteCounts:
    """Numbers of votes for each class, for the instances with at least two votes.

    Attributes
    ----------
    counts : array (n, K)
        Votes for each class, whole numbers.
    rows : int array (n,) or None
        Rows of these instances in the input; None: all of them.
    n_left_out : int
        Number of instances with no or one vote, which are left out.
    """

    counts: Floats
    rows: NDArray[np.intp] | None
    n_left_out: int

    @property
    def totals(self) -> Floats:
        """Votes m of each instance, ``(n,)``, at least 2."""
        return np.asarray(self.counts.sum(axis=1))

    def shares(self) -> Floats:
        """f_k = c_k / m, without bias for p*_k, ``(n, K)``."""
        return self.counts / self.totals[:, np.newaxis]

    def agreement(self) -> Floats:
        """c_k (c_k − 1) / (m (m − 1)), ``(n, K)``: share of the pairs of votes for class k, without bias for p*_k²."""
        return self.shares() * ((self.counts - 1.0) / (self.totals[:, np.newaxis] - 1.0))

    def squared_distance(self, mean: Floats) -> Floats:
        """Σ_k c_k (c_k − 1) / (m (m − 1)) − 2 p̄_k f_k + p̄_k², without bias for ‖p* − p̄‖², ``(n,)``."""
        f = self.shares()
        # the same sum as ‖f − p̄‖² minus the variance that the votes add, which cancels less
        noise = sum_over_classes(f * (1.0 - f)) / (self.totals - 1.0)
        return sum_over_classes((f - mean) ** 2) - noise

    def select(self, prediction: Prediction) -> Prediction:
        """The rows of the prediction that are kept."""
        return prediction if self.rows is None else prediction[self.rows]


def checked_votes(
    votes: ArrayLike | Sequence[ArrayLike],
    prediction: Prediction,
    *,
    votes_are: VotesAre | None = None,
    few_votes: FewVotes = "refuse",
) -> VoteCounts:
    """Numbers of votes for the instances of a prediction, checked.

    Parameters
    ----------
    votes : array_like, shape (n, K), or single votes of n instances
        Rows of a table with an index are put in the order of the ids of the prediction, and columns that name the classes
        in the order of its class names.
    prediction : Prediction
    votes_are : {"counts", "single"}, optional
        "counts": numbers of votes for each class. "single": an array (n, m), or n sequences, of the class of each vote, as
        index or name. By default counts; a table that may be either is refused: one column for each class, class indices
        alone, and rows of different sums.
    few_votes : {"refuse", "leave-out"}
        What happens to instances with no or one vote.

    Raises
    ------
    InputError
        A table that may be counts or single votes, unless `votes_are` tells; another shape, numbers that are negative or
        fractions; classes that are unknown; instances with fewer than two votes, unless they are left out; no instance with
        two.

    Examples
    --------
    >>> import uqassay as uq
    >>> point = uq.Point([[0.5, 0.5], [0.2, 0.8]])
    >>> checked_votes([[2, 1], [0, 1]], point, few_votes="leave-out").n_left_out
    1
    >>> checked_votes([[1, 1], [0, 1]], point, votes_are="single").counts.tolist()
    [[0.0, 2.0], [1.0, 1.0]]
    """
    check_choice(few_votes, "few_votes", ("refuse", "leave-out"))
    if votes_are is not None:
        check_choice(votes_are, "votes_are", ("counts", "single"))
    if votes is None:
        raise InputError("votes", "must be given", "it is None", "give at least two for each instance", code="missing")
    counts = _of_single(votes, prediction) if votes_are == "single" else _of_table(votes, prediction, votes_are)
    n, totals = len(counts), counts.sum(axis=1)
    few = int((totals < LEAST).sum())
    if few == 0:
        return VoteCounts(counts, None, 0)
    if few_votes == "refuse" or few == n:
        row = int(np.argmax(totals < LEAST))
        raise InputError(
            "votes",
            "every instance needs at least two votes, because one vote does not show how the truth scatters",
            f"row {row} has {int(totals[row])}, and {few} of {n} rows have fewer than two",
            "pass few_votes='leave-out' to leave such rows out" if few < n else "collect a second vote",
            code="empty",
            facts={"row": row, "few": few, "n": n},
        )
    return VoteCounts(counts[totals >= LEAST], np.flatnonzero(totals >= LEAST), few)


def counts_of_votes(
    labels: Iterable[ArrayLike] | NDArray[Any], n_classes: int, *, class_names: Sequence[str] | None = None
) -> Floats:
    """Numbers of votes for each class, ``(n, K)``, from single votes.

    Parameters
    ----------
    labels : array_like (n, m), or a sequence of n sequences
        The class of each vote, as index or name; instances may have different numbers of votes.
    n_classes : int
        K.
    class_names : sequence of str, optional
        Names of the classes in the order of the predictions.

    Raises
    ------
    InputError
        A label that is missing or unknown; rows that are no sequences.

    Examples
    --------
    >>> counts_of_votes([[0, 1, 1], [1, 1]], 2).tolist()
    [[1.0, 2.0], [0.0, 2.0]]
    """
    return _counted(labels, n_classes, class_names, "labels")


def of_same_rows(votes: Any, prediction: Any, groups: Any) -> tuple[Any, Any, Any]:
    """Votes, a prediction and groups with their rows in one order; votes in a list of rows stand by position."""
    stand_in = votes if is_frame(votes) else np.empty(len(votes) if hasattr(votes, "__len__") else 0)
    given = {"prediction": prediction, "votes": stand_in, "groups": groups}
    found = aligned({name: value for name, value in given.items() if value is not None})
    return found["votes"] if is_frame(votes) else votes, found.get("prediction"), found.get("groups")


# -- two ways to give votes ---------------------------------------------------------------------------------------------


def _of_single(votes: Any, prediction: Prediction) -> Floats:
    counts = _counted(votes, prediction.n_classes, prediction.class_names, "votes")
    if len(counts) != prediction.n_instances:
        raise _other_rows(f"need the single votes of each of {prediction.n_instances} instances", len(counts))
    index = take_index(votes, "votes")[1] if is_frame(votes) else None
    return in_order_of_ids(counts, index, prediction.ids, "votes")


def _of_table(votes: Any, prediction: Prediction, votes_are: VotesAre | None) -> Floats:
    """Counts as they are, rows and columns in the order of the prediction."""
    own = prediction.class_names
    try:
        table, names, index = take_table(votes, "votes")
        table = as_numeric(table, "votes")
    except InputError as problem:
        if problem.code not in ("ragged", "type"):
            raise
        remedy = f"give numbers of votes for each class, or {IF_SINGLE}"
        raise problem.replace(remedy=remedy, facts=problem.facts | {"votes_are": votes_are}) from problem
    counts = _whole_counts(table, prediction.n_instances, prediction.n_classes)
    if names is not None and own is not None:
        counts = counts[:, _columns(names, own)]
    else:
        if own is not None:
            check_order(prediction.class_order, own, "votes")
        if votes_are is None:
            check_single_meaning(counts, "votes")
    return in_order_of_ids(counts, index, prediction.ids, "votes")


def _columns(names: tuple[str, ...], own: tuple[str, ...]) -> NDArray[np.int64]:
    """Column of the table for each class of the prediction."""
    try:
        return positions(names, np.asarray(own), "votes", part="columns", of="the class names")
    except InputError as problem:
        raise problem.replace(remedy=f"name the columns by the classes, or {IF_SINGLE}") from problem


def _other_rows(rule: str, n: int) -> InputError:
    return InputError(
        "votes", rule, f"got {n} rows", "give the votes of the same instances as the predictions", code="mismatch"
    )


def _whole_counts(counts: NDArray[Any], n: int, n_classes: int) -> Floats:
    if counts.ndim == 2 and counts.shape[1] == n_classes and len(counts) != n:
        raise _other_rows(f"need a row for each of {n} instances", len(counts))
    if counts.shape != (n, n_classes):
        raise InputError(
            "votes",
            f"must be numbers of votes for each class, shape ({n}, {n_classes})",
            f"got shape {counts.shape}",
            f"{IF_SINGLE}; one label for each instance is not enough",
            code="shape",
        )
    if counts.dtype == bool or float(counts.max()) > MOST_VOTES:
        raise InputError(
            "votes",
            f"must be numbers of votes, below {MOST_VOTES:.0e}",
            "got truth values" if counts.dtype == bool else f"got {counts.max():.3g}",
            f"give numbers of votes for each class, or {IF_SINGLE}",
            code="type" if counts.dtype == bool else "range",
            facts={"dtype": str(counts.dtype)},
        )
    check_rows(
        counts,
        "votes",
        tolerance=0.0,
        unit_sum=False,
        high=np.inf,
        remedy="give numbers of votes, which are at least 0",
    )
    fractions = counts != np.round(counts) if counts.dtype.kind == "f" else np.zeros(counts.shape, dtype=bool)
    if fractions.any():
        row, k = np.argwhere(fractions)[0].tolist()
        raise InputError(
            "votes",
            "must be whole numbers, because shares do not tell how many votes there were",
            f"row {row} holds {float(counts[row, k]):g}",
            "multiply shares by the number of votes",
            code="type",
            facts={"row": row},
        )
    return np.asarray(counts, dtype=np.float64)


# -- single votes -------------------------------------------------------------------------------------------------------


def _counted(labels: Any, n_classes: int, class_names: Sequence[str] | None, name: str) -> Floats:
    """Counts (n, K) of single votes; `name` is for errors."""
    if isinstance(n_classes, bool) or not isinstance(n_classes, (int, np.integer)):
        raise InputError("n_classes", "must be a whole number", f"got {shown(n_classes)}", "give K", code="type")
    check_class_count(n_classes, "n_classes")
    if class_names is not None:
        class_names = checked_class_names(class_names, int(n_classes))
    rows = _rows_of(labels, name)
    lengths = [len(row) for row in rows]
    if not sum(lengths):
        return np.zeros((len(rows), n_classes))
    classes = _classes_of(rows, class_names, name)
    of = np.repeat(np.arange(len(rows)), lengths)
    outside = (classes < 0) | (classes >= n_classes)
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        raise InputError(
            name,
            f"must lie in 0 … {n_classes - 1}",
            f"row {of[at]} holds {int(classes[at])}",
            "recode the labels so that they index the columns of the predictions",
            code="range",
            facts={"row": int(of[at])},
        )
    counts = np.bincount(of * n_classes + classes, minlength=len(rows) * n_classes)
    return counts.reshape(len(rows), n_classes).astype(np.float64)


def _rows_of(labels: Any, name: str) -> list[NDArray[Any]]:
    """The votes of each instance, ``(m,)``."""
    if is_frame(labels) or hasattr(labels, "dtype") or not isinstance(labels, Iterable) or isinstance(labels, str):
        table = as_array(labels, name)
        rows = [np.asarray(row) for row in table] if table.ndim else [table]
    else:
        rows = [as_array(row, name) for row in labels]
    odd = next((i for i, row in enumerate(rows) if row.ndim != 1), None)
    if odd is not None or not rows:
        raise InputError(
            name,
            "needs the votes of each instance as a sequence",
            "got no rows" if odd is None else f"row {odd} has shape {rows[odd].shape}",
            "give one row of single votes for each instance",
            code="shape",
            facts={"votes_are": "single"},
        )
    return rows


def _classes_of(rows: Sequence[NDArray[Any]], class_names: Sequence[str] | None, name: str) -> NDArray[np.int64]:
    """Class index of each vote, row after row."""
    filled = [(i, row) for i, row in enumerate(rows) if len(row)]
    for i, row in filled:
        if _has_missing(row):
            raise InputError(
                name,
                "must hold a class for each vote",
                f"row {i} has a missing vote",
                "give rows without the missing votes, or numbers of votes for each class",
                code="missing",
                facts={"row": i},
            )
    try:
        return class_indices(np.concatenate([row for _, row in filled]), class_names, name=name)
    except InputError:
        for i, row in filled:  # the row of the error is one of all votes; find that of the instance
            try:
                class_indices(row, class_names, name=name)
            except InputError as problem:
                raise problem.replace(got=f"{problem.got}, among the votes of row {i}") from problem
        raise


def _has_missing(row: NDArray[Any]) -> bool:
    if row.dtype.kind in "fMm":
        return bool(np.isnan(row).any())
    if row.dtype.kind != "O":
        return False
    return any(
        vote is None or type(vote).__name__ == "NAType" or vote != vote for vote in row.tolist()
    )  # NAType: pandas


# Squared distance of the true label probabilities from a prediction, without bias, from two or more votes per instance.
#
# One vote per instance shows only the mean of the label. Two independent votes of one instance agree on class k with
# probability p*_k², so pairs of votes also show the second moment of the true probabilities p* among the instances.


def squared_truth_distance(
    votes: ArrayLike | Sequence[ArrayLike],
    prediction: PredictionLike,
    *,
    votes_are: VotesAre | None = None,
    few_votes: FewVotes = "refuse",
) -> Floats:
    """Squared distance of the true label probabilities from the mean prediction, ‖p* − p̄‖², without bias, ``(n,)``.

    D = Σ_k c_k (c_k − 1) / (m (m − 1)) − 2 p̄_k c_k / m + p̄_k² with c_k of the m votes of an instance for class k. Single
    values scatter and may be negative; means over instances are meant.

    Parameters
    ----------
    votes : array_like, shape (n, K), or single votes of n instances
        Numbers of votes for each class, at least two in a row, independent given the instance; see `votes_are`.
    prediction : Prediction, or array (n, K) or (n, M, K)
        Only its mean counts here.
    votes_are : {"counts", "single"}, optional
        By default counts, unless the table may be either, see `checked_votes`.
    few_votes : {"refuse", "leave-out"}
        What happens to instances with no or one vote. Instances that are left out have the value nan.

    Raises
    ------
    InputError
        As `checked_votes`.

    Examples
    --------
    >>> import uqassay as uq
    >>> squared_truth_distance([[2, 0], [1, 1]], uq.Point([[0.5, 0.5], [0.5, 0.5]])).tolist()
    [0.5, -0.5]
    """
    prediction = as_prediction(prediction)
    counted = checked_votes(votes, prediction, votes_are=votes_are, few_votes=few_votes)
    return _spread(counted.squared_distance(counted.select(prediction).mean_probs()), counted, prediction)


def second_order_gap(
    votes: ArrayLike | Sequence[ArrayLike],
    prediction: PredictionLike,
    *,
    votes_are: VotesAre | None = None,
    few_votes: FewVotes = "refuse",
) -> Floats:
    """Observed minus stated epistemic variance, D − Σ_k Var[p_k], ``(n,)``.

    D is `squared_truth_distance`. For a model that is second-order calibrated, the expected gap is 0 among the instances with
    the same statement. It is positive on average if the truth lies further from the mean of the model than the model states.

    Parameters
    ----------
    votes : array_like, shape (n, K), or single votes of n instances
    prediction : Prediction, or array (n, K) or (n, M, K)
        A kind with a second-order distribution; a point states the variance 0.
    votes_are : {"counts", "single"}, optional
        By default counts, unless the table may be either, see `checked_votes`.
    few_votes : {"refuse", "leave-out"}
        What happens to instances with no or one vote. Instances that are left out have the value nan.

    Raises
    ------
    InputError
        As `checked_votes`; a prediction that is a set without a distribution.

    References
    ----------
    Ahdritz, Gollakota, Gopalan, Peale, Wieder (2025), Provable uncertainty decomposition via higher-order calibration.

    Examples
    --------
    >>> import uqassay as uq
    >>> second_order_gap([[2, 0], [1, 1]], uq.Members([[[1.0, 0.0], [0.0, 1.0]]] * 2)).tolist()
    [0.0, -1.0]
    """
    prediction = as_prediction(prediction)
    counted = checked_votes(votes, prediction, votes_are=votes_are, few_votes=few_votes)
    stated = probability_moments(counted.select(prediction))
    return _spread(counted.squared_distance(stated.mean) - stated.epistemic, counted, prediction)


def _spread(values: Floats, counted: VoteCounts, prediction: Prediction) -> Floats:
    if counted.rows is None:
        return values
    spread = np.full(prediction.n_instances, np.nan)
    spread[counted.rows] = values
    return spread
