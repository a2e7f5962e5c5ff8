"""Contradictions of the paper on disentanglement: each sentence follows the numbers."""

import pytest
from tests.lab.papers.disentangling.made import changed

from uqassay.lab.papers.disentangling.printed import reproduce_disentanglement_tables


def notes(**tables: list[dict[str, str]]) -> str:
    return "\n".join(reproduce_disentanglement_tables(tables=tables).notes)


@pytest.mark.parametrize(
    "sentence",
    [
        "section 7 counts 5 datasets; the tables have 4",
        "the second is PCC_epi, as in the caption of table4, where the averages of |PCC_ale| are 0.864 to 0.981",
        "PCC_epi ≥ 0.725 is the cell of Flipout on CIFAR10 (0.725), the next is 0.931 and the averages are 0.907 to 0.988",
        "PCC_ale = 0.981 is the average of MC-DropConnect",
        "in 18 of 32 cells, above it in 13",
        "nearer their mean in 32 of 32 cells (sums would be 1.027 to 3.814)",
        "table1 repeats the CIFAR-10 part of table5 in 16 of 16 cells",
        "smaller, by a factor of 1.5 to 2.0",
        "IT – Deep Ensembles (0.409) before IT – Flipout (0.437) by table2",
        "IT – Flipout (0.365) before IT – Deep Ensembles (0.390) by table3 and table4",
        "in 15 of 16 by table2",
        "in table5 it does in 12 of 16 cases",
    ],
)
def test_the_contradictions_of_the_paper(sentence):
    assert sentence in notes()


FLIPOUT = {"method": "Flipout", "decomposition": "GL"}
DROPOUT = {"method": "MC-Dropout", "decomposition": "GL", "dataset": "Wine"}


@pytest.mark.parametrize(
    ("table", "column", "text", "where", "sentence"),
    [
        ("table1", "roc_auc", "0.9", FLIPOUT | {"uncertainty": "aleatoric"}, "15 of 16 cells"),
        ("table2", "error", "0.913", DROPOUT, "17 of 32 cells"),
        ("table2", "error", "3.7", DROPOUT, "31 of 32 cells"),
        (
            "table4",
            "pcc",
            "0.6",
            FLIPOUT | {"dataset": "BCI", "uncertainty": "epistemic"},
            "the cell of Flipout on BCI (0.600), the next is 0.725",
        ),
        (
            "table5",
            "roc_auc",
            "0.9",
            {"method": "Flipout", "decomposition": "IT", "dataset": "BCI", "uncertainty": "epistemic"},
            "11 of 16 cases",
        ),
        (
            "table2",
            "error",
            "0.1",
            FLIPOUT | {"dataset": "average"},
            "GL – Flipout (0.100) before IT – Deep Ensembles (0.409) by table2",
        ),
    ],
)
def test_the_sentences_follow_the_numbers(table, column, text, where, sentence):
    assert sentence not in notes()
    assert sentence in notes(**changed(table, column, text, **where))
