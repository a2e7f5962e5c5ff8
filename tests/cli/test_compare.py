"""`uqassay compare`: the numbers of the library, from saved assays by name, and one sentence for what cannot be read."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.errors import InputError
from uqassay.evidence import compare_over_data_sets
from uqassay.lab.cli_bench import data_set_folders


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    found = {}
    for seed in range(7):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 30)
        good, bad = (np.where(np.eye(2)[y] > 0, p, 1 - p) for p in (0.9, 0.6))
        judged = uq.assay({"good": uq.Point(good), "bad": uq.Point(bad)}, y, calibration=(), n_draws=10)
        found[f"d{seed}"] = judged.save(folder / f"d{seed}" / "assay")
    return found


def test_json_is_that_of_the_library(kept, run):
    ran = run("compare", *kept.values(), "--metric", "brier", "--rope", "0.01", "--json")
    assert (ran.code, ran.err) == (0, "")
    expected = compare_over_data_sets(kept, metric="brier", rope=0.01).to_dict()
    assert ran.json() == {"schema": "uqassay.data-sets/1", **expected}


def test_what_is_printed(kept, run):
    ran = run("compare", *kept.values(), "--tradeoff", "0.2")
    assert (ran.code, ran.err) == (0, "")
    assert "Over 7 data sets, by log loss, good is better than bad (signed-rank tests: at most 5 %" in ran.out
    assert "average rank" in ran.out
    few = run("compare", *list(kept.values())[:3], "--metric", "accuracy", "--rope", "0.1")
    assert "3 data sets cannot tell good and bad apart by accuracy" in few.out
    assert "P(equal)" in few.out


def test_groups_are_printed_where_something_is_shown(kept, run):
    import uqassay.evidence as evidence

    found = evidence.compare_table([[0.9, 0.5, 0.5]] * 9, greater_is_better=True, models=["a", "b", "c"])
    assert found.groups() == (("a",), ("b", "c"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "compare_over_data_sets", lambda *args, **options: found)
        ran = run("compare", *kept.values())
    assert "Not told apart: {b, c}." in ran.out


def test_names_of_data_sets(kept, tmp_path):
    one, two, *_ = kept.values()
    assert list(data_set_folders([str(one), str(two)])) == ["d0", "d1"]
    assert list(data_set_folders([f"digits={one}", str(two)])) == ["digits", "assay"]
    with pytest.raises(InputError, match="two data sets are named 'd0'"):
        data_set_folders([str(one), str(one)])
    with pytest.raises(InputError, match="must be saved assays, or one folder of a benchmark"):
        data_set_folders([str(tmp_path)])


def test_bad_input_is_one_sentence(kept, run, tmp_path):
    for argv in (
        [tmp_path],
        [*kept.values(), "--metric", "x"],
        [*kept.values(), "--model", "x"],
        [next(iter(kept.values()))],
    ):
        ran = run("compare", *argv)
        assert ran.code == 2
        assert ran.err.count("\n") == 1
    ran = run("compare", *kept.values(), "--metric", "uq-auc")
    assert ran.err == "--score: is needed for 'uq-auc'; got none; pass --score total-entropy, say.\n"
