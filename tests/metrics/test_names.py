"""Names of metrics that people use."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli.checks import parse_check
from uqassay.metrics.names import ALIASES, metric_name
from uqassay.metrics.streaming import HIGHER_IS_BETTER

FINDINGS = ("ece", "ece-classwise", "rms-calibration-error")


def test_every_alias_is_a_metric_and_no_metric_has_another_name():
    assert set(ALIASES.values()) <= {*HIGHER_IS_BETTER, *FINDINGS}
    assert not set(ALIASES) & {*HIGHER_IS_BETTER, *FINDINGS}
    assert all(metric_name(name) == name for name in (*HIGHER_IS_BETTER, *FINDINGS, "js_distance"))


@pytest.mark.parametrize(("alias", "name"), [("nll", "log-loss"), ("acc", "accuracy"), ("auroc", "uq-auc")])
def test_aliases_wherever_metrics_have_names(alias, name):
    rng = np.random.default_rng(0)
    probs, y = rng.dirichlet(np.ones(3), 60), rng.integers(3, size=60)
    assert uq.metrics.prediction_metric(y, probs, metric=alias) == uq.metrics.prediction_metric(y, probs, metric=name)
    metric = uq.metrics.StreamingMetric(alias.upper())
    metric.update(probs, y)
    assert metric.compute() == uq.metrics.prediction_metric(y, probs, metric=name)
    assert uq.metrics.UncertaintyScorer(alias)._definition.metric == name
    assert parse_check(f"low({alias})<0.5").metric == name
    if name != "uq-auc":
        found = uq.assay({"a": probs, "b": probs[::-1]}, y, n_draws=5, calibration=())
        assert found.rank_sets(metric=alias).to_dict() == found.rank_sets(metric=name).to_dict()
