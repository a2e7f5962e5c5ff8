"""From files to an assay: labels, groups and subgroups belong to the rows of the predictions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.cli.inputs import AssayRequest, make_assay
from uqassay.errors import FileFormatError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
    with refuses("ids", "mismatch", got="1 are missing, 'z' first", source="labels.csv", error=FileFormatError):
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
    with refuses("ids", "mismatch", source="beside.csv", error=FileFormatError):
        make_assay(AssayRequest(files, **given))


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
    assert steps[:4] == ["reading a.npz", "checking the predictions", "m", "calibration of m"]
    assert steps[4:] == ["baselines", "backward scores", "pictured sets"]


def test_a_meaning_of_variances_is_for_the_files_that_lack_it(folder):
    logits = {"mean": np.log(PROBS)[:, None].repeat(2, axis=1), "variance": np.ones((4, 2, 3))}
    np.savez("old.npz", **logits, labels=Y)
    np.savez("new.npz", **logits, variance_is="aleatoric")
    np.savez("point.npz", probs=PROBS)
    with refuses("variance_is", "missing", source="old.npz", error=FileFormatError):
        make_assay(AssayRequest(["old.npz", "new.npz"]))
    found = make_assay(AssayRequest(["old.npz", "new.npz", "point.npz"], variance_is="epistemic"))
    assert [(m.name, m.n_points, m.spanned_by) for m in found.models[:3]] == [
        ("old", 100, "draws"),
        ("new", 2, "passes"),
        ("point", 1, ""),
    ]
    with refuses("variance_is", "conflict", source="new.npz", error=FileFormatError):
        make_assay(AssayRequest(["new.npz", "point.npz"], variance_is="epistemic"))
    with refuses("variance_is", "conflict", source="point.npz", error=FileFormatError):
        make_assay(AssayRequest(["point.npz"], variance_is="epistemic"))


def test_workers_of_a_cluster_read_rows_and_give_the_same_assay(folder, needs):
    needs("distributed", "zarr")
    import distributed

    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(3), (40, 2)), rng.integers(0, 3, 40)
    np.save("a.npy", p)
    uq.save(uq.Dirichlet(5 * p[:, 0], ids=np.arange(40) + 3, groups=np.arange(40) // 4, n_draws=20), "b.zarr")
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
