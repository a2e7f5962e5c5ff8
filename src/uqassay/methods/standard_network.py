"""One network trained on the cross-entropy: a point prediction, the yardstick of all other methods."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqassay.methods.network_classifier import NetworkClassifier
from uqassay.predictions import Point

__all__ = ["StandardNetwork"]


@dataclass(kw_only=True, eq=False, repr=False)
class StandardNetwork(NetworkClassifier):
    """A network with a softmax head; states a `Point`.

    Parameters
    ----------
    backbone, epochs, …
        See `NetworkClassifier`.

    Notes
    -----
    SNN of the paper on unified evaluation, S of the one on calibration of credal predictors.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.methods import StandardNetwork
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = StandardNetwork(backbone=(8,), epochs=60, learning_rate=0.02).fit(x, ["cold", "cold", "hot", "hot"] * 8)
    >>> net.predict([[-2.0], [2.0]]).tolist()
    ['cold', 'hot']
    >>> net.predict_uncertainty([[-2.0], [2.0]])
    Point(probs=(2, 2), log_partition=(2,))
    """

    def _statement(self, x: NDArray[np.float32]) -> Point:
        logits = self._evaluate(x, lambda network, x, draws: network(x))  # (n, 1, K)
        return Point.from_logits(logits[:, 0], class_names=self.class_names_)
