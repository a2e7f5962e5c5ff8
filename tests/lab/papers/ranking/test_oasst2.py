"""OASST2, on a generated table of the published form."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.ranking.human_labels import reproduce_ranking_oasst2
from uqassay.lab.papers.ranking.human_labels import steps_of_ranking_oasst2 as steps_of_ranking_cifar10h

N = 120


@pytest.fixture
def folder(tmp_path, own_cache, needs):
    """The validation part as a Parquet table, four models of all messages and one of the English ones."""
    needs("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    q = rng.beta(0.6, 0.6, N)
    label = pa.struct(
        [("name", pa.list_(pa.string())), ("value", pa.list_(pa.float64())), ("count", pa.list_(pa.int32()))]
    )
    labels = [{"name": ["spam", "quality"], "value": [1 - p, p], "count": [3, 3]} for p in q.tolist()]
    ids = np.array([f"m{i}" for i in range(N)])
    lang = ["en" if i % 2 else "es" for i in range(N)]
    table = pa.table({"message_id": ids, "text": ["x"] * N, "lang": lang, "labels": pa.array(labels, label)})
    (own_cache / "oasst2").mkdir(parents=True)
    pq.write_table(table, own_cache / "oasst2" / "validation.parquet")
    place = tmp_path / "models"
    place.mkdir()
    for i, noise in enumerate((0.5, 1.0, 1.5, 2.0)):
        uq.save(
            uq.Point.from_binary(1 / (1 + np.exp(-np.log(q / (1 - q)) - noise * rng.normal(size=N)))),
            place / f"m{i}.npz",
        )
    english = np.arange(1, N, 2)
    np.savez(
        place / "english.npz",
        logits=np.stack([-q, q], axis=1)[english] + rng.normal(size=(N // 2, 2)),
        ids=ids[english],
    )
    return place


def test_the_protocol_prints_the_papers_cells_beside_ours(folder):
    found = reproduce("ranking-oasst2", data=folder)
    assert [cell.paper for cell in found.rows] == [82.5, 71.69, 74.01, 98.88]
    assert all(np.isfinite(cell.ours) for cell in found.rows)
    text = found.summary()
    assert "5 models replace the paper's 69 zero-shot classifiers" in text
    assert "of the messages are unanimous" in text
    assert "both weights are equal in 0.0 % of the messages" in text
    assert "english" in text
    cells = {cell.name.removeprefix("table1/OASST2/"): cell for cell in found.rows}
    assert cells["UQ-C-index/misalignment"].ours == pytest.approx(100.0, abs=1e-4)  # (1 + τ) / 2, by construction
    assert abs(cells["UQ-AUC/misclassification"].ours) < 99.99
    assert any("by construction" in note for note in found.notes)
    assert steps_of_ranking_cifar10h(data=folder) == 30


def test_what_does_not_fit_is_refused(folder):
    uq.save(uq.Point(np.full((N, 3), 1 / 3)), folder / "a.npz")
    with refuses("prediction", "mismatch", got="120 instances and 2 classes of the votes; got 120 and 3"):
        reproduce_ranking_oasst2(data=folder)
    with refuses("data", "missing", got="got none; .*validation.parquet"):
        reproduce_ranking_oasst2()
