"""From the words of a command line to models, files and numbers."""

from pathlib import Path

import pytest
from tests.refusals import refuses

from uqassay.cli.arguments import file_and_column, member_axes, model_files, parse_tradeoffs
from uqassay.errors import InputError


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
    with refuses("--tradeoff", "type", got="got ''"):
        parse_tradeoffs(["0.1,,0.5"])


def test_thirty_runs_in_one_argument(folder):
    joined = ",".join(f"a/rather/long/folder/for/one/network/seed_{i:02d}.npz" for i in range(30))
    assert len(model_files([f"net={joined}"])["net"]) == 30
    assert list(model_files(["x" * 300 + "=a.npz"])) == ["x" * 300]


def test_names_take_any_encoding_and_paths_stay(folder):
    odd = Path("mod\udce9.npz")
    odd.touch()
    assert model_files([str(odd), "x\udce9=a.npz"]) == {r"mod\xe9": [odd], r"x\xe9": [Path("a.npz")]}


def test_two_names_that_are_spelt_alike_are_two_models(folder):
    with refuses("models", "duplicate", got=r"mod\\\\xe9"):
        model_files(["mod\udce9=a.npz", r"mod\xe9=b.npz"])
    assert model_files(["mod\udce9=a.npz", "mod\udce9=b.npz"]) == {r"mod\xe9": [Path("a.npz"), Path("b.npz")]}


def test_errors_name_the_option(folder):
    with refuses("--out", "duplicate", got="'b' is given twice"):
        model_files(["m=b,b"], option="--out")
    with refuses("--out", "syntax"):
        model_files(["=b"], option="--out")


def test_file_and_column(tmp_path):
    path = tmp_path / "all.csv"
    path.touch()
    assert file_and_column(path) == (path, None)
    assert file_and_column(Path(f"{path}:site")) == (path, "site")
    assert file_and_column(Path("none.csv:site")) == (Path("none.csv:site"), None)
    odd = tmp_path / "all.csv:site"
    odd.touch()
    assert file_and_column(odd) == (odd, None)


def test_member_axes_of_all_models_and_of_one():
    names = ["DE", "a=b"]
    assert member_axes([], names) == {"DE": 1, "a=b": 1}
    assert member_axes(["0", "a=b=1"], names) == {"DE": 0, "a=b": 1}
    assert member_axes(["DE=-2"], names) == {"DE": -2, "a=b": 1}
    for wrong in ("x", "DE=", "MC=0"):
        with pytest.raises(InputError, match=r"--member-axis: .*write --member-axis 0, or --member-axis DE=0"):
            member_axes([wrong], names)
