"""Coverage against size: label coverage and non-specificity of the sets s · (set − centre) + centre, for several s."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._one_order import in_one_order
from uqassay._shown import Shown
from uqassay._shown_table import ShownCell, ShownRow, ShownTable, estimate_cell
from uqassay.errors import InputError
from uqassay.evidence.scaled_sets import SCALES, check_scales, scaled_prediction
from uqassay.losses.label_distance import labels_of
from uqassay.measures.class_sets import not_ruled_out
from uqassay.measures.hartley import generalised_hartley
from uqassay.metrics.sets.class_set_scores import share_covered
from uqassay.notes import Note
from uqassay.predictions import PredictionLike, as_prediction
from uqassay.statistics import Estimate, mean_estimate, proportion_estimate
from uqassay.wording import counted, level_text, percent, significant

__all__ = ["CoverageCurve", "coverage_curve"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class CoverageCurve(Shown):
    """Coverage and size of the sets of one model at S scales; made by `coverage_curve`.

    Attributes
    ----------
    scales : array (S,)
        s, ascending; 1 is among them.
    coverage : tuple of S Estimate
        Share of the labels that the scaled sets do not rule out.
    nonspecificity : tuple of S Estimate
        Mean generalised Hartley measure, nats.
    size : tuple of S Estimate
        Mean number of classes that are not ruled out.
    clipped : array (S,)
        Share of the sets that would leave the simplex.
    rule : str
    notes : tuple of Note
    """

    scales: NDArray[np.float64]
    coverage: tuple[Estimate, ...]
    nonspecificity: tuple[Estimate, ...]
    size: tuple[Estimate, ...]
    clipped: NDArray[np.float64]
    rule: str
    notes: tuple[Note, ...] = ()

    @property
    def own(self) -> int:
        """Place of s = 1, the sets as they were given."""
        return int(np.flatnonzero(self.scales == 1)[0])

    def scale_for(self, coverage: float) -> float:
        """The smallest of the scales with at least this coverage; nan if none has it."""
        reached = [s for s, c in zip(self.scales.tolist(), self.coverage, strict=True) if c >= coverage]
        return min(reached, default=float("nan"))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON."""
        return {
            "rule": self.rule,
            "scales": self.scales.tolist(),
            "clipped": self.clipped.tolist(),
            **{name: [e.to_dict() for e in getattr(self, name)] for name in ("coverage", "nonspecificity", "size")},
        }

    def _shown_title(self) -> str:
        return f"Coverage by {self.rule} and size of scaled sets on {counted(self.coverage[0].n, 'instance')}"

    def _shown_sentences(self) -> Sequence[str]:
        c = self.coverage[self.own]
        return (
            f"The sets as they are leave {percent(c, in_sentence=True)} of the labels, with "
            f"{significant(float(self.size[self.own]))} classes in the mean.",
        )

    def _shown_table(self) -> ShownTable:
        level = level_text(self.coverage[0].level)
        columns = zip(self.coverage, self.nonspecificity, self.size, strict=True)
        rows = [
            ShownRow((ShownCell(significant(s)), *(estimate_cell(e, e.low, e.high) for e in estimates)))
            for s, estimates in zip(self.scales.tolist(), columns, strict=True)
        ]
        caption = f"Sets s · (set − centre) + centre, clipped to the simplex; {level} intervals."
        return ShownTable(("s", "coverage", "non-specificity", "classes"), tuple(rows), caption, n_words=0)

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]


@in_one_order("prediction", "y_true", "groups")
def coverage_curve(
    y_true: ArrayLike,
    prediction: PredictionLike,
    *,
    scales: Sequence[float] = SCALES,
    rule: str = "e-admissibility",
    groups: ArrayLike | None = None,
    level: float = 0.95,
    rng: int | None = None,
) -> CoverageCurve:
    """Coverage of labels or votes against the size of the sets, as the sets are stretched about their centres.

    A wider set rules out fewer classes, so coverage alone rewards width. Two models are compared along the whole curve: the
    better one covers more at the same non-specificity.

    Parameters
    ----------
    y_true : int array (n,), class names (n,), or array (n, K)
        Labels, or votes, of which the share that is not ruled out counts.
    prediction : Prediction of a kind with sets, or array (n, M, K)
    scales : sequence of float
        Factors s of the spread; 1 is added.
    rule : {"interval-dominance", "maximality", "e-admissibility"}
        See `measures.not_ruled_out`. Clipping at 0 makes ties in which the first two rules leave many improbable classes.
    groups : array (n,), optional
        As in `mean_estimate`. By default those of the prediction.
    level : float
        Level of each interval; they do not hold jointly.
    rng : int, optional
        Seed of the estimated non-specificity of more than 16 classes.

    Returns
    -------
    CoverageCurve

    Raises
    ------
    InputError
        A point, labels that do not fit, no scale, or negative ones.

    Examples
    --------
    >>> import uqassay as uq
    >>> pair = uq.Members([[[0.6, 0.4], [0.55, 0.45]]] * 4)
    >>> curve = coverage_curve([0, 0, 0, 1], pair, scales=(1, 5))
    >>> [float(c) for c in curve.coverage], [round(float(u), 3) for u in curve.nonspecificity]
    ([0.75, 1.0], [0.035, 0.173])
    """
    given = as_prediction(prediction)
    values = check_scales(scales)
    if not values:
        raise InputError("scales", "needs at least one scale", "got none", "leave it out for the default", code="empty")
    y = labels_of(y_true, given)
    units = given.groups if groups is None else groups
    found: list[tuple[Estimate, Estimate, Estimate]] = []
    shares = []
    for scale in values:
        scaled, clipped = scaled_prediction(given, scale)
        sets = not_ruled_out(scaled, rule=rule)
        sizes = generalised_hartley(scaled, rng=rng)
        found.append(
            (
                proportion_estimate(share_covered(y, sets), groups=units, level=level),
                mean_estimate(sizes.values, groups=units, level=level),
                mean_estimate(sets.sum(axis=1), groups=units, level=level),
            )
        )
        shares.append(float(clipped.mean()))
    coverage, nonspecificity, size = zip(*found, strict=True)
    return CoverageCurve(
        scales=np.array(values),
        coverage=coverage,
        nonspecificity=nonspecificity,
        size=size,
        clipped=np.array(shares),
        rule=rule,
        notes=coverage[0].notes,
    )
