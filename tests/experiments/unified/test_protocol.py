"""The unified evaluation on predictors of our own: cells by hand from the stored files, printed values, resuming, findings."""

import csv
import json
import math
import sys
import types
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.bench import methods as bench_methods
from uqassay.cli import main
from uqassay.errors import InputError, MissingDependencyError
from uqassay.experiments import reproduce
from uqassay.experiments.reproduction import options_of, steps_of
from uqassay.experiments.unified import predictors
from uqassay.experiments.unified.claims import claim_lines
from uqassay.experiments.unified.predictors import PREDICTORS, predictor_cells
from uqassay.experiments.unified.protocol import reproduce_unified
from uqassay.experiments.unified.tables import means_by_part, printed, table_cells, table_lines

FEW = ("DE", "EDL", "RS-NN")
PRINTED = {
    "table1": "unified_table1",
    "table2": "unified_table9_mnist_ranking",
    "table7": "unified_table7_correct_incorrect",
    "table8": "unified_table8_tradeoff",
}


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("torch", "sklearn")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A smoke run of three predictors: the result, the folder with the predictions, that with the figures."""
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    folder, figures = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("figures")
    steps: list[str] = []
    result = reproduce_unified(preset="smoke", predictors=FEW, resume=folder, figures=figures, progress=steps.append)
    return result, folder, figures, steps


def stored(folder, method):
    """The arrays of a stored prediction, and its labels."""
    for place in folder.glob("cells/*/*"):
        if json.loads((place / "metadata.json").read_text())["cell"]["method"] == method:
            with np.load(place / "prediction.npz", allow_pickle=False) as archive:
                return dict(archive)
    raise AssertionError(method)


def csv_rows(name):
    """A printed table without the package's own reader."""
    path = resources.files("uqassay.experiments") / "printed" / f"{name}.csv"
    with path.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def terms(lower, sizes, sets, y, *, clipped):
    """KL and NS of each instance from lower probabilities (n, F) of the sets (F, K), by the formulas of the paper."""
    order = np.argsort(sizes, kind="stable")
    masses = np.zeros_like(lower)
    for i in order:
        inside = [j for j in order if sizes[j] < sizes[i] and not (sets[j] & ~sets[i]).any()]
        masses[:, i] = lower[:, i] - masses[:, inside].sum(axis=1)
    if clipped:
        masses = np.maximum(masses, 0.0)
        rest = np.maximum(0.0, 1.0 - masses.sum(axis=1))
        masses = np.concatenate([masses, rest[:, None]], axis=1)
        masses /= masses.sum(axis=1, keepdims=True)
        sets = np.concatenate([sets, np.ones((1, sets.shape[1]), dtype=bool)])
        sizes = sets.sum(axis=1)
    plausible = (masses * sets[:, y].T).sum(axis=1)
    return -np.log(plausible), masses @ np.log(sizes)


# ---- cells by hand ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("convention", ["exact", "paper"])
def test_cells_against_the_stored_files_by_hand(ran, convention):
    result, folder, _, _ = ran
    held = stored(folder, "DE")
    members, y = held["probs"].astype(np.float64), held["labels"]  # (n, M, K)
    if convention == "paper":
        family = stored(folder, "RS-NN")["focal_sets"].astype(bool)
        sets = family[~family.all(axis=1)]
    else:
        sets = np.array([[event >> k & 1 for k in range(10)] for event in range(1, 1024)], dtype=bool)
        members, y = members[:40], y[:40]  # 1,023 events and their subsets take a while
    lower = np.einsum("nmk,fk->nfm", members, sets.astype(float)).min(axis=2)
    kl, ns = terms(lower, sets.sum(axis=1), sets, y, clipped=convention == "paper")
    if convention == "exact":
        found = uq.losses.unified_loss(y, uq.Members(members, normalise=True), tradeoff=1.0)
        np.testing.assert_allclose(found.nonspecificity, ns, atol=1e-6)
        members, y = held["probs"].astype(np.float64), held["labels"]
        kl = -np.log(members[np.arange(len(y)), :, y].max(axis=1))
        ns = uq.losses.unified_loss(y, uq.Members(members, normalise=True)).nonspecificity
    hit = members.mean(axis=1).argmax(axis=1) == y
    expected = {
        "table1/digits/{}/DE/accuracy_percent": 100 * hit.mean(),
        "table1/digits/{}/DE/kl": kl.mean(),
        "table1/digits/{}/DE/ns": ns.mean(),
        "table1/digits/{}/DE/e": (kl + ns).mean(),
        "table7/digits/{}/DE/kl_correct": kl[hit].mean(),
        "table7/digits/{}/DE/kl_incorrect": kl[~hit].mean(),
        "table7/digits/{}/DE/ns_correct": ns[hit].mean(),
        "table7/digits/{}/DE/e_incorrect": (kl + ns)[~hit].mean(),
        "table8/digits/{}/lambda=0.3/DE/e": (kl + 0.3 * ns).mean(),
    }
    ours = {cell.name: cell.ours for cell in result.rows}
    for name, value in expected.items():
        np.testing.assert_allclose(ours[name.format(convention)], value, rtol=1e-5, err_msg=name)


