"""The unified evaluation on predictors of our own: cells by hand from the stored files, printed values, resuming, findings."""

import csv
import json
import math
from importlib import resources

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.cli import main
from uqassay.errors import InputError
from uqassay.lab.bench import methods as bench_methods
from uqassay.lab.papers.register import options_of, steps_of
from uqassay.lab.papers.unified.figures import FIGURES, n_unified_figures
from uqassay.lab.papers.unified.plan import PREDICTORS
from uqassay.lab.papers.unified.run import reproduce_unified

FEW = ("DE", "EDL", "RS-NN")
PRINTED = {
    "table1": "unified_table1",
    "table2": "unified_table9_mnist_ranking",
    "table7": "unified_table7_correct_incorrect",
    "table8": "unified_table8_tradeoff",
}

OF_CIFAR_10 = {"table4", "table5", "table6"}
SOME_FIGURES = ("figure2_exact", "figure2_paper", "figure3_averages", "figure4_beliefs", "figure5_closures")


@pytest.fixture(scope="module", autouse=True)
def _some_figures():
    """All are drawn in `test_figures`."""
    with pytest.MonkeyPatch.context() as patched:
        some = {name: FIGURES[name] for name in SOME_FIGURES}
        patched.setattr("uqassay.lab.papers.unified.figures.FIGURES", some)
        yield


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A smoke run of three predictors: the result, the folder with the predictions, that with the figures."""
    folder, figures = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("figures")
    steps: list[str] = []
    result = reproduce_unified(preset="smoke", predictors=FEW, resume=folder, figures=figures, progress=steps.append)
    return result, folder, figures, steps


def stored(folder, method):
    """The arrays of a stored prediction, and its labels."""
    for place in folder.glob("cells/*/*/"):
        if json.loads((place / "metadata.json").read_text())["cell"]["method"] == method:
            with np.load(place / "prediction.npz", allow_pickle=False) as archive:
                return dict(archive)
    raise AssertionError(method)


def csv_rows(name):
    """A printed table without the package's own reader."""
    path = resources.files("uqassay.lab.papers") / "printed" / f"{name}.csv"
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
    assert {name.split("/")[0] for name in names} == set(PRINTED) | OF_CIFAR_10
    assert {name.split("/")[2] for name in names} == {"exact", "paper"}
    json.dumps(result.to_json(), allow_nan=False)
    for cell in result.rows:
        assert cell.agrees is None
        assert bool(cell.note) is not math.isnan(cell.paper)
        if not math.isnan(cell.low):
            assert cell.low <= cell.ours <= cell.high, cell.name
    lower = [cell for cell in result.rows if cell.name.startswith("table1") and not math.isnan(cell.low)]
    # four models; vacuous, class-prior, of which only the latter has an accuracy and an ECE
    assert len(lower) == 2 * (4 * 5 + 2 * 3 + 2)


@pytest.mark.slow
def test_paper_values_are_the_printed_ones(ran):
    result = ran[0]
    n_found = 0
    for cell in result.rows:
        table, _, _, *rest = cell.name.split("/")
        if table in OF_CIFAR_10:  # held against the files in test_ablations
            continue
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


# ---- text, figures, resuming -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_text_and_figures(ran):
    result, _, figures, steps = ran
    text = result.summary()
    assert "a smoke run only checks that the code runs" in text
    for line in (
        "Table 1, digits",
        "Table 2, digits",
        "Table 7, digits",
        "Table 8, digits",
        "Table 4, digits, classes 0, 1, 2 and 3",
        "Table 5, digits",
        "Table 6, digits",
        "  printed, CIFAR-10 (Table 2)",
    ):
        assert line in text
    assert "DE has the lowest E at λ = 0.1: " in text
    files = sorted(path.name for path in figures.glob("*.png"))
    assert len(files) == 1 + len(SOME_FIGURES) - 2  # without LB-BNN
    assert "figure5_closures of digits is left out: there is no LB-BNN" in result.reading
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
def test_the_classes_of_table_4_are_an_option_and_stand_in_the_notes(ran):
    result, folder, _, _ = ran
    other = reproduce_unified(preset="smoke", predictors=FEW, resume=folder, vertex_classes=[9, 3, 5, 4])
    for found, names in ((result, "0, 1, 2 and 3"), (other, "9, 3, 5 and 4")):
        assert any(f"digits: Table 4 is of the test instances of the classes {names}, " in note for note in found.notes)
        assert f"Table 4, digits, classes {names}, " in found.summary()
    ours = [{c.name: c.ours for c in found.rows if c.name.startswith("table4")} for found in (result, other)]
    assert ours[0].keys() == ours[1].keys()
    assert ours[0] != ours[1]


def test_wrong_classes_of_table_4_are_refused_before_any_training(monkeypatch):
    monkeypatch.setattr("uqassay.lab.papers.unified.run.train_cells", None)
    with refuses("vertex_classes", "choice", got="1, 2, 3 and 10"):
        reproduce_unified(preset="smoke", predictors=FEW, vertex_classes=[1, 2, 3, 10])


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
    with refuses("predictors", "all-failed", got="InputError: data: no good"):
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
    assert capsys.readouterr().err.startswith("--backbone: must be mlp, cnn, cnn-small or resnet50; got 'vgg'")


# ---- what is trained -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"preset": "gpu"}, "preset", "choice", "got 'gpu'"),
        ({"predictors": ["DE", "BNN"]}, "predictors", "choice", "got 'BNN'"),
        ({"predictors": []}, "predictors", "empty", "got none"),
        ({"backbone": "vgg"}, "backbone", "choice", "got 'vgg'"),
        ({"backbone": "cnn"}, "backbone", "shape", r"got \(64,\)"),
        ({"learning_rate": -1.0}, "learning_rate", "range", "got -1"),
        ({"rate_drops": [5, 3]}, "rate_drops", "range", r"got \(5, 3\)"),
        ({"validation": "test"}, "validation", "choice", "got 'test'"),
        ({"validation": "trained"}, "validation", "conflict", "got 'trained'"),
        ({"epochs": 0}, "epochs", "range", "got 0"),
        ({"data": "nowhere"}, "data", "missing", "got nowhere, which does not exist"),
        ({"data_name": "mine"}, "data_name", "conflict", "there are none"),
        ({"runs": 0}, "runs", "range", "got 0"),
        ({"seed": -1}, "seed", "range", "got -1"),
        ({"workers": True}, "workers", "type", "got True"),
        ({"dataset": "digitz"}, "dataset", "choice", "got 'digitz'"),
    ],
)
def test_bad_options_are_refused(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        reproduce_unified(**{"preset": "smoke", **options})


def test_options_of_the_command():
    assert {"preset", "dataset", "backbone", "runs", "seed", "workers", "resume", "figures"} <= set(
        options_of("unified")
    )
    assert steps_of("unified", preset="smoke") == 8 + 2
    assert steps_of("unified", preset="cpu", runs=2, figures="there") == 2 * (2 * 8 + 1) + 1 + n_unified_figures(2)
    assert steps_of("unified", preset="cpu", dataset="cifar-10", members=4) == 7 + 4 + 1 + 1
    assert steps_of("unified", preset="paper") == 2 * (7 + 15 + 1) + 6 + 15 + 1 + 1
