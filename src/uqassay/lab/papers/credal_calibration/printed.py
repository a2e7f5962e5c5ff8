"""Tables 1 and 2 of the paper on credal predictors as printed."""

from collections.abc import Mapping

from uqassay.lab.papers.credal_calibration.plan import IMAGENET_NETWORKS, PAPER_SETS, SCRATCH_NETWORKS
from uqassay.lab.papers.paper_tables import Column, PaperTable, Part

__all__ = ["LAYOUTS", "SOURCE"]

SOURCE = "Mortier, Bengs, Hüllermeier, Luca and Waegeman, On calibration of ensemble-based credal predictors"

RENAMED = {one.in_table1: name for name, one in PAPER_SETS.items()} | {
    short: name for name, short in IMAGENET_NETWORKS.items()
}
RENAMED["-"] = ""
NETWORKS = "|".join((*IMAGENET_NETWORKS, *SCRATCH_NETWORKS))
ENSEMBLES = (f"{{dataset:.+}}, {{architecture:{NETWORKS}}}", "{dataset:.+}")  # files may lie in folders: A/B
CONVENTIONS = ("exact", "{convention}")


def _verdict(measure: str) -> Column:
    """Whether the test rejects, or the share of trainings that it rejects: by the minimised null; by the random one in the
    authors' code, which has no other."""
    names = tuple(f"{what}_{measure}_{null}" for what in ("rejected", "p") for null in ("minimised", "random"))
    return Column(f"p_{measure}", "Rej. H0", (f"reject_{measure}",), names, verdict=True)


LAYOUTS: Mapping[str, PaperTable] = {
    "table1": PaperTable(
        "Table 1: averages and weighted averages of four predictors",
        "credal_calibration_table1",
        {"dataset": "Dataset", "architecture": "Arch.", "convention": "Convention", "predictor": "Predictor"},
        (
            Column("avg_accuracy", "Acc.", ("avg_accuracy",)),
            Column("avg_ece_conf", "ECE conf", ("avg_ece_conf",)),
            Column("avg_ece_classwise", "ECE cwise", ("avg_ece_classwise",)),
            _verdict("conf"),
            Column("weighted_conf_accuracy", "λ conf Acc.", ("weighted_conf_accuracy",)),
            Column("weighted_conf_ece_conf", "ECE conf", ("weighted_conf_ece_conf",)),
            _verdict("classwise"),
            Column("weighted_classwise_accuracy", "λ cwise Acc.", ("weighted_classwise_accuracy",)),
            Column("weighted_classwise_ece_classwise", "ECE cwise", ("weighted_classwise_ece_classwise",)),
        ),
        (Part(tuple(f"table1/{place}/{{predictor}}/{end}/{{column}}" for end in CONVENTIONS for place in ENSEMBLES)),),
        renamed=RENAMED,
        selects={"figure": "table1"},
    ),
    "table2": PaperTable(
        "Table 2: classes K, features D and instances N of the data sets",
        "credal_calibration_table2_datasets",
        {"dataset": "Dataset"},
        (
            Column("classes", "K", ("classes",)),
            Column("features", "D", ("features",)),
            Column("n_train", "N train", ("n_train",)),
            Column("n_calibration", "N cal.", ("n_calibration",)),
            Column("n_test", "N test", ("n_test",)),
        ),
        (Part(("table2/{dataset}/{column}",)),),
        selects={"figure": "table2"},
    ),
}
