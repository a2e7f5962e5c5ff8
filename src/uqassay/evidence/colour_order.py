"""The order in which models take colours, the same in the page and in the figures."""

from typing import TYPE_CHECKING

import numpy as np

from uqassay.losses.unified import DEFAULT_TRADEOFF

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["N_COLOURS", "colour_order"]

N_COLOURS = 8  # of the palette by Okabe and Ito


def colour_order(assay: "Assay") -> tuple[str, ...]:
    """Names of the models as given; with more models than colours by mean E at the default λ, so that the best ones differ.

    Parameters
    ----------
    assay : Assay

    Returns
    -------
    tuple of str
        All models, without the baselines.

    Examples
    --------
    >>> import uqassay as uq
    >>> colour_order(uq.assay({"b": uq.Point([[0.5, 0.5]]), "a": uq.Point([[0.9, 0.1]])}, [0]))
    ('b', 'a')
    """
    if len(assay.model_names) <= N_COLOURS:
        return assay.model_names
    d, ns = (np.array([m.columns[key].mean() for m in assay.candidates]) for key in ("distance", "nonspecificity"))
    with np.errstate(invalid="ignore"):
        order = np.argsort(d + DEFAULT_TRADEOFF * ns, kind="stable")
    return tuple(assay.model_names[j] for j in order)
