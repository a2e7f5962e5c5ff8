"""Fit many estimators at once: members of an ensemble, runs, and conditions of an experiment are all networks to train."""

from collections.abc import Sequence
from typing import TypeVar

from numpy.typing import ArrayLike

from uqassay.checks import fail
from uqassay.lab.methods.networks import NetworkClassifier, train_tasks

__all__ = ["fit_together"]

E = TypeVar("E", bound=NetworkClassifier)


def fit_together(estimators: Sequence[E], datasets: Sequence[tuple[ArrayLike, ArrayLike]]) -> list[E]:
    """Fit each estimator on its own data, and train the networks of all of them side by side where possible.

    The result is that of fitting them one by one, to rounding; only dropout inside a given module draws other numbers when
    several copies of the module are stacked. Any estimators may be given. Those of one class are trained as one stack if their
    data have the same shape and number of classes and their options agree. They may differ in `random_state`, `epochs`, and
    options that only matter in prediction, such as the number of passes, and in the number of members; each may stop early
    at its own epoch. Estimators that differ in other options, such as `learning_rate` or `backbone`, form stacks that are
    trained one after another.

    Parameters
    ----------
    estimators : sequence of NetworkClassifier
        Each once; they are fitted in place.
    datasets : sequence of (X, y)
        One for each estimator.

    Returns
    -------
    list of NetworkClassifier
        The estimators, in their order.

    Examples
    --------
    Two runs and two sizes of the training set, four networks in one stack:

    >>> import numpy as np
    >>> from uqassay.lab.methods import StandardNetwork, fit_together
    >>> x, y = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8), np.array(["cold", "cold", "hot", "hot"] * 8)
    >>> nets = [StandardNetwork(backbone=(8,), epochs=60, learning_rate=0.02, random_state=run) for run in (0, 1, 0, 1)]
    >>> fitted = fit_together(nets, [(x[:8], y[:8])] * 2 + [(x, y)] * 2)
    >>> [net.predict([[-2.0], [2.0]]).tolist() for net in fitted] == [["cold", "hot"]] * 4
    True
    """
    if len(estimators) != len(datasets):
        fail(
            "datasets",
            "must hold one (X, y) for each estimator",
            f"got {len(datasets)} for {len(estimators)} estimators",
            "repeat shared data",
            code="mismatch",
        )
    for i, estimator in enumerate(estimators):
        if not isinstance(estimator, NetworkClassifier):
            got = f"got {type(estimator).__name__}"
            fail(f"estimators[{i}]", "must be a method with networks", got, "call its own fit", code="type")
    if len({id(estimator) for estimator in estimators}) < len(estimators):
        fail("estimators", "must be different objects", "one occurs twice", "use sklearn.base.clone", code="duplicate")
    tasks = [estimator._task(X, y) for estimator, (X, y) in zip(estimators, datasets, strict=True)]
    for estimator, task, trained in zip(estimators, tasks, train_tasks(tasks), strict=True):
        estimator._finish(task, *trained)
    return list(estimators)
