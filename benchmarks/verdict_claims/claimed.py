"""The table of docs/intervals-and-tests.md: what the tool says, by which procedure, and how often that is false."""

from benchmarks.stored_tables import Table
from benchmarks.verdict_claims.judging import KINDS

__all__ = ["claimed"]

COLUMNS = ("the tool says", "the procedure", "measured error rate", "what it does not say")
CLAIMS = (  # the third is a kind of sentence, whose rates are looked up, or words
    (
        'ranks "1–3"',
        "paired tests of all pairs at all λ, adjusted by Bonferroni; guards against skewness, unseen losses and few runs",
        "rank sets of E",
        "that rank 1 is likelier than rank 3",
    ),
    (
        "top group: no model is shown to be better",
        "the same",
        "the same",
        "that the models in it are equally good",
    ),
    (
        '"worse than A: B"',
        "the same",
        "worse than the winner",
        "by how much: see its interval",
    ),
    (
        '"A is the best of the models"',
        "its rank set is 1 alone",
        "best",
        "that A is best at another λ",
    ),
    (
        '"for λ from .3 on choose A"',
        "the same; better than both baselines by tests along λ, Bonferroni over models and anchors",
        "headline: better than the baselines",
        "where between two ranges the choice changes",
    ),
    (
        '"below λ = .2 no model is worth using"',
        "every model is worse than a baseline at both ends",
        "no model is worth using",
        "that a model is useless at greater λ",
    ),
    (
        '"better than A in a part of the test set: B where site is 3"',
        "rank sets of every part, Bonferroni over the parts; all contradicting parts are named or counted",
        "subgroup",
        "that parts not named agree with the whole",
    ),
    (
        '"do not refuse by this score"',
        "UQ-AUC below ½ for all scores at once, and Wilcoxon's test",
        "backward score",
        "that other scores are good",
    ),
    (
        '"is not calibrated"',
        "tests of all models and measures, Holm; see [Calibration](calibration.md)",
        "not calibrated",
        "that models which pass are calibrated",
    ),
    (
        '"in 97 % of resamples"',
        "joint draws with Student's t",
        "no test",
        "the probability that another test set gives the same choice",
    ),
)


def claimed(kinds: Table) -> Table:
    """The claims with the rates of a table of kinds of sentences: over all their cells, and of the worst with its interval."""
    rates = {row[0]: f"{row[3]}; worst cell {row[4].partition(' `')[0]}" for row in kinds.rows}
    rows = [
        [says, how, rates.get(kind, "not measured") if kind in KINDS else kind, unsaid]
        for says, how, kind, unsaid in CLAIMS
    ]
    return Table(COLUMNS, rows)
