"""Tables of docs/sets-as-sets.md and docs/votes-against-sets.md."""

from tests.calibration import test_vote_compatibility_rates as votes
from tests.metrics.sets import test_error_rates as sets

from benchmarks.measured.registry import measured
from benchmarks.stored_tables import Table


@measured("coverage-class-sets", function="tests.metrics.sets.test_error_rates:shares_covered")
def class_sets(size: int = 2000) -> Table:
    """Intervals of the scores of class sets."""
    rows = []
    for n, n_groups in sets.CELLS:
        shares = sets.shares_covered(n, n_groups, size, seed=0)
        rows.append([f"{n:,}, {n_groups or 'none'}", *(f"{100 * share:.1f}" for share in shares)])
    return Table(("n, groups", *(name.replace("_", " ") for name in sets.CLASS_SET_SCORES)), rows)


@measured("vote-rejections", function="tests.calibration.test_vote_compatibility_rates:share_rejected")
def rejections(size: int = 4000) -> Table:
    """Rejections of votes that came from a point of the set."""
    rows = [[cell, truth, *(f"{rate:.1f}" for rate in rates)] for cell, truth, rates in votes.rejection_rows(size)]
    return Table(("classes, members, votes", "true point", "p ≤ .05", "p ≤ .10", "not kept at .10"), rows)


@measured("vote-power", function="tests.calibration.test_vote_compatibility_rates:power")
def vote_power(size: int = 1000) -> Table:
    """Rejections at 10 % of votes whose truth lies outside the set."""
    rows = [
        [", ".join(map(str, cell)), *(f"{100 * votes.power(cell, share, size):.1f}" for share in votes.MOVED)]
        for cell in votes.POWER_CELLS
    ]
    return Table(("classes, members, votes", *(f"moved by {share:g}" for share in votes.MOVED)), rows)


@measured("vote-shares", function="tests.calibration.test_vote_compatibility_rates:share_covered")
def vote_shares(size: int = 400) -> Table:
    """The share of compatible instances: mean and coverage of its interval."""
    rows = []
    for n, n_groups in votes.SHARE_CELLS:
        mean, covered = votes.share_covered(n, n_groups, size)
        rows.append([f"{n:,}, {n_groups or 'none'}", f"{mean:.3f}", f"{100 * covered:.1f}"])
    return Table(("n, groups", "mean estimate", "coverage"), rows)
