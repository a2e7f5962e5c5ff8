"""Speed beside peers and yardsticks, and of two commits.

    python -m benchmarks.speed                        measure all workloads and print two tables, in a few minutes
    python -m benchmarks.speed --write                the same, and store them for docs/evidence-speed.md
    python -m benchmarks.speed --quick                smaller data, a trial
    python -m benchmarks.speed UQ-AUC entropy         workloads whose names hold one of these
    python -m benchmarks.speed --list
    python -m benchmarks.speed --compare main         a commit and the working tree; exit code 1 if a workload is slower
    python -m benchmarks.speed --compare A B UQ-AUC   two commits, these workloads alone

Every measurement is a new process. Times are least processor times; those of whole assays, which use all cores, are wall times.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.docs_numbers import write_pages
from benchmarks.speed import commits, page
from benchmarks.speed.machine import describe, versions
from benchmarks.speed.workload import Workload
from benchmarks.speed.workloads import WORKLOADS
from benchmarks.stored_tables import ROOT

__all__ = ["main"]

Children = Callable[[Sequence[str], bool], list[dict[str, Any]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; the exit code: 1 if a peer disagrees, a workload fails or is slower, 2 for bad options."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="PART", help="of names of workloads; by default all")
    parser.add_argument("--quick", action="store_true", help="smaller data")
    parser.add_argument("--write", action="store_true", help="store the tables and write the page")
    parser.add_argument("--list", action="store_true", help="list the workloads")
    parser.add_argument("--compare", nargs="+", metavar="COMMIT", help="one or two commits, then parts of names")
    parser.add_argument("--turns", type=int, default=commits.Limits().turns, help="of each version in a round")
    parser.add_argument(
        "--limit", type=float, default=commits.Limits().ratio, help="smallest ratio that is a slow-down"
    )
    parser.add_argument("--without-kernels", action="store_true", help="compare the array formulas")
    told = parser.parse_args(arguments)
    if told.compare:
        before, after, parts = _two(told.compare, told.names)
        names = _chosen(parser, parts, lambda workload: workload.compared)
        if told.turns < 2:
            parser.error("--turns: the noise takes at least 2")
        limits = commits.Limits(told.turns, told.limit)
        return compare(before, after, names, limits, quick=told.quick, kernels=not told.without_kernels)
    names = _chosen(parser, told.names, lambda workload: True)
    if told.list:
        print("\n".join(names))
        return 0
    if told.write and (told.quick or told.names):
        parser.error("--write: the page has all workloads on their whole data; leave out --quick and names")
    return show(names, quick=told.quick, kept=told.write)


def show(names: Sequence[str], *, quick: bool, kept: bool) -> int:
    """Measure workloads and print both tables; if kept, store them and write the page."""
    machine, peers = describe(), versions()
    together = [name for name in names if not WORKLOADS[name].several]
    records = _children(together, quick)
    for name in names:  # those that use several processes: nothing else in their process
        if WORKLOADS[name].several:
            records += _children([name], quick)
    tables = page.times_table(records, machine), page.peers_table(records, peers)
    print("\n\n".join("\n".join(table.markdown()) for table in tables))
    if quick:
        print("\nThe data are smaller than the names say, so these figures are a trial and no result.")
    wrong = page.disagreements(records)
    print("".join(f"{sentence}\n" for sentence in wrong), end="", file=sys.stderr)
    if kept:
        page.store_page(records, machine, peers)
        print("\n".join(f"written: {path}" for path in write_pages()))
    return int(bool(wrong))


def compare(
    before: str, after: str, names: Sequence[str], limits: commits.Limits, *, quick: bool = False, kernels: bool = True
) -> int:
    """Compare two versions; 1 if a workload is slower or broken."""
    with tempfile.TemporaryDirectory() as place:
        found = []
        for j, commit in enumerate((before, after)):
            (folder := Path(place, str(j))).mkdir()
            try:
                side = commits.check_out(commit, ROOT, folder)
                found.append(commits.with_kernels(side, ROOT / "build" / "compared") if kernels else side)
            except (ValueError, subprocess.CalledProcessError) as problem:
                print(problem, file=sys.stderr)
                return 2
        sides = found[0], found[1]
        compared = commits.compare(partial(commits.run, root=ROOT, quick=quick), sides, names, limits)
        print("\n".join(commits.lines(compared, sides, limits)))
    return int(any(one.slower or one.broken for one in compared))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _two(words: Sequence[str], more: Sequence[str]) -> tuple[str, str, list[str]]:
    """The commits and the parts of names; a second word that is no commit is a part of a name."""
    is_commit = ["git", "-C", str(ROOT), "rev-parse", "--quiet", "--verify"]
    second = (
        len(words) > 1
        and not subprocess.run(
            [*is_commit, f"{words[1]}^{{commit}}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ).returncode
    )
    taken = 2 if second else 1
    return words[0], words[1] if second else commits.HERE, [*words[taken:], *more]


def _chosen(parser: argparse.ArgumentParser, parts: Sequence[str], default: Callable[[Workload], bool]) -> list[str]:
    found = [name for name, one in WORKLOADS.items() if (any(p in name for p in parts) if parts else default(one))]
    if not found:
        parser.error(f"no workload has one of these in its name: {', '.join(parts)}; see --list")
    return found


def _children(names: Sequence[str], quick: bool) -> list[dict[str, Any]]:
    """Records of workloads that share a new process; progress on standard error."""
    if not names:
        return []
    command = [sys.executable, "-m", "benchmarks.speed.one", *names, *(["--quick"] if quick else [])]
    places = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]  # so that it also runs uninstalled
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(places)}
    found = []
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            row = json.loads(line)
            print(f"measured in {row['spent']:.1f} s of a processor: {row['name']}", file=sys.stderr, flush=True)
            found.append(row | {"several": WORKLOADS[row["name"]].several})
    missing = [{"name": name, "failed": "the process ended"} for name in names[len(found) :]]
    return found + missing


if __name__ == "__main__":
    sys.exit(main())
