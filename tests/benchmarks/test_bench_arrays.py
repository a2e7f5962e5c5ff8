"""The benchmark of arrays prints one row for each function, and leaves the dispatch as it was."""

from benchmarks import bench_arrays
from uqassay.predictions import devices as keeping_arrays


def test_one_row_for_each_function(needs, capsys):
    needs("torch")
    before = keeping_arrays.lies_on_host
    bench_arrays.measure(bench_arrays.Torch("cpu"), 30, 3, 4, "float32", 1)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("| losses", "| measures"))]
    assert len(rows) == len(bench_arrays.FUNCTIONS)
    assert all(row.count("|") == 8 for row in rows)
    assert keeping_arrays.lies_on_host is before


def test_whether_the_result_was_computed_elsewhere(needs):
    needs("torch")
    import torch

    with bench_arrays.computed_as_elsewhere():
        assert not keeping_arrays.lies_on_host(torch.zeros(2))
    assert keeping_arrays.lies_on_host(torch.zeros(2))
