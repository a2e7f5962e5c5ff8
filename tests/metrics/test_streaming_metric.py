"""A metric in batches against one batch with all instances; tensors without the package importing PyTorch."""

import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from tests.interrupts import interrupt_everywhere
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics import RANKING_METRICS, StreamingMetric, prediction_metric

METRICS = ("unified", "distance", "nonspecificity", "accuracy", "log-loss", "brier", *RANKING_METRICS)


def fields(estimate):
    return float(estimate), estimate.low, estimate.high, estimate.n, estimate.method, estimate.notes


def updated(metric, p, y, cuts, **options):
    for a, b in pairwise(cuts):
        groups = {name: values[a:b] for name, values in options.items()}
        metric.update(p[a:b], y[a:b], **groups)
    return metric


@pytest.mark.parametrize("name", METRICS)
def test_batches_against_one_call(name, random_generator):
    p, y = random_generator.dirichlet(np.ones(4), (70, 3)), random_generator.integers(0, 4, 70)
    expected = fields(prediction_metric(y, p, metric=name))
    first = updated(StreamingMetric(name), p, y, [0, 1, 30])
    assert fields(updated(StreamingMetric(name), p, y, [0, 1, 30, 70]).compute()) == expected
    others = [pickle.loads(pickle.dumps(updated(StreamingMetric(name), p, y, cut))) for cut in ([30, 69], [69, 70])]
    first.merge_state(others)
    assert fields(first.compute()) == expected
    assert first.n_instances == 70
    first.reset()
    assert first.n_instances == 0
    assert fields(updated(first, p, y, [0, 70]).compute()) == expected


def test_many_classes_draws_and_groups(random_generator):
    many = random_generator.dirichlet(np.ones(18), (30, 3))
    y, groups = random_generator.integers(0, 18, 30), np.arange(30) // 3
    found = updated(StreamingMetric("unified"), many, y, [0, 11, 30]).compute()
    assert fields(found) == fields(prediction_metric(y, many))
    assert any(note.code == "widened" for note in found.notes)
    grouped = updated(StreamingMetric("accuracy"), many, y, [0, 11, 30], groups=groups).compute()
    assert fields(grouped) == fields(uq.statistics.proportion_estimate(uq.losses.is_correct(y, many), groups=groups))
    alpha = random_generator.gamma(2.0, size=(30, 3)) + 0.1
    y = random_generator.integers(0, 3, 30)
    metric = StreamingMetric("nonspecificity")
    for rows in (slice(0, 7), slice(7, 30)):
        metric.update(uq.Dirichlet(alpha[rows]), y[rows])
    assert fields(metric.compute()) == fields(prediction_metric(y, uq.Dirichlet(alpha), metric="nonspecificity"))


def test_tensors(random_generator):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    p, y = random_generator.dirichlet(np.ones(3), (40, 4)).astype(np.float32), random_generator.integers(0, 3, 40)
    probs, target = torch.tensor(p, requires_grad=True), torch.tensor(y)
    for name in ("unified", "uq-auc"):
        found = updated(StreamingMetric(name), probs, target, [0, 13, 40]).compute()
        assert fields(found) == fields(prediction_metric(y, p, metric=name))


def test_pytorch_is_not_imported():
    code = (
        "import sys, uqassay as uq; m = uq.metrics.StreamingMetric('uq-auc'); m.update([[.9, .1], [.4, .6]], [0, 0]); "
        "uq.metrics.UncertaintyScorer(); print([x for x in ('torch', 'sklearn', 'pandas') if x in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_direction():
    assert {name for name in METRICS if StreamingMetric(name).higher_is_better} == {
        "accuracy",
        *(name for name, metric in RANKING_METRICS.items() if metric.higher_is_better),
    }


def test_refusals(random_generator):
    p, y = random_generator.dirichlet(np.ones(3), 4), np.array([0, 1, 2, 0])
    metric = StreamingMetric("accuracy")
    with refuses("preds", "empty"):
        metric.compute()
    with refuses("y_true", "mismatch"):
        metric.update(p, y[:3])
    with refuses("groups", "shape"):
        metric.update(p, y, groups=[1, 2])
    assert metric.n_instances == 0
    metric.update(p, y)
    with refuses("groups", "mismatch"):
        metric.update(p, y, groups=y)
    for other in (StreamingMetric("brier"), 3):
        with refuses("others", "mismatch"):
            metric.merge_state([other])
    grouped = StreamingMetric("accuracy")
    grouped.update(p, y, groups=y)
    with refuses("groups", "mismatch"):
        metric.merge_state(grouped)
    assert metric.n_instances == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unified", "accuracy", "uq-auc"])
def test_an_interrupted_update_or_merge_leaves_the_metric_as_it_was(name, random_generator):
    p, y = random_generator.dirichlet(np.ones(4), (30, 3)), random_generator.integers(0, 4, 30)
    groups = np.arange(30) // 2

    def begun():
        return updated(StreamingMetric(name), p, y, [0, 10], groups=groups)

    metric, before = begun(), fields(begun().compute())

    def unchanged():
        assert fields(metric.compute()) == before

    assert interrupt_everywhere(lambda: metric.update(p[10:], y[10:], groups=groups[10:]), unchanged, step=7) > 50
    assert metric.n_instances == 30
    others = [updated(StreamingMetric(name), p, y, [10, 20, 30], groups=groups), begun()]
    metric = begun()
    interrupt_everywhere(lambda: metric.merge_state(others), unchanged)
    assert metric.n_instances == 40
    assert [other.n_instances for other in others] == [20, 10]


def test_arrays_of_the_caller_may_be_filled_anew_after_an_update(random_generator):
    p, y = random_generator.dirichlet(np.ones(4), (30, 3)), random_generator.integers(0, 4, 30)
    groups, buffers = np.arange(30) // 3, [np.empty((10, 3, 4)), np.empty(10, int), np.empty(10, int)]
    for name in METRICS:
        metric = StreamingMetric(name)
        for a in (0, 10, 20):
            for buffer, values in zip(buffers, (p, y, groups), strict=True):
                buffer[...] = values[a : a + 10]
            metric.update(buffers[0], buffers[1], groups=buffers[2])
        assert fields(metric.compute()) == fields(
            updated(StreamingMetric(name), p, y, [0, 30], groups=groups).compute()
        )
