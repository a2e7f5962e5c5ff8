"""Answers of a model: which of them were right, and how sure it said it was: `Answers`."""

from dataclasses import InitVar, dataclass, fields
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats, as_array, as_numeric
from uqassay.checks import fail, number, same_length
from uqassay.frames import as_frame
from uqassay.notes import Note
from uqassay.predictions.base import Prediction
from uqassay.predictions.points import Point
from uqassay.text import counted, shown

__all__ = ["RIGHT", "WRONG_OR_RIGHT", "Answers"]

WRONG_OR_RIGHT = ("wrong", "right")  # what takes the place of classes
RIGHT = 1
TRUTHS = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}


@dataclass(frozen=True, eq=False, repr=False)
class Answers(Prediction):
    """Answers that were right or wrong, each perhaps with the confidence that the model stated; no class probabilities.

    This is the case of language models, and of any system whose answers are graded: every model answers the same questions, and
    each is right or wrong in its own way. `uq.assay` takes answers without `y_true`, because what happened is `correct`.

    The confidence is judged on its whole scale from 0 to 1. A confidence of 0.2 says that the answer is probably wrong, and is
    right about the truth where one such answer in five is right. The confidence of a class prediction is never below 1/K; a
    probability of class 1 that is given as two classes is folded at ½, because the predicted class then changes.

    Parameters
    ----------
    correct : array (n,)
        Whether each answer was right: True or False, or 1 or 0.
    confidence : array (n,), optional
        Stated probability that the answer is right, in [0, 1]. Without it there are accuracy, its tests and ranks.
    missing : float, optional
        What a confidence that is nan counts as, in [0, 1]; a note says how many. By default nan is refused.

    Raises
    ------
    InputError
        Values of `correct` other than these; a confidence outside [0, 1], such as per cent, or words.

    Examples
    --------
    >>> import uqassay as uq
    >>> sure = uq.Answers([True, True, False, True], [0.9, 0.8, 0.3, 0.6])
    >>> also = uq.Answers([True, False, False, True], [0.9, 0.9, 0.8, 0.9])
    >>> a = uq.assay({"a": sure, "b": also})
    >>> [(m.model, m.metric, round(m.estimate, 3)) for m in a.metrics(metrics=["accuracy", "ece"]).measured[:2]]
    [('a', 'accuracy', 0.75), ('a', 'ece', 0.25)]
    """

    correct: NDArray[np.bool_]
    confidence: NDArray[Any] | None = None
    missing: InitVar[float | None] = None

    def __post_init__(self, missing: float | None) -> None:
        given = ("correct",) if self.confidence is None else ("correct", "confidence")
        self._take_rows(*given)
        for name in given:
            frame = as_frame(getattr(self, name), name)
            object.__setattr__(self, name, getattr(self, name) if frame is None else frame.array)
        correct = _right_or_wrong(self.correct)
        self._set("correct", correct)
        if self.confidence is not None:
            confidence, note = _stated(self.confidence, missing)
            same_length(
                confidence, "confidence", len(correct), "give both for the same answers, or leave confidence out"
            )
            self._set("confidence", confidence)
            if note is not None:
                object.__setattr__(self, "notes", (*self.notes, note))
        elif missing is not None:
            fail(
                "missing", "has no effect without confidence", f"got {shown(missing)}", "leave it out", code="conflict"
            )
        self._finish(class_axis_of="correct")

    @property
    def n_classes(self) -> int:
        """2: wrong and right take the place of classes."""
        return len(WRONG_OR_RIGHT)

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        return ("correct",) if self.confidence is None else ("correct", "confidence")

    def as_point(self) -> Point:
        """Probabilities that each answer is wrong and right, as a prediction of two classes whose labels are `correct`.

        Everything about two classes then applies, such as `uq.calibration.calibration_test(answers.correct.astype(int), p)`;
        what it says of the predicted class is folded at ½.

        Examples
        --------
        >>> import uqassay as uq
        >>> uq.Answers([True], [0.25]).as_point().probs.tolist()
        [[0.75, 0.25]]
        """
        if self.confidence is None:
            fail("confidence", "is needed", "got none", "pass it to Answers", code="missing")
        stated = self.confidence.astype(np.float64)
        named: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(Prediction) if f.init}
        return Point(np.stack([1.0 - stated, stated], axis=1), **(named | {"class_names": WRONG_OR_RIGHT}))

    def mean_probs(self) -> Floats:
        """Refused: answers state no probabilities of classes."""
        self._no_classes()

    def lower_probs(self) -> Floats:
        """Refused: answers state no probabilities of classes."""
        self._no_classes()

    def upper_probs(self) -> Floats:
        """Refused: answers state no probabilities of classes."""
        self._no_classes()

    def _one_versus_rest(self, k: int) -> "Prediction":
        self._no_classes()

    def _no_classes(self) -> NoReturn:
        remedy = "judge them by uq.assay, or take as_point(), wrong and right as two classes"
        fail("prediction", "must state probabilities of classes", "got Answers", remedy, code="undefined")


