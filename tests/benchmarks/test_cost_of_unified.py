"""Counted operations of the unified evaluation against a count by hand."""

import pytest

torch = pytest.importorskip("torch")

from benchmarks.cost_of_unified import Operations, operations  # noqa: E402

from uqassay.lab.papers.unified.plan import TrainingSetting, chosen_predictors  # noqa: E402


def test_operations_of_a_dense_network_by_hand():
    (standard,) = chosen_predictors(["SNN"])
    found = operations(TrainingSetting(), standard, "mnist")
    # two operations for each weight, forward, for its own gradient, and for that of its input but in the first layer
    first, rest = 28 * 28 * 64, 64 * 64 + 64 * 10
    assert found == Operations(0.0, 2 * (2 * first + 3 * rest))


def test_rs_nn_trains_two_networks():
    (standard, rs_nn) = (chosen_predictors([name])[0] for name in ("SNN", "RS-NN"))
    one, two = (operations(TrainingSetting(), predictor, "mnist").image for predictor in (standard, rs_nn))
    assert 2 * one <= two < 2.5 * one  # and the second has more outputs


def test_operations_of_whole_epochs():
    assert Operations(5.0, 2.0).of(10, batch_size=4, epochs=3) == 3 * (5 * 3 + 2 * 10)
