"""Tables of the guide: written from stored results, made again by their commands, and held against the pages."""

import json
import subprocess
import sys

import pytest
from benchmarks.docs_numbers import NOT_MEASURED, main, mismatches, unmarked, write_pages
from benchmarks.stored_tables import Source, Table, store, stored_results

MEASURING = """
import sys
sys.path[:0] = {places!r}
from pathlib import Path
from benchmarks.stored_tables import Source, Table, store
store("shares", Table(("share",), [(".7",)]), Source("python measuring.py", "json:dumps"), root=Path.cwd())
"""
PAGE = (
    "Words.\n\n<!-- table: shares -->\nan earlier table\n<!-- end -->\n\n    <!-- table: NAME -->\n    <!-- end -->\n"
)
WRITTEN = PAGE.replace("an earlier table", "| share |\n|---|\n| .5 |")


@pytest.fixture
def root(tmp_path):
    """A guide of one page with one table, made by other code."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(PAGE)
    (tmp_path / "README.md").write_text("No table.\n")
    (tmp_path / "measuring.py").write_text(MEASURING.format(places=sys.path))
    source = Source("python measuring.py", "json:dumps", cost="a second")
    store("shares", Table(("share",), [(".5",)]), source, code="0123456789abcdef", root=tmp_path)
    return tmp_path


def test_tables_are_written_into_their_places(root):
    page = root / "docs" / "page.md"
    assert mismatches(root) == [
        "docs/page.md: the table shares differs from docs/results/shares.json; write it from there with --write"
    ]
    assert write_pages(root) == [page]
    assert page.read_text() == WRITTEN
    assert write_pages(root) == mismatches(root) == []


def test_the_check_fails_where_page_and_result_differ_and_names_older_tables(root, capsys):
    assert main(["--check"], root=root) == 1
    assert "the table shares differs" in capsys.readouterr().err
    assert main(["--write"], root=root) == 0
    assert "docs/page.md" in capsys.readouterr().out
    assert main(["--check"], root=root) == 0
    told = capsys.readouterr()
    assert told.out.startswith(
        "shares (docs/page.md): older than its code; the modules of the code that made it were not kept"
    )
    assert told.out.splitlines()[0].endswith("; python measuring.py (a second)")
    assert told.out.splitlines()[1].startswith("1 stored table, 1 older than the code that they measure")
    assert not told.err.strip()


def test_the_reason_why_a_table_is_older_is_told(root, capsys):
    source = Source("python measuring.py", "json:dumps")
    store("shares", Table(("share",), [(".5",)]), source, root=root)
    path = root / "docs" / "results" / "shares.json"
    held = json.loads(path.read_text())
    for modules, told in (
        ({"json.encoder": "0123"}, "changed json.encoder;"),
        (
            {f"json.m{i}": "0123" for i in range(8)},
            "changed json.m0, json.m1, json.m2, json.m3, json.m4, json.m5 and 2 more;",
        ),
    ):
        path.write_text(json.dumps(held | {"modules": held["modules"] | modules}))
        main(["--check"], root=root)
        assert told in capsys.readouterr().out
    store("shares", Table(("share",), [(".5",)]), source, transcribed="commit 0123", root=root)
    main(["--check"], root=root)
    assert "older, transcribed from the page of commit 0123; transcribed " in capsys.readouterr().out
    path.write_text(json.dumps(held | {"function": "no_such:measure"}))
    main(["--check"], root=root)
    assert "older than its code, which is gone" in capsys.readouterr().out


def test_older_tables_are_made_again_by_their_commands(root, capfd):
    assert main(["--make"], root=root) == 0
    assert (root / "docs" / "page.md").read_text() == WRITTEN.replace(".5", ".7")
    assert not stored_results(root)[0].is_older
    printing = Source("python measuring.py", "json:dumps", prints=True)
    store("shares", Table(("share",), [(".5",)]), printing, code="0123", root=root)
    assert main(["--make"], root=root) == 0
    assert "shares is not made: python measuring.py prints the numbers" in capfd.readouterr().out
    assert stored_results(root)[0].code == "0123"
    store("shares", Table(("share",), [(".7",)]), Source("python measuring.py", "json:dumps"), root=root)
    assert main(["--write"], root=root) == 0
    (root / "measuring.py").write_text("raise SystemExit(1)")
    assert main(["--make"], root=root) == 0  # nothing is older
    assert "of the present code" in capfd.readouterr().out
    with pytest.raises(subprocess.CalledProcessError):
        main(["--make", "shares"], root=root)
    with pytest.raises(SystemExit):
        main(["--make", "others"], root=root)


def test_places_and_results_without_each_other_are_named(root):
    store("alone", Table(text=["words"]), Source("x", "json:dumps"), root=root)
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
