"""One network trained on the cross-entropy (`StandardNetwork`), and several of them (`DeepEnsemble`)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import number, whole
from uqassay.lab.methods.backbones import Backbone
from uqassay.lab.methods.layers import Dropout, Network
from uqassay.lab.methods.networks import NetworkClassifier, SampledClassifier, dense_layers
from uqassay.predictions import Point

__all__ = [
    "StandardNetwork",
]


# One network trained on the cross-entropy: a point prediction, the yardstick of all other methods.


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
    >>> from uqassay.lab.methods import StandardNetwork
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


# Networks that differ in their initial weights and the order of their batches (Lakshminarayanan et al., 2017).


@dataclass(kw_only=True, eq=False, repr=False)
class DeepEnsemble(SampledClassifier):
    """Independent networks, each trained on all instances; states `Members`, or `GaussianLogits` of each network.

    Parameters
    ----------
    n_members : int
        10 as in the papers on disentanglement and on calibration; the paper on unified evaluation has 15.
    first_member : int
        Number of the first member, from 0. Members 5 to 9 of an ensemble can thus be trained on their own, with
        ``first_member=5, n_members=5``.
    rate : float
        Share of the units before the head that training sets to 0; predictions have all units. The code of the paper on
        disentanglement has 0.3, and so has its appendix C for images.
    head, convention
        See `SampledClassifier`.
    backbone, epochs, …
        See `NetworkClassifier`. A given module has the same initial weights in every network, so that only dense layers, head
        and batches differ; for different initial weights give a function that returns a new module.

    Notes
    -----
    Without dropout the first member is the `StandardNetwork` with the same options and seed. Member m does not depend on
    `n_members`.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import DeepEnsemble
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> ensemble = DeepEnsemble(n_members=3, backbone=(8,), epochs=60, learning_rate=0.02).fit(x, [0, 0, 1, 1] * 8)
    >>> ensemble.predict_uncertainty([[-2.0], [2.0]])
    Members(probs=(2, 3, 2), log_partition=(2, 3))
    """

    n_members: int = 10
    first_member: int = 0
    rate: float = 0.0

    def _check_options(self) -> None:
        super()._check_options()
        whole(self.n_members, "n_members", "for example 10", least=1)
        whole(self.first_member, "first_member", "0 is the first", least=0)
        number(self.rate, "rate", "0 drops nothing", low=0, high=1, ends="[)")

    def _n_networks(self) -> int:
        return self.n_members

    def _seeds(self, purpose: str, index: int = 0) -> np.random.SeedSequence:
        shift = int(self.first_member) if purpose in ("networks", "held out") else 0
        return super()._seeds(purpose, index + shift)

    def _new_network(self, backbone: Backbone) -> Network:
        dropped = [Dropout(self.rate)] if self.rate else []
        return Network(backbone.extractor(), [*dense_layers(backbone), *dropped], self._new_head(backbone))
