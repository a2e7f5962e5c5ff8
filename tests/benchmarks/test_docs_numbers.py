"""Tables of the guide: written from stored results, made again by their commands, and held against the pages."""

import subprocess
import sys
from dataclasses import replace

import pytest
from benchmarks.docs_numbers import EVIDENCE, NOT_MEASURED, main, mismatches, unmarked, write_pages
from benchmarks.stored_tables import Source, Table, store, stored_results

MEASURING = """
import sys
sys.path[:0] = {places!r}
from pathlib import Path
from benchmarks.stored_tables import Source, Table, store
SOURCE = Source("python measuring.py", "tests.benchmarks.test_docs_numbers:golden", "a second")
store("shares", Table(("share",), [(".7",)]), SOURCE, root=Path.cwd())
"""
PAGE = (
    "Words.\n\n<!-- table: shares -->\nan earlier table\n<!-- end -->\n\n    <!-- table: NAME -->\n    <!-- end -->\n"
)
SOURCE = Source("python measuring.py", "tests.benchmarks.test_docs_numbers:golden", "a second")
WRITTEN = PAGE.replace("an earlier table", "| share |\n|---|\n| .5 |")


def golden():
    return 0.5


@pytest.fixture
def root(tmp_path):
    """A guide of one page with one table, made by other code."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(PAGE)
    (tmp_path / "README.md").write_text("No table.\n")
    (tmp_path / "measuring.py").write_text(MEASURING.format(places=sys.path))
    store("shares", Table(("share",), [(".5",)]), SOURCE, golden={}, root=tmp_path)
    return tmp_path


def test_tables_are_written_into_their_places(root):
    page = root / "docs" / "page.md"
    assert mismatches(root) == ["docs/page.md: differs from docs/results; write it from there with --write"]
    assert write_pages(root) == [page]
    assert page.read_text() == WRITTEN
    assert write_pages(root) == mismatches(root) == []


def test_the_check_fails_where_page_and_result_differ_and_names_stale_tables(root, capsys):
    assert main(["--check"], root=root) == 1
    assert "docs/page.md: differs from docs/results" in capsys.readouterr().err
    assert main(["--write"], root=root) == 0
    assert "docs/page.md" in capsys.readouterr().out
    assert main(["--check"], root=root) == 0
    told = capsys.readouterr()
    assert told.out.startswith("shares: stale: no golden run of the code that made it; made ")
    assert told.out.splitlines()[0].endswith("; python measuring.py (a second)")
    assert told.out.splitlines()[1] == "1 stored table, 1 stale"
    assert not told.err.strip()


def test_the_list_says_by_what_a_table_is_known(root, capsys):
    table = Table(("share",), [(".5",)])
    for options, told in (
        ({}, "as the present code makes it"),
        (
            {"golden": {"golden run": [1, 0.4, 0.4]}},
            "stale: golden run was 0.4 on average of 1, is 0.5 on average of 1",
        ),
        ({"commit": "0123abc"}, "as the present code makes it, by the golden run of 0123abc, which stored it"),
    ):
        store("shares", table, SOURCE, root=root, **options)
        main([], root=root)
        assert f"shares: {told}; made " in capsys.readouterr().out
    store("shares", table, Source("python measuring.py", ""), root=root)
    main([], root=root)
    assert "shares: of its day and machine; made " in capsys.readouterr().out


def test_a_page_of_the_archive_is_written_as_a_whole(root):
    write_pages(root)
    source = replace(SOURCE, page="gain", title="Shares of something")
    store("more", Table(("share",), [(".5",)]), source, root=root)
    page = root / "docs" / "evidence-gain.md"
    assert mismatches(root) == ["docs/evidence-gain.md: differs from docs/results; write it from there with --write"]
    assert write_pages(root) == [page]
    text = page.read_text()
    assert text.startswith(f"# {EVIDENCE['gain']}\n")
    assert "\n## Shares of something\n\n| share |\n|---|\n| .5 |\n\n`python measuring.py` (a second); made " in text
    assert unmarked(root) == mismatches(root) == []
    store("more", Table(("share",), [(".5",)]), replace(source, page="nowhere"), root=root)
    assert "docs/results/more.json: EVIDENCE has no page nowhere" in mismatches(root)


def test_stale_tables_are_made_again_by_their_commands(root, capfd):
    assert main(["--make"], root=root) == 0
    assert (root / "docs" / "page.md").read_text() == WRITTEN.replace(".5", ".7")
    assert not stored_results(root)[0].why_stale()
    (root / "measuring.py").write_text("raise SystemExit(1)")
    assert main(["--make"], root=root) == 0  # nothing is stale
    assert "as the present code makes it" in capfd.readouterr().out
    with pytest.raises(subprocess.CalledProcessError):
        main(["--make", "shares"], root=root)
    with pytest.raises(SystemExit):
        main(["--make", "others"], root=root)


def test_places_and_results_without_each_other_are_named(root):
    store("alone", Table(text=["words"]), Source("x", ""), root=root)
    (root / "README.md").write_text("<!-- table: nothing -->\n<!-- end -->\n")
    found = mismatches(root)
    assert "README.md: the table nothing has no stored result docs/results/nothing.json" in found
    assert "docs/results/alone.json: no page has a line <!-- table: alone -->" in found
    (root / "docs" / "second.md").write_text(PAGE)
    write_pages(root)
    assert (root / "docs" / "second.md").read_text() == WRITTEN  # two pages may show one table


def test_measured_numbers_outside_the_marks_are_named(root, monkeypatch):
    page = root / "docs" / "page.md"
    write_pages(root)
    tables = {
        "| a |\n|---|\n| .5 |\n": 1,
        "| a |\n|---|\n| 0.52 (0.1 to 3) |\n\n| b |\n|---|\n| 95.2 / 94.9 |\n": 2,
        "| a |\n|---|\n| 5 |\n": 0,
        "| `x=0.5` |\n|---|\n| version 1.6.0 |\n": 0,
        "```\n| a |\n|---|\n| .5 |\n```\n": 0,
    }
    for table, n in tables.items():
        page.write_text(WRITTEN + "\nMore words.\n\n" + table)
        found = unmarked(root)
        assert len(found) == n, table
        assert main(["--check"], root=root) == bool(n)
    page.write_text(WRITTEN + "\n| a |\n|---|\n| .5 |\n")
    (sentence,) = unmarked(root)
    line = page.read_text().splitlines().index("| a |") + 1
    assert sentence.startswith(f"docs/page.md:{line}: measured numbers without a stored result: | a |")
    monkeypatch.setitem(NOT_MEASURED, "page", ("| a |",))
    assert unmarked(root) == []


def test_no_page_has_measured_numbers_outside_the_marks():
    assert unmarked() == []


def test_the_guide_agrees_with_its_stored_results():
    assert stored_results()
    assert mismatches() == []
