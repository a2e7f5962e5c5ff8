"""An assay with other terms of E: the same models, instances and statistics, another distance or measure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.prior_of_the_others import is_held_out

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["with_terms"]


def with_terms(
    found: "Assay",
    columns: Mapping[str, Mapping[str, NDArray[np.float64]]],
    *,
    distance: str | None = None,
    nonspecificity: str | None = None,
) -> "Assay":
    """Put other terms of E into an assay.

    Parameters
    ----------
    found : Assay
    columns : dict of str to dict of str to array (R, n)
        "distance", "nonspecificity" or both, by name of the model or baseline; models without are left out.
    distance, nonspecificity : str, optional
        Names of the terms as in `losses.unified_loss`; those of `found` by default.

    Returns
    -------
    Assay
        Without sets, calibration, scale check, warnings and held-out class frequencies, which belong to the terms of `found`.

    Examples
    --------
    >>> import uqassay as uq
    >>> found = uq.assay({"m": uq.Point([[0.5, 0.5]])}, [0])
    >>> tv = with_terms(found, {"m": {"distance": np.array([[0.5]])}}, distance="tv")
    >>> tv.model_names, float(tv.loss("m", 1.0)[0, 0]), tv.settings.distance
    (('m',), 0.5, 'tv')
    """
    models = []
    for model in found.models:
        if model.name not in columns:
            continue
        terms = columns[model.name]
        kept = {name: column for name, column in model.columns.items() if not is_held_out(name)}
        changed = replace(model, columns={**kept, **terms})
        if "distance" in terms:
            changed = replace(changed, floored=0, gap=0.0)
        if "nonspecificity" in terms:
            changed = replace(changed, nonspecificity_error=0.0, order_deviations=())
        models.append(changed)
    settings = replace(
        found.settings,
        distance=distance or found.settings.distance,
        nonspecificity=nonspecificity or found.settings.nonspecificity,
    )
    return replace(
        found,
        models=tuple(models),
        settings=settings,
        sets={},
        warnings=(),
        calibration=(),
        scaled={},
        backward=(),
    )
