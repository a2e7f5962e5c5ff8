"""Tables that scripts of benchmarks make for the guide, from made results, against counts by hand."""

import math

import numpy as np
import pytest
from benchmarks.certified_refusal_cifar10 import halves
from benchmarks.measured.reproduction import disentanglement_printed, ranking_misprints, unified_misprints
from tests.lab.bench.bench_work import store_result
from tests.lab.papers.credal_calibration.made import SMALL, invented

import uqassay as uq
from benchmarks import credal_error_rates, credal_table1, ranking_cifar10_jpeg, unified_cifar_10
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.credal_calibration.error_rates import ALPHAS, MEASURES, ErrorRates, Plan
from uqassay.lab.papers.credal_calibration.run import FIGURES
from uqassay.lab.papers.credal_calibration.scenarios import SCENARIOS
from uqassay.lab.papers.paper_tables import PrintedCell
from uqassay.lab.papers.unified.plan import TrainingSetting, chosen_predictors

# -- The halves of the benchmark: shares of a threshold that is never and one that is always above the limit -----------


def test_halves_of_data_without_doubt():
    errors = np.repeat([0.0, 1.0], [400, 100])
    found = halves(errors, errors, 0.05, n_splits=3)
    assert found == pytest.approx([0, 0.8, 0, 0.8], abs=0.06)


# -- Counted operations of the unified evaluation against a count by hand ----------------------------------------------


@pytest.fixture
def cost():
    pytest.importorskip("torch")
    from benchmarks import cost_of_unified

    return cost_of_unified


def test_operations_of_a_dense_network_by_hand(cost):
    (standard,) = chosen_predictors(["SNN"])
    found = cost.operations(TrainingSetting(), standard, "mnist")
    # two operations for each weight, forward, for its own gradient, and for that of its input but in the first layer
    first, rest = 28 * 28 * 64, 64 * 64 + 64 * 10
    assert found == cost.Operations(0.0, 2 * (2 * first + 3 * rest))


def test_rs_nn_trains_two_networks(cost):
    (standard, rs_nn) = (chosen_predictors([name])[0] for name in ("SNN", "RS-NN"))
    one, two = (cost.operations(TrainingSetting(), predictor, "mnist").image for predictor in (standard, rs_nn))
    assert 2 * one <= two < 2.5 * one  # and the second has more outputs


def test_operations_of_whole_epochs(cost):
    assert cost.Operations(5.0, 2.0).of(10, batch_size=4, epochs=3) == 3 * (5 * 3 + 2 * 10)


# -- The table of error rates against the counts from which it is made -------------------------------------------------


def test_shares_of_errors_by_measure_and_scenario():
    n = 8
    rejected = {(s, m): np.zeros((n, len(ALPHAS)), dtype=bool) for s in SCENARIOS for m in MEASURES}
    rejected["S1", "skce-ul"][0, ALPHAS.index(0.1) :] = True  # one of eight, at .1 and above
    rejected["S3", "skce-ul"][:] = True
    pvalues = {key: np.ones(n) for key in rejected}
    made = credal_error_rates.table(ErrorRates(SMALL, pvalues, rejected, {}, 0.0))
    assert made.rows[0] == ["`skce-ul`", "0 / .125 / .125 / .125", "1 / 1 / 1 / 1", "0 / 0 / 0 / 0"]
    assert [row[0] for row in made.rows] == [f"`{measure}`" for measure in MEASURES]
    assert len(made.markdown()) == 2 + len(MEASURES) + 2
    assert made.text == ["8 data sets: the 95 % intervals reach at most .224 up and down."]  # Wilson at 1 of 8
    assert len(credal_error_rates.SOURCE.code()) == 64


def test_the_table_of_figure_1_counts_references_and_failed_searches():
    made = credal_error_rates.table(invented(50, Plan(FIGURES["1"])))
    assert " of the 48 references lie inside them. In 0 of the 200 minimisations of S1 " in made.text[0]


