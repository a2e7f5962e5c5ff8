"""Type-I error and power of the calibration tests.

As a test this measures small data sets and asserts what must hold. As a script it measures a grid, keeps every p-value in a
file, goes on where it stopped, and prints the table in the documentation. Lines of the file that other code made are not used,
unless --code names their code, and nothing is measured (--print):

    python -m tests.calibration.test_calibration_error_rates rates.jsonl [--grid small|full|corners|corners-large|
        corners-measures|corners-power] [--null random,minimised] [--runs 200] [--part 1/2] [--code DIGEST] [--print]

The grids "corners…" have the rows of the tables about corners of the simplex, with both kinds of members in a row. Two more
nulls stand there for comparison: "known" draws labels from the true λ, "predictive" from the first λ of the minimised null
alone. --truth, --sizes (of n), --members (kinds) and --measures select cells of a grid.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from benchmarks.keyed_lines import append, read_lines
from benchmarks.source_digests import code_version

from uqassay.calibration.credal import credal_calibration_test, drawn_labels, null_at
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.one_classifier import calibration_test
from uqassay.calibration.search import QUICK
from uqassay.calibration.weights import predictive_weights
from uqassay.lab.bench.store import older_sentence
from uqassay.lab.papers.credal_calibration.scenarios import CredalSetting, draw_ensemble, draw_truth
from uqassay.metrics.measures import calibration_measure
from uqassay.text import counted

MEASURES = ("ece-confidence", "ece-classwise", "hosmer-lemeshow", "skce-ul")
ALPHAS = (0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Cell:
    """One entry of the table: where labels come from, how large the data are, and what is done with them."""

    truth: str  # "random" λ0 of S1, "vertex", "sharp", "mean", "edge"; not calibrated: "outside" of S2, "sharper"
    measure: str
    null: str
    n: int = 100
    m: int = 10
    k: int = 10
    u: float = 0.1
    resample: bool = False
    members: str = "certain"  # at fixed truths; see `data_set`
    draws: int = 99

    def pvalues(self, runs, *, n_draws=None):
        """One p-value for each run; a run has the same data in every cell of its size and truth."""
        return np.array([self._pvalue(run, n_draws or self.draws) for run in runs])

    def _pvalue(self, run, n_draws):
        rng = np.random.default_rng([run, self.n, self.m, self.k, round(1000 * self.u)])
        members, labels = data_set(self, rng)
        if self.null == "single":
            return calibration_test(labels, members[:, 0], measure=self.measure, n_draws=n_draws, rng=run).pvalue
        if self.null in ("known", "predictive"):
            return self._pvalue_of_one_mixture(members, labels, run, n_draws)
        test = credal_calibration_test(
            labels, members, measure=self.measure, null=self.null, n_draws=n_draws, resample=self.resample, rng=run
        )
        return test.pvalue

    def _pvalue_of_one_mixture(self, members, labels, run, n_draws):
        """Labels from the true λ, which is exact, or from `predictive_weights` alone; random numbers of the minimised null."""
        generator = np.random.default_rng(run)
        seeds = generator.integers(2**63, size=2)
        weights = true_weights(self) if self.null == "known" else predictive_weights(members, labels, generator)
        mixtures = Mixtures(members)
        drawn = drawn_labels(mixtures, weights, n_draws, seeds[0])
        objective = MixtureObjective(mixtures, labels[np.newaxis], calibration_measure(self.measure))
        return null_at(objective, weights, drawn, QUICK, seeds[1])[0].pvalue


def true_weights(cell):
    corners = np.eye(cell.m)
    weights = {"vertex": corners[0], "sharp": corners[-1], "edge": (corners[0] + corners[-1]) / 2}
    return weights.get(cell.truth, np.full(cell.m, 1 / cell.m))


def data_set(cell, rng):
    """Members (n, M, K) and labels (n,).

    At fixed truths member 0 is the diffuse one. "certain": the others are nearly certain of one class. A mixture with a random
    λ0 is then nearly certain too, and what a measure scatters there is not what it scatters where labels come from member 0.
    "temperatures": members have similar logits, times .3 (member 0) to 1.5 (the last one). "flat": rows of Dir(10), of the
    others Dir(1). Labels of these two tell little about λ, so its estimate lies far from the corner.
    """
    if cell.truth in ("random", "outside"):
        ensemble = draw_ensemble(CredalSetting(cell.n, cell.m, cell.k, cell.u), rng)
        sample = draw_truth(ensemble, "S1" if cell.truth == "random" else "S2", rng)
        return np.asarray(ensemble.members), sample.labels
    members = MEMBERS[cell.members](cell, rng)
    probs = np.einsum("nmk,m->nk", members, true_weights(cell)) ** POWERS.get(cell.truth, 1.0)
    return members, drawn(probs, rng)


def nearly_certain(cell, rng):
    concentration = np.full((cell.n, cell.k), 0.02)
    concentration[np.arange(cell.n), rng.integers(0, cell.k, cell.n)] = 20.0
    gammas = rng.standard_gamma(np.repeat(concentration[:, np.newaxis], cell.m, axis=1))
    members = gammas / gammas.sum(axis=-1, keepdims=True)
    members[:, 0] = rng.dirichlet(np.ones(cell.k), cell.n)
    return members


def temperatures(cell, rng):
    logits = 1.5 * rng.normal(size=(cell.n, 1, cell.k)) + 0.5 * rng.normal(size=(cell.n, cell.m, cell.k))
    exponentials = np.exp(logits * np.linspace(0.3, 1.5, cell.m)[:, np.newaxis])
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def flat(cell, rng):
    members = rng.dirichlet(np.ones(cell.k), (cell.n, cell.m))
    members[:, 0] = rng.dirichlet(np.full(cell.k, 10.0), cell.n)
    return members


MEMBERS = {"certain": nearly_certain, "temperatures": temperatures, "flat": flat}
POWERS = {"sharper": 2.0}  # labels come from the mean's probabilities to this power


def drawn(probs, rng):
    """One label from each row, by the definition."""
    cumulated = probs.cumsum(axis=1)
    return (rng.random((len(probs), 1)) * cumulated[:, -1:] >= cumulated[:, :-1]).sum(axis=1)


def share(pvalues, alpha):
    return float((pvalues <= alpha + 1e-12).mean())


def highest(alpha, n_runs, errors=3.3):
    """Bound that an observed rate exceeds with probability .0005 if the true rate is α (normal approximation)."""
    return alpha + errors * np.sqrt(alpha * (1 - alpha) / n_runs)


# -- as tests ---------------------------------------------------------------------------------------------------------

RUNS = range(100)
DRAWS = 19  # p-values are multiples of 1/20, so the levels .05, .1, .2 and .5 are met exactly
SMALL = {"n": 40, "m": 3, "k": 3}


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
def test_random_null_keeps_the_level_on_average(measure):
    found = Cell("random", measure, "random", u=1.0, **SMALL).pvalues(RUNS, n_draws=DRAWS)
    for alpha in (0.05, 0.1, 0.2, 0.5):
        assert share(found, alpha) <= highest(alpha, len(RUNS))


@pytest.mark.slow
@pytest.mark.parametrize(("measure", "n_runs"), [("ece-confidence", 50), ("skce-ul", 90)])
def test_minimised_null_is_near_the_level_on_average(measure, n_runs):
    # at α = .5 the random null rejects in 0 (ece-confidence), where 50 runs must show .267 or more, and in .3 (skce-ul), where
    # 90 runs must show .326
    found = Cell("random", measure, "minimised", u=1.0, **SMALL).pvalues(range(n_runs), n_draws=DRAWS)
    for alpha in (*ALPHAS, 0.5):
        assert abs(share(found, alpha) - alpha) <= 3.3 * np.sqrt(alpha * (1 - alpha) / n_runs)


@pytest.mark.slow
def test_single_classifier_is_exact():
    for measure in MEASURES:
        runs = range(90)  # at α = .05 a rate of .23 exceeds the bound with probability .99
        found = Cell("random", measure, "single", n=40, m=1, k=3).pvalues(runs, n_draws=DRAWS)
        for alpha in (*ALPHAS, 0.5):
            assert abs(share(found, alpha) - alpha) <= 3.3 * np.sqrt(alpha * (1 - alpha) / len(runs)), (measure, alpha)


FIXED = {"n": 40, "m": 8, "k": 4}


@pytest.mark.slow
def test_at_a_vertex_the_random_null_fails():
    found = Cell("vertex", "ece-classwise", "random", n=60, m=10, k=5).pvalues(range(50), n_draws=DRAWS)
    assert share(found, 0.05) > 0.5  # about .9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "measure"), [("vertex", "ece-classwise"), ("edge", "skce-ul"), ("mean", "ece-classwise")]
)
def test_at_fixed_truths_the_minimised_null_holds(truth, measure):
    # labels from the λ of the least value, which is no estimate of the truth, reject in .33 at the mean, α = .05;
    # 30 runs with that rate exceed the bound with probability .95
    runs = range(30)
    found = Cell(truth, measure, "minimised", **FIXED).pvalues(runs, n_draws=DRAWS)
    for alpha in (0.05, 0.1):
        assert share(found, alpha) <= highest(alpha, len(runs))


def test_at_the_diffuse_corner_the_minimised_null_rejects_as_with_the_true_weights():
    # the same data sets and random numbers for all three, so that the shares differ by λ alone
    cell = {"n": 50, "m": 10, "k": 3, "members": "temperatures"}
    rejected = {
        null: (Cell("vertex", "ece-confidence", null, **cell).pvalues(range(30), n_draws=DRAWS) <= 0.2 + 1e-12).sum()
        for null in ("known", "predictive", "minimised")
    }
    assert rejected["predictive"] >= rejected["known"] + 3, "the first λ alone would do, and this tests nothing"
    assert rejected["minimised"] <= rejected["known"] + 1


@pytest.mark.slow
def test_the_mean_of_many_members_is_not_rejected():
    # labels from the most likely λ, which lies on a few of the members, reject in .6; 9 runs show that with probability .97
    found = Cell("mean", "hosmer-lemeshow", "minimised", n=200, m=100, k=3).pvalues(range(9), n_draws=DRAWS)
    assert share(found, 0.05) <= highest(0.05, 9, errors=2.5)


@pytest.mark.slow
@pytest.mark.parametrize(("truth", "measure"), [("vertex", "ece-confidence"), ("edge", "skce-ul")])
def test_at_fixed_truths_berger_boos_holds(truth, measure):
    # p is .001 above a multiple of 1/20: below .1 it means that no draw reaches the statistic, which has level .05
    found = Cell(truth, measure, "berger-boos", **FIXED).pvalues(range(30), n_draws=DRAWS)
    assert share(found, 0.1) <= highest(0.05, 30, errors=2.5)


@pytest.mark.slow
def test_the_minimised_null_has_more_power_than_the_random_one():
    size = {"n": 60, "m": 4, "k": 4, "u": 0.1}
    runs = range(25)
    minimised = Cell("outside", "ece-confidence", "minimised", **size).pvalues(runs, n_draws=DRAWS)
    random = Cell("outside", "ece-confidence", "random", **size).pvalues(runs, n_draws=DRAWS)
    assert share(minimised, 0.05) > share(random, 0.05) + 0.1


@pytest.mark.slow
def test_resampled_instances_break_the_level_of_sparse_bins():
    cell = Cell("random", "ece-classwise", "single", n=100, m=1, k=30)
    rng, rejected = np.random.default_rng(3), 0
    for run in range(60):
        members, labels = data_set(cell, rng)
        test = calibration_test(labels, members[:, 0], measure="ece-classwise", n_draws=99, resample=True, rng=run)
        rejected += test.reject(0.05)
    assert rejected / 60 > highest(0.05, 60)


def test_as_a_script_it_measures_again_what_other_code_made(tmp_path, capsys):
    path, cell = tmp_path / "rates.jsonl", Cell("random", "ece-confidence", "single", n=20, m=1, k=3, draws=9)
    main(path, [cell], 2, (0, 1), only_print=False)
    printed = capsys.readouterr().out
    assert f"| 20 | 1 | 3 | random | ece-confidence | single | {BLOCK} |" in printed
    held = path.read_text()
    main(path, [cell], 2, (0, 1), only_print=False)
    assert (capsys.readouterr().out, path.read_text()) == (printed, held)
    path.write_text(held.replace(code_version(CODE), "of a former source") + '{"cell": "torn')
    main(path, [cell], 2, (0, 1), only_print=True)
    told = capsys.readouterr()
    assert told.out.count("\n") == 2  # no rows
    assert "1 line of other code left out" in told.err
    main(path, [cell], 2, (0, 1), only_print=True, code="of a former source")
    assert capsys.readouterr().out == printed
    main(path, [cell], 2, (0, 1), only_print=False)
    told = capsys.readouterr()
    assert told.out == printed
    assert f"1 line in {path} was made by other code and is not used" in told.err


# -- as a script ------------------------------------------------------------------------------------------------------

BLOCK = 10
CODE = "tests.calibration.test_calibration_error_rates:main"  # the code that makes the lines of a file


def corners(name, nulls):
    """Cells about true λ at corners, edges and in the middle of the simplex."""
    both = ("temperatures", "flat")
    if name == "corners":
        cells = [((3, m, n), measure, CALIBRATED, both) for n in (50, 100, 200) for m in (3, 2, 10) for measure in TWO]
    elif name == "corners-large":
        cells = [((3, m, 1000), measure, CALIBRATED, both) for m in (3, 2, 10) for measure in TWO]
        cells += [((10, 10, n), measure, CALIBRATED, both) for n in (50, 200) for measure in TWO]
    elif name == "corners-measures":
        cells = [((3, 3, n), measure, CALIBRATED, both) for n in (50, 200, 1000) for measure in OTHERS]
    else:
        cells = [((3, 3, n), measure, ("sharper",), both) for n in (50, 200) for measure in TWO]
        cells += [((3, 3, n), measure, ("outside",), ("certain",)) for n in (50, 200) for measure in TWO]
    return [
        Cell(truth, measure, null, n=n, m=m, k=k, members=members, draws=39)
        for (k, m, n), measure, truths, kinds in cells
        for truth in truths
        for members in kinds
        for null in nulls
        if null != "single" and (null != "known" or truth in CALIBRATED)
        if truth != "mean" or m > 2  # that is the edge
    ]


CALIBRATED = ("vertex", "sharp", "edge", "mean")
TWO = ("kuiper-confidence", "ece-confidence")  # the default and the one of the paper on credal calibration
OTHERS = ("ece-classwise", "hosmer-lemeshow", "skce-ul")


def grid(name, nulls):
    """Cells of the table."""
    if name.startswith("corners"):
        return corners(name, nulls)
    sizes = [(3, 3), (10, 10)] if name == "small" else [(m, k) for k in (3, 10, 100) for m in (3, 10, 100)]
    cells = [Cell("random", measure, "single", m=1, k=k) for k in sorted({k for _, k in sizes}) for measure in MEASURES]
    cells = cells if "single" in nulls else []
    for m, k in sizes:
        for measure in MEASURES:
            for truth in ("random", "vertex", "mean", "edge", "outside"):
                cells += [Cell(truth, measure, null, m=m, k=k) for null in nulls if null != "single"]
    return cells


def selected(cells, options):
    """Cells with the truths, sizes, kinds of members and measures that the options name."""
    for option, name in (("--truth", "truth"), ("--sizes", "n"), ("--members", "members"), ("--measures", "measure")):
        if option in options:
            cells = [cell for cell in cells if str(getattr(cell, name)) in options[option].split(",")]
    return cells


def main(path, cells, n_runs, part, only_print, code=""):
    path, (mine, parts) = Path(path), part
    code = code or code_version(CODE)
    records, others = read_lines(path, code)
    if others:
        left_out = f"{counted(others, 'line')} of other code left out; --code DIGEST prints them"
        print(left_out if only_print else older_sentence(others, "line", path, "other code"), file=sys.stderr)
    found = {}
    for record in records:
        found.setdefault(Cell(**record["cell"]), {})[record["first"]] = record["pvalues"]
    for first in [] if only_print else range(0, n_runs, BLOCK):
        for i, cell in enumerate(cells):
            if i % parts != mine or first in found.get(cell, {}):
                continue
            pvalues = cell.pvalues(range(first, first + BLOCK)).tolist()
            found.setdefault(cell, {})[first] = pvalues
            append(path, {"cell": vars(cell), "first": first, "pvalues": pvalues}, code)
    rows = {}
    for cell in cells:  # kinds of members share a row
        row = (cell.n, cell.m, cell.k, cell.truth, cell.measure, cell.null)
        rows.setdefault(row, []).extend(np.concatenate(list(found[cell].values())) if cell in found else [])
    print("| N | M | K | truth | measure | null | runs |", " | ".join(f"α = {alpha:g}" for alpha in ALPHAS), "|")
    print("|" + "---|" * (7 + len(ALPHAS)))
    for row, pvalues in rows.items():
        if pvalues:
            rates = [f"{share(np.array(pvalues), alpha):.3f}" for alpha in ALPHAS]
            print("|", " | ".join(map(str, [*row, len(pvalues), *rates])), "|")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    options = dict(zip(sys.argv[2::2], sys.argv[3::2], strict=False))
    nulls = options.get("--null", "single,random,minimised,berger-boos").split(",")
    piece = [int(x) for x in options.get("--part", "1/1").split("/")]
    main(
        sys.argv[1],
        selected(grid(options.get("--grid", "small"), nulls), options),
        int(options.get("--runs", "200")),
        (piece[0] - 1, piece[1]),
        "--print" in sys.argv,
        options.get("--code", "") if "--print" in sys.argv else "",
    )
