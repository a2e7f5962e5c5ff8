"""From the words of a command line to files, predictions, labels and an assay."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.cli import inputs
from uqassay.cli.inputs import (
    NORMALISED,
    AssayRequest,
    Reading,
    file_and_column,
    load_kept,
    load_normalised,
    make_assay,
    member_axes,
    model_files,
    normalised_sentences,
    only_common_instances,
    parse_tradeoffs,
    read_class_names,
    values_of_instances,
)
from uqassay.errors import FileFormatError, InputError

PROBS = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])
IDS = np.array(["w", "x", "y", "z"])
Y = np.array([0, 1, 2, 0])
OTHER = [2, 0, 3, 1]  # another order of the same instances
CLASS_NAMES = ("cat", "dog, small", "λ")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -- an assay of files ----------------------------------------------------------------------------------------------------


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
    with refuses("", "ids", got="1 are missing, 'z' first", source="labels.csv"):
        make_assay(AssayRequest(["a.npz"], labels=Path("labels.csv")))


@pytest.mark.parametrize(
    ("option", "parameter"), [("labels", ""), ("groups", "groups"), ("subgroup", "subgroup 'site'")]
)
def test_ids_beside_predictions_without_ids_are_refused(folder, option, parameter):
    """Labels in another order than the predictions would be taken for mistakes."""
    np.savez("a.npz", probs=PROBS, labels=Y)
    Path("beside.csv").write_text("id,label\n" + "".join(f"{IDS[i]},{Y[i]}\n" for i in OTHER))
    given = {"subgroup": ["site=beside.csv"]} if option == "subgroup" else {option: Path("beside.csv")}
    with refuses(parameter, "ids", got="the first id is 'y'", source="beside.csv"):
        make_assay(AssayRequest(["a.npz"], **given))


def test_ids_of_one_model_alone_are_refused(folder):
    np.savez("a.npz", probs=PROBS, labels=Y)
    np.savez("b.npz", probs=PROBS, ids=IDS, labels=Y)
    with refuses("models['a'].ids", "missing"):
        make_assay(AssayRequest(["a.npz", "b.npz"]))


def test_groups_follow_the_ids_of_the_predictions_that_have_them(folder):
    np.savez("a.npz", probs=PROBS, labels=Y, ids=IDS)
    np.savez("b.npz", probs=PROBS, ids=IDS)
    Path("groups.csv").write_text("id,group\n" + "".join(f"{IDS[i]},{i}\n" for i in OTHER))
    assert make_assay(AssayRequest(["a.npz", "b.npz"], groups=Path("groups.csv"))).groups.tolist() == [0, 1, 2, 3]


def test_ids_that_only_count_the_rows_are_no_order(folder):
    np.savez("a.npz", probs=PROBS)
    Path("labels.csv").write_text("id,label\n" + "".join(f"{i},{Y[i]}\n" for i in range(4)))
    assert make_assay(AssayRequest(["a.npz"], labels=Path("labels.csv"))).labels.tolist() == Y.tolist()


def test_a_loop_of_links_is_a_missing_file(folder):
    Path("loop.npz").symlink_to("loop.npz")
    with refuses("path", "missing", source="loop.npz", error=FileFormatError):
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
    assert steps[:3] == ["reading a.npz", "checking the predictions", "m"]
    assert steps[3:] == ["baselines", "backward scores", "pictured sets", "calibration of m"]


def test_a_meaning_of_variances_is_for_the_files_that_lack_it(folder):
    logits = {"mean": np.log(PROBS)[:, None].repeat(2, axis=1), "variance": np.ones((4, 2, 3))}
    np.savez("old.npz", **logits, labels=Y)
    np.savez("new.npz", **logits, variance_is="aleatoric")
    np.savez("point.npz", probs=PROBS)
    with refuses("variance_is", "missing", source="old.npz", error=FileFormatError):
        make_assay(AssayRequest(["old.npz", "new.npz"]))
    found = make_assay(AssayRequest(["old.npz", "new.npz", "point.npz"], reading=Reading(variance_is="epistemic")))
    assert [(m.name, m.n_points, m.spanned_by) for m in found.models[:3]] == [
        ("old", 100, "draws"),
        ("new", 2, "passes"),
        ("point", 1, ""),
    ]
    with refuses("variance_is", "conflict", source="new.npz", error=FileFormatError):
        make_assay(AssayRequest(["new.npz", "point.npz"], reading=Reading(variance_is="epistemic")))
    with refuses("variance_is", "conflict", source="point.npz", error=FileFormatError):
        make_assay(AssayRequest(["point.npz"], reading=Reading(variance_is="epistemic")))


def test_workers_of_a_cluster_read_rows_and_give_the_same_assay(folder, needs):
    needs("distributed", "zarr")
    import distributed

    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(3), (40, 2)), rng.integers(0, 3, 40)
    np.save("a.npy", p)
    uq.save(uq.Dirichlet(5 * p[:, 0], ids=np.arange(40), groups=np.arange(40) // 4, n_draws=20), "b.zarr")
    np.savetxt("c.csv", np.c_[p[:, 1]], delimiter=",", header="proba_0,proba_1,proba_2", comments="")
    np.save("labels.npy", y)
    request = AssayRequest(["a.npy", "b.zarr", "c.csv"], labels=Path("labels.npy"), draws=10, calibration=["none"])
    here = make_assay(request)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, protocol="tcp://", host="127.0.0.1", dashboard_address=":0",
        scheduler_kwargs={"dashboard": False},
    ) as cluster:  # fmt: skip
        there = make_assay(replace(request, cluster=cluster.scheduler_address))
        p[37, 1, 2] = np.nan
        np.save("a.npy", p)
        with refuses("models['a'].probs", "finite", got="row 37", source="a.npy"):
            make_assay(replace(request, cluster=cluster.scheduler_address))
    assert there.findings().equals(here.findings())
    assert there.groups.tolist() == here.groups.tolist()
    assert [m.fingerprint for m in there.models] == [m.fingerprint for m in here.models]


# -- predictions ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def counts(files):
    """The members of de.npz, seven rows of which are rounded."""
    values = np.load(files / "de.npz")["probs"]
    values[3:10, 1] *= 1.005
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
    (files / "t.csv").write_text("proba_0,proba_1\n3,1\n1,0\n")
    assert load_normalised(files / "t.csv").notes[0].facts["rows"] == 1
    (files / "named.csv").write_text("cat,dog\n3.0,1.0\n1,0\n")
    assert load_normalised(files / "named.csv", columns=["cat", "dog"]).notes[-1].facts["rows"] == 1
    np.savez(files / "unnamed.npz", np.array([[3.0, 1.0], [1.0, 0.0]]))
    assert load_normalised(files / "unnamed.npz").notes[-1].facts["rows"] == 1
    np.savez(files / "v.npz", vertices=100.0 * np.load(files / "de.npz")["probs"])
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


def point(ids):
    return uq.Point(np.full((len(ids), 2), 0.5), ids=ids)


def test_rows_of_all_models_in_the_order_of_the_first(tmp_path):
    first = uq.Point([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], ids=["a", "b", "c"])
    second = uq.Point([[0.4, 0.6], [0.5, 0.5]], ids=["c", "a"])
    found = only_common_instances({"x": ["x.npz"], "y": ["y.npz"]}, {"x": [first], "y": [second]})
    assert found["x"][0].ids.tolist() == found["y"][0].ids.tolist() == ["a", "c"]
    assert found["x"][0].probs[:, 0].tolist() == [0.1, 0.3]
    assert found["y"][0].probs[:, 0].tolist() == [0.5, 0.4]
    assert found["x"][0].notes == ()
    (note,) = found["y"][0].notes
    assert note.facts == {"instances": 2, "every": 3, "common": 2}
    assert note.text.startswith("has 2 of 3 cases; the 2 that every model has are judged")


def test_complete_files_stay_as_they_are():
    run = point(["a", "b"])
    assert only_common_instances({"x": ["x.npz"]}, {"x": [run]})["x"][0] is run


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (uq.Point([[0.5, 0.5]]), "y.npz has none"),
        (point(["c"]), "they have none"),
    ],
)
def test_ids_that_cannot_tell_are_refused(tmp_path, other, words):
    paths = {"x": [tmp_path / "x.npz"], "y": [tmp_path / "y.npz"]}
    with pytest.raises(InputError, match=words):
        only_common_instances(paths, {"x": [point(["a", "b"])], "y": [other]})


def test_a_model_without_an_answer_is_judged_on_the_others(tmp_path, run):
    rng = np.random.default_rng(0)
    rows = [
        {"id": f"q{i}", "probs": {"A": int(rng.integers(1, 9)), "B": int(rng.integers(1, 9))}, "label": "AB"[i % 2]}
        for i in range(40)
    ]
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    whole.write_text("\n".join(map(json.dumps, rows)))
    part.write_text("\n".join(map(json.dumps, reversed(rows[3:]))))
    command = ("rank", str(whole), str(part), "--normalise")
    refused = run(*command)
    assert refused.code == 2
    assert "part: all models need the same instances; 37 instances, and whole has 40" in refused.err
    assert "--common-instances" in refused.err
    found = run(*command, "--common-instances")
    assert found.code == 0
    assert "part: has 37 of 40 cases; the 37 that every model has are judged" in " ".join(found.out.split())
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\n" + "".join(f"q{i},{'AB'[i % 2]}\n" for i in range(40)))
    assert run(*command, "--common-instances", "--labels", str(labels)).code == 0


# -- labels and other values of instances ---------------------------------------------------------------------------------


def test_values_of_instances_are_found_by_their_name(folder):
    np.save("bare.npy", ["a", "b"])
    np.savez("named.npz", groups=[1, 2], other=[3, 4])
    np.savez("single.npz", site=[5, 6])
    Path("table.csv").write_text("site,age\n1,30\n2,40\n")
    assert values_of_instances(Path("bare.npy"), ("groups",)).tolist() == ["a", "b"]
    assert values_of_instances(Path("named.npz"), ("groups",)).tolist() == [1, 2]
    assert values_of_instances(Path("single.npz"), ("groups",)).tolist() == [5, 6]
    assert values_of_instances(Path("table.csv"), ("site",)).tolist() == [1, 2]
    with refuses("site", "missing", source="named.npz", error=FileFormatError):
        values_of_instances(Path("named.npz"), ("site",))
    np.savez("objects.npz", groups=np.array([{}, {}], dtype=object))
    with refuses("groups", "pickle", source="objects.npz", error=FileFormatError):
        values_of_instances(Path("objects.npz"), ("groups",))


@pytest.mark.parametrize(
    ("values", "got"),
    [
        ([0.0, np.nan, 1.0, np.nan], "2 of 4 have none, row 1 first"),
        (["a", "b", "c", ""], "1 of 4 have none, row 3 first"),
        (["nan", "b", " ", "NaN"], "3 of 4 have none, row 0 first"),
    ],
)
def test_instances_without_a_value_are_no_group_of_their_own(folder, values, got):
    np.save("g.npy", values)
    with refuses("groups", "missing", got=got, source="g.npy", error=FileFormatError):
        values_of_instances(Path("g.npy"), ("groups",))


def test_every_value_is_kept_where_all_are_there(folder):
    np.save("g.npy", np.array([2.5, -1.0, np.inf, 0.0], dtype=np.float16))
    found = values_of_instances(Path("g.npy"), ("groups",))
    assert found.tolist() == [2.5, -1.0, np.inf, 0.0]


@pytest.mark.parametrize(
    ("ids", "got"),
    [(["y", "w", "x"], ""), (["w", "x", "y", "y"], "some are repeated"), (["w", "y"], "1 are missing, 'x' first")],
)
def test_values_follow_the_ids(folder, ids, got):
    """As many more instances as there are; not fewer, and none twice."""
    np.savez("a.npz", probs=PROBS[:3], ids=["w", "x", "y"], labels=Y[:3])
    np.savez("v.npz", groups=[10 * ord(name) for name in ids], ids=ids)
    request = AssayRequest(["a.npz"], groups=Path("v.npz"), calibration=["none"], draws=10)
    if got:
        with refuses("groups", "ids", got=got, source="v.npz"):
            make_assay(request)
    else:
        assert make_assay(request).groups.tolist() == [1190, 1200, 1210]


# -- an assay that was kept -----------------------------------------------------------------------------------------------


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
    assert "Ranking by log loss" in ranked.out  # no model has a set, so that no λ is named
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


# -- what words stand for -------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", ["names.txt", "names.npy", "names.npz", "names.csv"])
def test_files_of_class_names(tmp_path, name):
    path = tmp_path / name
    match path.suffix:
        case ".npy":
            np.save(path, np.array(CLASS_NAMES))
        case ".npz":
            np.savez(path, class_names=np.array(CLASS_NAMES), other=[1])
        case ".csv":
            path.write_text("class_names\n" + "".join(f'"{name}"\n' for name in CLASS_NAMES), encoding="utf-8")
        case _:
            path.write_text("\ufeff" + "\n".join(CLASS_NAMES) + "\n\n", encoding="utf-8")
    assert read_class_names(str(path)) == CLASS_NAMES


def test_class_names_typed():
    assert read_class_names(" a,b , c") == ("a", "b", "c")
    assert read_class_names("a") == ("a",)


def test_bad_files_of_class_names(tmp_path, monkeypatch):
    (tmp_path / "latin.txt").write_bytes("é".encode("latin-1"))
    with refuses("class_names", "encoding", got="byte 0", source="latin.txt", error=FileFormatError):
        read_class_names(str(tmp_path / "latin.txt"))
    (tmp_path / "long.txt").write_text("a" * 101)
    monkeypatch.setattr(inputs, "_MOST_BYTES", 100)
    with refuses("class_names", "size", got="101 bytes", source="long.txt", error=FileFormatError):
        read_class_names(str(tmp_path / "long.txt"))


def test_names_reach_the_report_and_labels_go_by_them(files, run):
    y = np.load(files / "labels.npy")
    np.save(files / "words.npy", np.array(["low", "mid", "high"])[y])
    (files / "names.txt").write_text("low\nmid\nhigh\n")
    argv = ("report", files / "de.npz", "--draws", "10", "--json", "--calibration", "none")
    by_names = run(*argv, "--labels", files / "words.npy", "--class-names", files / "names.txt")
    by_index = run(*argv, "--labels", files / "labels.npy", "--class-names", "low,mid,high")
    assert (by_names.code, by_names.err) == (0, "")
    assert by_names.json()["findings"] == by_index.json()["findings"]
    expected = uq.assay(
        {"de": uq.load(files / "de.npz")}, y, class_names=["low", "mid", "high"], n_draws=10, calibration=()
    )
    assert by_names.json()["verdict"] == list(expected.verdict())


@pytest.mark.parametrize(("names", "message"), [("a,b", "got 2"), ("a,b,a", "'a' occurs twice")])
def test_names_that_do_not_fit_are_refused(names, message, files, run):
    ran = run("rank", files / "de.npz", "--labels", files / "labels.npy", "--class-names", names)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err
    assert "--class-names" in ran.err
