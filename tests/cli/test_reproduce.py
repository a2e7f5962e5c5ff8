"""`uqassay reproduce`: the cells are those of the library, and options that mean nothing are refused."""

import pytest

from uqassay.lab.papers import register


def test_reproduce(run):
    expected = register.reproduce("unified-tables")
    ran = run("reproduce", "unified-tables", "--preset", "smoke", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json() == expected.to_json()
    assert set(ran.json()[0]) == {"name", "paper", "ours", "low", "high", "agrees", "note"}
    assert run("reproduce", "unified-tables").out.rstrip("\n") == expected.summary()


@pytest.mark.parametrize(
    ("argv", "parameter"),
    [
        (["unified-tables", "--runs", "3"], "--runs"),
        (["unified-tables", "--figure", "1"], "--figure"),
        (["credal-calibration", "--figure", "1", "--table", "1"], "--table"),
        (["unified-tables", "--sweep"], "--sweep"),
        (["methods"], "name"),
        ([], "name"),
    ],
)
def test_options_that_mean_nothing_are_refused(argv, parameter, run):
    ran = run("reproduce", *argv)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"{parameter}: ")


@pytest.mark.parametrize("name", ["unified", "disentanglement", "epistemic-gain", "ranking-synthetic"])
def test_a_single_figure_is_drawn_by_the_option_for_all(name, run, tmp_path):
    ran = run("reproduce", name, "--figure", "13")
    assert ran.err.startswith(f"--figure: means nothing to {name}, ")
    assert ran.err.endswith("; --figures FOLDER draws every figure.\n")
    assert "figures" in register.options_of(name)  # so the remedy works
    assert run("reproduce", "unified-tables", "--figure", "13").err.endswith("; leave it out.\n")


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--preset", "gpu"], "--preset: must be 'smoke', 'cpu', 'gpu-hour' or 'paper'; got 'gpu'"),
        (["--dataset", "wien"], "--dataset: must be a data set of the benchmark; got 'wien'; did you mean wine?"),
        (["--dataset", "wine,wine"], "--dataset: must be named once"),
        (
            ["--method", "mc-dropuot"],
            "--method: must be a method of the benchmark, or your own module:Class; got 'mc-dropuot'; did you mean mc-dropout?",
        ),
        (["--method", "flipout", "--method", "Flipout"], "--method: must be named once; got flipout twice"),
        (["--decomposition", "varience"], "--decomposition: must be a decomposition of the benchmark; got 'varience'"),
        (
            ["--method", "random-forest", "--decomposition", "GL"],
            "--decomposition: cannot be gaussian-logits for random-forest, which has no logits",
        ),
        (["--where", "first"], "--where: must say which layers are Bayesian; got 'first'; choose printed, last or all"),
        (["--convention", "paper-cod"], "--convention: must be a convention of the benchmark; got 'paper-cod'"),
        (["--convention", "gaussian-code", "--decomposition", "IT"], "--convention: must concern a method"),
        (["--data", "nowhere"], "--data: must be a folder with train.npz and test.npz; got nowhere"),
        (["--data", ".", "--dataset", "wine,digits"], "--data: needs one data set; got 2"),
        (["--runs", "99", "--dataset", "bci"], "--runs: must be at most 9 for bci, whose runs are subjects; got 99"),
        (["--backbone", "mlp"], "--backbone: means nothing to disentanglement, which takes --preset, --data"),
        (["--figure", "1"], "--figure: means nothing to disentanglement"),
    ],
)
def test_options_of_disentanglement_are_refused_in_one_sentence(argv, sentence, run):
    ran = run("reproduce", "disentanglement", *argv)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(sentence)


@pytest.mark.parametrize(
    "argv", [["--preset", "gpu-hour"], ["--method", "flipout"], ["--decomposition", "IT"], ["--where", "all"]]
)
def test_options_of_disentanglement_mean_nothing_to_others(argv, run):
    ran = run("reproduce", "unified-tables", *argv)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"{argv[0]}: ")


def test_disentanglement_on_the_command_line(run, needs):
    needs("torch", "sklearn")
    argv = ["--preset", "smoke", "--dataset", "digits", "--method", "random-forest", "--decomposition", "IT,variance"]
    ran = run("reproduce", "disentanglement", *argv, "--json")
    assert ran.code == 0
    names = [row["name"] for row in ran.json()]
    assert names[0] == "table2/digits/Random forest/IT"
    assert {name.split("/")[3] for name in names} == {"IT", "variance"}


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--preset", "gpu-hour"], "--preset: must be 'smoke', 'cpu' or 'paper'; got 'gpu-hour'"),
        (["--dataset", "toi"], "--dataset: must be a data set of this reproduction; got 'toi'; did you mean toy?"),
        (
            ["--method", "locl-gp"],
            "--method: must be a method of this reproduction, or your own module:Class; got 'locl-gp'; did you mean local-gp?",
        ),
        (["--spread", "0"], "--spread: must be positive and finite; got 0.0"),
        (["--spread", "0.3", "--dataset", "digits"], "--spread: is of the toy data alone"),
        (["--train-share", "0.1,0.7"], "--train-share: must be random or at least 0 and below 0.7, since the rest"),
        (["--dataset", "emnist-bymerge"], "--data: must be the file with the images for emnist-bymerge"),
        (["--dataset", "digits", "--data", "x.npz"], "--data: is for emnist-bymerge alone"),
        (["--decomposition", "IT"], "--decomposition: means nothing to epistemic-gain, which takes --preset, --data"),
    ],
)
def test_options_of_epistemic_gain_are_refused_in_one_sentence(argv, sentence, run):
    ran = run("reproduce", "epistemic-gain", *argv)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(sentence)


def test_spread_means_nothing_to_others(run):
    assert run("reproduce", "disentanglement", "--spread", "0.3").err.startswith("--spread: means nothing")
    assert run("reproduce", "unified", "--train-share", "0.3").err.startswith("--train-share: means nothing")


def test_epistemic_gain_on_the_command_line(run, needs):
    needs("sklearn")
    argv = ["--preset", "smoke", "--method", "random-forest", "--spread", "0.25", "--runs", "1"]
    ran = run("reproduce", "epistemic-gain", *argv, "--json")
    assert ran.code == 0
    first = ran.json()[0]
    assert first["name"] == "table1/toy/spread=0.25/random-forest/mutual-information/correlation"
    assert (first["paper"], first["agrees"]) == (0.108, None)
