"""From what was typed to models, labels and columns."""

from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.cli.columns import read_column
from uqassay.cli.inputs import AssayRequest, make_assay, model_files, parse_tradeoffs
from uqassay.errors import FileFormatError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_names_and_runs(folder):
    found = model_files(["DE=a.npz,b.npz", "EDL = c.npz", "DE=d.npz", "sub/e.npz"])
    assert found == {
        "DE": [Path("a.npz"), Path("b.npz"), Path("d.npz")],
        "EDL": [Path("c.npz")],
        "e": [Path("sub/e.npz")],
    }


def test_names_and_files_with_equals_signs_and_commas(folder):
    for name in ("a,b.npz", "x=y.npz", "plain.npz"):
        (folder / name).touch()
    assert model_files(["x=y.npz"]) == {"x=y": [Path("x=y.npz")]}
    assert model_files(["lr=0.1=plain.npz"]) == {"lr=0.1": [Path("plain.npz")]}
    assert model_files(["m=a,b.npz"]) == {"m": [Path("a,b.npz")]}
    assert model_files(["one=plain.npz", "two=plain.npz"]) == {"one": [Path("plain.npz")], "two": [Path("plain.npz")]}


def test_tradeoffs():
    assert parse_tradeoffs(["0.1, 0.5", "1e-2"]) == (0.1, 0.5, 0.01)
    assert parse_tradeoffs([]) == ()
    with refuses("tradeoff", "range"):
        parse_tradeoffs(["0.1,,0.5"])


def test_columns(folder):
    np.save("bare.npy", ["a", "b"])
    np.savez("named.npz", groups=[1, 2], other=[3, 4])
    np.savez("single.npz", site=[5, 6], ids=["u", "v"])
    Path("table.csv").write_text("id,site,age\nu,1,30\nv,2,40\n")
    assert read_column(Path("bare.npy"), ("groups",))[0].tolist() == ["a", "b"]
    assert read_column(Path("named.npz"), ("groups",))[0].tolist() == [1, 2]
    values, ids = read_column(Path("single.npz"), ("groups",))
    assert (values.tolist(), ids.tolist()) == ([5, 6], ["u", "v"])
    values, ids = read_column(Path("table.csv"), ("site",))
    assert (values.tolist(), ids.tolist()) == ([1, 2], ["u", "v"])
    with refuses("site", "undefined", error=FileFormatError):
        read_column(Path("named.npz"), ("site",))
    np.savez("objects.npz", groups=np.array([{}, {}], dtype=object))
    with pytest.raises(FileFormatError, match=r"objects\.npz: groups: holds pickled"):
        read_column(Path("objects.npz"), ("groups",))


PROBS = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])
IDS = np.array(["w", "x", "y", "z"])
Y = np.array([0, 1, 2, 0])
OTHER = [2, 0, 3, 1]  # another order of the same instances


def test_everything_follows_the_ids_of_the_first_model(folder):
    np.savez("a.npz", probs=PROBS, ids=IDS, labels=Y)
    np.savez("b.npz", probs=PROBS[OTHER], ids=IDS[OTHER], labels=Y[OTHER])
    rows = "\n".join(f"{IDS[i]},{Y[i]}" for i in OTHER)
    Path("labels.csv").write_text(f"id,label\n{rows}\n")
    np.savez("site.npz", site=np.arange(4)[OTHER], ids=IDS[OTHER])
    inside = make_assay(AssayRequest(["a.npz", "b.npz"], subgroup=["site=site.npz"], groups=Path("site.npz")))
    given = make_assay(AssayRequest(["a.npz", "b.npz"], labels=Path("labels.csv")))
    for made in (inside, given):
        assert made.labels.tolist() == Y.tolist()
        np.testing.assert_array_equal(made["a"].columns["distance"], made["b"].columns["distance"])
    assert inside.subgroups["site"].tolist() == [0, 1, 2, 3]
    assert inside.groups.tolist() == [0, 1, 2, 3]


def test_ids_that_do_not_match(folder):
    np.savez("a.npz", probs=PROBS, ids=IDS)
    Path("labels.csv").write_text("id,label\nw,0\nx,1\ny,2\nq,0\n")
    with refuses(
        "labels.csv", "mismatch", got="its ids do not match .* 1 are missing, 'z' first", error=FileFormatError
    ):
        make_assay(AssayRequest(["a.npz"], labels=Path("labels.csv")))


