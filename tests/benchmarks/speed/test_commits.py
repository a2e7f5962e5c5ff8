"""Two versions side by side: what counts as a slow-down, and a commit that is slower on purpose."""

import subprocess
from functools import partial
from pathlib import Path

import pytest
from benchmarks.speed.commits import HERE, Limits, Side, Turn, check_out, compare, lines, run, with_kernels

ROOT = Path(__file__).resolve().parents[3]
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
