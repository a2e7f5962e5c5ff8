"""Tables 1 and 2 of the paper as numbers, by data set, estimator and column."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from uqassay.lab.papers.paper_tables import PM, Column, PaperTable, mean_and_spread

__all__ = [
    "LAYOUTS",
    "N_PAPER_RUNS",
    "SOURCE",
    "PrintedMean",
    "printed_mean",
    "table_of",
]

SOURCE = "The Evaluation and Calibration of Epistemic Uncertainty Estimates, authors withheld"
TABLE = "epistemic_gain_tables"
N_PAPER_RUNS = 6  # section 5.3.1; Table 2 does not say
SHOWN = (
    Column("correlation", "ρ epi", ("rho_epi_mean", "rho_epi_sd")),
    Column("eece", "EECE", ("eece_mean", "eece_sd")),
    Column("calibrated", "Calib. EECE", ("calibrated_eece_mean", "calibrated_eece_sd")),
)
ROWS = {"dataset": "Dataset", "spread": "Spread", "share": "p", "method": "Classifier", "estimator": "Method"}
RENAMED = {
    "EMNIST-Letters": "emnist-balanced",  # whose 131,600 images and 47 classes it has
    "Kuzushiji-49": "kuzushiji-49",
    "mutual_information": "mutual-information",
}
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


def printed_mean(dataset: str, score: str, column: str) -> PrintedMean | None:
    """The printed cell of a data set, score and column in our names; None where the paper prints none.

    Examples
    --------
    >>> printed_mean("toy", "entropy", "eece")
    PrintedMean(mean=0.393, sd=0.014)
    """
    key = (dataset, "", "", "", score)  # the paper has one spread, share and method
    texts = [LAYOUTS[table_of(dataset)].printed.get((key, column, part)) for part in (0, 1)]
    return None if None in texts else PrintedMean(*map(float, texts))  # type: ignore[arg-type]


def table_of(dataset: str) -> str:
    """The table that has a data set, or would have it: "table1" for toy data, "table2" for real data.

    Examples
    --------
    >>> table_of("toy-mismatch-1"), table_of("digits")
    ('table1', 'table2')
    """
    return "table1" if dataset.startswith("toy") else "table2"
