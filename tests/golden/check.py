"""Compare every scenario with its kept text."""

import argparse
import difflib
import time
from collections.abc import Sequence

from tests.golden.registry import KEPT, Scenario, all_scenarios, kept_at, missing, taken

__all__ = ["difference", "main", "surplus"]

CONTEXT = 2
LONGEST = 60  # lines of a difference that are shown unless one scenario is asked for


def difference(name: str, text: str, *, longest: int | None = LONGEST) -> str:
    """Unified diff from the kept text to this one; empty where they are equal."""
    place = kept_at(name)
    if not place.exists():
        return f"{name}: nothing is kept; python -m tests.golden --write {name!r}\n"
    old, new = place.read_text(encoding="utf-8").splitlines(), text.splitlines()
    found = list(difflib.unified_diff(old, new, f"kept/{name}", f"now/{name}", lineterm="", n=CONTEXT))
    left_out = [] if longest is None else found[longest:]
    more = [f"... {len(left_out)} more lines: python -m tests.golden --diff {name!r}"] if left_out else []
    return "\n".join([*found[: len(found) - len(left_out)], *more, ""]) if found else ""


def surplus() -> list[str]:
    """Kept texts without a scenario."""
    names = all_scenarios()
    kept = (p.relative_to(KEPT).with_suffix("").as_posix() for p in KEPT.rglob("*.txt"))
    return sorted(name for name in kept if name not in names)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 1 where a text changed."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("names", nargs="*", help="scenarios, or the beginning of their names; all by default")
    parser.add_argument("--write", action="store_true", help="take the texts anew")
    parser.add_argument("--diff", metavar="NAME", action="append", default=[], help="show the whole difference of one")
    parser.add_argument("--list", action="store_true", help="print the names of the scenarios")
    parser.add_argument("--times", action="store_true", help="print the slowest scenarios")
    given = parser.parse_args(argv)
    wanted = tuple(given.names or given.diff)
    chosen = [one for name, one in all_scenarios().items() if not wanted or name.startswith(wanted)]
    if given.list:
        print("\n".join(one.name for one in chosen))
        return 0
    changed, skipped, seconds = [], [], {}
    for one in chosen:
        if package := missing(one):
            skipped.append(f"{one.name} needs {package}")
            continue
        started = time.process_time()
        text = taken(one)
        seconds[one.name] = time.process_time() - started
        found = difference(one.name, text, longest=None if given.diff else LONGEST)
        if found:
            changed.append(one.name)
            print(f"taken: {one.name}" if given.write else found)
        if given.write:
            _keep(one, text)
    gone = surplus()
    for name in gone:
        print(f"no scenario any more: {name}")
        if given.write:
            kept_at(name).unlink()
    if given.times:
        for name, spent in sorted(seconds.items(), key=lambda item: -item[1])[:25]:
            print(f"{spent:6.2f} s  {name}")
    print("\n".join(f"skipped: {line}" for line in skipped), end="\n" if skipped else "")
    size = sum(p.stat().st_size for p in KEPT.rglob("*.txt"))
    print(
        f"{len(chosen)} scenarios, {len(changed)} changed, {len(skipped)} skipped; "
        f"{sum(seconds.values()):.0f} s of a processor; {size / 1e6:.2f} MB are kept."
    )
    return int(not given.write and bool(changed or gone))


def _keep(one: Scenario, text: str) -> None:
    place = kept_at(one.name)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