@pytest.mark.slow
def test_concentrations_are_divided_by_their_sum_in_the_papers_convention_alone(ran):
    result, folder, _, _ = ran
    held = stored(folder, "EDL")
    ours = {cell.name: cell.ours for cell in result.rows}
    raw = uq.losses.unified_loss(held["labels"], uq.Dirichlet(held["alpha"]))
    np.testing.assert_allclose(ours["table1/digits/exact/EDL/ns"], raw.nonspecificity.mean(), rtol=1e-9)
    family = stored(folder, "RS-NN")["focal_sets"].astype(bool)
    alpha = held["alpha"] / held["alpha"].sum(axis=1, keepdims=True)
    divided = uq.losses.unified_loss(
        held["labels"], uq.Dirichlet(alpha), convention="paper", focal_sets=family[~family.all(axis=1)]
    )
    np.testing.assert_allclose(ours["table1/digits/paper/EDL/kl"], divided.distance.mean(), rtol=1e-5)
    np.testing.assert_allclose(ours["table1/digits/paper/EDL/ns"], divided.nonspecificity.mean(), rtol=1e-5)


@pytest.mark.slow
def test_average_is_the_mean_as_a_point(ran):
    result, folder, _, _ = ran
    held = stored(folder, "DE")
    of_label = held["probs"].astype(np.float64).mean(axis=1)[np.arange(200), held["labels"]]
    ours = {cell.name: cell.ours for cell in result.rows}
    for convention in ("exact", "paper"):
        np.testing.assert_allclose(ours[f"table1/digits/{convention}/DE Avg/kl"], -np.log(of_label).mean(), rtol=1e-5)
        assert ours[f"table1/digits/{convention}/DE Avg/ns"] == 0
        assert ours[f"table1/digits/{convention}/vacuous/ns"] == pytest.approx(math.log(10))


# ---- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_rows_are_well_formed_and_nothing_is_compared(ran):
    result = ran[0]
    names = [cell.name for cell in result.rows]
    assert len(set(names)) == len(names)
    assert {name.split("/")[0] for name in names} == set(PRINTED)
    assert {name.split("/")[2] for name in names} == {"exact", "paper"}
    json.dumps(result.to_json(), allow_nan=False)
    for cell in result.rows:
        assert cell.agrees is None
        assert bool(cell.note) is not math.isnan(cell.paper)
        if not math.isnan(cell.low):
            assert cell.low <= cell.ours <= cell.high, cell.name
    lower = [cell for cell in result.rows if cell.name.startswith("table1") and not math.isnan(cell.low)]
    assert len(lower) == 2 * (4 * 4 + 2 * 3 + 1)  # four models; vacuous, class-prior; only the latter has an accuracy


@pytest.mark.slow
def test_paper_values_are_the_printed_ones(ran):
    result = ran[0]
    n_found = 0
    for cell in result.rows:
        table, _, _, *rest = cell.name.split("/")
        if table in ("table1", "table7"):
            model, quantity = rest
            rows = [r for r in csv_rows(PRINTED[table]) if (r["dataset"], r["model"]) == ("MNIST", model)]
            values = [float(r.get(quantity) or r[f"{quantity}_mean"]) for r in rows]
        else:
            tradeoff, model, _ = rest
            column = "rank" if table == "table2" else "e_mean"
            values = [
                float(r[column])
                for r in csv_rows(PRINTED[table])
                if r.get("dataset", "MNIST") == "MNIST"
                and r["model"] == model
                and float(r["tradeoff"]) == float(tradeoff.removeprefix("lambda="))
            ]
        assert [cell.paper] == values or (math.isnan(cell.paper) and not values), cell.name
        n_found += bool(values)
    assert n_found == 2 * (4 * 5 + 3 * 10 + 4 * 6 + 3 * 10)


