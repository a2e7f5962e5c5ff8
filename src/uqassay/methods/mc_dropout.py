"""Dropout that stays on in prediction: each pass is one drawn network (Gal and Ghahramani, 2016)."""

from dataclasses import dataclass

from uqassay.methods.backbones import Backbone
from uqassay.methods.base import check_choice, check_count, check_rate
from uqassay.methods.gaussian_logits import SampledClassifier
from uqassay.methods.layers import Dropout, Network
from uqassay.methods.network_classifier import dense_layers

__all__ = ["MCDropout"]


@dataclass(kw_only=True, eq=False, repr=False)
class MCDropout(SampledClassifier):
    """A network with dropout, evaluated under drawn masks; states `Members`, or `GaussianLogits` of each pass.

    Parameters
    ----------
    rate : float
        Share of the units set to 0. DN(0.1) and DN(0.6) of the paper on calibration of credal predictors have 0.1 and 0.6,
        ``where="last"`` and ``n_samples=10``; the paper on disentanglement has 0.3 and 50.
    n_samples : int
        Passes in prediction.
    where : {"all", "last"}
        Dropout after every dense layer, or only before the head. Convolutions have none.
    head, convention
        See `SampledClassifier`.
    backbone, epochs, …
        See `NetworkClassifier`.

    Notes
    -----
    In training each instance has its own mask. In prediction a pass has one mask for all instances, so each member is one
    network. The distribution of an instance's members is the same, and a slice of X has the same members as the whole.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.methods import MCDropout
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = MCDropout(n_samples=20, backbone=(16,), epochs=60, learning_rate=0.02).fit(x, [0, 0, 1, 1] * 8)
    >>> net.predict_uncertainty([[-2.0], [2.0]])
    Members(probs=(2, 20, 2), log_partition=(2, 20))
    """

    rate: float = 0.3
    n_samples: int = 50
    where: str = "all"

    def _check_options(self) -> None:
        super()._check_options()
        check_rate(self.rate)
        check_count("n_samples", self.n_samples)
        check_choice("where", self.where, ("all", "last"))

    def _new_network(self, backbone: Backbone) -> Network:
        if self.where == "all" and backbone.hidden:
            layers = dense_layers(backbone, after_each=lambda width: [Dropout(self.rate)])
        else:
            layers = [*dense_layers(backbone), Dropout(self.rate)]
        return Network(backbone.extractor(), layers, self._new_head(backbone))

    def _n_passes(self) -> int:
        return self.n_samples
