"""Tables of docs/coverage-disentanglement.md."""

from tests.metrics import test_disentanglement_error_rates as disentanglement
from tests.metrics import test_doubts, test_epistemic_trends, test_run_summaries

from benchmarks.measured.registry import measured, printed_rows
from benchmarks.stored_tables import Table

FUNCTION = "tests.metrics.test_disentanglement_error_rates:"


def _signed(cell: str) -> str:
    if not cell.strip("-0."):
        return cell.lstrip("-")  # what rounds to 0 has no sign
    return cell.replace("-0", "−0") if cell.startswith("-") else cell


@measured("coverage-disentanglement", "coverage-disentanglement-one-run", function=FUNCTION + "coverage")
def coverage(size: int = 1000) -> tuple[Table, Table]:
    """Intervals of the disentanglement error and its correlations, over several runs and from one."""
    rows = printed_rows(disentanglement.print_coverage, size)[1:]
    at = next(i for i, row in enumerate(rows) if len(row) == 1)
    several = [
        [row[0], "", "", "", row[1]] if len(row) == 2 else [row[0], _signed(row[1]), *row[2:]] for row in rows[:at]
    ]
    columns = ("method, conditions: estimate, shape", "mean r", "Fisher's z", "bootstrap", "deviation")
    one = ("method", "7: aleatoric", "7: epistemic", "11: aleatoric", "11: epistemic")
    return Table(columns, [[row[0].replace("near -1", "near −1"), *row[1:]] for row in several]), Table(
        one, rows[at + 1 :]
    )


@measured("below-chance", function=FUNCTION + "chance_rates")
def below_chance(size: int = 1000) -> Table:
    """Rejections of the test against chance."""
    columns = ("curves", '`permuted="conditions"`', '`permuted="runs"`')
    return Table(columns, printed_rows(disentanglement.print_chance, size))


@measured("swap-test", function=FUNCTION + "swap_rates")
def swap(size: int = 2000) -> Table:
    """Rejections of the test of the names."""
    columns = ("method", "names exchanged at random", "names as given")
    return Table(columns, printed_rows(disentanglement.print_swap, size))


@measured("paired-disentanglement", function=FUNCTION + "paired_pvalues")
def paired(size: int = 4000) -> Table:
    """Rejections of the paired test."""
    return Table(("errors", "t test", "sign flips"), printed_rows(disentanglement.print_paired, size))


@measured("epistemic-trends", function="tests.metrics.test_epistemic_trends:rates")
def trends(size: int = 2000) -> Table:
    """Rejections and coverage of the test of trends."""
    rows = [[cell.replace("-", "−") for cell in row] for row in printed_rows(test_epistemic_trends.print_tables, size)]
    return Table(("runs", "slope", "hole", "falls", "a step rises", "coverage"), rows)


@measured("coverage-estimate-correlations", function="tests.metrics.test_run_summaries:coverage")
def correlations(size: int = 2000) -> Table:
    """Intervals of correlations of estimates over runs."""
    rows = printed_rows(test_run_summaries.print_tables, size)
    same = {tuple(row[:3]): row[3] for row in rows if len(row) == 4}
    found = [[*row, same.get(tuple(row[:3]), "–")] for row in rows if len(row) == 5]
    columns = ("Pearson's r of the normal estimates", "runs", "instances", '"runs-and-instances"')
    return Table((*columns, '"runs", other instances', '"runs", same instances'), found)


@measured("doubt-sources", function="tests.metrics.test_doubts:zero_in_interval")
def doubts(size: int = 500) -> Table:
    """Intervals of the correlation with each source of doubt that hold 0."""
    columns = ("the estimate follows", "runs", "instances", "seed", "few data", "bias")
    return Table(columns, printed_rows(test_doubts.print_tables, size))
