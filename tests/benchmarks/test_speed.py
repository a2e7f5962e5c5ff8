"""The comparison of speed: one workload on a clock, yardsticks, two versions side by side, the tables of the page."""

import os
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from benchmarks.speed.__main__ import main
from benchmarks.speed.commits import HERE, Limits, Side, Turn, check_out, compare, lines, run, with_kernels
from benchmarks.speed.machine import PEERS, describe, least, versions, yardsticks
from benchmarks.speed.page import disagreements, peers_table, times_table
from benchmarks.speed.workload import Case, Clock, Peer, Repeats, Workload, by_formulas, measure, timed
from benchmarks.speed.workloads import WORKLOADS
from benchmarks.stored_tables import ROOT
from tests.benchmarks.speed.counted import Watch

import uqassay as uq

# -- Measuring of one workload: least times on a given clock, extrapolation, agreement of peers ------------------------


ONCE = Repeats(0.0, 1, 1)


def record(*peers, answer=(1.0, 2.0, 4.0, 8.0), loop=None, took=2.0, watch=None):
    watch = watch or Watch()

    def call():
        watch.work(took)
        return np.array(answer)

    return measure(
        Workload("w", lambda quick: Case(call, np.asarray, peers, loop, 80), repeats=ONCE), clock=watch.clock()
    )


def test_least_time_of_the_wanted_repeats():
    watch, lasts = Watch(), iter((3.0, 1.0, 2.0, 9.0))
    assert timed(lambda: watch.work(next(lasts)), watch.clock(), Repeats(5.5, 1, 30)) == (1.0, 1.0)
    assert next(lasts) == 9.0  # 6 seconds were enough
    calls = []
    timed(lambda: calls.append(watch.work(1e-9)), watch.clock(), Repeats(1.0, 2, 7))
    assert len(calls) == 7


def test_a_peer_on_some_rows_is_extrapolated():
    watch = Watch()
    peer = Peer("plain", lambda: watch.work(3.0) or [1.0, 2.0], rows=2)
    found = record(peer, watch=watch)
    assert (found["processor"], found["bytes"], found["loop"]) == (2.0, 80, None)
    (beside,) = found["peers"]
    assert (beside["ratio"], beside["difference"], beside["agrees"]) == (3.0, 0.0, True)


def test_the_loop_is_a_yardstick_in_seconds():
    watch = Watch()
    found = record(loop=Peer("plain C loop", lambda: watch.work(0.5)), watch=watch)
    assert found["loop"] == 0.5
    assert found["peers"][0] | {"ratio": 0} == {
        "name": "plain C loop",
        "rows": None,
        "lacks": "",
        "word": "worse",
        "ratio": 0,
        "difference": None,
        "share": None,
        "agrees": True,
    }


@pytest.mark.parametrize(
    ("theirs", "worse", "agrees", "share"),
    [
        ([1.0, 2.0, 4.0, 8.0 + 1e-9], 0, True, None),
        ([1.0, 2.0, 4.0, 8.1], 0, False, None),
        ([1.0, 2.5, 4.5, 8.0], 1, True, 0.5),  # misses two minima
        ([1.0, 1.5, 4.0, 8.0], 1, False, 0.25),  # finds a lower one
        ([1.0, 1.5, 4.0, 8.0], -1, True, 0.25),
        ([1.0, 2.0, 4.0, np.nan], 0, False, None),
    ],
)
def test_agreement(theirs, worse, agrees, share):
    (beside,) = record(Peer("peer", lambda: theirs, worse=worse))["peers"]
    assert (beside["agrees"], beside["share"]) == (agrees, share)


def test_undefined_and_infinite_values_may_be_equal():
    (beside,) = record(Peer("peer", lambda: [np.nan, np.inf]), answer=(np.nan, np.inf))["peers"]
    assert (beside["difference"], beside["agrees"]) == (0.0, True)


def test_a_peer_that_fails_is_told():
    (beside,) = record(Peer("peer", lambda: 1 / 0))["peers"]
    assert beside["failed"] == "ZeroDivisionError: division by zero"


def test_formulas_alone_are_without_kernels(monkeypatch):
    monkeypatch.delenv("UQASSAY_PURE", raising=False)
    peers = by_formulas(lambda: float(not uq.kernels().names))
    assert [peer.call() for peer in peers] == [1.0] * len(peers)
    assert len(peers) == bool(uq.kernels().names)
    assert "UQASSAY_PURE" not in os.environ


# -- The workloads: each is prepared and called on small data, and its peers agree where they are installed ------------


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


# -- Yardsticks, the sentence on the machine, versions of peers --------------------------------------------------------


@pytest.fixture
def ticking():
    """A clock that goes on by a second whenever it is read."""
    seconds = iter(range(10**6))
    return Clock(lambda: next(seconds), lambda: 0.0)


def test_yardsticks_on_a_given_clock(ticking):
    radix = {"radix": 1.0} if uq.kernels().names else {}
    assert yardsticks(ticking) == {"sort": 1.0, **radix, "bandwidth": 2 * 8e7}


