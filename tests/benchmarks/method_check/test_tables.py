"""Tables of the check: reasons for lags, counts of promises."""

import numpy as np
from benchmarks.method_check.signatures import signatures_of
from benchmarks.method_check.tables import accuracy_lines, accuracy_rows, left_out_cells, signature_lines
from tests.benchmarks.method_check.made import ensemble, result_of, right_in

import uqassay as uq


def test_a_reason_stands_beside_every_method_that_lags_and_no_other():
    members = uq.Members(np.repeat(right_in(0.9)[0].probs[:, None], 4, axis=1))
    found = {
        "snn": [result_of(*right_in(0.97), fit_seconds=2.0)],
        "near": [result_of(*right_in(0.95), train_accuracy=0.5)],
        "learns less": [result_of(*right_in(0.94), train_accuracy=0.95)],
        "fits": [result_of(members, right_in(0.9)[1], train_accuracy=0.985)],
    }
    longer = {"learns less": ("90 epochs", [result_of(*right_in(0.96))]), "fits": ("30 members", found["fits"])}
    rows = {row.method: row for row in accuracy_rows(found, longer)}
    assert [name for name, row in rows.items() if row.lags] == ["learns less", "fits"]
    assert rows["near"].reasons == rows["snn"].reasons == ()
    assert (
        rows["learns less"]
        .reasons[0]
        .startswith("it learns less (95.0 % of the training instances right, snn 100.0 %)")
    )
    assert rows["learns less"].reasons[1].startswith("with 90 epochs it is within 2 points (−1.00, ")
    assert rows["fits"].reasons[0].startswith("it fits as well (98.5 % of the training instances right, snn 100.0 %)")
    assert rows["fits"].reasons[1].startswith("with 30 members it is still behind (−7.00, ")
    assert rows["fits"].reasons[2] == "its 4 members alone reach 90.0 %"
    lines = accuracy_lines("made", list(rows.values()), found)
    assert "2 of 4 within 2 points of snn, or ahead; reasons for the others:" in lines[-3]
    first = next(line for line in lines if line.strip().startswith("snn"))
    assert first.split() == ["snn", "97.00", "94.62", "to", "99.38", "–", "–", "2.0"]


def test_without_the_plain_network_nothing_lags():
    found = {"ddu": [result_of(*right_in(0.5))]}
    rows = accuracy_rows(found, {})
    assert rows[0].ahead is None
    assert not rows[0].lags
    assert not any("within" in line for line in accuracy_lines("made", rows, found))
    assert signature_lines({"made": signatures_of({"snn": found["ddu"]}, {})}) == []


def test_text_of_the_promises_counts_them(random_generator):
    said, y = ensemble(random_generator, 300, 2.0)
    signatures = signatures_of({"deep-ensemble": [result_of(said, y)]}, {})
    lines = signature_lines({"one": signatures, "other": signatures})
    assert lines[1].endswith("rule: accuracy above the members' mean")
    assert lines[2].startswith("    one    held      accuracy +")
    assert lines[5].startswith("    one    held      lower by ")
    assert lines[-1] == "  held: 4"


def test_left_out_cells_have_the_reason_and_no_number():
    (cell,) = left_out_cells({"mnist-10k": "no network"})
    assert (cell.name, cell.note, cell.agrees) == ("left-out/mnist-10k", "no network", None)
    assert np.isnan([cell.paper, cell.ours, cell.low, cell.high]).all()
