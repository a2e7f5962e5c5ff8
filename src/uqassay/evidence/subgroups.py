"""Subgroups: the models on each part of the test set, with tests that hold for all parts together."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, final

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.baselines import is_held_out
from uqassay.evidence.data import NO_TESTS, AnyJudged, Judged
from uqassay.evidence.order import Order
from uqassay.statistics.units import different_weights

__all__ = ["SUBGROUP_VALUES", "Subgroup", "number_of_parts", "part_names", "subgroups_of"]

SUBGROUP_VALUES = 50  # a subgroup with more values is an identifier, not a part of the test set
LOSS = ("distance", "nonspecificity")  # the columns that E needs


@final
@dataclass(frozen=True, eq=False)
class Subgroup(Generic[AnyJudged]):
    """One part of the test set."""

    by: str  #: Name of what divides the test set.
    value: Any  #: That all instances of the part have.
    rows: NDArray[np.bool_]
    #: The models on these instances, for rankings and breakpoints; it has no findings of calibration.
    assay: AnyJudged

    @property
    def n_instances(self) -> int:
        """Number of instances in the part."""
        return self.assay.n_instances


def part_names(assay: Judged) -> list[str]:
    """Names of the subgroups that divide the test set into parts: not those with one value, or with too many."""
    return [by for by, values in assay.subgroups.items() if 1 < len(np.unique(values)) <= SUBGROUP_VALUES]


def number_of_parts(assay: Judged, by: str) -> int:
    """For how many parts the tests in each of them are adjusted: all that sentences speak of; of an identifier its own."""
    names = part_names(assay)
    return sum(len(np.unique(assay.subgroups[name])) for name in (names if by in names else [by]))


def subgroups_of(assay: AnyJudged, by: str, *, whole: bool = True) -> Iterator[Subgroup[AnyJudged]]:
    """A part for each value of a subgroup, in the order of the values.

    Parameters
    ----------
    assay : Assay
    by : str
        Name of a subgroup.
    whole : bool
        Whether the parts have all columns of the models, or those of E alone.

    Yields
    ------
    Subgroup
        What its assay says of the order of E is adjusted for all parts, so that tables and sentences agree.

    Examples
    --------
    >>> import uqassay as uq
    >>> p = uq.Point([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    >>> parts = subgroups_of(uq.assay({"m": p}, [0, 1, 0], subgroups={"site": ["A", "B", "A"]}), "site")
    >>> [(part.value, part.n_instances) for part in parts]
    [('A', 2), ('B', 1)]
    """
    values, families = assay.subgroups[by], number_of_parts(assay, by)
    for value in np.unique(values):
        rows = values == value
        part = _restricted(assay, rows, None if whole else LOSS)
        part.shared.note("order", Order(part, families=families))
        yield Subgroup(by, value.item(), rows, part)


def _restricted(assay: AnyJudged, rows: NDArray[np.bool_], columns: Collection[str] | None) -> AnyJudged:
    models = tuple(
        replace(
            model,
            columns={
                name: values[:, rows]
                for name, values in model.columns.items()
                if columns is None or name in columns or is_held_out(name)
            },
        )
        for model in assay.models
    )
    return replace(
        assay,
        models=models,
        labels=assay.labels[rows],
        ids=None if assay.ids is None else assay.ids[rows],
        groups=None if assay.groups is None else assay.groups[rows],
        weights=None if assay.weights is None else different_weights(assay.weights[rows]),
        subgroups={},
        sets={},
        warnings=(),
        tests=NO_TESTS,
        classwise_error={},
        scaled={},
    )
