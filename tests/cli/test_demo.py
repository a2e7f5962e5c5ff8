"""`uqassay demo` refuses before it trains; what it trains is tested in tests/test_demo.py."""


def test_errors_name_the_options(tmp_path, run, needs):
    needs("sklearn")
    (tmp_path / "file").touch()
    ran = run("demo", "-o", tmp_path / "file")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("--output: ")
    assert run("demo", "-o", tmp_path / "x", "--seed", 2**31).err.startswith("--seed: ")