def test_printed_value_that_is_not_there_is_nan():
    assert math.isnan(printed("table1", "CIFAR-100", "E-CNN", "kl"))
    assert printed("table1", "CIFAR-10", "DE", "accuracy_percent") == 93.77
    assert printed("table2", "CIFAR-10", "RS-NN", "1.0") == 1
    assert printed("table8", "CIFAR-10", "EDL", "1.0") == 2.268


# ---- text, figures, resuming -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_text_and_figures(ran):
    result, _, figures, steps = ran
    text = result.summary()
    assert "a smoke run is a check that the code runs, and no evidence" in text
    for line in (
        "Table 1, digits",
        "Table 2, digits",
        "Table 7, digits",
        "Table 8, digits",
        "  printed, CIFAR-10 (Table 2)",
    ):
        assert line in text
    assert "DE has the lowest E at λ = 0.1: " in text
    files = sorted(path.name for path in figures.glob("*.png"))
    assert len(files) == 9
    assert all((figures / name).read_bytes().startswith(b"\x89PNG") for name in files)
    listed = [line.removeprefix("figure: ") for line in result.reading if line.startswith("figure: ")]
    assert sorted(listed) == [str(figures / name) for name in files]
    assert len(steps) == steps_of("unified", preset="smoke", predictors=FEW, figures=figures)


@pytest.mark.slow
def test_resuming_trains_nothing_and_gives_the_same(ran, monkeypatch):
    def refuse(cell):
        raise AssertionError(f"{cell.name} is trained again")

    result, folder, _, _ = ran
    monkeypatch.setattr(bench_methods, "run_method", refuse)
    again = reproduce_unified(preset="smoke", predictors=FEW, resume=folder)
    assert again.to_json() == result.to_json()


@pytest.mark.slow
def test_a_predictor_that_fails_is_left_out_with_its_reason(tmp_path, monkeypatch):
    run = bench_methods.run_method

    def sometimes(cell):
        if cell.method == "SNN":
            raise InputError("data", "no good", remedy="get others", code="undefined")
        return run(cell)

    monkeypatch.setattr(bench_methods, "run_method", sometimes)
    result = reproduce_unified(preset="smoke", predictors=["SNN", "DDU"], resume=tmp_path, runs=2, seed=5)
    failed = [note for note in result.notes if "failed" in note]
    assert len(failed) == 2
    assert (
        "SNN, test_limit 200, train_limit 300, seed 5 failed and is left out: uqassay.errors.InputError: data"
        in failed[0]
    )
    assert {cell.name.split("/")[3] for cell in result.rows if cell.name.startswith("table1")} == {
        "DDU",
        "vacuous",
        "class-prior",
    }
    assert "2 runs of each predictor" in result.reading[0]
    with refuses("predictors", "empty", got="InputError: data: no good"):
        reproduce_unified(preset="smoke", predictors=["SNN"], resume=tmp_path / "other")


@pytest.mark.slow
def test_command_line(capsys, tmp_path):
    command = ["reproduce", "unified", "--preset", "smoke", "--dataset", "digits", "--resume", str(tmp_path), "--json"]
    assert main(command) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["name"].split("/")[3] for row in rows if row["name"].startswith("table1")} >= {
        p.name for p in PREDICTORS
    }
    assert main([*command[:-1], "--backbone", "vgg"]) == 2
    assert capsys.readouterr().err.startswith("backbone: must be mlp, cnn, cnn-small, resnet50; got 'vgg'")


# ---- what is trained -------------------------------------------------------------------------------------------------


def test_presets_and_settings_reach_the_cells():
    cells = {cell.method: cell for cell in predictor_cells("cpu", ["digits"], [3])}
    assert list(cells) == [p.name for p in PREDICTORS]
    assert {cell.seed for cell in cells.values()} == {3}
    assert cells["DE"].params == {
        "method": "deep-ensemble",
        "params": {"epochs": 100, "progress": False, "backbone": "mlp", "n_members": 15},
    }
    assert cells["LB-BNN"].params["params"]["bridge"] == "plain"
    smoke = predictor_cells("smoke", ["digits"], [0], predictors=["DE"])[0]
    assert smoke.params["params"]["n_members"] == 3
    assert smoke.condition == {"train_limit": 300, "test_limit": 200}
    paper = predictor_cells("paper", ["digits"], [0], backbone="mlp", predictors=["SNN"])[0]
    assert paper.params["params"] == {"epochs": 200, "progress": False, "backbone": "mlp"}
    assert paper.condition == {}
    with refuses("params", "undefined", got=r"SNN.backbone on digits: .* must be an image .*; got \(64,\)"):
        predictor_cells("paper", ["digits"], [0], backbone="cnn-small", predictors=["SNN"])


