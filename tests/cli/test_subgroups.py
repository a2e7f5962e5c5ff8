"""Rankings in parts of the test set are those of an assay of these instances alone."""

from dataclasses import replace

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli.report import first_places, parts_json
from uqassay.evidence.order import Order
from uqassay.evidence.subgroups import subgroups_of
from uqassay.evidence.tables import ranking_json


@pytest.fixture
def site(files):
    values = np.array(["A", "B", "B", "C"])[np.arange(60) % 4]
    np.save(files / "site.npy", values)
    return values


@pytest.fixture
def judged(files, site):
    predictions = {name: uq.load(files / f"{name}.npz") for name in ("de", "point", "intervals")}
    groups = np.arange(60) // 2
    y = np.load(files / "labels.npy")
    return uq.assay(predictions, y, subgroups={"site": site}, groups=groups, prior=frequencies(y), n_draws=50)


def frequencies(y):
    return np.bincount(y, minlength=3) / len(y)


def test_parts_against_an_assay_of_these_instances(files, site, judged):
    y = np.load(files / "labels.npy")
    parts = list(subgroups_of(judged, "site"))
    assert [(part.value, part.n_instances) for part in parts] == [("A", 15), ("B", 30), ("C", 15)]
    for part in parts:
        rows = np.flatnonzero(site == part.value)
        predictions = {name: uq.load(files / f"{name}.npz")[rows] for name in judged.model_names}
        alone = uq.assay(predictions, y[rows], groups=(np.arange(60) // 2)[rows], prior=frequencies(y), n_draws=50)
        alone = replace(alone, excess=judged.excess)  # what the models say of all inputs bounds the losses of each part
        alone.shared.note("order", Order(alone, families=3))  # tests hold for all parts together
        assert ranking_json(part.assay, [0.2, 1.0]) == ranking_json(alone, [0.2, 1.0])


def test_a_part_of_one_instance(files):
    site = np.array(["one"] + ["rest"] * 59)
    a = uq.assay({"de": uq.load(files / "de.npz")}, np.load(files / "labels.npy"), subgroups={"site": site}, n_draws=10)
    ranked = next(subgroups_of(a, "site")).assay.ranked(0.5)
    assert ranked[0].estimate.n == 1


def test_first_places_name_the_exceptions():
    y = np.array([0] * 10 + [1] * 5)
    good_at_0 = np.where(np.arange(15)[:, None] < 10, [0.9, 0.1], [0.6, 0.4])
    good_at_1 = np.where(np.arange(15)[:, None] < 10, [0.5, 0.5], [0.1, 0.9])
    a = uq.assay({"x": uq.Point(good_at_0), "z": uq.Point(good_at_1)}, y, subgroups={"part": y}, n_draws=10)
    overall, others = first_places(a, list(subgroups_of(a, "part")), 0.5)
    e = {m: a.loss(m, 0.5).mean() for m in ("x", "z")}
    assert overall == min(e, key=e.get)
    assert others == ({"x": ["0"]} if overall == "z" else {"z": ["1"]})


def test_json_of_parts(judged):
    found = parts_json(judged, [0.5])
    assert [(part["subgroup"], part["value"], part["n"]) for part in found] == [
        ("site", "A", 15),
        ("site", "B", 30),
        ("site", "C", 15),
    ]
    assert found[1]["tradeoff"] == ranking_json(list(subgroups_of(judged, "site"))[1].assay, [0.5])["tradeoff"]


def test_rank_shows_every_part(files, site, run):
    argv = ("rank", files / "de.npz", files / "point.npz", "--labels", files / "labels.npy", "--draws", "20")
    whole, parts = run(*argv), run(*argv, "--subgroup", f"site={files / 'site.npy'}")
    assert (parts.code, parts.err) == (0, "")
    assert parts.out != whole.out
    lines = parts.out.splitlines()
    start = next(i for i, line in enumerate(lines) if ", by site; lower is better" in line)
    assert "λ = 0.5" in lines[start]
    assert lines[start + 1].split()[:3] == ["site", "n", "rank"]
    found = [line.split()[:3] for line in lines[start + 2 : start + 8 : 2]]
    assert [part[:2] for part in found] == [["A", "15"], ["B", "30"], ["C", "15"]]
    assert {rank for *_, rank in found} <= {"1", "1–2"}
    assert any(line.startswith("Lowest mean E at λ = 0.5: ") for line in lines)
    found = run(*argv, "--subgroup", f"site={files / 'site.npy'}", "--json").json()
    assert [part["value"] for part in found["subgroups"]] == ["A", "B", "C"]
    assert "subgroups" not in run(*argv, "--json").json()
