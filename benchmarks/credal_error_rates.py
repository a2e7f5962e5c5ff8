"""Error rates of the credal calibration test in the settings of the paper's Figures 1 to 4.

Run: python -m benchmarks.credal_error_rates [--data-sets 1000] [--workers 2] [--resume FOLDER] [--store]   (four minutes)
     python -m benchmarks.credal_error_rates --further [--data-sets 1000] …                     (six minutes)

The same as `uqassay reproduce credal-calibration --figure 1 --preset paper`, and with --further Figures 2 to 4, Figure 4 with
instances that stay as they are, and the authors' code in the setting of Figure 1. --store keeps the table for the guide; see
benchmarks/docs_numbers.py. With --resume, a run that was interrupted continues.
"""

import argparse
import os
import sys
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # so that it also runs uninstalled

from benchmarks.stored_tables import Source, Table, store
from uqassay.lab.papers.credal_calibration.error_rates import (
    ALPHAS,
    MEASURES,
    ErrorRates,
    Plan,
    above_level,
    beside_references,
    error_rates,
    rates_of,
)
from uqassay.lab.papers.credal_calibration.run import FIGURES
from uqassay.lab.papers.credal_calibration.scenarios import SCENARIOS
from uqassay.statistics import Estimate
from uqassay.text import count, counted, interval, listed

LEVELS = (0.05, 0.1, 0.2, 0.5)
COLUMNS = ("", "S1, type I", "S2, type II", "S3, type II")
RUN = "python -m benchmarks.credal_error_rates"
FUNCTION = "uqassay.lab.papers.credal_calibration.error_rates:judge_data_set"
SOURCE = Source(f"{RUN} --workers 2 --store", FUNCTION, cost="four minutes of a core")

SHOWN = (0.05, 0.2)
FIRST = {"Figure 1": (Plan(FIGURES["1"]), 1000)}
FURTHER = {  # and the number of data sets, by their cost
    "Figure 2, u = .1": (Plan(FIGURES["2"]), 100),
    "Figure 3, M = 100": (Plan(FIGURES["3"]), 100),
    "Figure 4, K = 100": (Plan(FIGURES["4"]), 100),
    "Figure 4, instances as they are": (Plan(FIGURES["4"], resample=False), 100),
    "Figure 1, authors' code": (Plan(FIGURES["1"], convention="paper-code", resample=False), 40),
}
FURTHER_COLUMNS = (
    "setting",
    "measure",
    *(f"{scenario}, α = {level}" for scenario in COLUMNS[1:] for level in (".05", ".2")),
)
FURTHER_SOURCE = Source(f"{RUN} --further --workers 2 --store", FUNCTION, cost="six minutes of a core")


def table(rates: ErrorRates) -> Table:
    """Rates at the levels .05 / .1 / .2 / .5, by measure and scenario; beneath, the width of the intervals and references."""
    places = [ALPHAS.index(level) for level in LEVELS]
    rows, halves = [], []
    for measure in MEASURES:
        found = [[rates_of(rates, scenario, measure)[place] for place in places] for scenario in SCENARIOS]
        rows.append([f"`{measure}`", *(" / ".join(_share(x) for x in part) for part in found)])
        halves += [(x.high - x.low) / 2 for part in found for x in part]
    text = [f"{count(rates.n_runs)} data sets: the 95 % intervals reach at most {_share(max(halves))} up and down."]
    inside, known = beside_references(rates, LEVELS)
    if known:
        text.append(f"{inside} of the {known} references lie inside them.")
    tested = rates.n_runs * len(rates.above_truth)
    if tested:
        above = sum(rates.above_truth.values())
        text.append(
            f"In {count(above)} of the {count(tested)} minimisations of S1 the least value found lies above that at the true λ."
        )
    return Table(COLUMNS, rows, [" ".join(text)])


def further_table(found: dict[str, ErrorRates]) -> Table:
    """Rates with intervals at the levels .05 and .2, by setting, measure and scenario; beneath, what exceeds its level."""
    rows, above = [], []
    for name, rates in found.items():
        for i, measure in enumerate(MEASURES):
            cells = []
            for scenario in SCENARIOS:
                by_level = dict(zip(ALPHAS, rates_of(rates, scenario, measure), strict=True))
                cells += [_with_interval(by_level[level]) for level in SHOWN]
            rows.append([f"{name}; {counted(rates.n_runs, 'data set')}" if i == 0 else "", f"`{measure}`", *cells])
        above += [f"`{measure}` in {name} ({_level(level)})" for measure, level in above_level(rates).items()]
    worst = f"these exceed α by more than chance (most clearly at): {listed(above)}" if above else "nothing exceeds α"
    return Table(FURTHER_COLUMNS, rows, [f"In S1 {worst}."])


def _level(x: float) -> str:
    return f"{x:g}".removeprefix("0")


def _with_interval(rate: Estimate) -> str:
    ends = interval(rate.low, rate.high).split(" to ")
    return f"{_share(rate)} ({' to '.join(end.removeprefix('0') for end in ends)})"


def _share(x: float) -> str:
    """Three decimals without the zero before the point."""
    return f"{x:.3f}".removeprefix("0") if 0 < x < 1 else f"{x:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data-sets", type=int, help="by default 1,000 for Figure 1, with --further 100 and 40")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--resume", help="folder that keeps finished data sets")
    parser.add_argument("--store", action="store_true", help="keep the table for the guide")
    parser.add_argument(
        "--further", action="store_true", help="Figures 2 to 4 and the authors' code, instead of Figure 1"
    )
    told = parser.parse_args()
    source = FURTHER_SOURCE if told.further else SOURCE
    code = source.code()
    found = {
        name: error_rates(plan, told.data_sets or n, workers=told.workers, resume=told.resume)
        for name, (plan, n) in (FURTHER if told.further else FIRST).items()
    }
    made = further_table(found) if told.further else table(found["Figure 1"])
    print("\n".join([*made.markdown(), *dict.fromkeys(note for rates in found.values() for note in rates.notes)]))
    if told.store:
        store("credal-error-rates-further" if told.further else "credal-error-rates", made, source, code=code)


if __name__ == "__main__":
    main()
