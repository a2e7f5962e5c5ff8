"""An assay in an experiment tracker: its numbers, its verdict and its page, in MLflow or Weights & Biases."""

import math
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uqassay._optional import optional_package
from uqassay.errors import InputError
from uqassay.evidence.mistake_ranking import reference_score
from uqassay.losses.unified import DEFAULT_TRADEOFF

if TYPE_CHECKING:
    from uqassay.evidence import Assay

__all__ = ["log_to_mlflow", "log_to_wandb", "tracked_numbers"]

OF_MODELS = ("accuracy", "log-loss", "brier", "ece", "nonspecificity")
OF_SCORES = ("uq-auc", "uq-c-index", "aurc")
RANKING = ("model", "rank", "rank_low", "rank_high", "estimate", "low", "high")
VERDICT, PAGE = "uqassay/verdict", "uqassay/page"
MLFLOW_TAG = 5_000  # characters that a tag of MLflow may have


def tracked_numbers(assay: "Assay", tradeoff: float = DEFAULT_TRADEOFF) -> dict[str, float]:
    """Main numbers of every model with the limits of their intervals.

    Parameters
    ----------
    assay : Assay
    tradeoff : float
        λ of E.

    Returns
    -------
    dict of str to float
        By "MODEL/METRIC", "MODEL/METRIC_low" and "MODEL/METRIC_high"; E is "unified", and ranking metrics are those of the
        uncertainty that the verdict speaks of. Numbers that are not finite are left out.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.2, 0.8]] * 50)}, [0, 1] * 50)
    >>> numbers = tracked_numbers(a)
    >>> numbers["m/accuracy"], round(numbers["m/accuracy_low"], 3), round(numbers["m/unified"], 3)
    (1.0, 0.963, 0.164)
    """
    scores = {model: reference_score(assay, model) for model in assay.model_names}
    numbers: dict[str, Any] = {}
    for ranked in assay.ranked(tradeoff):
        if ranked.rank is not None:
            e = ranked.estimate
            numbers |= _with_limits(f"{ranked.model}/unified", float(e), e.low, e.high)
    for row in assay.rows("findings"):
        if row["run"] != "all" or row["model"] not in scores:
            continue
        if row["metric"] in OF_MODELS or (row["metric"] in OF_SCORES and row["score"] == scores[row["model"]]):
            numbers |= _with_limits(f"{row['model']}/{row['metric']}", row["estimate"], row["low"], row["high"])
    return {name: float(value) for name, value in numbers.items() if value is not None and math.isfinite(value)}


def _with_limits(name: str, estimate: float, low: float, high: float) -> dict[str, float]:
    return {name: estimate, f"{name}_low": low, f"{name}_high": high}


def log_to_mlflow(assay: "Assay", tradeoff: float = DEFAULT_TRADEOFF) -> None:
    """Log the numbers, the verdict and the page to the active run of MLflow, or to a new one.

    Parameters
    ----------
    assay : Assay
    tradeoff : float
        λ of E.

    Notes
    -----
    Metrics are named as by `tracked_numbers`; characters that MLflow refuses become "_". The verdict is the tag
    "uqassay/verdict", the page the artifact "report.html".

    Raises
    ------
    MissingDependencyError
        Without MLflow.
    """
    mlflow = optional_package("mlflow", "mlflow", "logging to MLflow")
    mlflow.log_metrics(
        {re.sub(r"[^\w/. :-]", "_", name): value for name, value in tracked_numbers(assay, tradeoff).items()}
    )
    mlflow.set_tag(VERDICT, "\n".join(assay.verdict())[:MLFLOW_TAG])
    with tempfile.TemporaryDirectory() as folder:
        mlflow.log_artifact(str(assay.to_html(Path(folder, "report.html"))))


def log_to_wandb(assay: "Assay", tradeoff: float = DEFAULT_TRADEOFF, *, run: Any = None) -> None:
    """Log the numbers, the verdict, the ranking and the page to a run of Weights & Biases.

    Parameters
    ----------
    assay : Assay
    tradeoff : float
        λ of E and of the ranking.
    run : wandb run, optional
        By default the active one.

    Notes
    -----
    Numbers are named as by `tracked_numbers`; the verdict is in the summary, the ranking is the table "uqassay/ranking".

    Raises
    ------
    MissingDependencyError
        Without wandb.
    InputError
        No run is active.
    """
    wandb = optional_package("wandb", "wandb", "logging to Weights & Biases")
    run = wandb.run if run is None else run
    if run is None:
        raise InputError("run", "must be active", "got none", "call wandb.init first", code="missing")
    ranking = [[row[name] for name in RANKING] for row in assay.ranking(tradeoff).rows()]
    with tempfile.TemporaryDirectory() as folder:
        page = assay.to_html(Path(folder, "report.html")).read_text(encoding="utf-8")
    run.log(
        {
            **tracked_numbers(assay, tradeoff),
            "uqassay/ranking": wandb.Table(columns=list(RANKING), data=ranking),
            PAGE: wandb.Html(page),
        }
    )
    run.summary[VERDICT] = "\n".join(assay.verdict())
