"""Tables of measured numbers in the guide, written from stored results, each with a golden run of the code that made it.

    python -m benchmarks.docs_numbers            list the tables, and which are stale, with the first number that changed
    python -m benchmarks.docs_numbers --make     make the stale ones again, by their commands; or those named
    python -m benchmarks.docs_numbers --write    only write the pages from the stored results
    python -m benchmarks.docs_numbers --check    name the stale ones; exit code 1 if a page differs from its stored results, or
                                                 has measured numbers without one

A stored result is docs/results/NAME.json. Tables with a page of the archive stand on docs/evidence-PAGE.md, which is written
as a whole; any table stands as well where a page has the lines `<!-- table: NAME -->` and `<!-- end -->`. A script that
measures calls `benchmarks.stored_tables.store`.
"""

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.stored_tables import NAME, ROOT, Stored, stored_results
from uqassay.files import whole_file
from uqassay.text import counted

__all__ = ["EVIDENCE", "main", "mismatches", "unmarked", "write_pages"]

PLACE = re.compile(rf"^<!-- table: ({NAME}) -->\n(.*?)^<!-- end -->$", re.M | re.S)
DECIMAL = re.compile(r"(?<![\w.])\d*\.\d+(?![\w.])")
EVIDENCE = {  # pages of the archive: heading
    "comparisons": "Evidence: means, ranks of models, margins, many data sets",
    "ranking": "Evidence: ranking, refusing and detecting",
    "calibration": "Evidence: calibration, class sets and votes",
    "gain": "Evidence: epistemic gain",
    "disentanglement": "Evidence: disentanglement",
    "claims": "Evidence: false sentences, by kind of data sets",
    "speed": "Evidence: time and memory",
}
ABOVE = (
    "Written by `python -m benchmarks.docs_numbers --write`; the command below a table makes it again. A 95 % interval should\n"
    "hold the truth in 95 of 100 samples, a test at 5 % should reject a true hypothesis in 5.\n"
)
NOT_MEASURED = {  # tables with decimals that are no measurement, by page and the beginning of their first line
    "calibration": ("| `null=` |",),  # levels
    "choosing-lambda": ("| λ |",),
    "command-line": ("| check | fails if |",),  # bounds of checks
    "datasets": ("| name | kind |",),  # licences
    "disentanglement": ("| DE | who has it |", "| name | the authors' code |"),  # expected values, settings
    "epistemic-gain": ("| sentence | holds if |", "| not printed | here |"),  # levels, settings
    "files": ("| library | checked with |",),  # versions
    "methods": ("| name | class |",),  # names
    "ranking-errors": ("| number | interval |",),  # constants of a method
    "unified-evaluation": ("| name | distance ", "| step | the paper says |"),  # ranges, settings
}


def write_pages(root: Path = ROOT) -> list[Path]:
    """Write the pages of the archive, and the stored tables into their places; the pages that changed."""
    changed = []
    for page, after in _wanted(root).items():
        if not page.exists() or page.read_text(encoding="utf-8") != after:
            with whole_file(page) as stream:
                stream.write(after.encode())
            changed.append(page)
    return changed


def mismatches(root: Path = ROOT) -> list[str]:
    """Where pages and stored results differ, one sentence each."""
    found = []
    for page, after in _wanted(root).items():
        if not page.exists() or page.read_text(encoding="utf-8") != after:
            found.append(f"{_name(page, root)}: differs from docs/results; write it from there with --write")
    results, places = {stored.name: stored for stored in stored_results(root)}, _places(root)
    found += [
        f"{page}: the table {name} has no stored result docs/results/{name}.json"
        for name, page in places
        if name not in results
    ]
    shown = {name for name, _ in places}
    for name, stored in results.items():
        if stored.source.page not in ("", *EVIDENCE):
            found.append(f"docs/results/{name}.json: EVIDENCE has no page {stored.source.page}")
        elif not stored.source.page and name not in shown:
            found.append(f"docs/results/{name}.json: no page has a line <!-- table: {name} -->")
    return found


def unmarked(root: Path = ROOT) -> list[str]:
    """Tables with decimals outside the marks that are not listed as not measured, one sentence each."""
    found = []
    for page in _pages(root):
        if page.stem.startswith("evidence-") or page.stem == "sentences":
            continue  # written as a whole; the numbers of sentences are examples
        listed = NOT_MEASURED.get(page.stem, ())
        text = PLACE.sub(lambda place: "\n" * place[0].count("\n"), page.read_text(encoding="utf-8"))
        for at, lines in _tables(text):
            if DECIMAL.search(re.sub(r"`[^`]*`", "", "\n".join(lines))) and not lines[0].startswith(listed):
                found.append(
                    f"{page.relative_to(root).as_posix()}:{at}: measured numbers without a stored result: {lines[0][:60]} …; "
                    "store them by benchmarks.stored_tables, or list the table in NOT_MEASURED of benchmarks/docs_numbers.py"
                )
    return found