def test_resnet50_stands_in_for_the_methods_own_backbone(monkeypatch, tmp_path):
    import torch
    from torch import nn

    class Tiny(nn.Module):
        """What torchvision's network looks like from outside: images with three channels in, a layer `fc` at the end."""

        def __init__(self, weights=None):
            super().__init__()
            assert weights is None
            self.fc = nn.Linear(6, 5)

        def forward(self, x):
            assert x.shape[1] == 3
            return self.fc(torch.cat([x.mean(dim=(2, 3)), x.amax(dim=(2, 3))], dim=1))

    images = types.ModuleType("torchvision.models")
    images.resnet50 = Tiny
    monkeypatch.setitem(sys.modules, "torchvision.models", images)
    monkeypatch.setattr(predictors, "find_spec", lambda name: name)
    rng = np.random.default_rng(0)
    x, y = rng.random((60, 8, 8)).astype(np.float32), np.arange(60) % 3
    np.savez(tmp_path / "images.npz", X_train=x[:40], y_train=y[:40], X_test=x[40:], y_test=y[40:])
    name = f"npz:{tmp_path / 'images.npz'}"
    result = reproduce_unified(preset="paper", dataset=name, backbone="resnet50", predictors=["SNN"])
    assert all(np.isfinite(cell.ours) for cell in result.rows if "/SNN/" in cell.name and "kl" in cell.name)


def test_resnet50_without_torchvision_is_one_sentence(monkeypatch):
    monkeypatch.setattr(predictors, "find_spec", lambda name: None)
    with refuses("torchvision", "package", got="the backbone resnet50 needs it", error=MissingDependencyError):
        reproduce("unified", preset="smoke", backbone="resnet50")


