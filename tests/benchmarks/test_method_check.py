"""The check of the methods: one training, promises, tables, and the command from stored files."""

import json
import os
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from benchmarks.method_check.protocol import FUNCTION, VARIANTS, Variant, check_methods
from benchmarks.method_check.signatures import signatures_of
from benchmarks.method_check.tables import accuracy_lines, accuracy_rows, left_out_cells, signature_lines
from benchmarks.method_check.training import bridge_errors, shuffled_and_noise, train_and_measure
from scipy import integrate, special, stats
from tests.benchmarks.method_check.made import ensemble, result_of, right_in
from tests.refusals import refuses

import uqassay as uq
from benchmarks import check_methods as command
from benchmarks.method_check import protocol, training
from uqassay.errors import InputError
from uqassay.lab.bench.cell import Cell

# -- One training of the check: class left out, changed inputs, errors of the Laplace bridge against quadrature --------


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("torch", "sklearn")


def test_a_class_left_out_has_no_probability_and_scores_of_its_own():
    from uqassay.lab.datasets import load_dataset
    from uqassay.lab.methods import DDU

    options = {"epochs": 3, "backbone": [16], "progress": False}
    found = train_and_measure(
        Cell(
            FUNCTION,
            dataset="digits",
            method="ddu",
            seed=5,
            params={"method": "ddu", "params": options},
            condition={"train_limit": 400, "left_out": 3},
        )
    )
    data = load_dataset("digits")
    kept = np.sort(np.random.default_rng(0).permutation(len(data.y_train))[:400])
    kept = kept[data.y_train[kept] != 3]
    net = DDU(epochs=3, backbone=(16,), progress=False, random_state=5).fit(data.X_train[kept], data.y_train[kept])
    found_probs = found.prediction.probs
    np.testing.assert_array_equal(found_probs[:, 3], 0.0)
    rows = np.sort(np.random.default_rng(0).permutation(len(data.y_test)))  # no limit keeps all of them
    np.testing.assert_array_equal(found.labels, data.y_test[rows])
    np.testing.assert_allclose(np.delete(found_probs, 3, axis=1), net.predict_proba(data.X_test), rtol=1e-9)
    np.testing.assert_allclose(found.scores["negative-log-density"], -net.feature_density(data.X_test), rtol=1e-9)
    assert found.facts["n_train"] == len(kept)
    np.testing.assert_allclose(found.facts["train_accuracy"], net.score(data.X_train[kept], data.y_train[kept]))


def test_shuffled_instances_keep_their_values_and_noise_the_range():
    from uqassay.lab.datasets import load_dataset

    data = load_dataset("digits").subset(test=slice(40))
    shuffled, noise = shuffled_and_noise(data)
    np.testing.assert_array_equal(np.sort(shuffled, axis=1), np.sort(data.X_test, axis=1))
    assert (shuffled != data.X_test).any(axis=1).all()
    assert noise.dtype == data.X_test.dtype
    assert stats.kstest(noise.ravel() / data.X_train.max(), "uniform").pvalue > 0.001
    np.testing.assert_array_equal(shuffled_and_noise(data)[1], noise)


def test_sizes_are_of_what_the_network_sees():
    from uqassay.lab.datasets import load_dataset

    params = {"method": "evidential", "params": {"epochs": 1, "progress": False}}
    limits = {"train_limit": 300, "test_limit": 50}
    found = train_and_measure(Cell(FUNCTION, dataset="digits", method="edl", seed=0, params=params, condition=limits))
    assert found.scores.keys() == {
        f"{what}{kind}" for what in ("vacuity", "size") for kind in ("", "-shuffled", "-noise")
    }
    data = load_dataset("digits")
    rng = np.random.default_rng(0)
    train = data.X_train[np.sort(rng.permutation(len(data.y_train))[:300])]
    test = data.X_test[np.sort(rng.permutation(len(data.y_test))[:50])]
    spread = np.where(train.std(axis=0) > 0, train.std(axis=0), 1.0)
    size = np.sqrt((((test - train.mean(axis=0)) / spread) ** 2).mean(axis=1))
    np.testing.assert_allclose(found.scores["size"], size, rtol=1e-5)
    np.testing.assert_allclose(found.scores["vacuity"], 10 / found.prediction.alpha.sum(axis=1))
    assert (found.scores["size-noise"] > size.max()).all()


