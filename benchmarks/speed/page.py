"""The page of the guide: records of all workloads as two tables, with the machine and the peers beneath."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.speed.workload import FORMULAS, LOOPS
from benchmarks.stored_tables import ROOT, Source, Table, store
from uqassay.text import listed

__all__ = ["PEERS_TABLE", "SOURCE", "TIMES_TABLE", "disagreements", "peers_table", "store_page", "times_table"]

TIMES_TABLE, PEERS_TABLE = "time-of-workloads", "time-of-peers"
SOURCE = Source(
    "python -m benchmarks.speed --write",
    golden="",  # a time is that of its day and machine
    cost="about five minutes, on an idle machine",
    page="speed",
)
Record = Mapping[str, Any]
NONE = "–"


def times_table(records: Sequence[Record], machine: str) -> Table:
    """Our times, and their ratios to the yardsticks of the same process."""
    rows = [[one["name"], _time(one), *_ratios(one)] for one in records if "failed" not in one]
    columns = ("workload", "time", "to `np.sort`", "to radix sort", "to plain C", "to reading the input", FORMULAS)
    return Table(columns, rows, [machine, "", _yardsticks(records)])


def peers_table(records: Sequence[Record], versions: Mapping[str, str]) -> Table:
    """Peers side by side, relative to our times."""
    rows = []
    for one in records:
        for peer in _others(one):
            ratio = "fails" if "failed" in peer else _factor(peer["ratio"])
            rows.append([one["name"], peer["name"], ratio, _agreement(peer), _remarks(peer)])
    columns = ("workload", "other way", "time relative to uqassay", "largest difference", "remarks")
    here = [f"{name} {version}" for name, version in versions.items() if version]
    absent = [name for name, version in versions.items() if not version]
    text = f"Compared: {listed(here)}." if here else "No other package is installed."
    return Table(columns, rows, [text + (f" Not installed and not measured: {listed(absent)}." if absent else "")])


def disagreements(records: Sequence[Record]) -> list[str]:
    """Workloads that failed, and peers that failed or disagree, one sentence each."""
    found = [f"{one['name']}: {one['failed']}" for one in records if "failed" in one]
    for one in records:
        for peer in one.get("peers", ()):
            if "failed" in peer:
                found.append(f"{one['name']}, {peer['name']}: {peer['failed']}")
            elif not peer["agrees"]:
                found.append(f"{one['name']}, {peer['name']}: differs by {peer['difference']:.1e}")
    return found


def store_page(records: Sequence[Record], machine: str, versions: Mapping[str, str]) -> None:
    """Store both tables; `benchmarks.docs_numbers` writes them into docs/evidence-speed.md."""
    store(TIMES_TABLE, times_table(records, machine), replace(SOURCE, title="Times"), root=ROOT)
    store(PEERS_TABLE, peers_table(records, versions), replace(SOURCE, title="Other packages"), root=ROOT)


# -- helpers -----------------------------------------------------------------------------------------------------------


def _time(one: Record) -> str:
    return (
        f"{_duration(one['wall'])} (processor {_duration(one['processor'])})"
        if one["several"]
        else _duration(one["processor"])
    )


def _ratios(one: Record) -> list[str]:
    yard, seconds = one["yardsticks"], one["processor"]
    reading = one["bytes"] / yard["bandwidth"]
    divisors = (yard["sort"], yard.get("radix"), one["loop"], reading)
    formulas = [_factor(peer["ratio"]) for peer in one["peers"] if peer["name"] == FORMULAS and "ratio" in peer]
    return [*(_factor(seconds / divisor) if divisor else NONE for divisor in divisors), *(formulas or [NONE])]


def _others(one: Record) -> list[Record]:
    """Peers that have no column in the first table; those that failed or disagree are told by `disagreements`."""
    known = (FORMULAS, *LOOPS)
    return [peer for peer in one.get("peers", ()) if peer["name"] not in known]


def _yardsticks(records: Sequence[Record]) -> str:
    found = [one["yardsticks"] for one in records if "failed" not in one]
    parts = [f"`np.sort` of a million doubles took {_between([1e3 * y['sort'] for y in found])} ms"]
    if radix := [1e3 * y["radix"] for y in found if "radix" in y]:
        parts.append(f"the plain radix sort of the same in C++ {_between(radix)} ms")
    parts.append(f"a large copy moved {_between([1e-9 * y['bandwidth'] for y in found])} GB a second")
    return f"In the processes of this run, {listed(parts)}."


def _between(values: Sequence[float]) -> str:
    low, high = (f"{value:.2g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _agreement(peer: Record) -> str:
    if "failed" in peer or peer["difference"] is None:
        return NONE
    if peer["share"] is not None:
        return f"{100 * peer['share']:.0f} % {peer['word']}" if peer["agrees"] else "disagrees"
    shown = "0" if peer["difference"] == 0 else f"{peer['difference']:.0e}"
    return shown if peer["agrees"] else f"{shown}: disagrees"


def _remarks(peer: Record) -> str:
    parts = [
        peer["lacks"],
        "" if peer["rows"] is None else f"extrapolated from {peer['rows']:,}",
        peer.get("failed", ""),
    ]
    return "; ".join(part for part in parts if part).replace("|", "/").replace("\n", " ")


def _factor(ratio: float) -> str:
    if ratio < 0.01:
        return "below 0.01"
    return f"{float(f'{ratio:.2g}'):,.{0 if ratio >= 10 else 1 if ratio >= 1 else 2}f}"


def _duration(seconds: float) -> str:
    if seconds < 0.9995:
        milliseconds = float(f"{1e3 * seconds:.2g}")
        return f"{milliseconds:.{0 if milliseconds >= 10 else 1 if milliseconds >= 1 else 2}f} ms"
    return f"{float(f'{seconds:.2g}'):,.{0 if seconds >= 10 else 1}f} s"
