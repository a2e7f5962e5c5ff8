"""The guide's table of trained models in the ranking protocol, from a folder of trainings."""

import numpy as np
import pytest
from benchmarks.ranking_cifar10_jpeg import COLUMNS, SOURCE, judged_models, table
from tests.lab.bench.bench_work import store_result

import uqassay as uq
from uqassay.lab.bench.cell import Cell, CellResult

N, K = 150, 3


@pytest.fixture
def folders(tmp_path):
    """Votes, four trainings, and an ensemble of which three members were trained one by one."""
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.full(K, 0.4), N)
    labels = q.argmax(axis=1)
    (tmp_path / "votes").mkdir()
    np.save(tmp_path / "votes" / "labels.npy", labels)
    np.save(tmp_path / "votes" / "human_counts.npy", np.array([rng.multinomial(50, row) for row in q]))

    def put(method, prediction, **params):
        cell = Cell("json:dumps", dataset="made", method=method, seed=0, params={"params": params})
        store_result(tmp_path / "run", cell, CellResult(prediction, labels))

    def probs(noise):
        logits = np.log(q + 0.02) + noise * rng.normal(size=(N, K))
        return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)

    for i, noise in enumerate((0.5, 1.0, 1.5, 2.0)):
        put(f"net{i}", uq.Point(probs(noise)))
    for m in range(3):
        put(f"DE member {m + 1}", uq.Members(probs(1.0)[:, None]), n_members=1, first_member=m)
    return tmp_path / "run", tmp_path / "votes"


def test_rows_and_correlations(folders):
    judged = judged_models(*folders)
    made = table(judged)
    assert made.columns == COLUMNS
    names = [row[0] for row in made.rows]
    assert names[:2] == ["net0", "net0"]
    assert names.count("DE") == 4
    assert names[-1] == "members of DE, 3 alone, least to greatest"
    assert len(judged.accuracies) == 8
    of_net0 = next(s for s in judged.scorings if (s.model, s.score) == ("net0", "total-entropy"))
    assert made.rows[0][3].startswith(f"{float(of_net0.metrics[0]):.3f} (")
    samples = [line.partition(":")[0] for line in made.text[:3]]
    assert samples == [
        "* Correlations in percent over 8 models by the entropy",
        "* Correlations in percent over 5 models by the entropy, members left out",
        "* Correlations in percent over 8 models by the entropy, with the votes as labels",
    ]
    assert "printed 65.18 (53.99 to 74.75)" in made.text[0]
    assert made.text[-1] == "* DE has 3 members"
    assert len(made.markdown()) == 2 + len(made.rows) + 1 + len(made.text)


def test_its_code_is_found():
    assert len(SOURCE.code()) == 64