def test_further_settings_have_intervals_and_say_what_exceeds_the_level():
    always = invented(60, SMALL)
    always.rejected["S1", "ece-classwise"][:] = True
    made = credal_error_rates.further_table({"one": invented(60, SMALL), "two": always})
    assert [row[0] for row in made.rows] == ["one; 60 data sets", "", "", "", "two; 60 data sets", "", "", ""]
    assert made.rows[7][:4] == ["", "`ece-classwise`", "1 (.940 to 1.000)", "1 (.940 to 1.000)"]  # Wilson: 60 of 60
    assert made.text == ["In S1 these exceed α by more than chance (most clearly at): `ece-classwise` in two (.01)."]
    assert credal_error_rates.further_table({"one": invented(60, SMALL)}).text == ["In S1 nothing exceeds α."]
    assert made.columns[2:4] == tuple(
        f"S1, type I, α = {level:g}".replace("0.", ".") for level in credal_error_rates.SHOWN
    )
    assert len(made.markdown()) == 2 + 8 + 2
    assert [plan.setting for plan, _ in credal_error_rates.FURTHER.values()] == [FIGURES[n] for n in "23441"]
    assert credal_error_rates.FURTHER_SOURCE.function == credal_error_rates.SOURCE.function


# -- The guide's Table 1 against the rows from which it is made --------------------------------------------------------


NAN = float("nan")
VALUES = {
    "avg_accuracy": 0.9621, "avg_ece_conf": 0.0204, "avg_ece_classwise": 0.00842,
    "p_conf_random": 1.0, "p_conf_minimised": 0.05, "weighted_conf_accuracy": 0.958, "weighted_conf_ece_conf": 0.0178,
    "p_classwise_random": 0.994, "p_classwise_minimised": 0.06,
    "weighted_classwise_accuracy": 1.0, "weighted_classwise_ece_classwise": 0.0073,
}  # fmt: skip


def rows(convention="exact"):
    return [
        PrintedCell.within(f"table1/digits/DE/{convention}/{name}", NAN, value, NAN, NAN)
        for name, value in VALUES.items()
    ]


def test_a_row_has_both_nulls_and_the_verdict_of_the_minimised_one():
    made = credal_table1.table([*rows(), *rows("paper-code")])
    assert made.columns == credal_table1.COLUMNS
    assert made.rows == [
        ["digits, DE", ".962", ".020", ".0084", "1.00 / .05 reject", ".958, .018", ".99 / .06 keep", "1.000, .0073"]
    ]


def test_printed_rows_stand_below_as_context():
    made = credal_table1.table(rows(), context=("CIFAR-10",))
    assert [row[0] for row in made.rows[1:3]] == ["printed: CIFAR-10, MOB, S", "printed: CIFAR-10, MOB, DN(0.1)"]
    assert len(made.rows) == 1 + 8
    assert made.rows[4] == [
        "printed: CIFAR-10, MOB, DE", ".833", ".168", ".0327", "keep", ".764, .015", "reject", ".767, .0062"
    ]  # fmt: skip


def test_a_row_that_lacks_a_value_is_not_made():
    with pytest.raises(KeyError, match="p_conf_minimised"):
        credal_table1.table([row for row in rows() if "minimised" not in row.name])


def test_its_code_is_found():
    assert [len(one.code()) for one in (credal_table1.SOURCE, credal_table1.COPY_SOURCE)] == [64, 64]


# -- Tables of printed numbers beside ours on the page of the reproductions --------------------------------------------


def test_every_misprint_stands_in_a_table():
    rows = unified_misprints().rows
    result = reproduce("unified-tables")
    lines = [cell for cell in result.misprints if cell.name.startswith("table5")]
    parts = [cell for cell in result.misprints if cell.name.startswith("table7")]
    assert len(rows) == len(result.misprints) - len(lines) - len(parts) + 2
    assert rows[1][:3] == ["Table 2, λ = 0.2, RS-NN, e", "0.309", "0.400 (0.399 to 0.401)"]
    assert rows[-2][1] == "0.250, 0.392, 0.681, 1.810, 2.280"  # paper 000, Table 5, JS at λ = 1
    assert rows[-1][1] == f"{len(parts)} cells"
    for cell in parts:
        assert cell.name.split("/")[2] in rows[-1][0]


def test_printed_correlations_stand_beside_those_that_fit():
    rows = ranking_misprints().rows
    assert [row[1] for row in rows] == ["94.30", "53.99", "−0.04", "23.47", "53.75"]
    assert rows[2][2] == "−3.93 (−3.94 to −3.91)"


def test_every_table_on_disentanglement_is_counted():
    rows = disentanglement_printed().rows
    assert [row[:3] for row in rows] == [
        ["1", "16", "0"], ["2", "80", "18"], ["3", "80", "0"], ["4", "80", "0"], ["5", "80", "0"]
    ]  # fmt: skip


# -- The guide's table of trained models in the ranking protocol, from a folder of trainings ---------------------------


N, K = 150, 3


