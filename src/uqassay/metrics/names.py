"""Other names that people use for metrics, wherever a metric is chosen by its name."""

from collections.abc import Mapping
from typing import Any

__all__ = ["ALIASES", "metric_name"]

ALIASES: Mapping[str, str] = {
    "acc": "accuracy",
    "e": "unified",
    "nll": "log-loss",
    "logloss": "log-loss",
    "negative-log-likelihood": "log-loss",
    "cross-entropy": "log-loss",
    "brier-score": "brier",
    "brier-loss": "brier",
    "expected-calibration-error": "ece",
    "classwise-ece": "ece-classwise",
    "rmsce": "rms-calibration-error",
    "auroc": "uq-auc",
    "error-auroc": "uq-auc",
    "c-index": "uq-c-index",
    "eaurc": "e-aurc",
    "prr": "prediction-rejection",
}


def metric_name(name: Any) -> Any:
    """The name of a metric in this package for one in use elsewhere, without regard to capitals and underscores.

    Anything else is returned as it is.

    Examples
    --------
    >>> metric_name("NLL"), metric_name("log_loss"), metric_name("aurc"), metric_name("js_distance")
    ('log-loss', 'log-loss', 'aurc', 'js_distance')
    """
    if not isinstance(name, str):
        return name
    plain = name.strip().lower().replace("_", "-").replace(" ", "-")
    return plain if plain in ALIASES.values() else ALIASES.get(plain, name)
