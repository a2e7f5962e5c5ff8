"""Stored tables: what they keep, and when they are older than the code that they measure."""

import json

import pytest
from benchmarks.source_digests import code_version
from benchmarks.stored_tables import Source, Table, store, stored_results
from tests.refusals import refuses

SOURCE = Source("python -m measuring --store", "json:dumps", ("json.decoder",), cost="a minute")


def test_what_is_stored_is_read(tmp_path):
    table = Table(("model", "share"), [("a", ".5"), ("b", "1")], ["Beneath."])
    store("shares", table, SOURCE, root=tmp_path)
    (stored,) = stored_results(tmp_path)
    assert (stored.name, stored.source.command, stored.source.cost) == ("shares", SOURCE.command, "a minute")
    assert stored.code == code_version("json:dumps", ("json.decoder",)) == SOURCE.code()
    assert stored.table.markdown() == [
        "| model | share |",
        "|---|---|",
        "| a | .5 |",
        "| b | 1 |",
        "",
        "Beneath.",
    ]
    assert not stored.is_older
    assert set(stored.modules) == {"json", "json.decoder", "json.encoder", "json.scanner"}
    store("shares", table, SOURCE, code="of a former source", root=tmp_path)
    (stored,) = stored_results(tmp_path)
    assert stored.is_older
    assert stored.changed == []  # the modules of that source are not known


def test_an_older_table_names_the_modules_that_changed(tmp_path):
    store("shares", Table(text=["words"]), SOURCE, root=tmp_path)
    path = tmp_path / "docs" / "results" / "shares.json"
    held = json.loads(path.read_text())
    held["modules"] |= {"json.scanner": "0123", "json.gone": "4567"}
    del held["modules"]["json.encoder"]
    path.write_text(json.dumps(held | {"code": "of another version of the package"}))
    (stored,) = stored_results(tmp_path)
    assert stored.is_older
    assert stored.changed == ["json.encoder", "json.gone", "json.scanner"]
    held["modules"] = SOURCE.modules()
    path.write_text(json.dumps(held | {"code": "of another version of the package"}))
    assert not stored_results(tmp_path)[0].is_older


def test_a_transcribed_table_is_older(tmp_path):
    store("shares", Table(text=["words"]), SOURCE, transcribed="commit 0123 (2026-01-01)", root=tmp_path)
    (stored,) = stored_results(tmp_path)
    assert stored.is_older
    assert (stored.code, stored.modules, stored.changed) == ("not recorded", {}, [])


def test_a_table_whose_code_is_gone_is_older(tmp_path):
    store("gone", Table(text=["words"]), Source("x", "uqassay.no_such:measure"), code="abc", root=tmp_path)
    (stored,) = stored_results(tmp_path)
    assert stored.is_older
    assert stored.table.markdown() == ["words"]


def test_what_cannot_be_kept_is_refused(tmp_path):
    with pytest.raises(ValueError, match="one cell for each column"):
        store("shares", Table(("a", "b"), [("1",)]), SOURCE, root=tmp_path)
    with pytest.raises(ValueError, match="letters, digits and hyphens"):
        store("two words", Table(), SOURCE, root=tmp_path)
    with refuses("function", "missing", got=r"uqassay\.no_such"):
        store("shares", Table(), Source("x", "uqassay.no_such:measure"), root=tmp_path)
    assert not (tmp_path / "docs").exists()
    store("shares", Table(), SOURCE, root=tmp_path)
    path = tmp_path / "docs" / "results" / "shares.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "name": "other"}))
    with pytest.raises(ValueError, match="not a stored table"):
        stored_results(tmp_path)
