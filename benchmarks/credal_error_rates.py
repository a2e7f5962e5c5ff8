"""Error rates of the credal calibration test in the settings of the paper's Figure 1.

Run: python -m benchmarks.credal_error_rates [--data-sets 1000] [--workers 2] [--resume FOLDER] [--store]   (seven minutes)

The same as `uqassay reproduce credal-calibration --figure 1 --preset paper`, as the table of docs/reproduction-calibration.md.
--store keeps the table for the guide; see benchmarks/docs_numbers.py.
"""

import argparse
import os
import sys
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # so that it also runs uninstalled

from benchmarks.stored_tables import Source, Table, store
from uqassay.experiments.credal_calibration.protocol import FIGURES
from uqassay.experiments.credal_calibration.runs import ALPHAS, FUNCTION, MEASURES, ErrorRates, Plan, error_rates
from uqassay.experiments.credal_calibration.scenarios import SCENARIOS

LEVELS = (0.05, 0.1, 0.2, 0.5)
COLUMNS = ("", "S1, type I", "S2, type II", "S3, type II")
SOURCE = Source("python -m benchmarks.credal_error_rates --workers 2 --store", FUNCTION, cost="seven minutes of a core")


def table(rates: ErrorRates) -> Table:
    """Rates at the levels .05 / .1 / .2 / .5, by measure and scenario."""
    places = [ALPHAS.index(level) for level in LEVELS]
    rows = []
    for measure in MEASURES:
        shares = [rates.errors(scenario, measure)[:, places].mean(axis=0) for scenario in SCENARIOS]
        rows.append([f"`{measure}`", *(" / ".join(_share(x) for x in found) for found in shares)])
    return Table(COLUMNS, rows)


def _share(x: float) -> str:
    """Three decimals without the zero before the point."""
    return f"{x:.3f}".removeprefix("0") if 0 < x < 1 else f"{x:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--resume", help="folder that keeps finished data sets")
    parser.add_argument("--store", action="store_true", help="keep the table for the guide")
    told = parser.parse_args()
    plan, code = Plan(FIGURES["1"]), SOURCE.code()
    rates = error_rates(plan, told.data_sets, workers=told.workers, resume=told.resume)
    made = table(rates)
    print("\n".join([*made.markdown(), *rates.notes]))
    if told.store:
        store("credal-error-rates", made, SOURCE, code=code)


if __name__ == "__main__":
    main()
