"""Class sets, and votes against sets."""

from tests.calibration import test_vote_compatibility_rates as votes
from tests.metrics.sets import test_error_rates as sets

from benchmarks.measured.registry import measured
from benchmarks.stored_tables import Table


@measured("coverage-class-sets", page="calibration")
def class_sets(size: int = 2000) -> Table:
    """Scores of class sets: 95 % intervals that hold the truth."""
    rows = []
    for n, n_groups in sets.CELLS:
        shares = sets.shares_covered(n, n_groups, size, seed=0)
        rows.append([f"{n:,}, {n_groups or 'none'}", *(f"{100 * share:.1f}" for share in shares)])
    return Table(("n, groups", *(name.replace("_", " ") for name in sets.CLASS_SET_SCORES)), rows)


@measured("coverage-set-parts", page="calibration")
def set_parts(size: int = 2000) -> Table:
    """Coverage of every class and size: intervals that all hold at 95 %, and classes said to be covered too little."""
    rows = []
    for n, n_groups in sets.CELLS:
        rates = sets.part_rates(n, n_groups, size, seed=0)
        rows.append([f"{n:,}, {n_groups or 'none'}", *(f"{100 * rate:.1f}" for rate in rates)])
    return Table(("n, groups", *sets.PART_RATES), rows)


@measured("vote-rejections", page="calibration", golden=lambda: list(votes.rejection_rows(20)))
def rejections(size: int = 4000) -> Table:
    """Votes that came from the set: rejections."""
    rows = [[cell, truth, *(f"{rate:.1f}" for rate in rates)] for cell, truth, rates in votes.rejection_rows(size)]
    return Table(("classes, members, votes", "true point", "p ≤ .05", "p ≤ .10", "not kept at .10"), rows)
