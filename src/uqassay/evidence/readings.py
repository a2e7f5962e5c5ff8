"""One ensemble read in three ways: as a set, as a distribution over distributions, and as its mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._one_order import in_one_order
from uqassay._shown import Shown
from uqassay._shown_table import ShownCell, ShownRow, ShownTable, estimate_cell
from uqassay.errors import InputError
from uqassay.losses.errors import is_correct
from uqassay.losses.label_distance import FLOORS, labels_of
from uqassay.losses.proper_scores import brier_loss, log_loss
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff, unified_loss
from uqassay.measures.entropies import entropy_decomposition
from uqassay.metrics.calibration.error_interval import error_estimate_of_hits
from uqassay.metrics.sets.class_set_scores import class_set_scores
from uqassay.notes import Note
from uqassay.predictions import Members, Point, PredictionLike, as_prediction, not_negative
from uqassay.statistics import Estimate, mean_estimate, proportion_estimate
from uqassay.wording import counted, level_text, tradeoff

__all__ = ["ThreeReadings", "three_readings"]

READINGS = ("set", "distribution", "mean")
DEFINITIONS = {
    "unified": ("set", "E", "distance of the label to the hull of the members, plus λ times its non-specificity"),
    "distance": ("set", "distance", "−ln of the greatest probability of the label among the members"),
    "nonspecificity": ("set", "non-specificity", "generalised Hartley measure of the hull, nats"),
    "coverage": ("set", "coverage", "share of the labels that the hull does not rule out"),
    "size": ("set", "classes", "mean number of classes that the hull does not rule out"),
    "member_log_loss": (
        "distribution",
        "log loss of a member",
        "−ln of the label's probability, averaged over the members",
    ),
    "member_accuracy": ("distribution", "accuracy of a member", "share of the members that predict the label"),
    "mutual_information": (
        "distribution",
        "mutual information",
        "entropy of the mean minus mean entropy of the members, nats",
    ),
    "gain_of_averaging": (
        "distribution",
        "gain of averaging",
        "log loss of a member minus that of the mean, at least 0",
    ),
    "log_loss": ("mean", "log loss", "−ln of the label's probability in the mean"),
    "brier": ("mean", "Brier score", "squared distance of the mean from the label"),
    "accuracy": ("mean", "accuracy", "share of the labels that the mean predicts"),
    "ece": ("mean", "ECE", "calibration error of the mean's confidence in ten bins"),
}


@final
@dataclass(frozen=True, eq=False, repr=False)
class ThreeReadings(Shown):
    """What three readings of the same members are worth; made by `three_readings`.

    Attributes
    ----------
    unified, distance, nonspecificity, coverage, size : Estimate
        The hull of the members as a set.
    member_log_loss, member_accuracy, mutual_information, gain_of_averaging : Estimate
        The members as equally likely draws of a distribution.
    log_loss, brier, accuracy, ece : Estimate
        The mean of the members.
    tradeoff : float
        λ of `unified`.
    n_members : int
    notes : tuple of Note
    """

    unified: Estimate
    distance: Estimate
    nonspecificity: Estimate
    coverage: Estimate
    size: Estimate
    member_log_loss: Estimate
    member_accuracy: Estimate
    mutual_information: Estimate
    gain_of_averaging: Estimate
    log_loss: Estimate
    brier: Estimate
    accuracy: Estimate
    ece: Estimate
    tradeoff: float
    n_members: int
    notes: tuple[Note, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One row for each number: reading, metric, meaning, and the estimate with its interval."""
        return [
            {"reading": reading, "metric": name.replace("_", "-"), "meaning": meaning, **getattr(self, name).to_dict()}
            for name, (reading, _, meaning) in DEFINITIONS.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON."""
        return {"tradeoff": self.tradeoff, "n_members": self.n_members, "rows": self.rows()}

    def _shown_title(self) -> str:
        n = counted(self.accuracy.n, "instance")
        return f"{counted(self.n_members, 'member')} as set, as distribution and as mean, {n}, λ = {tradeoff(self.tradeoff)}"

    def _shown_sentences(self) -> Sequence[str]:
        return ()

    def _shown_table(self) -> ShownTable:
        rows = []
        for name, (reading, label, meaning) in DEFINITIONS.items():
            e = getattr(self, name)
            rows.append(
                ShownRow((ShownCell(reading), ShownCell(label), ShownCell(meaning), estimate_cell(e, e.low, e.high)))
            )
        caption = f"{level_text(self.accuracy.level)} intervals."
        return ShownTable(("read as", "number", "meaning", "estimate"), tuple(rows), caption, n_words=3)

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]


@in_one_order("members", "y_true", "groups")
def three_readings(
    y_true: ArrayLike,
    members: PredictionLike,
    *,
    tradeoff: float = DEFAULT_TRADEOFF,
    rule: str = "maximality",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> ThreeReadings:
    """Judge one ensemble as a credal set, as a second-order distribution, and as its mean.

    Parameters
    ----------
    y_true : int array (n,) or class names (n,)
        Labels.
    members : Members, or array (n, M, K)
        Also the draws of a `Dirichlet` or `GaussianLogits`.
    tradeoff : float
        λ of E.
    rule : {"interval-dominance", "maximality", "e-admissibility"}
        When the hull rules a class out, see `measures.not_ruled_out`.
    groups : array (n,), optional
        As in `mean_estimate`. By default those of the prediction.
    level : float

    Returns
    -------
    ThreeReadings
        Shown as one table; `rows()` has the definitions. The numbers of different readings are on different scales, except for
        log losses and accuracies. Means have Hall's interval, shares Wilson's, the ECE that
        of `metrics.calibration_error_estimate`.

    Raises
    ------
    InputError
        A prediction without members, or label distributions.

    References
    ----------
    Wang, Cuzzolin (2026): predictions of an ensemble as credal set, as second-order distribution and as average.

    Examples
    --------
    >>> found = three_readings([0, 1], [[[0.9, 0.1], [0.7, 0.3]], [[0.6, 0.4], [0.2, 0.8]]])
    >>> {name: round(float(getattr(found, name)), 3) for name in ("unified", "gain_of_averaging", "accuracy", "coverage")}
    {'unified': 0.268, 'gain_of_averaging': 0.033, 'accuracy': 1.0, 'coverage': 1.0}
    """
    check_tradeoff(tradeoff)
    given = as_prediction(members, "members")
    ensemble = given.credal()
    if not isinstance(ensemble, Members):
        raise InputError(
            "members",
            "needs an ensemble, which can be read in three ways",
            f"got {type(given).__name__}",
            "pass Members, or an array (n, M, K)",
            code="no-members",
        )
    y = labels_of(y_true, ensemble)
    if y.ndim != 1:
        raise InputError(
            "y_true", "needs one label for each instance", f"got shape {y.shape}", "pass class indices", code="shape"
        )
    ensemble = ensemble.without_class_names()  # the labels are indices from here on
    units = given.groups if groups is None else groups
    loss = unified_loss(y, ensemble, tradeoff=tradeoff)
    mean = Point(ensemble.mean_probs(), normalise=True)
    probs = not_negative(ensemble.hull_points())  # (n, M, K)
    of_label = probs[np.arange(len(y)), :, y]
    member_loss = -np.log(np.maximum(of_label, FLOORS["exact"])).mean(axis=1)
    mean_loss = log_loss(y, mean)
    hits, confidence = is_correct(y, mean), mean.label_probs().max(axis=1)

    def average(values: NDArray[np.float64]) -> Estimate:
        return mean_estimate(values, groups=units, level=level, method="hall")

    sets = class_set_scores(y, ensemble, rule=rule, groups=units, level=level)
    return ThreeReadings(
        unified=average(loss.total),
        distance=average(loss.distance),
        nonspecificity=average(loss.nonspecificity),
        coverage=sets.coverage,
        size=sets.size,
        member_log_loss=average(member_loss),
        member_accuracy=proportion_estimate(
            (probs.argmax(axis=2) == y[:, None]).mean(axis=1), groups=units, level=level
        ),
        mutual_information=average(entropy_decomposition(ensemble).epistemic),
        gain_of_averaging=average(member_loss - mean_loss),
        log_loss=average(mean_loss),
        brier=average(brier_loss(y, mean)),
        accuracy=proportion_estimate(hits, groups=units, level=level),
        ece=error_estimate_of_hits(hits, np.minimum(confidence, 1.0), groups=units, level=level),
        tradeoff=float(tradeoff),
        n_members=ensemble.n_members,
        notes=sets.coverage.notes,
    )