def test_errors_of_the_bridge_against_quadrature():
    """Two classes: softmax of N(μ, Σ) is a logistic normal variable, whose mean and mean entropy are one integral each."""
    mean = np.array([[1.0, -0.5], [0.0, 0.0], [4.0, 0.0]])
    covariance = np.array([[[1.0, 0.3], [0.3, 2.0]], [[0.2, 0.0], [0.0, 0.2]], [[3.0, -1.0], [-1.0, 1.0]]])
    alpha = np.array([[3.0, 1.0], [2.0, 2.0], [9.0, 0.5]])
    found = bridge_errors(uq.Dirichlet(alpha), mean, covariance, n_draws=20_000)

    def entropy(p):
        return special.entr(p) + special.entr(1 - p)

    def average(f, density, low, high):
        return integrate.quad(lambda t: f(t) * density(t), low, high, limit=200)[0]

    for i in range(3):
        centre, c = mean[i, 0] - mean[i, 1], covariance[i]
        spread = np.sqrt(c[0, 0] + c[1, 1] - 2 * c[0, 1])
        normal = stats.norm(centre, spread).pdf
        ends = centre - 9 * spread, centre + 9 * spread
        p = average(special.expit, normal, *ends)
        inside = average(lambda t: entropy(special.expit(t)), normal, *ends)
        stated, beta = alpha[i, 0] / alpha[i].sum(), stats.beta(*alpha[i]).pdf
        np.testing.assert_allclose(found["mean-variation"][i], abs(stated - p), atol=0.012)
        np.testing.assert_allclose(found["total-entropy"][i], abs(entropy(stated) - entropy(p)), atol=0.03)
        expected = abs(average(entropy, beta, 0, 1) - inside)
        np.testing.assert_allclose(found["aleatoric-entropy"][i], expected, atol=0.012)
        assert found["draws-variation"][i] < 0.01


# -- Promises of the methods: made results whose verdicts are known ----------------------------------------------------


def one(signatures, start):
    return next(s for s in signatures if s.name.startswith(start))


def test_average_against_members_by_hand(random_generator):
    said, y = ensemble(random_generator, 400, 2.0)
    right, loss = signatures_of({"deep-ensemble": [result_of(said, y)]}, {})
    assert right.verdict == loss.verdict == "held"
    average, rows = said.probs.mean(axis=1), np.arange(400)
    alone = np.mean([(said.probs[:, m].argmax(axis=1) == y).mean() for m in range(5)])
    np.testing.assert_allclose(right.figures["accuracy-gain"], (average.argmax(axis=1) == y).mean() - alone)
    losses = [-np.log(said.probs[rows, m, y]).mean() for m in range(5)]
    own = -np.log(average[rows, y]).mean()
    np.testing.assert_allclose(loss.figures["log-loss-gain"], np.mean(losses) - own)
    assert loss.figures["members-beaten"] == np.mean(np.array(losses) > own) == 1.0
    same, y = ensemble(random_generator, 400, 0.0)
    assert [s.verdict for s in signatures_of({"deep-ensemble": [result_of(same, y)]}, {})] == ["open", "open"]


def test_spread_by_rate(random_generator):
    runs = {rate: [result_of(*ensemble(random_generator, 300, noise))] for rate, noise in ((0.1, 0.3), (0.5, 1.5))}
    grows = {f"mc-dropout-{rate}": results for rate, results in runs.items()}
    found = one(signatures_of({**grows, "mc-dropout-gaussian": []}, {}), "mc-dropout in all layers")
    assert found.verdict == "held"
    probs = runs[0.5][0].prediction.probs
    information = special.entr(probs.mean(axis=1)).sum(axis=1) - special.entr(probs).sum(axis=2).mean(axis=1)
    np.testing.assert_allclose(found.figures["spread-at-0.5"], information.mean())
    falls = {"dropout-last-0.1": runs[0.5], "dropout-last-0.6": runs[0.1]}
    assert one(signatures_of(falls, {}), "mc-dropout in the last layer").verdict == "not held"
    level = {"mc-dropout-0.1": runs[0.5], "mc-dropout-0.2": runs[0.5]}
    assert one(signatures_of(level, {}), "mc-dropout in all layers").verdict == "open"


