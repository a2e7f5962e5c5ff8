"""Tables of the reproduction as text, and the table of conventions."""

from scipy import stats
from tests.lab.papers.disentangling.made import a_row as judged
from tests.refusals import refuses

from uqassay.lab.papers.disentangling.tables import convention_lines, table_cells, table_lines
from uqassay.text import interval

IT = "information-theoretic"


def test_text_has_every_table_and_the_printed_numbers():
    text = "\n".join(table_lines([judged()]))
    for part in (
        "IT – MC-Dropout",
        "0.645 ± 0.041",
        "pooled",
        "−0.875",
        "ROC-AUC",
        "0.943",
        "± as authors",
        "mean over all classes",
    ):
        assert part in text
    assert "printed (pooled)" not in "\n".join(table_lines([judged("digits", printed_as="")]))
    assert "ROC-AUC" not in "\n".join(table_lines([judged(classes=False)]))


def test_text_of_several_data_sets_is_refused():
    with refuses("judged", "mismatch", got="got several"):
        table_lines([judged("wine"), judged("digits")])


def test_conventions_stand_in_one_table_with_paired_differences():
    exact, other = judged(), judged(gap=2.0, convention="ten-levels")
    lines = convention_lines([exact, other], {"ten-levels": "ten levels"})
    difference = other.study.error(IT).per_run - exact.study.error(IT).per_run
    low, high = stats.t.interval(0.95, 3, difference.mean(), stats.sem(difference))
    assert lines[0] == "ten-levels: ten levels"
    assert "IT – MC-Dropout" in lines[-1]
    assert f"{difference.mean():.3f}" in lines[-1]
    assert interval(low, high) in lines[-1]
    assert convention_lines([exact], {}) == []
    assert "table2/wine/MC-Dropout/IT/ten-levels" in {cell.name for cell in table_cells([exact, other])}
