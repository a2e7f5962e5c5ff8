import re

import pytest

from uqassay.cli.inputs import AssayRequest
from uqassay.cli.kept_assay import load_kept
from uqassay.errors import InputError


@pytest.fixture
def kept(files, run, tmp_path):
    folder = tmp_path / "kept"
    made = run(
        "report",
        str(files / "point.npz"),
        "--labels",
        str(files / "labels.npy"),
        "--save",
        str(folder),
        "--draws",
        "50",
        "-o",
        str(tmp_path / "first.html"),
    )
    assert made.code == 0, made.err
    return folder


def test_a_kept_assay_is_shown_again_as_it_was(kept, run, tmp_path):
    first = run("report", str(kept), "-o", str(tmp_path / "again.html"))
    assert first.code == 0
    assert (tmp_path / "again.html").stat().st_size > 10_000
    ranked = run("rank", str(kept), "--tradeoff", "1")
    assert ranked.code == 0
    shown = re.findall(r"Ranking at λ = (\S+)", ranked.out)
    assert shown == ["1"]  # not the λ that the assay was made with
    made = run("rank", str(kept), "--tradeoff", "0.33", "--json").json()
    assert [one["tradeoff"] for one in made["tradeoff"]] == [0.33]


def test_a_margin_can_be_given_to_a_kept_assay(kept):
    assert load_kept(AssayRequest([str(kept)])).settings.margin is None
    assert load_kept(AssayRequest([str(kept)], margin=0.1)).settings.margin == 0.1
    with pytest.raises(InputError, match=r"^margin: must be a positive number"):
        load_kept(AssayRequest([str(kept)], margin=-0.1))


def test_what_an_assay_is_made_from_has_no_effect_on_it(kept, files):
    with pytest.raises(InputError, match="--labels and --seed: have no effect on a kept assay"):
        load_kept(AssayRequest([str(kept)], labels=files / "labels.npy", seed=3))
    with pytest.raises(InputError, match=r"stands alone; got .*kept and others"):
        load_kept(AssayRequest([str(kept), "b.npz"]))


def test_files_are_no_kept_assay(files):
    assert load_kept(AssayRequest([str(files / "point.npz")])) is None
