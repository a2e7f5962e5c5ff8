"""Notes shared by many estimates: the numbers of groups and runs, and the missing interval of a single unit."""

from collections.abc import Sequence

from uqassay.notes import Note
from uqassay.statistics.samples import Units

__all__ = ["interval_notes", "single_unit", "unit_notes"]


def unit_notes(units: Units, n_runs: Sequence[int] = ()) -> list[Note]:
    """Notes on the number of groups and on the numbers of training runs.

    Examples
    --------
    >>> from uqassay.statistics.samples import make_units
    >>> [note.text for note in unit_notes(make_units(3, ["a", "a", "b"], None), [5])]
    ['2 groups', '5 runs']
    """
    notes = []
    if units.codes is not None:
        g = units.n_units
        notes.append(Note("groups", f"{g} group{'s' if g > 1 else ''}", {"groups": g}))
    if n_runs:
        counts = " and ".join(str(r) for r in n_runs)
        single = ": variation between runs is left out where there is only 1" if 1 in n_runs else ""
        notes.append(Note("runs", f"{counts} run{'s' if max(n_runs) > 1 else ''}{single}", {"runs": tuple(n_runs)}))
    return notes


def single_unit(units: Units, consequence: str = "no interval", code: str = "no-interval") -> Note:
    """Note on a single instance or group, which shows no variation."""
    return Note(code, f"1 {'instance' if units.codes is None else 'group'}: {consequence}")


def interval_notes(units: Units, n_runs: Sequence[int] = ()) -> list[Note]:
    """`unit_notes`, with `single_unit` if there is only one unit."""
    notes = unit_notes(units, n_runs)
    return notes if units.n_units > 1 else [*notes, single_unit(units)]
