"""`uqassay tradeoff`: a range of λ from two questions."""


def test_tradeoff_questions(run):
    assert run("tradeoff", "--abstention", "--cost", "0.1").out.startswith("λ from 0.05 to 0.2\n")
    assert run("tradeoff", "--no-abstention").out.startswith("λ from 1 to 2\n")
    found = run("tradeoff", "--abstention", "--cost", "0.1", "--json").json()
    assert (found["schema"], found["low"], found["high"]) == ("uqassay.tradeoff/1", 0.05, 0.2)


def test_errors_name_the_options(run):
    for argv, option in (
        (["--abstention", "--cost", "2"], "--cost"),
        (["--no-abstention", "--cost", "0.1"], "--cost"),
        ([], "--abstention"),
    ):
        ran = run("tradeoff", *argv)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert ran.err.startswith(f"{option}: ")