def test_the_better_of_two_measurements():
    assert least({"sort": 1.0, "bandwidth": 5.0}, {"sort": 2.0, "bandwidth": 7.0}) == {"sort": 1.0, "bandwidth": 7.0}


def test_the_machine_says_whether_kernels_are_in_use(monkeypatch):
    monkeypatch.setenv("UQASSAY_PURE", "1")
    assert describe().endswith(", no compiled kernels.")
    assert f"NumPy {np.__version__}" in describe()


def test_peers_that_are_not_installed_have_no_version(monkeypatch):
    import scipy

    monkeypatch.setitem(PEERS, "no such package", "no_such_module")
    found = versions()
    assert found["SciPy"] == scipy.__version__
    assert found["no such package"] == ""


# -- Two versions side by side: what counts as a slow-down, and a commit that is slower on purpose ---------------------


SIDES = Side("before", Path()), Side("after", Path())


def scripted(before, after):
    """A run that gives these times in turn, for the workload "w"."""
    turns = {"before": before, "after": after}
    times = {name: iter([t if isinstance(t, str | Turn) else Turn(t) for t in those]) for name, those in turns.items()}
    return lambda side, names: {name: next(times[side.name]) for name in names}


def only(run, turns=3, ratio=1.05):
    (found,) = compare(run, SIDES, ["w"], Limits(turns, ratio))
    return found


def test_the_same_speed():
    found = only(scripted([1.0, 1.02, 0.99], [1.01, 1.0, 1.0]))
    assert (found.slower, found.before, found.after, found.ratio) == (False, 1.0, 1.0, 1.01)
    assert found.noise == pytest.approx(1.02 / 0.99)


def test_a_slow_down_above_the_noise_is_measured_twice():
    found = only(scripted([1.0, 1.02, 1.0] * 2, [1.3, 1.31, 1.3] * 2))
    assert found.slower
    assert found.ratio == pytest.approx(1.3)


def test_a_slow_down_of_one_round_alone_does_not_count():
    assert not only(scripted([1.0] * 6, [1.3, 1.3, 1.3, 1.0, 1.0, 1.0])).slower


def test_a_slow_down_within_the_noise_does_not_count():
    found = only(scripted([1.0, 1.5, 1.0], [1.3, 1.9, 1.3]))
    assert (found.slower, found.noise) == (False, 1.5)


def test_a_slow_down_below_the_limit_does_not_count():
    assert not only(scripted([1.0] * 3, [1.1] * 3), ratio=1.2).slower


def test_other_results_are_told():
    found = only(scripted([Turn(1.0, "a")] * 3, [Turn(1.0, "b")] * 3))
    assert (found.slower, found.same) == (False, False)
    assert lines([found], SIDES, Limits())[1].endswith("other results")
    assert only(scripted([Turn(1.0, "a")] * 3, [Turn(1.0, "a")] * 3)).same


