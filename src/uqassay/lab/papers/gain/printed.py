"""Tables 1 and 2 of the paper as numbers, by data set, estimator and column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

from uqassay.checks import fail
from uqassay.lab.papers.paper_tables import PM, Column, PaperTable, mean_and_spread
from uqassay.lab.papers.printed_cells import printed_table
from uqassay.text import listed

__all__ = [
    "COLUMNS",
    "LAYOUTS",
    "N_PAPER_RUNS",
    "PRINTED_AS",
    "SCORES",
    "SOURCE",
    "PrintedMean",
    "printed_gain",
    "table_of",
]

SOURCE = "The Evaluation and Calibration of Epistemic Uncertainty Estimates, authors withheld"
TABLE = "epistemic_gain_tables"
N_PAPER_RUNS = 6  # section 5.3.1; Table 2 does not say
# our name of a data set: the printed one. The 131,600 images and 47 classes of "EMNIST-Letters" are those of EMNIST Balanced.
PRINTED_AS: Mapping[str, str] = MappingProxyType(
    {"toy": "toy", "emnist-balanced": "EMNIST-Letters", "kuzushiji-49": "Kuzushiji-49"}
)
SCORES: Mapping[str, str] = MappingProxyType(  # our name of a score: the printed estimator
    {"mutual-information": "mutual_information", "entropy": "entropy"}
)
COLUMNS: Mapping[str, str] = MappingProxyType(  # our name of a column: the printed one
    {"correlation": "rho_epi", "eece": "eece", "calibrated": "calibrated_eece"}
)


SHOWN = (
    Column("correlation", "ρ epi", ("rho_epi_mean", "rho_epi_sd")),
    Column("eece", "EECE", ("eece_mean", "eece_sd")),
    Column("calibrated", "Calib. EECE", ("calibrated_eece_mean", "calibrated_eece_sd")),
)
ROWS = {"dataset": "Dataset", "spread": "Spread", "share": "p", "method": "Classifier", "estimator": "Method"}
RENAMED = {printed: ours for known in (PRINTED_AS, SCORES) for ours, printed in known.items()}
_END = "{method}/{estimator}/{column}"
LAYOUTS: Mapping[str, PaperTable] = {
    "table1": PaperTable(
        "Table 1: evaluation metrics on toy data",
        TABLE,
        ROWS,
        SHOWN,
        mean_and_spread(
            "/sd",
            f"table1/{{dataset}}/{_END}",
            f"table1/{{dataset}}/spread={{spread}}/{_END}",
            f"table1/{{dataset}}/spread={{spread}}/p={{share}}/{_END}",
        ),
        PM,
        renamed=RENAMED,
        only={"dataset": ("toy",)},
    ),
    "table2": PaperTable(
        "Table 2: evaluation metrics on real data",
        TABLE,
        ROWS,
        SHOWN,
        mean_and_spread("/sd", f"table2/{{dataset}}/{_END}"),
        PM,
        renamed=RENAMED,
        only={"dataset": ("emnist-balanced", "kuzushiji-49")},
    ),
}


@final
@dataclass(frozen=True, slots=True)
class PrintedMean:
    """A printed mean over the seeds, with the printed standard deviation."""

    mean: float
    sd: float


def printed_gain(rows: Sequence[Mapping[str, str]] | None = None) -> dict[tuple[str, str, str], PrintedMean]:
    """The printed cells by data set, score and column, in our names.

    Parameters
    ----------
    rows : sequence of dict, optional
        In place of the table that comes with the package.

    Examples
    --------
    >>> printed_gain()["toy", "entropy", "eece"]
    PrintedMean(mean=0.393, sd=0.014)
    """
    datasets = {printed: ours for ours, printed in PRINTED_AS.items()}
    scores = {printed: ours for ours, printed in SCORES.items()}
    found = {}
    for row in printed_table(TABLE) if rows is None else rows:
        for column, known in (("dataset", datasets), ("estimator", scores)):
            if row[column] not in known:
                rule = f"must have a {column} that is known"
                fail("rows", rule, f"got {row[column]!r}", f"use {listed(list(known), last='or')}", code="choice")
        place = datasets[row["dataset"]], scores[row["estimator"]]
        for ours, printed in COLUMNS.items():
            found[(*place, ours)] = PrintedMean(float(row[f"{printed}_mean"]), float(row[f"{printed}_sd"]))
    return found


def table_of(dataset: str) -> str:
    """The table that has a data set, or would have it: "table1" for toy data, "table2" for real data.

    Examples
    --------
    >>> table_of("toy-mismatch-1"), table_of("digits")
    ('table1', 'table2')
    """
    return "table1" if dataset.startswith("toy") else "table2"