@pytest.mark.parametrize(("shift", "verdict"), [(2.0, "held"), (0.0, "open"), (-2.0, "not held")])
def test_left_out_classes_and_changed_inputs(random_generator, shift, verdict):
    from sklearn.metrics import roc_auc_score

    y = np.repeat([0, 1, 2], 60)
    flat = uq.Point(np.full((180, 3), 1 / 3))
    runs = {}
    for k in (0, 1):
        scores = random_generator.normal(size=180) + shift * (y == k)
        scores -= 0.0 if shift else scores[y == k].mean() - scores[y != k].mean() * (y == k)
        runs[k] = result_of(flat, y, {"negative-log-density": scores})
    found = one(signatures_of({}, {"ddu": runs}), "ddu")
    areas = {k: roc_auc_score(y == k, run.scores["negative-log-density"]) for k, run in runs.items()}
    np.testing.assert_allclose(found.figures["auc"], np.mean(list(areas.values())))
    np.testing.assert_allclose(found.figures["auc-of-the-least-class"], min(areas.values()))
    assert found.figures["auc-of-the-entropy"] == 0.5
    if shift:
        assert found.verdict == verdict
        assert f"(class {min(areas, key=areas.get)})" in found.measured
    here = random_generator.uniform(size=180)
    scores = {"vacuity": here, "vacuity-shuffled": here + shift, "vacuity-noise": here + shift}
    scores |= {f"size{kind}": np.full(180, 3.0) for kind in ("", "-shuffled", "-noise")}
    found = one(signatures_of({"evidential": [result_of(flat, y, scores)]}, {}), "evidential: vacuity is higher on uni")
    assert found.verdict == verdict
    np.testing.assert_allclose(found.figures["vacuity"], here.mean() + shift)


def test_intervals_that_leave_out_the_middle_or_cross_are_found():
    y = [0, 1]
    good = uq.Intervals([[0.2, 0.3], [0.1, 0.5]], [[0.7, 0.8], [0.5, 0.9]])
    held = one(signatures_of({"creinn": [result_of(good, y, {"outside": np.array([-0.1, 0.0])})]}, {}), "creinn")
    assert (held.verdict, held.figures["worst-excess"]) == ("held", 0.0)
    np.testing.assert_allclose(held.figures["mean-width"], 0.45)
    off = one(signatures_of({"creinn": [result_of(good, y, {"outside": np.array([-0.1, 0.01])})]}, {}), "creinn")
    assert (off.verdict, off.figures["worst-excess"]) == ("not held", 0.01)
    assert "1 of 2 instances hold it" in off.measured
    # what `Intervals` still takes as rounding of single precision
    loose = uq.Intervals(np.array([[0.2, 0.3]], np.float32), np.array([[0.5, 0.49995]], np.float32))
    found = one(signatures_of({"creinn": [result_of(loose, [0], {"outside": np.zeros(1)})]}, {}), "creinn")
    assert found.verdict == "not held"
    np.testing.assert_allclose(found.figures["worst-excess"], 5e-5, rtol=0.01)


def test_masses_that_are_negative_are_found():
    sets = [[0], [1], [0, 1]]
    good = uq.Masses([[0.5, 0.2, 0.3], [1.0, 0.0, 0.0]], sets, n_classes=2)
    signed = uq.Masses.from_beliefs([[0.7, 0.6, 1.0]], sets, n_classes=2)  # Bel({0}) + Bel({1}) > 1
    raw = {"least-raw-mass": np.array([-0.2, 0.0])}
    found = signatures_of({"e-cnn": [result_of(signed, [0])], "rs-nn": [result_of(good, [0, 1], raw)]}, {})
    bad, held = one(found, "e-cnn"), one(found, "rs-nn")
    assert bad.verdict == "not held"
    np.testing.assert_allclose(bad.figures["least-mass"], -0.3)
    assert (held.verdict, held.figures["negative-before"]) == ("held", 0.5)
    assert held.name == "rs-nn: masses are valid after projection"


@pytest.mark.parametrize(
    ("variation", "entropy", "verdict"),
    [(0.01, 0.02, "held"), (0.06, 0.02, "not held"), (0.01, 0.2, "not held"), (0.0495, 0.02, "open")],
)
def test_agreement_of_the_bridge(random_generator, variation, entropy, verdict):
    noise = random_generator.normal(size=100) * 0.01
    noise -= noise.mean()
    scores = {
        "mean-variation": variation + noise,
        "total-entropy": entropy + noise,
        "aleatoric-entropy": noise**2,
        "draws-variation": noise**2,
    }
    said = uq.Dirichlet(np.ones((100, 2)))
    found = one(signatures_of({"laplace-bridge": [result_of(said, np.zeros(100, int), scores)]}, {}), "laplace")
    assert found.verdict == verdict
    np.testing.assert_allclose(found.figures["mean-variation"], variation)