@pytest.fixture
def folders(tmp_path):
    """Votes, four trainings, and an ensemble of which three members were trained one by one."""
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.full(K, 0.4), N)
    labels = q.argmax(axis=1)
    (tmp_path / "votes").mkdir()
    np.save(tmp_path / "votes" / "labels.npy", labels)
    np.save(tmp_path / "votes" / "human_counts.npy", np.array([rng.multinomial(50, row) for row in q]))

    def put(method, prediction, **params):
        cell = Cell("json:dumps", dataset="made", method=method, seed=0, params={"params": params})
        store_result(tmp_path / "run", cell, CellResult(prediction, labels))

    def probs(noise):
        logits = np.log(q + 0.02) + noise * rng.normal(size=(N, K))
        return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)

    for i, noise in enumerate((0.5, 1.0, 1.5, 2.0)):
        put(f"net{i}", uq.Point(probs(noise)))
    for m in range(3):
        put(f"DE member {m + 1}", uq.Members(probs(1.0)[:, None]), n_members=1, first_member=m)
    return tmp_path / "run", tmp_path / "votes"


def test_rows_and_correlations(folders):
    judged = ranking_cifar10_jpeg.judged_models(*folders)
    made = ranking_cifar10_jpeg.table(judged)
    assert made.columns == ranking_cifar10_jpeg.COLUMNS
    names = [row[0] for row in made.rows]
    assert names[:2] == ["net0", "net0"]
    assert names.count("DE") == 4
    assert names[-1] == "members of DE, 3 alone, least to greatest"
    assert len(judged.accuracies) == 8
    of_net0 = next(s for s in judged.scorings if (s.model, s.score) == ("net0", "total-entropy"))
    assert made.rows[0][3].startswith(f"{float(of_net0.metrics[0]):.3f} (")
    samples = [line.partition(":")[0] for line in made.text[:3]]
    assert samples == [
        "* Correlations in percent over 8 models by the entropy",
        "* Correlations in percent over 5 models by the entropy, members left out",
        "* Correlations in percent over 8 models by the entropy, with the votes as labels",
    ]
    assert "printed 65.18 (53.99 to 74.75)" in made.text[0]
    assert made.text[-1] == "* DE has 3 members"
    assert len(made.markdown()) == 2 + len(made.rows) + 1 + len(made.text)


def test_the_code_of_the_ranking_is_found():
    assert len(ranking_cifar10_jpeg.SOURCE.code()) == 64


# -- The stored tables of the unified evaluation on the JPEG copy, from made cells -------------------------------------


def test_each_model_has_one_line_with_the_printed_values():
    cells = [
        PrintedCell("table1/copy/exact/DE/kl", 0.031, 0.5, 0.4, 0.6, None, ""),
        PrintedCell("table1/copy/paper/DE/kl", 0.031, 0.25, 0.2, 0.3, None, ""),
        PrintedCell("table1/copy/paper/DE/accuracy_percent", 93.77, 70.0, 69.0, 71.0, None, ""),
        PrintedCell("table1/copy/exact/DE/ece", 0.007, 0.9, 0.8, 1.0, None, ""),
        PrintedCell("table1/copy/exact/vacuous/kl", math.nan, 0.0, math.nan, math.nan, None, ""),
        PrintedCell("table7/copy/exact/DE/kl_correct", 0.1, 0.7, 0.6, 0.8, None, ""),
    ]
    made = unified_cifar_10.table(cells)
    made.markdown()  # as many cells as columns
    assert made.columns[1:3] == ("accuracy, %", "KL")
    assert made.columns[5] == "paper's convention: KL"
    kl, theirs = "0.500 [0.400, 0.600]", "0.250 [0.200, 0.300]"
    assert made.rows == [
        ["DE", "–", kl, "–", "–", theirs, "–", "–", "93.77, 0.031, 0.385, 0.415"],
        ["vacuous", "–", "0.000", "–", "–", "–", "–", "–", "–"],
    ]
    again = unified_cifar_10.table(cells, {"slower": [cells[0], cells[4]]})  # baselines do not stand twice
    assert again.rows == [*made.rows, ["DE, slower", "–", kl, *["–"] * 5, "93.77, 0.031, 0.385, 0.415"]]


def test_findings_are_a_list():
    assert unified_cifar_10.findings(["Findings:", "  exact", "    DE has less: holds"]).markdown() == [
        "Findings:",
        "",
        "* exact",
        "  * DE has less: holds",
    ]
