"""One prediction of the benchmark, reduced to mean probabilities and the parts of its decompositions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.experiments.disentangling.conditions import TrainingSet
from uqassay.experiments.disentangling.deleted_column import WITHOUT_COLUMN
from uqassay.experiments.named_options import named_options
from uqassay.measures import DECOMPOSITIONS, Decomposition, decompose, decomposition_names
from uqassay.predictions import GaussianLogits, Prediction, as_prediction

__all__ = ["PARTS", "Decompositions", "Reduced", "Reduction", "chosen_decompositions"]

Array = NDArray[np.float64]
Decompose = Callable[[Any], Any]
Decompositions = str | Decompose | Sequence[str | Decompose] | Mapping[str, str | Decompose] | None

PARTS = ("total", "aleatoric", "epistemic")


@final
@dataclass(frozen=True, eq=False)
class Reduced:
    """What is kept of a prediction.

    Attributes
    ----------
    probs : array (n, K)
        Mean probabilities.
    parts : dict of str to Decomposition
    padded : bool
        Whether the class left out had no column.
    """

    probs: Array
    parts: dict[str, Decomposition]
    padded: bool


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Reduction:
    """How predictions are reduced.

    Parameters
    ----------
    n_instances, n_classes : int
        n test instances and K classes.
    chosen : dict of str to str or callable, optional
        Decompositions by name; None takes all that a prediction offers.
    convention : {"exact", "paper-code"}
        Of the decompositions.
    delete_column : bool
        Delete the column of the class left out, as the authors do, for the decompositions of `WITHOUT_COLUMN`.
    """

    n_instances: int
    n_classes: int
    chosen: Mapping[str, str | Decompose] | None = None
    convention: str = "exact"
    delete_column: bool = False

    def __call__(self, said: Any, given: TrainingSet, where: str) -> Reduced:
        """Reduce what `predict_uncertainty` returned.

        Parameters
        ----------
        said : Prediction or array
        given : TrainingSet
            On which the estimator was trained.
        where : str
            Estimator, condition and run, for errors.

        Raises
        ------
        InputError
            A wrong shape or kind, or a decomposition with NaN.
        """
        prediction = self._checked(said, given, where)
        present = np.unique(given.y_train)
        padded = prediction.n_classes < self.n_classes
        probs = np.zeros((self.n_instances, self.n_classes))
        probs[:, present if padded else slice(None)] = prediction.mean_probs()
        chosen = self.chosen
        if chosen is None:
            chosen = {name: name for name in decomposition_names(prediction)}
        if not chosen:
            raise InputError(
                "estimator",
                "must give predictions with a distribution over distributions, or a decomposition must be given",
                f"{where} gave {type(prediction).__name__}",
                "give a function that decomposes it",
                code="no-distribution",
            )
        deleted = given.left_out if self.delete_column and not padded else None
        parts = {name: self._parts(prediction, name, how, deleted, where) for name, how in chosen.items()}
        return Reduced(probs, parts, padded)

    def _checked(self, said: Any, given: TrainingSet, where: str) -> Prediction:
        try:
            prediction = as_prediction(said)
            if isinstance(prediction, GaussianLogits):
                prediction = prediction.with_draws()  # each decomposition would draw them again
        except InputError as problem:
            got = f"{problem.got}, from {where}" if problem.got else f"from {where}"
            raise problem.replace(parameter="estimator", got=got) from problem
        n, k = self.n_instances, self.n_classes
        if prediction.n_instances != n or prediction.n_classes not in (k, len(np.unique(given.y_train))):
            raise InputError(
                "estimator",
                f"must predict {n} instances and {k} classes",
                f"{prediction.n_instances} and {prediction.n_classes}, from {where}",
                "give one row for each row of X, and one column for each label",
                code="shape",
            )
        return prediction

    def _parts(
        self, prediction: Prediction, name: str, how: str | Decompose, deleted: int | None, where: str
    ) -> Decomposition:
        """The estimates of one decomposition: finite arrays ``(n,)``."""
        compute: Callable[[], Decomposition] = partial(decompose, prediction, how, convention=self.convention)
        if deleted is not None and how in WITHOUT_COLUMN:
            compute = partial(WITHOUT_COLUMN[str(how)], prediction, deleted, self.convention)
        try:
            parts = compute()
        except InputError as problem:
            got = f"{problem.got}, from {where}" if problem.got else f"from {where}"
            raise problem.replace(parameter=f"decomposition[{name!r}]", got=got) from problem
        for part in PARTS:
            wrong = np.flatnonzero(~np.isfinite(getattr(parts, part)))
            if len(wrong):
                raise InputError(
                    f"decomposition[{name!r}]",
                    f"the {part} part must be finite",
                    f"row {wrong[0]} is {getattr(parts, part)[wrong[0]]}, from {where}",
                    "mend the estimator or the function",
                    code="finite",
                )
        return parts


def chosen_decompositions(decompositions: Decompositions) -> dict[str, str | Decompose] | None:
    """Names and functions by name; None stands for all that a prediction offers."""
    return named_options(decompositions, "decomposition", DECOMPOSITIONS)
