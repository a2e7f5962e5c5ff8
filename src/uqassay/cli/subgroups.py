"""The ranking in parts of the test set: an assay of the same models on some of the instances."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence import Assay

__all__ = ["Part", "first_places", "parts_json", "parts_of"]


@dataclass(frozen=True, eq=False)
class Part:
    """One part of the test set.

    Attributes
    ----------
    value : str
        The value of the subgroup that all its instances have.
    assay : Assay
        The models on these instances, for rankings and breakpoints; it has no findings of calibration.
    """

    value: str
    assay: Assay

    @property
    def n_instances(self) -> int:
        """Number of instances in the part."""
        return self.assay.n_instances


def parts_of(assay: Assay, subgroup: str) -> list[Part]:
    """A part for each value of a subgroup, in the order of the values.

    Examples
    --------
    >>> import uqassay as uq
    >>> p = uq.Point([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    >>> parts = parts_of(uq.assay({"m": p}, [0, 1, 0], subgroups={"site": ["A", "B", "A"]}), "site")
    >>> [(part.value, part.n_instances) for part in parts]
    [('A', 2), ('B', 1)]
    """
    values = assay.subgroups[subgroup]
    return [Part(str(value), _restricted(assay, np.flatnonzero(values == value))) for value in np.unique(values)]


def first_places(assay: Assay, parts: Sequence[Part], tradeoff: float) -> tuple[str, dict[str, list[str]]]:
    """The first model of the whole test set, and the values of the parts where another model is first.

    Returns
    -------
    model : str
    others : dict of str to list of str
        Values by the model that is first there.
    """
    overall = _first(assay, tradeoff)
    others: dict[str, list[str]] = {}
    for part in parts:
        if (model := _first(part.assay, tradeoff)) != overall:
            others.setdefault(model, []).append(part.value)
    return overall, others


def parts_json(assay: Assay, tradeoffs: Sequence[float]) -> list[dict[str, Any]]:
    """Rankings and breakpoints of every part of every subgroup, in the form of `rank --json`."""
    from uqassay.evidence.storage import ranking_json

    return [
        {"subgroup": name, "value": part.value, "n": part.n_instances, **ranking_json(part.assay, tradeoffs)}
        for name in assay.subgroups
        for part in parts_of(assay, name)
    ]


def _first(assay: Assay, tradeoff: float) -> str:
    return next(row.model for row in assay.ranked(tradeoff) if row.rank == 1)


def _restricted(assay: Assay, rows: NDArray[np.int64]) -> Assay:
    models = tuple(
        replace(model, columns={name: values[:, rows] for name, values in model.columns.items()})
        for model in assay.models
    )
    return replace(
        assay,
        models=models,
        labels=assay.labels[rows],
        ids=None if assay.ids is None else assay.ids[rows],
        groups=None if assay.groups is None else assay.groups[rows],
        subgroups={},
        sets={},
        warnings=(),
        calibration=(),
        classwise_error={},
        scaled={},
    )