def _right_or_wrong(values: Any) -> NDArray[np.bool_]:
    """Truth values (n,) from truth values, 1 and 0, or text that says these."""
    rule, remedy = "must be True or False, or 1 or 0, for each answer", "grade the answers first"
    array = as_array(values, "correct")
    if array.ndim != 1 or not array.size:
        fail("correct", "must be one value for each answer, (n,)", f"got shape {array.shape}", remedy, code="shape")
    if array.dtype.kind in "OUS":
        items = [item.decode() if isinstance(item, bytes) else item for item in array.tolist()]
        found = [TRUTHS.get(str(item).strip().lower()) for item in items]
        odd = next((row for row, truth in enumerate(found) if truth is None), None)
        if odd is not None:
            got = f"row {odd} holds {shown(items[odd])}"
            fail("correct", rule, got, remedy, code="choice", facts={"row": odd})
        return np.array(found, dtype=bool)
    numbers = as_numeric(array, "correct")
    odd_rows = np.flatnonzero(~((numbers == 0) | (numbers == 1)))
    if odd_rows.size:
        row = int(odd_rows[0])
        inside = bool(((numbers >= 0) & (numbers <= 1)).all())
        remedy = "write Answers(correct, confidence), what was right first" if inside else remedy
        fail("correct", rule, f"row {row} holds {numbers[row]:g}", remedy, code="choice", facts={"row": row})
    return numbers.astype(bool)


def _stated(values: Any, missing: float | None) -> tuple[NDArray[Any], Note | None]:
    """Confidences (n,) in [0, 1], and a note where some were missing."""
    array = as_array(values, "confidence")
    if array.dtype.kind in "OUS":
        array = _numbers(array)
    confidence = as_numeric(array, "confidence", ndim=1)
    if confidence.dtype.kind in "biu":
        confidence = confidence.astype(np.float64)
    undefined = np.isnan(confidence)
    note = None
    if undefined.any():
        n, row = int(undefined.sum()), int(np.flatnonzero(undefined)[0])
        if missing is None:
            fail(
                "confidence",
                "must be stated for each answer",
                f"{n} of {len(confidence)} values are missing, the first in row {row}",
                "pass missing=0 to count such answers as those the model is least sure of, or leave these questions out for "
                "all models",
                code="missing",
                facts={"row": row, "missing": n},
            )
        at = number(missing, "missing", "pass 0, or the confidence that they shall count as", low=0, high=1)
        confidence = np.where(undefined, confidence.dtype.type(at), confidence)
        text = f"{n} of {counted(len(confidence), 'answer')} state no confidence and count as {at:g}"
        note = Note("no-confidence", text, {"missing": n, "n": len(confidence), "confidence": at})
    outside = np.flatnonzero(~((confidence >= 0) & (confidence <= 1)))
    if outside.size:
        row = int(outside[0])
        percent = bool((confidence >= 0).all() and (confidence <= 100).all())
        fail(
            "confidence",
            "must lie between 0 and 1",
            f"row {row} holds {confidence[row]:g}",
            "divide by 100, if these are per cent" if percent else "pass the probability that the answer is right",
            code="range",
            facts={"row": row, "look": "per cent" if percent else ""},
        )
    return confidence, note


def _numbers(array: NDArray[Any]) -> NDArray[np.float64]:
    """Text and mixed values as numbers, nan where there is none; words are refused."""
    found = np.full(array.shape, np.nan)
    for row, item in enumerate(array.ravel().tolist()):
        text = item.decode() if isinstance(item, bytes) else item
        if text is None or str(text).strip().lower() in ("", "nan", "none", "<na>", "null"):
            continue
        try:
            found.flat[row] = float(text)
        except (TypeError, ValueError):
            per_cent = isinstance(text, str) and text.strip().endswith("%")
            remedy = "remove the sign and divide by 100" if per_cent else "give each word a number from 0 to 1"
            fail(
                "confidence",
                "must be numbers between 0 and 1",
                f"row {row} holds {shown(text)}",
                remedy,
                code="type",
                facts={"row": row},
            )
    return found
