"""Tables of docs/coverage-credal-calibration.md: hours, but finished blocks are kept in FILE and are not made again."""

from collections.abc import Sequence

import numpy as np
from tests.calibration import test_calibration_error_rates as rates

from benchmarks.measured.registry import measured, printed_rows
from benchmarks.stored_tables import ROOT, Table, stored_results

FILE = ROOT / ".measured" / "credal.jsonl"
FUNCTION = "tests.calibration.test_calibration_error_rates:main"
LABELS = {
    "diffuse": "vertex",
    "sharp": "sharp",
    "edge": "edge",
    "mean": "mean",
    "sharper": "sharper",
    "outside": "outside",
}
NULLS = ("known", "minimised", "predictive")
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


def _corner(label: str, n: str, m: str, measure: str, sets: str, nulls: Sequence[str], size: int) -> Rates:
    """One place of the stored table: as many data sets as it says, half of them of each kind of members; * stands for one."""
    truth, members = LABELS[label], int(m.partition(",")[0])
    kinds = ("certain",) if label == "outside" else ("temperatures",) if "*" in sets else ("temperatures", "flat")
    shape = {"n": int(n.replace(",", "")), "m": members, "k": 10 if "K = 10" in m else 3}
    cells = [rates.Cell(truth, measure, null, members=kind, draws=39, **shape) for kind in kinds for null in nulls]
    wanted = int(sets.strip(" *").replace(",", "")) // len(kinds)
    return _rates(cells, min(wanted, size))


def _short(share: float) -> str:
    return "0" if share == 0 else "1" if share == 1 else f"{share:.2f}".removeprefix("0")


def _three(found: Rates, null: str) -> str:
    return " ".join(_short(share) for share in found[null][1])


def _number(found: Rates, sets: str) -> str:
    return f"{next(iter(found.values()))[0]:,}" + (" *" if "*" in sets else "")


def _stored(name: str) -> Table:
    """The table as it is stored: its rows say which places are measured, and on how many data sets."""
    return next(stored.table for stored in stored_results() if stored.name == name)


def _measures(table: Table) -> list[str]:
    return [column.partition("`: sets")[0].strip("`") for column in table.columns if column.endswith("sets")]


@measured("credal-corners", "credal-corners-measures", "credal-corners-pooled", function=FUNCTION, cost="hours")
def corners(size: int = 1000) -> tuple[Table, ...]:
    """Errors where a mixture is calibrated; `size` is the greatest number of data sets of a kind."""
    tables, places = [], []
    for name in ("credal-corners", "credal-corners-measures"):
        held, rows = _stored(name), []
        for row in held.rows:
            cells = list(row[:3])
            for i, measure in enumerate(_measures(held)):
                sets = row[3 + 3 * i]
                found = _corner(*row[:3], measure, sets, NULLS, size) if sets else {}
                cells += (
                    [_number(found, sets), _three(found, "known"), _three(found, "minimised")] if found else [""] * 3
                )
                places += [(row[0], row[1], measure, found)] if found else []
            rows.append(cells)
        tables.append(Table(held.columns, rows))
    return *tables, _pooled(places)


def _pooled(places: Sequence[tuple[str, str, str, Rates]]) -> Table:
    """All tests together, by where labels come from, by the number of instances, and of the default measure."""
    labels = {"diffuse member": "diffuse", "sharp member": "sharp", "edge": "edge", "mean": "mean"}
    groups = {"all": places, **{name: [p for p in places if p[0] == label] for name, label in labels.items()}}
    groups |= {f"N = {n}": [p for p in places if p[1] == n] for n in ("50", "100", "200", "1,000")}
    groups["`kuiper-confidence`"] = [p for p in places if p[2] == "kuiper-confidence"]
    rows = []
    for name, chosen in groups.items():
        counts = [next(iter(found.values()))[0] for *_, found in chosen]
        cells = []
        for null in NULLS:
            mean = np.average([found[null][1] for *_, found in chosen], axis=0, weights=counts)
            cells.append(" ".join(f"{share:.3f}".removeprefix("0") for share in mean))
        rows.append([name, f"{sum(counts):,}", *cells])
    return Table(("tests", "number", "known λ", "minimised", "first λ alone"), rows)


@measured("credal-corners-power", function=FUNCTION, cost="hours")
def power(size: int = 1000) -> Table:
    """Power where no mixture is calibrated."""
    held, rows = _stored("credal-corners-power"), []
    for row in held.rows:
        found = _corner(*row[:3], "ece-confidence", row[3], ("minimised", "predictive"), size)
        rows.append([*row[:3], _number(found, row[3]), _three(found, "minimised"), _three(found, "predictive")])
    return Table(held.columns, rows)


@measured("credal-three-nulls", function=FUNCTION, cost="hours")
def three_nulls(size: int = 200) -> Table:
    """Each null on one hundred instances; Berger-Boos on a fifth of the data sets. Bold: above α by more than chance."""
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
