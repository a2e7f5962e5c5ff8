"""Tables of docs/coverage-equivalence.md."""

from tests.metrics.risk import test_detectable_gain
from tests.statistics import margin_worlds, test_detectable_statistics, test_equivalence, test_sources_of_variance

from benchmarks.measured.registry import measured, printed_rows
from benchmarks.stored_tables import Table

ERROR_HEADS = (
    *("differences", "margin δ", "no worse, Student alone", "no worse", "equivalent, a worse by δ", "a better by δ"),
    *("any false verdict", "told, of equal means"),
)


def _table(heads: tuple[str, ...], rows: list[list[str]]) -> Table:
    """Without the first row, which has the heads as the command prints them."""
    return Table(heads, rows[1:])


@measured("equivalence-error-rates", function="tests.statistics.margin_worlds:rates")
def error_rates(size: int = 1000) -> Table:
    """False verdicts of the tests with a margin."""
    return _table(ERROR_HEADS, printed_rows(margin_worlds.print_rates, size))


@measured("power-of-detectable-difference", function="tests.statistics.margin_worlds:shown")
def power(size: int = 500) -> Table:
    """How often the next data set shows a difference that one data set could have shown."""
    return _table(("differences", "a is worse", "a is better"), printed_rows(margin_worlds.print_power, size))


@measured("power-of-detectable-ranking", function="tests.statistics.test_detectable_statistics:shown")
def power_of_rankings(size: int = 1000) -> Table:
    """The same of two areas under the ROC curve."""
    rows = printed_rows(test_detectable_statistics.print_shown, size)
    return Table(("instances, errors, UQ-AUC", "the greater area", "the smaller area"), rows)


@measured("power-of-detectable-gain", function="tests.metrics.risk.test_detectable_gain:share_shown")
def power_of_gains(size: int = 2000) -> Table:
    """How often a gain of a refusal is shown that could just have been."""
    heads = ("instances", "errors", "refused", "gain, points", "shown")
    return Table(heads, printed_rows(test_detectable_gain.print_shown, size))


@measured("no-worse-than-the-best", function="tests.statistics.test_equivalence:chosen_rates")
def several(size: int = 300) -> Table:
    """Of several models: false statements, and those of equal models."""
    return _table(("models", "false", "told, of equal means"), printed_rows(test_equivalence.print_several, size))


@measured("coverage-variance-components", function="tests.statistics.test_sources_of_variance:measured")
def components(size: int = 1000) -> Table:
    """Bias of the components and coverage of the shares."""
    heads = (
        "runs and instances",
        "true share of the runs",
        "runs",
        "instances",
        "interaction",
        "coverage of the share",
    )
    return _table(heads, printed_rows(test_sources_of_variance.print_table, size))