@pytest.mark.parametrize(
    ("option", "files"),
    [("labels", ["a.npz"]), ("groups", ["a.npz"]), ("subgroup", ["a.npz"]), ("labels", ["a.npz", "b.npz"])],
)
def test_ids_beside_predictions_without_ids_are_refused(folder, option, files):
    """Labels in another order than the predictions would be taken for mistakes."""
    np.savez("a.npz", probs=PROBS, labels=Y)
    np.savez("b.npz", probs=PROBS, ids=IDS, labels=Y)
    Path("beside.csv").write_text("id,label\n" + "".join(f"{IDS[i]},{Y[i]}\n" for i in OTHER))
    given = {"subgroup": ["site=beside.csv"]} if option == "subgroup" else {option: Path("beside.csv")}
    with refuses("beside.csv", "choice", error=FileFormatError):
        make_assay(AssayRequest(files, **given))


def test_groups_follow_the_ids_of_the_predictions_that_have_them(folder):
    np.savez("a.npz", probs=PROBS, labels=Y)
    np.savez("b.npz", probs=PROBS, ids=IDS)
    Path("groups.csv").write_text("id,group\n" + "".join(f"{IDS[i]},{i}\n" for i in OTHER))
    assert make_assay(AssayRequest(["a.npz", "b.npz"], groups=Path("groups.csv"))).groups.tolist() == [0, 1, 2, 3]


def test_ids_that_only_count_the_rows_are_no_order(folder):
    np.savez("a.npz", probs=PROBS)
    Path("labels.csv").write_text("id,label\n" + "".join(f"{i},{Y[i]}\n" for i in range(4)))
    assert make_assay(AssayRequest(["a.npz"], labels=Path("labels.csv"))).labels.tolist() == Y.tolist()


def test_thirty_runs_in_one_argument(folder):
    joined = ",".join(f"a/rather/long/folder/for/one/network/seed_{i:02d}.npz" for i in range(30))
    assert len(model_files([f"net={joined}"])["net"]) == 30
    assert list(model_files(["x" * 300 + "=a.npz"])) == ["x" * 300]


def test_a_loop_of_links_is_a_missing_file(folder):
    Path("loop.npz").symlink_to("loop.npz")
    with refuses("loop.npz", "undefined", error=FileFormatError):
        make_assay(AssayRequest(["loop.npz"]))


def test_labels_by_the_names_of_the_classes(folder):
    names = ["cat", "dog", "eel"]
    np.savez("a.npz", probs=PROBS, class_names=names, labels=Y)
    np.save("names.npy", np.array(names)[Y])
    assert make_assay(AssayRequest(["a.npz"], labels=Path("names.npy"))).labels.tolist() == Y.tolist()


def test_votes_beside_labels_inside(folder):
    np.savez("a.npz", probs=PROBS, labels=Y)
    np.save("votes.npy", [[3, 1, 0], [0, 4, 0], [0, 0, 4], [1, 3, 0]])
    made = make_assay(AssayRequest(["a.npz"], labels=Path("votes.npy")))
    assert made.labels.tolist()[3] == [0.25, 0.75, 0.0]


def test_labels_of_the_first_file_that_has_them(folder):
    np.savez("a.npz", probs=PROBS)
    np.savez("b.npz", probs=PROBS, labels=Y)
    assert make_assay(AssayRequest(["a.npz", "b.npz"])).labels.tolist() == Y.tolist()


def test_progress_names_every_step(folder):
    np.savez("a.npz", probs=PROBS, labels=Y)
    steps = []
    make_assay(AssayRequest(["m=a.npz"]), progress=steps.append)
    assert steps == ["reading a.npz", "m", "calibration of m"]


def test_names_take_any_encoding_and_paths_stay(folder):
    odd = Path("mod\udce9.npz")
    odd.touch()
    assert model_files([str(odd), "x\udce9=a.npz"]) == {r"mod\xe9": [odd], r"x\xe9": [Path("a.npz")]}


def test_errors_name_the_option(folder):
    with refuses("out", "duplicate", got="'b' is given twice"):
        model_files(["m=b,b"], option="out")
    with refuses("out", "undefined"):
        model_files(["=b"], option="out")
