"""`uqassay reproduce`: the cells are those of the library, and options that mean nothing are refused."""

from uqassay.experiments import register


def test_reproduce(run):
    expected = register.reproduce("unified-tables")
    ran = run("reproduce", "unified-tables", "--preset", "smoke", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json() == expected.to_json()
    assert set(ran.json()[0]) == {"name", "paper", "ours", "low", "high", "agrees", "note"}
    assert run("reproduce", "unified-tables").out.rstrip("\n") == expected.summary()
