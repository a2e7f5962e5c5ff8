"""The credal calibration test: hours, but finished blocks are kept in FILE and are not made again."""

from collections.abc import Sequence

from tests.calibration import test_calibration_error_rates as rates

from benchmarks.measured.registry import measured, printed_rows
from benchmarks.stored_tables import ROOT, Table

FILE = ROOT / ".measured" / "credal.jsonl"
ORIGINS = {
    "a random λ": "random",
    "the diffuse member": "vertex",
    "the mean": "mean",
    "an edge": "edge",
    "outside (S2, u = .1)": "outside",
}
Rates = dict[str, tuple[int, list[float]]]  # null -> data sets, rates at rates.ALPHAS


def _rates(cells: Sequence[rates.Cell], n_runs: int) -> Rates:
    """Number of data sets and rates by null, of cells that share all but the null and the kind of members."""
    found = {}
    for row in printed_rows(rates.main, FILE, cells, n_runs, (0, 1), False)[1:]:
        found[row[5]] = int(row[6]), [float(x) for x in row[7:]]
    return found


def _short(share: float) -> str:
    return "0" if share == 0 else "1" if share == 1 else f"{share:.2f}".removeprefix("0")


def _golden_nulls() -> object:
    small = {"n": 40, "m": 3, "k": 3, "draws": 19}
    cells = [rates.Cell("random", m, null, **small) for m in rates.MEASURES for null in ("random", "predictive")]
    return [
        cell.pvalues(range(2)) for cell in (*cells, rates.Cell("vertex", rates.MEASURES[0], "berger-boos", **small))
    ]


@measured("credal-three-nulls", page="calibration", golden=_golden_nulls)
def three_nulls(size: int = 100) -> Table:
    """Credal calibration test: rejections at 5 / 20 % where a mixture is calibrated, and outside."""
    rows = []
    for label, truth in ORIGINS.items():
        for measure in rates.MEASURES:
            cells = []
            for null, n_runs in (("random", size), ("predictive", size), ("berger-boos", max(size // 5, 1))):
                n, found = _rates([rates.Cell(truth, measure, null)], n_runs)[null]
                at = dict(zip(rates.ALPHAS, found, strict=True))
                above = truth != "outside" and any(at[a] > rates.highest(a, n) for a in (0.05, 0.2))
                text = f"{_short(at[0.05])} / {_short(at[0.2])}"
                cells.append(f"**{text}**" if above else text)
            rows.append([label if measure == rates.MEASURES[0] else "", f"`{measure}`", *cells])
    return Table(("labels come from", "measure", "random", "first λ", "Berger-Boos"), rows)
