"""Changed copies of the printed tables on disentanglement, and studies with given curves."""

import numpy as np

from uqassay.evidence.disentanglement import DisentanglementStudy
from uqassay.evidence.disentanglement_runs import Measured
from uqassay.lab.papers import printed_table
from uqassay.lab.papers.disentangling.printed import TABLES
from uqassay.lab.papers.disentangling.tables import TableRow
from uqassay.measures import Decomposition

Array = np.ndarray


def changed(table: str, column: str, text: str, **where: str) -> dict[str, list[dict[str, str]]]:
    """The table with another text in the one row that has the given values."""
    rows = [dict(row) for row in printed_table(TABLES[table])]
    (row,) = [row for row in rows if all(row[key] == value for key, value in where.items())]
    row[column] = text
    return {table: rows}


def a_study(*, runs: int = 4, seed: int = 0, gap: float = 0.0, classes: bool = True) -> DisentanglementStudy:
    """A study of two methods' worth of noise: estimates follow the accuracy but for jitter, `gap` moves the aleatoric one."""
    rng = np.random.default_rng(seed)
    measured = {}
    for name, conditions, low, high in (
        ("dataset-size", (0.1, 0.5, 1.0), 0.4, 0.9),
        ("label-noise", (0.0, 0.25, 0.5, 1.0), 0.9, 0.3),
    ):
        accuracy = np.linspace(low, high, len(conditions)) + rng.normal(0, 0.03, (runs, len(conditions)))
        moving, still = (1 - accuracy, 0.5 + rng.normal(0, 0.05, accuracy.shape))
        aleatoric, epistemic = (still + gap * moving, moving) if name == "dataset-size" else (moving, still)
        measured[name] = _measured(conditions, accuracy, aleatoric, epistemic, rng)
    if classes:
        flat = np.full((runs, 2), 0.5)
        measured["left-out-class"] = _measured((0.0, 1.0), flat, flat, flat, rng)
    return DisentanglementStudy("MC-Dropout", "wine", tuple(range(runs)), ("a", "b"), measured)


def _measured(
    conditions: tuple[float, ...],
    accuracy: Array,
    aleatoric: Array,
    epistemic: Array,
    rng: np.random.Generator,
    n: int = 200,
) -> Measured:
    labels = np.broadcast_to(np.arange(n) % 2, (*accuracy.shape, n)).astype(np.int64)
    right = np.arange(n) < (n * accuracy[..., None]).round()
    said = np.where(right, labels, 1 - labels)
    parts = [value[..., None] + rng.normal(0, 0.01, labels.shape) for value in (aleatoric, epistemic)]
    return Measured(
        conditions, labels, np.eye(2)[said] * 0.8 + 0.1, {"information-theoretic": Decomposition(sum(parts), *parts)}
    )


def a_row(dataset: str = "wine", *, printed_as: str | None = None, compared: bool = True, **options) -> TableRow:
    """A row of the tables with `a_study`."""
    return TableRow(
        dataset,
        "MC-Dropout",
        "information-theoretic",
        convention=options.pop("convention", "exact"),
        study=a_study(**options),
        printed_as=dataset if printed_as is None else printed_as,
        compared=compared,
    )
