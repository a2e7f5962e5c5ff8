"""Train the models of one run and keep the gains and the estimates of its test and of its calibration instances.

A run has one seed of the learner, so that the models before and after more data differ by their data alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.datasets.splits import TRAINING, run_stream
from uqassay.errors import InputError
from uqassay.evidence.gain_sample import GainRun, GainSample
from uqassay.experiments.estimators import unfitted_copy
from uqassay.experiments.gain.divisions import GainTask, RunDivision, Trio, noted
from uqassay.experiments.gain.estimates import Estimates
from uqassay.metrics.gains import GAIN_LOSSES, gain, true_uncertainty
from uqassay.notes import Note, distinct
from uqassay.predictions import Point, Prediction, as_prediction
from uqassay.wording import counted, listed

__all__ = ["MeasuredRun", "checked_losses", "measured_run"]

Array = NDArray[np.float64]

PREDICT = ("predict_uncertainty", "predict_proba")


@final
@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """One run, with the mean probabilities from which its gains were computed.

    Attributes
    ----------
    run : GainRun
    labels : int array (n,)
        Of the test instances, then of the calibration instances.
    before, after : array (n, K)
        Mean probabilities without and with more data, in this order.
    rows : int array (n,)
        Rows of X.
    """

    run: GainRun
    labels: NDArray[np.int64]
    before: Array
    after: Array
    rows: NDArray[np.intp]


def measured_run(
    estimator: Any,
    task: GainTask,
    division: RunDivision,
    *,
    estimates: Estimates,
    losses: Sequence[str],
    step: Callable[[], None] = lambda: None,
) -> MeasuredRun:
    """Train the two or four models of one run.

    Parameters
    ----------
    estimator : object
        An unfitted template; it is copied and stays as it is.
    task : GainTask
    division : RunDivision
    estimates : Estimates
        Computed from the predictions of the model without more data.
    losses : sequence of str
    step : callable
        Called after each training.

    Raises
    ------
    InputError
        Predictions of a wrong shape or with NaN; estimates that are not as stated. The error names the model.
    """
    learner = _Learner(estimator, task, division, step)
    evaluation = _Measured.of(learner, division.evaluation, "D_train", "D_aug", estimates, losses)
    parts, notes = [evaluation], [division.evaluation.notes]
    if division.calibration is not None:
        parts.append(_Measured.of(learner, division.calibration, "D_train2", "D_aug2", estimates, losses))
        notes.append(division.calibration.notes)
    run = GainRun(
        division.seed,
        evaluation.sample,
        parts[1].sample if len(parts) > 1 else None,
        division.sizes,
        distinct(*notes, learner.notes()),
    )
    rows = np.concatenate([part.rows for part in parts])
    before, after = (np.concatenate([getattr(part, name) for part in parts]) for name in ("before", "after"))
    return MeasuredRun(run, task.y[rows], before, after, rows)


def checked_losses(losses: Any) -> tuple[str, ...]:
    """Names of losses, one or several.

    Raises
    ------
    InputError
        Another name, a name twice, or none.
    """
    given = (losses,) if isinstance(losses, str) else tuple(losses) if isinstance(losses, Sequence) else (losses,)
    for name in given:
        if name not in GAIN_LOSSES:
            known = listed([f'"{one}"' for one in GAIN_LOSSES], last="or")
            raise InputError("losses", f"must be {known}", f"got {name!r}", "choose one or several", code="choice")
    if len(set(given)) < len(given):
        raise InputError("losses", "must be different", f"got {listed(given)}", "remove one", code="duplicate")
    if not given:
        raise InputError("losses", "must hold at least one", "got none", 'give ("zero-one",)', code="empty")
    return given


# -- one learner, several data sets ---------------------------------------------------------------------------------------


@final
class _Learner:
    """The estimator with the seed of a run: the same training data give the same model."""

    def __init__(self, estimator: Any, task: GainTask, division: RunDivision, step: Callable[[], None]) -> None:
        self.estimator, self.task, self.step = estimator, task, step
        self.seed, self.run = division.seed, division.name
        self.padded: dict[str, list[str]] = {}  # names of the absent classes by the name of the training data

    def said(self, train: NDArray[np.intp], test: NDArray[np.intp], name: str) -> tuple[Prediction, Array]:
        """What a model trained on some rows predicts for others, and its mean probabilities with a column for each class."""
        options = {
            "random_state": int(run_stream(self.seed, TRAINING).generate_state(1)[0]),
            "classes": tuple(range(self.task.n_classes)),
            "progress": False,
        }
        model = unfitted_copy(self.estimator, options)
        with noted(f"This was {self.where(name)}."):
            fitted = model.fit(self.task.X[train], self.task.y[train])
            if any(callable(getattr(fitted, method, None)) for method in PREDICT):  # not so the history of a network
                model = fitted
            predict = getattr(model, PREDICT[0], None) or getattr(model, PREDICT[1])
            said = predict(self.task.X[test])
        self.step()
        return self._checked(said, np.unique(self.task.y[train]), len(test), name)

    def where(self, name: str) -> str:
        """Model and run, for errors."""
        return f"{type(self.estimator).__name__} trained on {name} in {self.run}"

    def notes(self) -> tuple[Note, ...]:
        """A note where predictions had no column for a class."""
        return tuple(
            Note(
                "left-out",
                f"predictions had no column for {counted(len(absent), 'class', 'classes')} without instances in {name} "
                f"({listed(absent, most=5)}), which then {'has' if len(absent) == 1 else 'have'} probability 0",
                {"classes": len(absent), "training": name},
            )
            for name, absent in self.padded.items()
        )

    def _checked(self, said: Any, present: NDArray[np.int64], n: int, name: str) -> tuple[Prediction, Array]:
        try:
            prediction = as_prediction(said)
        except InputError as problem:
            got = f"{problem.got}, from {self.where(name)}" if problem.got else f"from {self.where(name)}"
            raise problem.replace(parameter="estimator", got=got) from problem
        k = self.task.n_classes
        if prediction.n_instances != n or prediction.n_classes not in (k, len(present)):
            columns = f"{k} classes" if len(present) == k else f"{k} classes, or the {len(present)} in {name}"
            raise InputError(
                "estimator",
                f"must predict {counted(n, 'instance')} and {columns}",
                f"{prediction.n_instances} and {prediction.n_classes}, from {self.where(name)}",
                "give one row for each row of X, and one column for each class",
                code="shape",
            )
        probs = np.zeros((n, k))
        if prediction.n_classes < k:
            absent = np.setdiff1d(np.arange(k), present)
            self.padded[name] = [self.task.class_names[c] for c in absent]
            probs[:, present] = prediction.mean_probs()
        else:
            probs[:] = prediction.mean_probs()
        probs /= probs.sum(axis=1, keepdims=True)  # rows of single precision sum to 1 with a greater tolerance
        return prediction, probs


@final
@dataclass(frozen=True, eq=False)
class _Measured:
    """The sample of one trio, with its probabilities."""

    sample: GainSample
    before: Array
    after: Array
    rows: NDArray[np.intp]

    @classmethod
    def of(
        cls, learner: _Learner, trio: Trio, less: str, more: str, estimates: Estimates, losses: Sequence[str]
    ) -> "_Measured":
        task, y = learner.task, learner.task.y[trio.test]
        prediction, before = learner.said(trio.train, trio.test, less)
        with noted(f"This was an estimate of {learner.where(less)}."):
            epistemic = estimates(prediction, learner.where(less))
        del prediction  # all members of all instances
        after = learner.said(trio.augmented, trio.test, more)[1]
        chosen = before.argmax(axis=1), after.argmax(axis=1)
        gains = {
            loss: gain(y, *(chosen if loss == "zero-one" else (Point(before), Point(after))), loss=loss)  # type: ignore[arg-type]
            for loss in losses
        }
        truth = None
        if task.label_probs is not None:
            truth = true_uncertainty(task.label_probs[trio.test], chosen[0])
        sample = GainSample(gains, epistemic, chosen[0] == y, chosen[1] == y, truth)
        return cls(sample, before, after, trio.test)