def test_a_workload_that_fails_in_the_later_version_is_broken():
    found = only(scripted([1.0] * 3, ["ImportError: x"] * 3))
    assert (found.broken, found.problem) == (True, "after: ImportError: x")
    assert not only(scripted(["no name"] * 3, [1.0] * 3)).broken
    assert lines([found], SIDES, Limits())[-1] == "Broken: w"


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Two commits and a working tree of a package that says how long its jobs take."""
    root = tmp_path_factory.mktemp("repository")
    package = root / "src" / "uqassay"
    package.mkdir(parents=True)

    def git(*words):
        name = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(root), *name, *words], check=True, capture_output=True)

    git("init")
    for tag, text in (("fast", "STEADY, SLOWER = 1.0, 2.0\n"), ("slow", "STEADY, SLOWER, NEW = 1.0, 3.0, 1.0\n")):
        (package / "__init__.py").write_text(text)
        git("add", ".")
        git("commit", "-m", tag)
        git("tag", tag)
    (package / "__init__.py").write_text("STEADY, SLOWER, NEW = 1.0, 2.0, 1.0\n")
    return root


def compared(repository, folder, before, after):
    sides = []
    for j, commit in enumerate((before, after)):
        (folder / str(j)).mkdir()
        sides.append(with_kernels(check_out(commit, repository, folder / str(j)), folder / "kept"))
    measure = partial(run, root=ROOT, module="tests.benchmarks.speed.counted")
    limits = Limits(2)
    found = compare(measure, (sides[0], sides[1]), ["STEADY", "SLOWER", "NEW"], limits)
    return found, "\n".join(lines(found, (sides[0], sides[1]), limits))


def test_a_commit_that_is_slower_on_purpose(repository, tmp_path):
    found, text = compared(repository, tmp_path, "fast", "slow")
    assert [one.slower for one in found] == [False, True, False]
    assert found[1].ratio == pytest.approx(1.5)
    assert "module 'uqassay' has no attribute 'NEW'" in found[2].problem
    assert not found[2].broken
    assert text.endswith("Slower: SLOWER")


def test_a_commit_and_the_working_tree(repository, tmp_path):
    found, text = compared(repository, tmp_path, "slow", HERE)
    assert not any(one.slower or one.broken for one in found)
    measured = [one for one in found if not one.problem]
    of_all = "" if measured == found else f" of the {len(measured)} measured"
    assert text.endswith(f"No workload{of_all} is slower.")


def test_an_unknown_commit_is_refused(repository, tmp_path):
    with pytest.raises(ValueError, match="no-such-commit"):
        check_out("no-such-commit", repository, tmp_path)


def test_another_package_than_asked_for_is_not_measured(repository, tmp_path):
    elsewhere = Side("elsewhere", tmp_path / "src")
    found = run(elsewhere, ["STEADY"], root=ROOT, module="tests.benchmarks.speed.counted")
    assert "and not from" in found["STEADY"]


def test_a_version_runs_its_own_workloads(tmp_path):
    (own := tmp_path / "benchmarks" / "speed").mkdir(parents=True)
    (own / "one.py").write_text("""print('{"name": "STEADY", "processor": 2.5, "digest": "own"}')""")
    assert run(Side("own", tmp_path / "src"), ["STEADY"], root=ROOT) == {"STEADY": Turn(2.5, "own")}


# -- The two tables of the page: ratios to yardsticks, peers, what is absent or fails ----------------------------------


YARD = {"sort": 0.01, "radix": 0.02, "bandwidth": 1e10}
PEER = {
    "name": "plain NumPy",
    "rows": None,
    "lacks": "",
    "ratio": 12.34,
    "difference": 2e-16,
    "share": None,
    "agrees": True,
    "word": "worse",
}


def page_record(name="w", *, several=False, loop=0.25, n_bytes=10**7, peers=(PEER,), yard=YARD):
    return {
        "name": name,
        "processor": 0.5,
        "wall": 0.3,
        "bytes": n_bytes,
        "loop": loop,
        "peers": list(peers),
        "several": several,
        "yardsticks": yard,
    }


def test_ratios_to_the_yardsticks_of_the_same_process():
    table = times_table([page_record()], "A machine.")
    assert table.rows == [["w", "500 ms", "50", "25", "2.0", "500", "–"]]
    assert table.text == [
        "A machine.",
        "",
        "In the processes of this run, `np.sort` of a million doubles took 10 ms, the plain radix sort of the same in C++ "
        "20 ms and a large copy moved 10 GB a second.",
    ]


def test_without_kernels_and_without_a_loop():
    table = times_table([page_record(loop=None, n_bytes=0, yard={"sort": 0.01, "bandwidth": 1e10})], "")
    assert table.rows == [["w", "500 ms", "50", "–", "–", "–", "–"]]
    assert "radix" not in table.text[-1]


def test_formulas_and_loops_have_columns():
    peers = [PEER | {"name": "formulas alone", "ratio": 7.0}, PEER | {"name": "plain C loop"}, PEER]
    assert times_table([page_record(peers=peers)], "").rows[0][-1] == "7.0"
    assert [row[1] for row in peers_table([page_record(peers=peers)], {}).rows] == ["plain NumPy"]


def test_workloads_of_several_processes_show_the_time_that_a_user_waits():
    assert times_table([page_record(several=True)], "").rows[0][1] == "300 ms (processor 500 ms)"


def test_peers_side_by_side():
    slow = PEER | {
        "name": "SciPy",
        "rows": 20,
        "lacks": "no interval",
        "ratio": 6543.0,
        "difference": 0.1,
        "share": 0.8,
    }
    other = PEER | {"name": "fast", "ratio": 0.5, "difference": 0.25, "agrees": False}
    broken = {"name": "broken", "rows": None, "lacks": "", "failed": "TypeError: a | b"}
    sort = PEER | {"name": "sort", "difference": None}
    table = peers_table([page_record(peers=(PEER, slow, other, broken, sort))], {"probly": "0.9.1", "fastauc": ""})
    assert [row[1:] for row in table.rows] == [
        ["plain NumPy", "12", "2e-16", ""],
        ["SciPy", "6,500", "80 % worse", "no interval; extrapolated from 20"],
        ["fast", "0.50", "2e-01: disagrees", ""],
        ["broken", "fails", "–", "TypeError: a / b"],
        ["sort", "12", "–", ""],
    ]
    assert table.text == ["Compared: probly 0.9.1. Not installed and not measured: fastauc."]


def test_failures_and_disagreements_are_named():
    other = PEER | {"agrees": False, "difference": 0.25}
    broken = {"name": "broken", "rows": None, "lacks": "", "failed": "TypeError: x"}
    records = [page_record(peers=(PEER, other, broken)), {"name": "v", "failed": "the process ended"}]
    assert disagreements(records) == [
        "v: the process ended",
        "w, plain NumPy: differs by 2.5e-01",
        "w, broken: TypeError: x",
    ]
    assert [row[0] for row in times_table(records, "").rows] == ["w"]
