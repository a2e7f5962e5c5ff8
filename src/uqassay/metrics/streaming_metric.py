"""A metric that is updated batch by batch, in the manner of torchmetrics."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_array
from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.metrics.prediction_metrics import MetricPart, PredictionMetric
from uqassay.predictions import PredictionLike, as_prediction
from uqassay.predictions.class_order import classes_in_order
from uqassay.predictions.row_numbers import numbered
from uqassay.statistics import Estimate

__all__ = ["StreamingMetric"]


class StreamingMetric:
    """One metric over batches: `update` with each, `compute` the estimate, `reset`, and `merge_state` of other processes.

    Takes arrays, predictions, and tensors of PyTorch on any device. It keeps one or two numbers of each instance on the host.
    The result is that of one batch with all instances.

    Parameters
    ----------
    metric : str
        "unified" (E), "distance", "nonspecificity", "accuracy", "log-loss", "brier", or a name of `metrics.RANKING_METRICS`.
    tradeoff, distance
        Of "unified" and "distance"; see `losses.unified_loss`.
    score : str
        Uncertainty that ranks the mistakes, for ranking metrics: a name of `measures.SCORES`, or "nonspecificity".
    level : float
        Confidence level of the interval.

    Raises
    ------
    InputError
        An unknown name, or a λ that is none.

    Notes
    -----
    Draws of a `Dirichlet` or of Gaussian logits belong to the row, counted from the first batch of this object. `merge_state`
    does not count them anew, so for these kinds a merged result differs from that of one batch by their randomness.

    Examples
    --------
    >>> import uqassay as uq
    >>> metric = uq.metrics.StreamingMetric("accuracy")
    >>> metric.update([[0.9, 0.1], [0.2, 0.8]], [0, 1])
    >>> metric.update([[0.7, 0.3]], [1])
    >>> metric.compute()
    Estimate(0.6667, low=0.2077, high=0.9385, level=0.95, n=3, method='wilson')
    """

    def __init__(
        self,
        metric: str = "unified",
        *,
        tradeoff: float = DEFAULT_TRADEOFF,
        distance: str = "kl",
        score: str = "total-entropy",
        level: float = 0.95,
    ) -> None:
        self.definition = PredictionMetric(
            metric=metric, tradeoff=tradeoff, distance=distance, score=score, level=level
        )
        self.reset()

    @property
    def higher_is_better(self) -> bool:
        """True for accuracy and for ranking metrics such as UQ-AUC, False for losses."""
        return self.definition.higher_is_better

    @property
    def n_instances(self) -> int:
        """Number of instances seen."""
        return sum(len(part.columns[0]) for part, *_ in self._batches)

    def reset(self) -> None:
        """Forget all batches."""
        # each with its groups and class names, so that one append adds all of it
        self._batches: list[tuple[MetricPart, NDArray[Any] | None, tuple[str, ...] | None]] = []

    @in_one_order("preds", "target", "groups")
    def update(self, preds: PredictionLike, target: ArrayLike, *, groups: ArrayLike | None = None) -> None:
        """Add a batch.

        Parameters
        ----------
        preds : Prediction of any kind, or array or tensor (n, K) or (n, M, K)
            Probabilities. Named classes are put in the order of the first batch. The order of the parameters is that of
            torchmetrics.
        target : int array or tensor (n,), or (n, K)
            Labels, or label distributions / vote counts.
        groups : array (n,), optional
            Instances of one group stay together in the interval; all batches have groups, or none.
        """
        prediction = numbered(as_prediction(preds, "preds"), self.n_instances)
        names = next((names for *_, names in self._batches if names), None)
        prediction = classes_in_order(prediction, names, "preds", of="the first batch")
        units = None if groups is None else as_array(groups, "groups").copy()
        if units is not None and units.shape != (prediction.n_instances,):
            raise InputError(
                "groups",
                "need one value for each instance of the batch",
                f"got shape {units.shape}",
                "pass an array of that length",
                code="shape",
            )
        if self._batches and (units is None) != (self._batches[0][1] is None):
            raise InputError(
                "groups", "must be given for all batches, or for none", "got both", "decide for one", code="mismatch"
            )
        self._batches.append((self.definition.part(target, prediction), units, prediction.class_names))

    def merge_state(self, others: "StreamingMetric | Iterable[StreamingMetric]") -> None:
        """Add the batches of other metrics of the same definition, after those of this one and in the order given.

        A merge that raises, or is interrupted, leaves the metric as it was.
        """
        found = list(self._batches)
        for other in [others] if isinstance(others, StreamingMetric) else others:
            if not isinstance(other, StreamingMetric) or other.definition != self.definition:
                raise InputError(
                    "others",
                    "must be metrics of the same definition",
                    f"got {getattr(other, 'definition', type(other).__name__)!r:.120}",
                    "make them with the same options",
                    code="mismatch",
                )
            if found and other._batches and (other._batches[0][1] is None) != (found[0][1] is None):
                raise InputError(
                    "groups",
                    "must be given for all batches, or for none",
                    "got both",
                    "decide for one",
                    code="mismatch",
                )
            found += other._batches
        self._batches = found

    def compute(self) -> Estimate:
        """The metric over all batches, with its interval.

        Raises
        ------
        InputError
            No batch yet.
        """
        if not self._batches:
            raise InputError("preds", "needs at least one batch", "got none", "call update first", code="empty")
        parts, groups, _ = zip(*self._batches, strict=True)
        return self.definition.estimate(parts, None if groups[0] is None else np.concatenate(groups))
