"""--normalise divides by the sums and says how many rows it changed."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli.normalising import NORMALISED, load_normalised, normalised_sentences


@pytest.fixture
def counts(files):
    """The members of de.npz, seven rows of which are counts."""
    values = np.load(files / "de.npz")["probs"]
    values[3:10, 1] *= 4.0
    np.savez(files / "counts.npz", probs=values)
    np.savez(files / "first.npz", probs=np.moveaxis(values, 1, 0))
    return files


@pytest.mark.parametrize(("name", "axis"), [("counts", 1), ("first", 0)])
def test_rows_that_change_are_counted(name, axis, counts):
    found = load_normalised(counts / f"{name}.npz", member_axis=axis)
    (note,) = found.notes
    assert (note.code, dict(note.facts)) == (NORMALISED, {"rows": 7, "instances": 60})
    np.testing.assert_allclose(found.probs, uq.load(counts / "de.npz").probs, rtol=1e-12)
    assert list(normalised_sentences({"m": [found]})) == [
        "Warning: m: in 7 of 60 rows the probabilities were divided by their sums."
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_rounding_is_no_change(dtype, files):
    np.savez(files / "rounded.npz", probs=np.load(files / "point.npz")["probs"].astype(dtype))
    assert load_normalised(files / "rounded.npz").notes == ()


def test_tables_and_vertices_are_counted_too(files):
    (files / "t.csv").write_text("proba_0,proba_1\n3,1\n0.5,0.5\n")
    assert load_normalised(files / "t.csv").notes[0].facts["rows"] == 1
    (files / "named.csv").write_text("cat,dog\n3.0,1.0\n0.5,0.5\n")
    assert load_normalised(files / "named.csv").notes[-1].facts["rows"] == 1
    np.savez(files / "unnamed.npz", np.array([[3.0, 1.0], [0.5, 0.5]]))
    assert load_normalised(files / "unnamed.npz").notes[-1].facts["rows"] == 1
    np.savez(files / "v.npz", vertices=2.0 * np.load(files / "de.npz")["probs"])
    assert load_normalised(files / "v.npz").notes[0].facts["rows"] == 60


def test_rank_and_report_say_it(counts, run):
    argv = (f"m={counts / 'counts.npz'}", "--labels", counts / "labels.npy", "--normalise", "--draws", "10")
    shown = run("rank", *argv)
    assert (shown.code, shown.err) == (0, "")
    assert "Note: m: in 7 of 60 rows the probabilities were divided by their sums.\n" in shown.out
    warnings = run("report", *argv, "--json").json()["warnings"]
    assert any("7 of 60 rows" in str(warning) for warning in warnings)


def test_the_other_commands_say_it_on_standard_error(counts, run):
    path, labels = counts / "counts.npz", counts / "labels.npy"
    said = "in 7 of 60 rows the probabilities were divided by their sums.\n"
    ood = run("ood", f"m={path}", "--out", f"m={counts / 'de.npz'}", "--score", "margin", "--normalise", "--json")
    assert (ood.code, ood.err) == (0, f"Warning: m: {said}")
    ood.json()
    tested = run("calibration-test", f"m={path}", "--labels", labels, "--normalise", "--draws", "19", "--json")
    assert (tested.code, tested.err) == (0, f"Warning: m: {said}")
    converted = run("convert", path, counts / "again.npz", "--normalise")
    assert (converted.code, converted.err) == (0, "")
    assert f"Note: {said}" in converted.out
