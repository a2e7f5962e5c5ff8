"""`uqassay refuse`: one sentence with the threshold of the library, exit code 3 where nothing can be certified."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.results import plain

N = 400


@pytest.fixture
def two(tmp_path):
    """Files of a useful and of a useless model, and labels."""
    rng = np.random.default_rng(0)
    p = rng.beta(8.0, 1.0, N)
    np.save(tmp_path / "labels.npy", (rng.random(N) > p).astype(int))
    np.save(tmp_path / "patients.npy", np.arange(N) // 2)
    for name, q in (("good", p), ("noise", rng.permutation(p))):
        np.savez(tmp_path / f"{name}.npz", probs=np.column_stack([q, 1 - q]))
    return tmp_path


def words(folder, *names):
    return [*(f"{name}={folder / name}.npz" for name in names), "--labels", folder / "labels.npy"]


def assay(folder, *names, **options):
    models = {name: uq.load(folder / f"{name}.npz") for name in names}
    return uq.assay(models, np.load(folder / "labels.npy"), calibration=(), **options)


def test_json_is_that_of_the_library(two, run):
    options = ("--risk", 0.12, "--confidence", 0.9, "--share", 0.4, "--seed", 3, "--groups", two / "patients.npy")
    ran = run("refuse", *words(two, "good", "noise"), *options, "--json")
    a = assay(two, "good", "noise", groups=np.arange(N) // 2)
    expected = a.certified_refusal(risk=0.12, confidence=0.9, share=0.4, rng=3)
    assert (ran.code, ran.err) == (0, "")
    assert ran.json() == {"schema": "uqassay.refusal/1", **plain(expected.to_dict())}
    assert ran.json()["model"] == "good"


def test_the_first_line_has_the_number_to_deploy(two, run):
    ran = run("refuse", *words(two, "good"), "--risk", 0.12, "--score", "total-entropy")
    found = assay(two, "good").certified_refusal("good", "total-entropy", risk=0.12)
    assert ran.code == 0
    assert ran.out.splitlines()[0] == found.sentence()
    assert f"≤ {found.threshold!r}: with 95 % confidence, at most 12 % of those kept are wrong" in ran.out
    assert "120 cases chose the threshold; 280 others certify it (" in ran.out


def test_groups_cost_about_as_many_groups_as_cases(two, run):
    said = "about as many groups as a test of independent cases needs cases"
    ran = run("refuse", *words(two, "good"), "--risk", 0.12, "--groups", two / "patients.npy")
    assert said in " ".join(ran.out.split())
    assert said not in " ".join(run("refuse", *words(two, "good"), "--risk", 0.12).out.split())


def test_nothing_certified_is_exit_code_3(two, run):
    ran = run("refuse", *words(two, "good"), "--risk", 0.001)
    assert (ran.code, ran.err) == (3, "No threshold is certified: exit code 3.\n")
    assert ran.out.startswith("No threshold on ")
    assert run("refuse", *words(two, "good"), "--risk", 0.001, "--json").json()["threshold"] is None


def test_a_kept_assay_is_taken_as_it_is(two, run):
    assay(two, "good", "noise").save(two / "kept")
    ran = run("refuse", two / "kept", "--risk", 0.12, "--score", "margin", "--json")
    assert (ran.code, ran.json()["model"], ran.json()["score"]) == (0, "good", "margin")
    assert run("refuse", two / "kept", "--risk", 0.12, "--labels", two / "labels.npy").code == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--risk: the greatest acceptable error rate is needed"),
        (("--risk", 1.5), "--risk: must lie strictly between 0 and 1; got 1.5; give a share such as 0.05"),
        (("--risk", 0.1, "--confidence", 1), "--confidence: must lie strictly between 0 and 1"),
        (("--risk", 0.1, "--share", 0), "--share: must lie strictly between 0 and 1"),
        (("--risk", 0.1, "--score", "nonsense"), "--score: "),
    ],
)
def test_bad_input_is_one_sentence(two, run, options, said):
    ran = run("refuse", *words(two, "good"), *options)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(said)
    assert ran.err.count("\n") == 1


def test_a_model_of_several_runs_needs_one(two, run):
    runs = [f"m={two / 'good.npz'},{two / 'noise.npz'}", "--labels", two / "labels.npy", "--risk", 0.3]
    assert (
        "--run: a threshold belongs to one training run; 'm' has 2; pass --run 1 to --run 2."
        in run("refuse", *runs).err
    )
    assert "got 3; pass --run 1 to --run 2." in run("refuse", *runs, "--run", 3).err
    assert run("refuse", *runs, "--run", 2, "--json").json()["run"] == 2
