"""An assay in an experiment tracker: its numbers, its verdict and its page, in MLflow or Weights & Biases."""

import math
import posixpath
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uqassay.errors import InputError
from uqassay.evidence.mistakes import reference_score
from uqassay.files import optional_package
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.text import visible

if TYPE_CHECKING:
    from uqassay.evidence import Assay

__all__ = ["log_to_mlflow", "log_to_wandb", "tracked_numbers"]

OF_MODELS = ("accuracy", "log-loss", "brier", "ece", "nonspecificity")
OF_SCORES = ("uq-auc", "uq-c-index", "aurc")
RANKING = ("model", "rank", "rank_low", "rank_high", "estimate", "low", "high")
VERDICT, PAGE = "uqassay/verdict", "uqassay/page"
MLFLOW_TAG = 5_000  # characters that a tag of MLflow may have
MLFLOW_REFUSES = r"[^\w/. :-]"


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
    Metrics are named as by `tracked_numbers`; characters that MLflow refuses become "_", and "_" with their Unicode number
    in names of models that would be equal then. The verdict is the tag "uqassay/verdict", the page the artifact
    "report.html".

    Raises
    ------
    MissingDependencyError
        Without MLflow.
    InputError
        The names of two models cannot be told apart in the characters that MLflow takes.
    """
    mlflow = optional_package("mlflow", "mlflow", "logging to MLflow")
    mlflow.log_metrics(_renamed(tracked_numbers(assay, tradeoff), "MLflow", _as_mlflow, _spelt))
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
    Numbers are named as by `tracked_numbers`, with invisible characters spelt out; the verdict is in the summary, the ranking
    is the table "uqassay/ranking".

    Raises
    ------
    MissingDependencyError
        Without wandb.
    InputError
        No run is active, or the names of two models differ in how an invisible character is written alone.
    """
    wandb = optional_package("wandb", "wandb", "logging to Weights & Biases")
    run = wandb.run if run is None else run
    if run is None:
        raise InputError("run", "must be active", "got none", "call wandb.init first", code="missing")
    numbers = _renamed(tracked_numbers(assay, tradeoff), "Weights & Biases", visible)
    ranking = [
        [visible(row[name]) if name == "model" else row[name] for name in RANKING]
        for row in assay.ranking(tradeoff).rows()
    ]
    with tempfile.TemporaryDirectory() as folder:
        page = assay.to_html(Path(folder, "report.html")).read_text(encoding="utf-8")
    run.log(
        {
            **numbers,
            "uqassay/ranking": wandb.Table(columns=list(RANKING), data=ranking),
            PAGE: wandb.Html(page),
        }
    )
    run.summary[VERDICT] = "\n".join(assay.verdict())


# -- names of metrics ---------------------------------------------------------------------------------------------------


def _renamed(
    numbers: dict[str, float], tracker: str, rename: Callable[[str], str], plainer: Callable[[str], str] | None = None
) -> dict[str, float]:
    """The numbers under names that the tracker takes; `plainer` names models that `rename` would give one name."""
    models = dict.fromkeys(name.rpartition("/")[0] for name in numbers)
    names = {model: rename(model) for model in models}
    if plainer is not None:
        taken = list(names.values())
        names = {model: plainer(model) if taken.count(name) > 1 else name for model, name in names.items()}
    owners: dict[str, str] = {}
    for model, name in names.items():
        if owners.setdefault(name, model) != model:
            raise InputError(
                "assay",
                f"models must have different names in {tracker}",
                f"got {owners[name]!r} and {model!r}, both {name!r} there",
                "rename one of them, and judge again",
                code="duplicate",
            )
    return {
        f"{names[model]}/{metric}": v for (model, _, metric), v in ((k.rpartition("/"), v) for k, v in numbers.items())
    }


def _as_mlflow(model: str) -> str:
    """The name with "_" for what MLflow refuses: characters, and what would make another path of a metric's name."""
    name = re.sub(MLFLOW_REFUSES, "_", model)
    return (
        name if posixpath.normpath(f"{name}/x") == f"{name}/x" and name[0] not in "./" else re.sub(r"[./]", "_", name)
    )


def _spelt(model: str) -> str:
    """The same with the Unicode number of each such character, in hexadecimal digits."""
    return _as_mlflow(re.sub(r"[^\w. -]", lambda found: f"_{ord(found[0]):x}_", model))
