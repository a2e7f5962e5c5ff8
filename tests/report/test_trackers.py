"""What MLflow and Weights & Biases hold after logging is what the assay says."""

import json

import numpy as np
import pytest

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
