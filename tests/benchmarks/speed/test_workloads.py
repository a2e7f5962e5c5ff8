"""The workloads: each is prepared and called on small data, and its peers agree where they are installed."""

import pytest
from benchmarks.speed.__main__ import main
from benchmarks.speed.workload import Clock, Repeats, measure
from benchmarks.speed.workloads import WORKLOADS
from benchmarks.stored_tables import ROOT

STILL = Clock(lambda: 0.0, lambda: 0.0)
FAST = ("convention, M = 15", "entropy of intervals", "zero-one", "n = 100,000", "paired tests")


@pytest.mark.parametrize("name", [n for n in WORKLOADS if any(part in n for part in FAST) and "K = 100" not in n])
def test_peers_agree(name):
    one = WORKLOADS[name]
    once = type(one)(one.name, one.make, one.several, one.compared, Repeats(0.0, 1, 1))
    found = measure(once, quick=True, clock=STILL)
    assert [peer for peer in found["peers"] if "failed" in peer or not peer["agrees"]] == []


def test_the_list_and_unknown_names(capsys):
    assert main(["--list", "UQ-C-index"]) == 0
    assert all("UQ-C-index" in line for line in capsys.readouterr().out.splitlines())
    with pytest.raises(SystemExit, match="2"):
        main(["no such workload"])
    assert "no workload has one of these in its name: no such workload" in capsys.readouterr().err


def test_what_the_comparison_refuses(capsys):
    assert main(["--compare", "no-such-commit", "--turns", "2"]) == 2
    assert "no-such-commit" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["--compare", "HEAD", "--turns", "1"])
    assert "--turns: the noise takes at least 2" in capsys.readouterr().err


def test_the_page_has_all_workloads(capsys):
    for more in ("--quick", "UQ-AUC"):
        with pytest.raises(SystemExit, match="2"):
            main(["--write", more])
        assert "--write: the page has all workloads on their whole data" in capsys.readouterr().err


def test_a_trial_prints_both_tables_and_stores_nothing(capfd):
    kept = sorted((ROOT / "docs" / "results").glob("time-of-*.json"))
    before = [path.read_bytes() for path in kept]
    assert main(["--quick", "decomposition, zero-one"]) == 0
    told = capfd.readouterr()
    assert told.out.count("| decomposition, zero-one |") == 2
    assert "so these figures are a trial and no result" in told.out
    assert "s of a processor: decomposition, zero-one" in told.err
    assert [path.read_bytes() for path in kept] == before