def test_images_that_are_not_there_are_left_out_by_the_cpu_preset_alone(monkeypatch):
    from uqassay import datasets

    load = datasets.load_dataset

    def partly(name):
        if name == "mnist-10k":
            raise InputError(
                "mnist-10k", "is not there and cannot be downloaded", remedy="put it somewhere", code="missing"
            )
        return load(name)

    monkeypatch.setattr(datasets, "load_dataset", partly)
    names, notes = predictors.available_data_sets("cpu", None)
    assert names == ("digits",)
    assert notes == ["mnist-10k is left out: mnist-10k: is not there and cannot be downloaded; put it somewhere."]
    with pytest.raises(InputError, match="mnist-10k: is not there"):
        predictors.available_data_sets("cpu", ["mnist-10k"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "gpu"}, "preset: must be smoke, cpu, paper; got 'gpu'"),
        ({"predictors": ["DE", "BNN"]}, "predictors: must be among LB-BNN, .*; got 'BNN'"),
        ({"predictors": []}, "predictors: must be among LB-BNN, .*; got none"),
        ({"backbone": "vgg"}, "backbone: must be mlp, cnn, cnn-small, resnet50; got 'vgg'"),
        ({"runs": 0}, "runs: must be a whole number of at least 1; got 0"),
        ({"seed": -1}, "seed: must be a whole number of at least 0; got -1"),
        ({"workers": True}, "workers: must be a whole number of at least 1; got True"),
        ({"dataset": "digitz"}, "name: must be one of the known data sets; got 'digitz'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        reproduce_unified(**{"preset": "smoke", **options})


def test_options_of_the_command():
    assert {"preset", "dataset", "backbone", "runs", "seed", "workers", "resume", "figures"} <= set(
        options_of("unified")
    )
    assert steps_of("unified", preset="smoke") == 8 + 2
    assert steps_of("unified", preset="cpu", runs=2, figures="there") == 2 * (2 * 8 + 1 + 9) + 1


# ---- findings --------------------------------------------------------------------------------------------------------


def made(rng, n=300):
    """Predictions of which everything is known: DE near the truth and narrow, EDL vacuous, RS-NN narrow and wrong."""
    y = rng.integers(0, 3, n)
    truth = np.eye(3)[y]

    def members(right, spread, m=12):
        p = right * truth[:, None] + (1 - right) * np.full((n, m, 3), 1 / 3)
        p = np.maximum(p + spread * rng.standard_normal((n, m, 3)), 1e-3)
        return uq.Members(p / p.sum(axis=2, keepdims=True))

    said = {
        "DE": members(0.9, 0.03),
        "EDL": uq.Intervals(np.zeros((n, 3)), np.ones((n, 3))),
        "RS-NN": members(0.3, 0.002),
    }
    said["E-CNN"] = uq.Intervals(np.zeros((n, 3)), np.full((n, 3), 0.99))
    return said, y


def assays(said, y, **options):
    common = {
        "calibration": (),
        "subgroups": {"all": np.zeros(len(y), int)},
        "measures": ("credal-width",),
        "n_draws": 200,
    }
    return {"exact": uq.assay(said, y, **common, **options)}


def test_findings_of_models_that_are_known():
    said, y = made(np.random.default_rng(1))
    found = assays(said, y)
    members = {"exact": {"DE": {m: assays({"DE": said["DE"]}, y, common_members=m)["exact"] for m in (2, 12)}}}
    lines = claim_lines("made", found, found, members)
    text = "\n".join(lines)
    assert "DE has the lowest E at λ = 0.1: holds; place 1 of 4" in text
    assert "RS-NN has the lowest E at λ = 1: does not hold" in text
    assert "RS-NN has the least NS: holds; nearest to the contrary, NS of RS-NN minus that of DE -" in text
    assert "EDL and E-CNN have greater NS than all others: holds" in text
    assert "E of DE at λ = 1 grows with its members: holds; with 12 minus with 2 +" in text


def test_points_alone_have_no_ranking():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    p = 0.7 * np.eye(3)[np.where(rng.random(300) < 0.8, y, (y + 1) % 3)] + 0.1
    found = assays({"SNN": uq.Point(p)}, y)
    ranked = {"exact": replace(found["exact"], models=found["exact"].models[1:])}
    lines = claim_lines("made", found, ranked, {"exact": {}})
    assert lines[2:] == [
        "    KL is lower for correct than for incorrect predictions: holds; the intervals lie apart in 1 of 1 models"
    ]
    tables = table_lines("made", found, ranked)
    assert not any(line.startswith("Table 2") for line in tables)
    cells = table_cells("made", found, ranked, False, "smoke")
    assert {cell.name.split("/")[0] for cell in cells} == {"table1", "table7", "table8"}


def test_findings_are_open_where_the_interval_holds_zero():
    said, y = made(np.random.default_rng(1))
    swapped = {"DE": said["DE"], "LB-BNN": said["DE"][np.arange(len(y))]}
    found = assays(swapped, y)
    text = "\n".join(claim_lines("made", found, found, {"exact": {}}))
    assert "DE has the lowest E at λ = 0.1: open; place 1 of 2" in text
    assert "RS-NN" not in text


def test_tables_of_made_predictions():
    said, y = made(np.random.default_rng(2))
    found = assays(said, y)
    lines = table_lines("mnist", found, found)
    assert lines[0].startswith("Table 1, mnist (λ = 1;")
    whole = means_by_part(found["exact"], "all")
    row = next(line for line in lines if line.startswith("  DE, exact"))
    assert f"{whole['DE', '0', 'ns'].mean:.3f}" in row
    ranking = [line for line in lines if line.startswith("    λ = ")]
    assert any("[vacuous]" in line for line in ranking)
    cells = table_cells("mnist", found, found, True, "paper")
    assert all(cell.agrees is None for cell in cells)  # the exact convention is never compared


def test_printed_values_are_compared_on_the_papers_own_data_in_its_convention():
    said, y = made(np.random.default_rng(3))
    found = {"paper": assays(said, y, convention="paper")["exact"]}
    cells = {cell.name: cell for cell in table_cells("mnist", found, found, False, "paper")}
    cell = cells["table1/mnist/paper/DE/kl"]
    assert (cell.paper, cell.agrees) == (0.002, False)
    assert cell.note == "another network than ResNet-50; no augmentation, and a constant learning rate"
    assert cells["table2/mnist/paper/lambda=0.1/DE/rank"].agrees is None
    for dataset, preset in (("digits", "paper"), ("mnist", "cpu")):
        assert all(cell.agrees is None for cell in table_cells(dataset, found, found, False, preset))
    note = {c.name: c.note for c in table_cells("cifar-10", found, found, False, "cpu")}
    assert note["table1/cifar-10/paper/DE/kl"] == (
        "context only: the paper's 0.031 is of CIFAR-10, the same data set, trained otherwise; it prints 0.002 for MNIST"
    )
