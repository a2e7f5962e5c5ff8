"""What MLflow and Weights & Biases hold after logging is what the assay says."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import InputError
from uqassay.report.trackers import log_to_mlflow, log_to_wandb, tracked_numbers

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    members = rng.dirichlet(np.ones(3), (200, 4))
    y = rng.integers(0, 3, 200)
    return uq.assay({"members (4)": uq.Members(members), "mean": members.mean(axis=1)}, y, calibration=())


def test_numbers_are_those_of_the_ranking_and_the_findings(judged):
    numbers = tracked_numbers(judged, 0.2)
    row = judged.ranking(0.2).table().set_index("model").loc["mean"]
    assert [numbers[f"mean/unified{limit}"] for limit in ("", "_low", "_high")] == [row.estimate, row.low, row.high]
    findings = judged.findings()
    accuracy = findings[(findings.metric == "accuracy") & (findings.model == "members (4)")].iloc[0]
    assert numbers["members (4)/accuracy_high"] == accuracy.high
    assert {name.split("/")[0] for name in numbers} == {"members (4)", "mean"}  # no baseline
    assert {name.split("/")[1] for name in numbers} >= {"unified", "accuracy", "brier", "nonspecificity", "uq-auc"}


@pytest.mark.filterwarnings("default")  # of MLflow itself
def test_mlflow_holds_numbers_verdict_and_page(judged, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("uqassay")
    with mlflow.start_run() as run:
        log_to_mlflow(judged, 0.2)
    held = mlflow.get_run(run.info.run_id)
    numbers = tracked_numbers(judged, 0.2)
    assert held.data.metrics["members _4_/accuracy"] == numbers["members (4)/accuracy"]
    assert len(held.data.metrics) == len(numbers)
    assert held.data.tags["uqassay/verdict"].splitlines()[0] == judged.verdict()[0]
    assert [file.path for file in mlflow.MlflowClient().list_artifacts(run.info.run_id)] == ["report.html"]


ALIKE = ("net[1]", "net(1)", "net_1_", "net/../a", "/net", "../net", ".", "a b", "λ", "x\ud800", "x\u200b")


@pytest.fixture(scope="module")
def alike():
    p = np.random.default_rng(1).dirichlet(np.ones(2), 40)
    return uq.assay({name: uq.Point(p) for name in ALIKE}, np.arange(40) % 2, n_draws=20, calibration=())


@pytest.mark.filterwarnings("default")
def test_models_with_names_that_mlflow_refuses_keep_numbers_apart(alike, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("uqassay")
    with mlflow.start_run() as run:
        log_to_mlflow(alike)
    held = mlflow.get_run(run.info.run_id).data.metrics
    numbers = tracked_numbers(alike)
    assert sorted(held.values()) == sorted(numbers.values())
    assert held["net_5b_1_5d_/accuracy"] == numbers["net[1]/accuracy"]
    assert held["a b/accuracy"] == numbers["a b/accuracy"]


@pytest.mark.parametrize("log", [log_to_mlflow, log_to_wandb])
def test_names_that_cannot_be_told_apart_are_refused_before_anything_is_logged(log, monkeypatch):
    p = uq.Point([[0.9, 0.1], [0.2, 0.8]])
    first, second = ("net[", "net(") if log is log_to_mlflow else ("x\u200b", "x\\u200b")
    names = (first, second, "net_5b_") if log is log_to_mlflow else (first, second)
    assay = uq.assay(dict.fromkeys(names, p), [0, 1], calibration=())
    package = SimpleNamespace(run=None, log_metrics=lambda *_: pytest.fail("logged"))
    monkeypatch.setattr("uqassay.files.optional_package", lambda *_: package)
    run = SimpleNamespace(log=lambda *_: pytest.fail("logged"))
    with refuses("assay", "duplicate", got=re.escape(repr(first))):
        log(assay) if log is log_to_mlflow else log(assay, run=run)


@pytest.mark.filterwarnings("default")
def test_weights_and_biases_holds_numbers_verdict_ranking_and_page(judged, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setattr(wandb, "run", None)
    with pytest.raises(InputError, match="run: must be active"):
        log_to_wandb(judged)
    with wandb.init(mode="offline", dir=tmp_path, settings=wandb.Settings(silent=True, console="off")) as run:
        log_to_wandb(judged, 0.2, run=run)
        held = dict(run.summary)
        numbers = tracked_numbers(judged, 0.2)
        assert held["mean/unified"] == numbers["mean/unified"]
        assert held["uqassay/verdict"].splitlines()[0] == judged.verdict()[0]
        assert held["uqassay/page"]["size"] > 100_000
        (table,) = tmp_path.rglob("ranking*.table.json")
        rows = json.loads(table.read_text(encoding="utf-8"))["data"]
    assert [row[0] for row in rows] == judged.ranking(0.2).table().model.tolist()