# -- Tables of the check: reasons for lags, counts of promises ---------------------------------------------------------


def test_a_reason_stands_beside_every_method_that_lags_and_no_other():
    members = uq.Members(np.repeat(right_in(0.9)[0].probs[:, None], 4, axis=1))
    found = {
        "snn": [result_of(*right_in(0.97), fit_seconds=2.0)],
        "near": [result_of(*right_in(0.95), train_accuracy=0.5)],
        "learns less": [result_of(*right_in(0.94), train_accuracy=0.95)],
        "fits": [result_of(members, right_in(0.9)[1], train_accuracy=0.985)],
    }
    longer = {"learns less": ("90 epochs", [result_of(*right_in(0.96))]), "fits": ("30 members", found["fits"])}
    rows = {row.method: row for row in accuracy_rows(found, longer)}
    assert [name for name, row in rows.items() if row.lags] == ["learns less", "fits"]
    assert rows["near"].reasons == rows["snn"].reasons == ()
    assert (
        rows["learns less"]
        .reasons[0]
        .startswith("it learns less (95.0 % of the training instances right, snn 100.0 %)")
    )
    assert rows["learns less"].reasons[1].startswith("with 90 epochs it is within 2 points (−1.00, ")
    assert rows["fits"].reasons[0].startswith("it fits as well (98.5 % of the training instances right, snn 100.0 %)")
    assert rows["fits"].reasons[1].startswith("with 30 members it is still behind (−7.00, ")
    assert rows["fits"].reasons[2] == "its 4 members alone reach 90.0 %"
    lines = accuracy_lines("made", list(rows.values()), found)
    assert "2 of 4 within 2 points of snn, or ahead; reasons for the others:" in lines[-3]
    first = next(line for line in lines if line.strip().startswith("snn"))
    assert first.split() == ["snn", "97.00", "94.62", "to", "99.38", "–", "–", "2.0"]


def test_without_the_plain_network_nothing_lags():
    found = {"ddu": [result_of(*right_in(0.5))]}
    rows = accuracy_rows(found, {})
    assert rows[0].ahead is None
    assert not rows[0].lags
    assert not any("within" in line for line in accuracy_lines("made", rows, found))
    assert signature_lines({"made": signatures_of({"snn": found["ddu"]}, {})}) == []


def test_text_of_the_promises_counts_them(random_generator):
    said, y = ensemble(random_generator, 300, 2.0)
    signatures = signatures_of({"deep-ensemble": [result_of(said, y)]}, {})
    lines = signature_lines({"one": signatures, "other": signatures})
    assert lines[1].endswith("rule: accuracy above the members' mean")
    assert lines[2].startswith("    one    held      accuracy +")
    assert lines[5].startswith("    one    held      lower by ")
    assert lines[-1] == "  held: 4"


def test_left_out_cells_have_the_reason_and_no_number():
    (cell,) = left_out_cells({"mnist-10k": "no network"})
    assert (cell.name, cell.note, cell.agrees) == ("left-out/mnist-10k", "no network", None)
    assert np.isnan([cell.paper, cell.ours, cell.low, cell.high]).all()


# -- The check of the methods: figures by hand from the stored files, resuming, failures, the command ------------------


FEW = ("snn", "deep-ensemble", "evidential", "bagging")


