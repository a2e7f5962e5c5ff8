"""Samples and runs of the gain: what they take and what they refuse."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.evidence import GainRun, GainSample

RIGHT, WRONG = [True, False, False], [True, True, False]


def sample(**changes):
    fields = {
        "gain": {"zero-one": [0, 1, 0]},
        "epistemic": {"entropy": [0.1, 0.6, 0.2]},
        "correct_before": RIGHT,
        "correct_after": WRONG,
    }
    return GainSample(**(fields | changes))


def test_arrays_of_any_kind_become_floats():
    wide = np.zeros((3, 2), dtype=np.float16)
    wide.flags.writeable = False
    found = sample(epistemic={"entropy": wide[:, 0]}, groups=["a", "a", None])
    assert found.epistemic["entropy"].dtype == found.gain["zero-one"].dtype == np.float64
    assert found.groups.dtype.kind == "U"
    assert (found.n_instances, found.accuracy_before, found.accuracy_after) == (
        3,
        pytest.approx(1 / 3),
        pytest.approx(2 / 3),
    )


@pytest.mark.parametrize(
    ("changes", "parameter", "code", "got"),
    [
        ({"correct_before": [1, 0, 0]}, "correct_before", "shape", "int64"),
        ({"correct_before": []}, "correct_before", "shape", r"\(0,\)"),
        ({"correct_after": [True]}, "correct_after", "mismatch", "1 row, not 3"),
        ({"gain": {}}, "gain", "empty", r"{}"),
        ({"gain": [0, 1, 0]}, "gain", "type", ""),
        ({"gain": {"hinge": [0, 1, 0]}}, "gain", "choice", "'hinge'"),
        (
            {"gain": {"zero-one": [0, -1, 0]}},
            "gain['zero-one']",
            "mismatch",
            "row 1 has -1, and is wrong before and right",
        ),
        ({"epistemic": {"entropy": [0.1, np.nan, 0.2]}}, "epistemic['entropy']", "finite", "1 of 3 .* in row 1"),
        ({"epistemic": {"entropy": [0.1, 0.2]}}, "epistemic['entropy']", "mismatch", "2 rows, not 3"),
        ({"epistemic": {"entropy": [[0.1], [0.2], [0.3]]}}, "epistemic['entropy']", "shape", r"\(3, 1\)"),
        ({"epistemic": {"entropy": ["a", "b", "c"]}}, "epistemic['entropy']", "shape", "<U1"),
        ({"truth": [0.1, 0.2, 0.3]}, "truth", "type", ""),
        ({"groups": [0, 1]}, "groups", "shape", r"\(2,\) for 3 instances"),
    ],
)
def test_samples_that_do_not_fit(changes, parameter, code, got):
    with refuses(parameter, code, got=got):
        sample(**changes)


def test_runs():
    run = GainRun(3, sample(), sample(), {"train": np.int64(7)})
    assert (run.seed, run.sizes, run.notes) == (3, {"train": 7}, ())
    with refuses("seed", "type", got="True"):
        GainRun(True, sample())
    with refuses("test", "type"):
        GainRun(0, {"zero-one": [0]})
    with refuses("sizes", "type"):
        GainRun(0, sample(), None, [3])
    for size in (1.5, -1, float("inf"), True):
        with refuses("sizes['train']", "type"):
            GainRun(0, sample(), None, {"train": size})
    with refuses("calibration.epistemic", "mismatch", got="lacks entropy"):
        GainRun(0, sample(), sample(epistemic={"margin": [0.1, 0.2, 0.3]}))
