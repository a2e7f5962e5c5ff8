"""Error rates of the credal calibration test in the setting of the paper's Figure 1.

Run: python -m benchmarks.credal_error_rates [--data-sets 1000] [--workers 2] [--resume FOLDER] [--store]   (four minutes)

The same as `uqassay reproduce credal-calibration --figure 1 --preset paper`. --store keeps the table for the guide; see
benchmarks/docs_numbers.py. With --resume, a run that was interrupted continues.
"""

import argparse
import os
import sys
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # so that it also runs uninstalled

from benchmarks.stored_tables import Source, Table, golden_numbers, store
from uqassay.lab.papers.credal_calibration.error_rates import (
    ALPHAS,
    MEASURES,
    ErrorRates,
    Plan,
    beside_references,
    error_rates,
    rates_of,
)
from uqassay.lab.papers.credal_calibration.run import FIGURES
from uqassay.lab.papers.credal_calibration.scenarios import SCENARIOS
from uqassay.text import count

LEVELS = (0.05, 0.1, 0.2, 0.5)
COLUMNS = ("", "S1, type I", "S2, type II", "S3, type II")
RUN = "python -m benchmarks.credal_error_rates"
GOLDEN = "benchmarks.credal_error_rates:golden"
SOURCE = Source(f"{RUN} --workers 2 --store", GOLDEN, "four minutes of a core")


def golden() -> object:
    """P-values of one data set of Figure 1, by scenario and measure."""
    return error_rates(Plan(FIGURES["1"]), 1).pvalues


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


def _share(x: float) -> str:
    """Three decimals without the zero before the point."""
    return f"{x:.3f}".removeprefix("0") if 0 < x < 1 else f"{x:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data-sets", type=int, help="by default 1,000")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--resume", help="folder that keeps finished data sets")
    parser.add_argument("--store", action="store_true", help="keep the table for the guide")
    told = parser.parse_args()
    numbers = golden_numbers(SOURCE)
    rates = error_rates(Plan(FIGURES["1"]), told.data_sets or 1000, workers=told.workers, resume=told.resume)
    made = table(rates)
    print("\n".join([*made.markdown(), *rates.notes]))
    if told.store:
        store("credal-error-rates", made, SOURCE, golden=numbers)


if __name__ == "__main__":
    main()