@pytest.fixture(autouse=True, scope="module")
def _little_work():
    """Digits that are read once, a small forest, and a Laplace approximation of few draws and steps, of which it takes many
    for few instances.
    """
    pytest.importorskip("torch")
    datasets = pytest.importorskip("sklearn.datasets")
    few = tuple(replace(v, params={"n_members": 10}) if v.name == "random-forest" else v for v in VARIANTS)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(protocol, "VARIANTS", few)
        patched.setattr(datasets, "load_digits", cache(datasets.load_digits))
        patched.setattr("uqassay.lab.methods.laplace.ALL_DRAWS", 2_000)
        patched.setattr("uqassay.lab.methods.laplace.N_STEPS", 5)
        yield


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A smoke run of all methods: the result, the folder, the steps."""
    pytest.importorskip("torch")
    folder, steps = tmp_path_factory.mktemp("run"), []
    result = check_methods(preset="smoke", resume=folder, progress=steps.append)
    return result, folder, steps


def stored(folder, method):
    """Arrays of the stored predictions of a method with all classes and the usual effort, by seed."""
    found = {}
    for place in folder.glob("cells/*/*/"):
        cell = json.loads((place / "metadata.json").read_text())["cell"]
        usual = cell["params"]["params"].get("epochs", 2) == 2 and "left_out" not in cell["condition"]
        if cell["method"] == method and usual:
            with np.load(place / "prediction.npz", allow_pickle=False) as archive:
                found[cell["seed"]] = dict(archive)
    return [found[seed] for seed in sorted(found)]


def value(result, name):
    return next(cell for cell in result.rows if cell.name == name)


# ---- the protocol ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_accuracies_by_hand_from_the_stored_files(tmp_path):
    result = check_methods(preset="smoke", methods=FEW, runs=2, seed=3, resume=tmp_path)
    right = {}
    for method, key in (("snn", "probs"), ("deep-ensemble", "probs"), ("evidential", "alpha"), ("bagging", "probs")):
        runs = stored(tmp_path, method)
        assert len(runs) == 2
        means = [run[key] if run[key].ndim == 2 else run[key].mean(axis=1) for run in runs]
        right[method] = np.mean([mean.argmax(axis=1) == run["labels"] for mean, run in zip(means, runs, strict=True)])
        found = value(result, f"accuracy/digits/{method}/mean")
        np.testing.assert_allclose(found.ours, right[method])
        assert found.low < found.ours < found.high
    for method in FEW[1:]:
        found = value(result, f"accuracy/digits/{method}/ahead")
        np.testing.assert_allclose(found.ours, right[method] - right["snn"], atol=1e-12)
        assert bool(found.note) == (found.ours < -0.02)


@pytest.mark.slow
def test_every_promise_has_its_figures_and_nothing_is_compared(ran):
    result, _, steps = ran
    promises = {cell.name.split("/")[2] for cell in result.rows if cell.name.startswith("signature")}
    assert len(promises) == 12
    assert all(cell.agrees is None and np.isnan(cell.paper) for cell in result.rows)
    assert {c.name for c in result.rows if np.isnan(c.ours)} == {"left-out/mnist-10k"}
    for start in ("creinn", "e-cnn", "rs-nn"):  # hold for any weights
        notes = {cell.note for cell in result.rows if cell.name.startswith(f"signature/digits/{start}: ")}
        assert [note.split(" (")[0] for note in notes] == ["held"]
    assert {cell.name.split("/")[2] for cell in result.rows if cell.name.startswith("accuracy")} == {
        v.name for v in VARIANTS
    }
    json.dumps(result.to_json(), allow_nan=False)
    text = result.summary()
    assert "Accuracy in percent, digits: 300 training and 200 test instances, 1 training of each" in text
    assert "What the papers promise of the methods" in text
    assert "a smoke run only checks that the code runs" in text
    assert "mnist-10k is left out: the preset smoke takes it from a folder only" in text
    assert len(steps) >= len(VARIANTS) + 2  # trainings without a class, and those of methods that lag


@pytest.mark.slow
def test_resuming_trains_nothing_and_gives_the_same(ran, monkeypatch):
    result, folder, _ = ran

    def refuse(cell):
        raise AssertionError(f"{cell.name} is trained again")

    monkeypatch.setattr(training, "train_and_measure", refuse)
    again = check_methods(preset="smoke", resume=folder)
    assert again.to_json() == result.to_json()
    assert again.reading == result.reading


@pytest.mark.slow
def test_a_method_that_fails_is_left_out_with_its_reason(monkeypatch):
    train = training.train_and_measure

    def sometimes(cell):
        if cell.method in failing:
            raise InputError("data", "no good", "", "get others")
        return train(cell)

    monkeypatch.setattr(training, "train_and_measure", sometimes)
    failing = {"evidential"}
    result = check_methods(preset="smoke", methods=FEW, runs=1, seed=7)
    failed = [cell for cell in result.rows if cell.name.startswith("left-out/digits")]
    assert len(failed) == 2  # with all classes and without one
    assert failed[0].name.endswith("seed 7")
    assert failed[0].note.startswith("uqassay.errors.InputError: data: no good")
    assert f"{failed[0].name.removeprefix('left-out/')} is left out: {failed[0].note}" in result.notes
    assert not any("evidential" in cell.name for cell in result.rows if cell.name.split("/")[0] != "left-out")
    failing = set(FEW)
    with refuses("methods", "all-failed", got="data: no good"):
        check_methods(preset="smoke", methods=FEW, runs=1, seed=8)


def test_a_data_set_that_cannot_be_read_stands_in_the_json(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(protocol, "VARIANTS", tuple(v for v in VARIANTS if v.name == "bagging"))
    given = ["--preset", "smoke", "--runs", "1", "--json", "--data", str(tmp_path)]
    for part in ("images-idx3", "labels-idx1"):  # so that nothing is asked of a network
        place = tmp_path / "mnist" / f"t10k-{part}-ubyte.gz"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(b"damaged")
    assert command.main(given) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["left-out/mnist-10k"]["note"]
    assert rows["left-out/mnist-10k"]["ours"] is None
    assert "accuracy/digits/bagging/mean" in rows


@pytest.mark.slow
def test_images_in_a_folder_and_the_command_line(shared, monkeypatch, capsys):
    monkeypatch.setattr(protocol, "VARIANTS", tuple(v for v in VARIANTS if v.name in FEW))
    monkeypatch.setenv("UQASSAY_DATA", "elsewhere")
    folder = str(shared / "data" / "mnist_t10k")
    assert command.main(["--preset", "smoke", "--data", folder, "--runs", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["name"].split("/")[1] for row in rows} == {"digits", "mnist-10k"}
    assert os.environ["UQASSAY_DATA"] == "elsewhere"


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"preset": "paper"}, "preset", "choice", "paper"),
        ({"runs": 0}, "runs", "range", "got 0"),
        ({"seed": -1}, "seed", "range", "got -1"),
        ({"seed": 99999999999999}, "seed", "range", "got 99999999999999"),
        ({"workers": True}, "workers", "range", "got True"),
        ({"methods": ["snn", "bnn"]}, "methods", "choice", "got 'bnn'"),
        ({"methods": []}, "methods", "choice", "got none"),
        ({"data": "no such folder"}, "data", "missing", "no such folder"),
    ],
)
def test_bad_options_are_refused(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        check_methods(**{"preset": "smoke", **options})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--method", "bnn"], "--method: must be among snn, "),
        (["--data", "no such folder"], "--data: must be a folder"),
        (["--runs", "0"], "--runs: must be a whole number"),
    ],
)
def test_the_command_names_its_options_in_errors(given, words, capsys):
    assert command.main(["--preset", "smoke", *given]) == 2
    assert capsys.readouterr().err.startswith(words)


def test_workers_can_import_the_function_of_a_cell():
    from benchmarks.source_digests import code_version

    from uqassay.lab.bench.cell import function_of

    assert function_of(protocol.FUNCTION) is training.train_and_measure
    assert len(code_version(protocol.FUNCTION)) == 64


def test_the_script_runs_from_any_folder(tmp_path):
    import subprocess
    import sys

    script = [sys.executable, command.__file__, "--preset", "smoke", "--method", "bagging", "--json"]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=True)
    names = [row["name"] for row in json.loads(done.stdout)]
    assert names[:2] == ["accuracy/digits/bagging/mean", "accuracy/digits/bagging/seconds"]


def test_what_is_trained():
    cells = protocol._cells("digits", "cpu", [3, 4], VARIANTS)
    assert len(cells) == 2 * len(VARIANTS) + 20
    by_name = {cell.method: cell for cell in cells if cell.seed == 3 and not cell.condition}
    assert by_name["mc-dropout-0.7"].params == {
        "method": "mc-dropout",
        "params": {"rate": 0.7, "epochs": 100, "progress": False, "device": "cpu"},
    }
    assert by_name["dropout-last-0.6"].params["params"]["where"] == "last"
    assert by_name["bagging"].params["params"] == {"n_members": 10}
    assert sorted(c.condition["left_out"] for c in cells if c.condition and c.method == "ddu") == list(range(10))
    assert protocol._with_more(by_name["ddu"]).params["params"]["epochs"] == 300
    assert protocol._with_more(by_name["bagging"]).params["params"]["n_members"] == 30


def test_variants_name_known_methods():
    from uqassay.lab.methods import METHODS

    other_names = {"dn-0.1", "dn-0.6"}  # of dropout-last-…
    elsewhere = {"local-gp", "sparse-gp"}  # checked by benchmarks/bench_gaussian_processes.py
    assert {v.method for v in VARIANTS} == set(METHODS) - other_names - elsewhere
    assert isinstance(VARIANTS[0], Variant)
