"""What is written never replaces what is read, nor anything that is no file, and is refused before it is computed."""

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def folder(files, monkeypatch):
    monkeypatch.chdir(files)
    return files


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file() and not p.is_fifo()}


@pytest.fixture
def refused(folder, run, monkeypatch):
    """The sentence of a refusal that came before any work, and changed nothing."""

    def call(*argv):
        def computed(*_, **__):
            raise AssertionError("the output was not checked first")

        monkeypatch.setattr("uqassay.cli.report.make_assay", computed)
        monkeypatch.setattr("uqassay.predictions.files.draft_of", computed)
        before = contents(folder)
        ran = run(*argv)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert contents(folder) == before
        return ran.err

    return call


MODEL = ("report", "DE=de.npz", "--labels", "labels.npy")


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("--labels", "labels.npy"),
        ("--groups", "g.npy"),
        ("--subgroup", "g.npy"),
        ("--focal-sets", "f.npy"),
        ("", "de.npz"),
    ],
)
@pytest.mark.parametrize("alias", ["itself", "symlink", "hard link", "dotted"])
def test_no_page_over_an_input(folder, refused, option, name, alias):
    np.save("g.npy", np.arange(60) % 3)
    np.save("f.npy", np.eye(3))
    other = Path("other.html")
    match alias:
        case "symlink":
            other.symlink_to(name)
        case "hard link":
            os.link(name, other)
        case _:
            other = Path(name if alias == "itself" else f"../{folder.name}/{name}")
    given = () if not option or option == "--labels" else (option, f"site={name}" if option == "--subgroup" else name)
    assert f"--output: {other} is an input and would be lost; choose another name." in refused(
        *MODEL, *given, "-o", other
    )


def test_no_page_over_a_pipe_or_below_a_file(folder, refused):
    os.mkfifo("pipe")
    assert "--output: " in refused(*MODEL, "-o", "pipe")
    assert Path("pipe").is_fifo()
    assert "Not a directory" in refused(*MODEL, "-o", "labels.npy/page.html")
    Path("loop.html").symlink_to("loop.html")
    assert refused(*MODEL, "-o", "loop.html").startswith("loop.html: ")


def test_a_folder_that_does_not_exist_is_not_made(folder, refused):
    sentence = f"the folder {folder}/sub/dir does not exist; create it first.\n"
    assert refused(*MODEL, "-o", "sub/dir/page.html") == f"--output: {sentence}"
    assert refused(*MODEL, "-o", "page.html", "--save", "sub/dir/kept") == f"--save: {sentence}"
    assert refused(*MODEL, "-o", "sub/dir/page.html", "--save", "kept") == f"--output: {sentence}"
    assert "sub/dir does not exist; create it first." in refused("convert", "de.npz", "sub/dir/de2.npz")
    assert not Path("sub").exists()


@pytest.mark.parametrize("name", ["page.txt", "page", "page.html.gz", ".html"])
def test_the_page_is_html_by_its_name(folder, refused, name):
    assert "--output: the page is HTML, and its name must end in .html or .htm; got " in refused(*MODEL, "-o", name)


def test_the_page_goes_through_a_link(folder, run):
    Path("pages").mkdir()
    Path("page.html").symlink_to("pages/real.html")
    umask = os.umask(0o077)
    try:
        assert run(*MODEL, "-o", "page.html", "--draws", "10").code == 0
    finally:
        os.umask(umask)
    assert Path("page.html").is_symlink()
    assert Path("pages/real.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert Path("pages/real.html").stat().st_mode & 0o777 == 0o600
    assert [p.name for p in Path("pages").iterdir()] == ["real.html"]


def test_no_saved_assay_over_anything_else(folder, refused):
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("1")
    argv = (*MODEL, "-o", "page.html", "--save")
    assert "--save: mine exists and does not hold an assay" in refused(*argv, "mine")
    assert "--save: labels.npy exists and does not hold an assay" in refused(*argv, "labels.npy")
    assert "labels.npy is a file and cannot hold others; choose another folder." in refused(*argv, "labels.npy/kept")
    assert "--save: page.html cannot be a folder where page.html is the page" in refused(*argv, "page.html")
    Path("mine/assay.json").write_text("{}")
    np.save("mine/labels.npy", np.load("labels.npy"))
    inside = ("report", "DE=de.npz", "--labels", "mine/labels.npy", "--json", "--save", "mine")
    assert "--save: mine is replaced, and mine/labels.npy in it is an input" in refused(*inside)


def test_the_page_may_lie_in_the_folder_of_the_assay_which_may_be_a_link(folder, run):
    Path("kept").symlink_to("real")
    for _ in range(2):
        assert run(*MODEL, "-o", "kept/page.html", "--save", "kept", "--draws", "10").code == 0
        assert Path("kept").is_symlink()
        assert sorted(p.name for p in Path("real").iterdir()) == ["arrays.npz", "assay.json", "page.html"]


def test_permission_errors_name_the_page(folder, run, monkeypatch):
    def denied(*_):
        raise PermissionError(13, "Permission denied", "draft", None, "page.html")

    monkeypatch.setattr("os.replace", denied)
    ran = run(*MODEL, "-o", "page.html", "--draws", "10")
    assert (ran.code, ran.err) == (2, "page.html: Permission denied; check path, permissions and free space.\n")
    assert not [p.name for p in folder.iterdir() if p.name.startswith(".")]


@pytest.mark.parametrize("given", ["SRC", "--labels"])
def test_convert_writes_over_no_input(folder, refused, given):
    np.savez("y.npz", labels=np.load("labels.npy"))
    name = "de.npz" if given == "SRC" else "y.npz"
    Path("link.npz").symlink_to(name)
    for target in (name, "link.npz"):
        sentence = refused("convert", "de.npz", target, "--labels", "y.npz")
        assert sentence == f"DST: {target} is an input and would be lost; choose another name.\n"