def main(arguments: Sequence[str] | None = None, *, root: Path = ROOT) -> int:
    """The command; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.docs_numbers", description=(__doc__ or "").splitlines()[0]
    )
    does = parser.add_mutually_exclusive_group()
    does.add_argument("--make", nargs="*", metavar="NAME", help="make these again, by default those that are older")
    does.add_argument("--write", action="store_true", help="write the pages from the stored results")
    does.add_argument("--check", action="store_true", help="exit code 1 if a page differs from its stored result")
    told = parser.parse_args(arguments)
    all_stored = stored_results(root)
    stale = {stored.name: why for stored in all_stored if (why := stored.why_stale())}
    shown = [stored for stored in all_stored if stored.name in stale or not told.check]
    print("\n".join(_line(stored, stale.get(stored.name, "")) for stored in shown), flush=True)
    if told.make is not None:
        unknown = set(told.make) - {stored.name for stored in all_stored}
        if unknown:
            parser.error(f"no stored result of this name: {', '.join(sorted(unknown))}")
        _make([stored for stored in all_stored if stored.name in (told.make or stale)], root)
    if told.make is not None or told.write:
        print("\n".join(f"written: {page}" for page in write_pages(root)))
    wrong = [*mismatches(root), *unmarked(root)]
    if told.check:
        print(f"{counted(len(all_stored), 'stored table')}, {len(stale)} stale")
    print("\n".join(wrong), file=sys.stderr)
    return int(bool(wrong))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _wanted(root: Path) -> dict[Path, str]:
    """Each page with tables, as it should be."""
    results = stored_results(root)
    blocks = {stored.name: _block(stored) for stored in results}
    wanted = {
        page: PLACE.sub(lambda found: blocks.get(found[1], found[0]), page.read_text(encoding="utf-8"))
        for page in _pages(root)
        if not page.stem.startswith("evidence-")
    }
    for name, heading in EVIDENCE.items():
        parts = [_part(stored) for stored in results if stored.source.page == name]
        if parts:
            wanted[root / "docs" / f"evidence-{name}.md"] = "\n".join([f"# {heading}\n", ABOVE, *parts])
    return wanted


def _part(stored: Stored) -> str:
    """Heading, table and origin on a page of the archive."""
    made = f"`{stored.source.command}` ({stored.source.cost}); made {stored.made}."
    return "\n".join((f"## {stored.source.title}\n", *stored.table.markdown(), "", made, ""))


def _block(stored: Stored) -> str:
    """The table between its marks."""
    return "\n".join((f"<!-- table: {stored.name} -->", *stored.table.markdown(), "<!-- end -->"))


def _pages(root: Path) -> Iterator[Path]:
    yield from (page for page in (root / "README.md", *sorted((root / "docs").glob("*.md"))) if page.exists())


def _name(page: Path, root: Path) -> str:
    return page.relative_to(root).as_posix()


def _tables(text: str) -> Iterator[tuple[int, list[str]]]:
    """The tables of a page outside of code, each with the number of its first line."""
    table: list[str] = []
    inside = False
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        inside ^= line.startswith("```")
        if line.startswith("|") and not inside:
            table.append(line)
        elif table:
            yield number - len(table), table
            table = []


def _places(root: Path) -> list[tuple[str, str]]:
    """Name and page of each marked table; several pages may show one table."""
    return [
        (match[1], _name(page, root))
        for page in _pages(root)
        for match in PLACE.finditer(page.read_text(encoding="utf-8"))
    ]


def _line(stored: Stored, why: str) -> str:
    state = (
        f"stale: {why}" if why else "as the present code makes it" if stored.source.golden else "of its day and machine"
    )
    if stored.commit and not why:
        state += f", by the golden run of {stored.commit}, which stored it"
    return f"{stored.name}: {state}; made {stored.made}; {stored.source.command} ({stored.source.cost or 'cost not known'})"


def _make(chosen: Sequence[Stored], root: Path) -> None:
    """Run each command once."""
    for command in dict.fromkeys(stored.source.command for stored in chosen):
        print(command, flush=True)
        program, *words = shlex.split(command)
        subprocess.run([sys.executable if program == "python" else program, *words], cwd=root, check=True)
        write_pages(root)  # what is made stays if the next one fails or is stopped


if __name__ == "__main__":
    sys.exit(main())
