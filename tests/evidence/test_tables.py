"""One name for each finding, as rows and as a table."""

import numpy as np
import pandas as pd
import pytest
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.mistakes import backward_scores
from uqassay.evidence.tables import TABLES

OPTIONS = {"subsets": {"by": "correct"}}


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(20260)
    members = random_prediction("Members", rng, 30, 3)
    runs = [random_prediction("Point", rng, 30, 3) for _ in range(2)]
    return uq.assay(
        {"m": members, "p": runs}, np.arange(30) % 3, n_draws=20, subgroups={"odd": np.arange(30) % 2}, critical=1
    )


@pytest.mark.parametrize("name", TABLES)
def test_rows_and_tables_agree(name, judged):
    options = OPTIONS.get(name, {})
    if name == "votes":
        members = random_prediction("Members", np.random.default_rng(0), 30, 3)
        judged = uq.assay({"m": members}, np.full((30, 3), 4), n_draws=20, scales=())
    rows, table = judged.rows(name, **options), judged.table(name, **options)
    assert rows
    assert len(table) == len(rows)
    assert set(table.columns) == set(rows[0])
    for column in table.columns:
        for row, value in zip(rows, table[column].tolist(), strict=True):
            own = row[column]
            if isinstance(own, tuple) and not (own and not isinstance(own[0], str)):
                own = value if not own and value == "" else (", ".join(own) if isinstance(value, str) else own)
            assert own == value or pd.isna(own) or (own is None and pd.isna(value)), column


def test_thin_names_give_the_same_tables(judged):
    pd.testing.assert_frame_equal(judged.findings(), judged.table("findings"))
    pd.testing.assert_frame_equal(judged.scores(), judged.table("scores"))
    pd.testing.assert_frame_equal(judged.breakpoints(), judged.table("breakpoints"))
    pd.testing.assert_frame_equal(judged.ranking(0.3).table(), judged.table("ranking", tradeoff=0.3))


def test_one_default_tradeoff(judged):
    pd.testing.assert_frame_equal(judged.ranking().table(), judged.ranking(0.5).table())
    assert judged.ranking().table().columns[-1] == "tradeoff"
    assert set(judged.ranking(0.25).table()["tradeoff"]) == {0.25}
    assert [r.model for r in judged.ranked()] == [r.model for r in judged.ranked(0.5)]
    np.testing.assert_array_equal(judged.loss("m"), judged.loss("m", 0.5))
    assert judged.compare("m", "p").pvalue == judged.compare("m", "p", tradeoff=0.5).pvalue
    assert float(judged.ranked()[0].estimate) != float(judged.ranked(1.0)[0].estimate)


def test_rows_are_copies(judged):
    judged.rows("findings")[0]["estimate"] = "changed"
    assert judged.rows("findings")[0]["estimate"] != "changed"


def test_backward_scores_are_told_in_the_rows_of_uq_auc(judged):
    rows = judged.rows("mistakes")
    found = {(f.model, f.score) for f in backward_scores(judged)}
    for row in rows:
        told = row["metric"] == "uq-auc" and row["run"] == "all"
        assert row["backward"] is (((row["model"], row["score"]) in found) if told else None)
    assert any(row["backward"] is False for row in rows)


def test_subsets_without_the_ranking_of_mistakes(judged):
    with_ranking = judged.rows("subsets", by="odd")
    without = judged.rows("subsets", by="odd", ranking=False)
    assert {r["metric"] for r in with_ranking} - {r["metric"] for r in without} == {"uq-auc", "uq-c-index"}


@pytest.mark.parametrize(
    ("name", "options", "refusal"),
    [
        ("ranks", {}, ("name", "choice", "got 'ranks'")),
        ("findings", {"by": "class"}, ("by", "conflict", "options are none")),
        ("subsets", {}, ("by", "missing", "got none")),
        ("subsets", {"by": "age"}, ("by", "choice", "got 'age'")),
        ("subsets", {"by": "odd", "tradeoff": 1}, ("tradeoff", "conflict", "options are by, ranking")),
        ("ranking", {"tradeoff": -1}, ("tradeoff", "range", "got -1")),
    ],
)
@pytest.mark.parametrize("form", ["rows", "table"])
def test_unknown_names_and_options_are_refused(name, options, refusal, form, judged):
    with refuses(*refusal):
        getattr(judged, form)(name, **options)
