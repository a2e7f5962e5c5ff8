"""Networks that differ in their initial weights and the order of their batches (Lakshminarayanan et al., 2017)."""

from dataclasses import dataclass

from uqassay.methods.backbones import Backbone
from uqassay.methods.base import check_count
from uqassay.methods.gaussian_logits import SampledClassifier
from uqassay.methods.layers import Network
from uqassay.methods.network_classifier import dense_layers

__all__ = ["DeepEnsemble"]


@dataclass(kw_only=True, eq=False, repr=False)
class DeepEnsemble(SampledClassifier):
    """Independent networks, each trained on all instances; states `Members`, or `GaussianLogits` of each network.

    Parameters
    ----------
    n_members : int
        10 as in the papers on disentanglement and on calibration; the paper on unified evaluation has 15.
    head, convention
        See `SampledClassifier`.
    backbone, epochs, …
        See `NetworkClassifier`. A given module has the same initial weights in every network, so that only dense layers, head
        and batches differ; for different initial weights give a function that returns a new module.

    Notes
    -----
    The first member is the `StandardNetwork` with the same options and seed. Member m does not depend on `n_members`.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.methods import DeepEnsemble
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> ensemble = DeepEnsemble(n_members=3, backbone=(8,), epochs=60, learning_rate=0.02).fit(x, [0, 0, 1, 1] * 8)
    >>> ensemble.predict_uncertainty([[-2.0], [2.0]])
    Members(probs=(2, 3, 2), log_partition=(2, 3))
    """

    n_members: int = 10

    def _check_options(self) -> None:
        super()._check_options()
        check_count("n_members", self.n_members)

    def _n_networks(self) -> int:
        return self.n_members

    def _new_network(self, backbone: Backbone) -> Network:
        return Network(backbone.extractor(), dense_layers(backbone), self._new_head(backbone))
