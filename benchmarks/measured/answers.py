"""Tables of docs/stated-confidence.md on answers with a stated confidence."""

from tests.evidence import test_answer_error_rates as module

from benchmarks.measured.registry import measured, percents
from benchmarks.stored_tables import Table


@measured(
    "answer-error-rates",
    "answer-coverage",
    function="tests.evidence.test_answer_error_rates:rates",
    cost="ten minutes of a core",
)
def answers(size: int = 200) -> tuple[Table, Table]:
    """False and true claims on answers, and coverage of the intervals."""
    claims, covered = [], []
    for groups, n, found in module.rows(size):
        claims.append([groups, f"{n:,}", *(percents([found[name]]) for name in module.RATES)])
        covered.append([groups, f"{n:,}", *(percents([found[key]]) for key in module.COVERED)])
    first = ("groups", "n")
    told = (
        "false rank",
        "worse model told",
        "false miscalibration",
        "miscalibration told",
        "wrong direction",
        "false choice",
    )
    intervals = ("accuracy", "accuracy, worse", "error AUROC", "ECE, worse", "RMS error, worse")
    return Table((*first, *told), claims), Table((*first, *intervals), covered)
