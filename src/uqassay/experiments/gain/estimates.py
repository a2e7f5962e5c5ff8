"""Estimates of epistemic uncertainty that a study compares with the gain: scores by name, and functions of a prediction."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.evidence.gain_pair import SCORE_NAMES, default_scores
from uqassay.experiments.named_options import NamedOptions, named_options
from uqassay.measures import SCORES
from uqassay.measures.scores import score_columns
from uqassay.predictions import Prediction
from uqassay.wording import listed, number

__all__ = ["Estimates", "chosen_estimates"]

Array = NDArray[np.float64]
Compute = Callable[[Prediction], Any]
Range = tuple[float, float]

KNOWN = (*SCORE_NAMES, *SCORES)


@final
@dataclass(frozen=True, eq=False)
class Estimates:
    """The chosen estimates; call it with a prediction.

    Attributes
    ----------
    chosen : dict of str to str or callable, or None
        "mutual-information", "entropy", names of `uqassay.measures.SCORES`, or functions prediction → (n,). None takes the
        first two as far as the prediction offers them.
    ranges : dict of str to (float, float)
        Stated least and greatest value of an estimate.
    """

    chosen: Mapping[str, str | Compute] | None = None
    ranges: Mapping[str, Range] = field(default_factory=dict)

    def __call__(self, prediction: Prediction, where: str) -> dict[str, Array]:
        """Estimates of every instance by name, ``(n,)`` each; entropies in nats.

        Parameters
        ----------
        prediction : Prediction
        where : str
            Estimator and run, for errors.

        Raises
        ------
        InputError
            A score that the prediction does not offer; a function with a wrong shape, NaN or a value outside its range.
        """
        named = {name: name for name in default_scores(prediction)} if self.chosen is None else self.chosen
        chosen: dict[str, Any] = {
            name: SCORE_NAMES.get(one, one) if isinstance(one, str) else one for name, one in named.items()
        }
        names = [one for one in chosen.values() if isinstance(one, str)]
        for one in names:
            if not SCORES[one].offered_by(prediction):
                raise InputError(
                    "scores",
                    f"{one} needs {SCORES[one].needs}",
                    f"got {type(prediction).__name__} from {where}",
                    "leave it out, or use an estimator that offers it",
                    code="no-distribution",
                )
        columns = score_columns(prediction, names)
        found = {}
        for name, one in chosen.items():
            values = columns[one] if isinstance(one, str) else one(prediction)
            found[name] = self._checked(name, values, prediction.n_instances, where)
        return found

    def _checked(self, name: str, values: Any, n: int, where: str) -> Array:
        parameter = f"scores[{name!r}]"
        array = np.asarray(values)
        if array.shape != (n,) or array.dtype.kind not in "fiu":
            raise InputError(
                parameter,
                f"must give {n} numbers, one for each instance",
                f"got shape {array.shape} of {array.dtype} from {where}",
                "mend the function",
                code="shape",
            )
        array = array.astype(np.float64)
        low, high = self.ranges.get(name, (-np.inf, np.inf))
        rules = [("finite", ~np.isfinite(array), "must be finite")]
        if np.isfinite([low, high]).any():
            outside = (array < low) | (array > high)
            rules.append(("range", outside, f"must lie between {number(low)} and {number(high)}, as stated"))
        for code, wrong, rule in rules:
            if wrong.any():
                at = int(np.flatnonzero(wrong)[0])
                got = f"row {at} of the test instances is {array[at]:g}, from {where}"
                raise InputError(parameter, rule, got, "mend the estimate or the stated range", code=code)
        return array


def chosen_estimates(scores: NamedOptions) -> Estimates:
    """The estimates of the option `scores`.

    Parameters
    ----------
    scores : str, callable, several, dict or None
        Names and functions; a value of a dict may be a pair of one of these and its range (low, high).

    Raises
    ------
    InputError
        Something else.

    Examples
    --------
    >>> chosen_estimates({"mine": (len, (0, 1))}).ranges
    {'mine': (0.0, 1.0)}
    """
    ranges: dict[str, Range] = {}
    if isinstance(scores, Mapping):
        ranges = {name: _range(name, one[1]) for name, one in scores.items() if _is_pair(one)}
        scores = {name: one[0] if _is_pair(one) else one for name, one in scores.items()}
    return Estimates(named_options(scores, "scores", KNOWN), ranges)


def _is_pair(one: Any) -> bool:
    return isinstance(one, (tuple, list)) and len(one) == 2


def _range(name: str, given: Any) -> Range:
    """Least and greatest value; infinite ones are allowed."""
    kinds = (int, float, np.integer, np.floating)
    pair = list(given) if isinstance(given, (tuple, list)) else []
    if len(pair) != 2 or not all(isinstance(end, kinds) for end in pair) or not pair[0] < pair[1]:
        raise InputError(
            f"scores[{name!r}]",
            "a range must be a pair (low, high) with low < high",
            f"got {given!r}",
            f"for example {listed(['(0, 1)', '(0, math.inf)'], last='or')}",
            code="range",
        )
    return float(pair[0]), float(pair[1])
