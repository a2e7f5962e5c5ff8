"""Tables of measured numbers in the guide: each is written from a stored result that names the code that made it.

    python -m benchmarks.docs_numbers            list the tables, and which are older than the code they measure
    python -m benchmarks.docs_numbers --make     make the older ones again, by their commands; or those named
    python -m benchmarks.docs_numbers --write    only write the pages from the stored results
    python -m benchmarks.docs_numbers --check    name the older ones, with the modules that changed; exit code 1 if a page
                                                 differs from its stored result, or has measured numbers without one

A stored result is docs/results/NAME.json. Its table stands in a page between the lines `<!-- table: NAME -->` and
`<!-- end -->`. A script that measures calls `benchmarks.stored_tables.store`.
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

__all__ = ["main", "mismatches", "unmarked", "write_pages"]

PLACE = re.compile(rf"^<!-- table: ({NAME}) -->\n(.*?)^<!-- end -->$", re.M | re.S)
SHOWN = 6  # modules that are named
DECIMAL = re.compile(r"(?<![\w.])\d*\.\d+(?![\w.])")
NOT_MEASURED = {  # tables with decimals that are no measurement, by page and the beginning of their first line
    "choosing-lambda": ("| λ |",),
    "datasets": ("| name | kind |",),  # licences
    "disentanglement": ("| DE | who has it |",),  # expected values
    "epistemic-gain": ("| sentence | holds if |",),  # levels
    "methods": ("| name | class |",),  # names
    "other-libraries": ("| library |",),  # versions
    "ranking-intervals": ("| number | interval |",),  # constants of a method
    "epistemic-gain-choices": ("| option | values |", "| not printed | here |"),  # settings
    "scripts": ("| check | fails if |",),  # bounds of checks
    "unified-evaluation": ("| name | distance ", "| step | the paper says |"),  # ranges, settings
    "unified-experiments": ("| table | contents |",),  # values of λ
}


def write_pages(root: Path = ROOT) -> list[Path]:
    """Write the stored tables into their places; the pages that changed."""
    texts = {stored.name: _block(stored) for stored in stored_results(root)}
    changed = []
    for page in _pages(root):
        before = page.read_text(encoding="utf-8")
        after = PLACE.sub(lambda found: texts.get(found[1], found[0]), before)
        if after != before:
            with whole_file(page) as stream:
                stream.write(after.encode())
            changed.append(page)
    return changed


def mismatches(root: Path = ROOT) -> list[str]:
    """Where pages and stored results differ, one sentence each."""
    texts = {stored.name: _block(stored) for stored in stored_results(root)}
    found, places = [], _places(root)
    for name, page, text in places:
        if name not in texts:
            found.append(f"{page}: the table {name} has no stored result docs/results/{name}.json")
        elif text != texts[name]:
            found.append(
                f"{page}: the table {name} differs from docs/results/{name}.json; write it from there with --write"
            )
    placed = {name for name, _, _ in places}
    found += [
        f"docs/results/{name}.json: no page has a line <!-- table: {name} -->" for name in texts if name not in placed
    ]
    return found


def unmarked(root: Path = ROOT) -> list[str]:
    """Tables with decimals outside the marks that are not listed as not measured, one sentence each."""
    found = []
    for page in _pages(root):
        listed = NOT_MEASURED.get(page.stem, ())
        text = PLACE.sub(lambda place: "\n" * place[0].count("\n"), page.read_text(encoding="utf-8"))
        for at, lines in _tables(text):
            if DECIMAL.search(re.sub(r"`[^`]*`", "", "\n".join(lines))) and not lines[0].startswith(listed):
                found.append(
                    f"{page.relative_to(root).as_posix()}:{at}: measured numbers without a stored result: {lines[0][:60]} …; "
                    "store them (docs/measured-coverage.md), or list the table in NOT_MEASURED of benchmarks/docs_numbers.py"
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
    older = [stored for stored in all_stored if stored.is_older]
    shown = older if told.check else all_stored
    pages: dict[str, list[str]] = {}
    for name, page, _ in _places(root):
        pages.setdefault(name, []).append(page)
    lines = [_line(stored, stored in older, pages.get(stored.name, [])) for stored in shown]
    print("\n".join(lines), flush=True)
    if told.make is not None:
        unknown = set(told.make) - {stored.name for stored in all_stored}
        if unknown:
            parser.error(f"no stored result of this name: {', '.join(sorted(unknown))}")
        wanted = [stored for stored in all_stored if (stored.name in told.make if told.make else stored in older)]
        by_hand = [stored for stored in wanted if stored.source.prints]
        for stored in by_hand:
            print(
                f"{stored.name} is not made: {stored.source.command} prints the numbers and stores nothing", flush=True
            )
        _make([stored for stored in wanted if stored not in by_hand], root)
    if told.make is not None or told.write:
        print("\n".join(f"written: {page}" for page in write_pages(root)))
    wrong = [*mismatches(root), *unmarked(root)]
    if told.check:
        print(f"{counted(len(all_stored), 'stored table')}, {len(older)} older than the code that they measure")
    print("\n".join(wrong), file=sys.stderr)
    return int(bool(wrong))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _block(stored: Stored) -> str:
    """The table between its marks."""
    return "\n".join((f"<!-- table: {stored.name} -->", *stored.table.markdown(), "<!-- end -->"))


def _pages(root: Path) -> Iterator[Path]:
    yield from (page for page in (root / "README.md", *sorted((root / "docs").glob("*.md"))) if page.exists())


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


def _places(root: Path) -> list[tuple[str, str, str]]:
    """Name, page and text of each marked table; several pages may show one table."""
    return [
        (match[1], page.relative_to(root).as_posix(), match[0])
        for page in _pages(root)
        for match in PLACE.finditer(page.read_text(encoding="utf-8"))
    ]


def _line(stored: Stored, is_older: bool, pages: Sequence[str]) -> str:
    state = _why_older(stored) if is_older else "of the present code"
    made = f"{'transcribed' if stored.transcribed else 'made'} {stored.made}"
    command = f"{stored.source.command} ({stored.source.cost or 'cost not known'})"
    return f"{stored.name} ({', '.join(pages) or 'no page'}): {state}; {made}; {command}"


def _why_older(stored: Stored) -> str:
    if stored.transcribed:
        return f"older, transcribed from the page of {stored.transcribed}"
    if not stored.source.code():
        return "older than its code, which is gone"
    if not stored.modules:
        return "older than its code; the modules of the code that made it were not kept"
    named, more = stored.changed[:SHOWN], len(stored.changed) - SHOWN
    return f"older than its code: changed {', '.join(named)}" + (f" and {more} more" if more > 0 else "")


def _make(chosen: Sequence[Stored], root: Path) -> None:
    """Run each command once."""
    for command in dict.fromkeys(stored.source.command for stored in chosen):
        print(command, flush=True)
        program, *words = shlex.split(command)
        subprocess.run([sys.executable if program == "python" else program, *words], cwd=root, check=True)
        write_pages(root)  # what is made stays if the next one fails or is stopped


if __name__ == "__main__":
    sys.exit(main())
