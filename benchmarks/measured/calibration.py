"""Tests of calibration of one classifier, in groups and in an assay; second-order calibration."""

import numpy as np
from tests.calibration import (
    test_direction,
    test_group_error_rates,
    test_kernel_hypothesis,
    test_second_order_error_rates,
)
from tests.calibration.second_order_worlds import Setting
from tests.evidence import test_calibration_families as families

from benchmarks.measured.registry import measured, percents, printed_rows
from benchmarks.stored_tables import Table

WORLDS = {"even": "five members", "confident": "three members"}
LEVELS = (
    "five members, K = 3",
    "three members, K = 10, confident",
    "Dirichlet, K = 4",
    "five members, groups of 10",
    "three members, groups of 10",
)
MEASURES = (
    "ece-confidence",
    "ks-confidence",
    "kuiper-confidence",
    "ece-classwise",
    "hosmer-lemeshow",
    "brier",
    "log-loss",
)
ESTIMATORS = ("quadratic", "quadratic, h = 0.2", "block", "linear")


@measured("direction-of-miscalibration", page="calibration")
def direction(size: int = 400) -> Table:
    """Direction: overconfidence / underconfidence told, %."""
    found = {tuple(row[:3]): " / ".join(row[3:]) for row in printed_rows(test_direction.main, size)[1:]}
    rows = []
    for name in ("calibrated", "balanced", "T = 0.8", "T = 1.25", "calibrated, sharp"):
        for k in ("2", "10"):
            if (name, k, "100") in found:
                label = "" if k == "10" and name != "calibrated, sharp" else name.replace("sharp", "accuracy .97")
                rows.append([label, k, *(found[name, k, n] for n in ("100", "500", "2000"))])
    grouped = [sum(map(float, cell.split(" / "))) for key, cell in found.items() if "groups" in key[0]]
    wrong = [
        float(found[name, k, n].split(" / ")[at])
        for at, name in enumerate(("T = 0.8", "T = 1.25"))
        for k in ("2", "10")
        for n in ("100", "500", "2000")
    ]
    words = (
        f"The wrong direction was told in at most {max(wrong):.1f} %. With the groups of the next section and correlations "
        f"0, .5 and 1 either direction is told in {min(grouped):.1f} to {max(grouped):.1f} % where there is none."
    )
    return Table(("truth", "K", "n = 100", "n = 500", "n = 2,000"), rows, [words])


def _golden_groups() -> object:
    sizes = test_group_error_rates.SIZES["30 × 10"]
    none, world = test_group_error_rates.Miscalibration.none(), ("errors", 0.5)
    return test_group_error_rates.rates([0, 1], sizes, 3, none, world, (*MEASURES, "skce-uq"), n_draws=39)


@measured("calibration-of-groups", page="calibration", golden=_golden_groups)
def groups(size: int = 200) -> Table:
    """Calibrated classifiers with groups: rejections at 5 %, K = 3 / 10."""
    names = (*MEASURES, "skce-uq")
    found = {}
    for k in (3, 10):
        chosen = names if k == 3 else MEASURES
        rows = printed_rows(test_group_error_rates.level, range(size), chosen, [k])[1:]
        for row in rows:
            found.setdefault(tuple(row[1:4]), []).append(row[4:])
    rows = []
    for key, (three, ten) in found.items():
        cells = [" / ".join(pair) for pair in zip(three, ten, strict=False)]
        rows.append([key[0], "none" if float(key[2]) == 0 else key[1], f"{float(key[2]):g}", *cells, three[-1]])
    return Table(("groups", "together", "correlation", *(f"`{name}`" for name in names)), rows)


@measured("kernel-level", page="calibration")
def kernels(size: int = 1000) -> Table:
    """Kernel calibration error: rejections at 1 / 5 / 10 % of calibrated classifiers."""
    rows, bound = [], 0.0
    for k in (2, 10):
        for n in (50, 100, 1000):
            n_sets = size if n < 1000 else max(size // 5, 1)
            found = test_kernel_hypothesis.rejections(n, k, True, test_kernel_hypothesis.TESTS, n_sets=n_sets, seed=20)
            by_name = dict(zip(test_kernel_hypothesis.TESTS, found, strict=True))
            bound = max(bound, *by_name["quadratic, bound"][:3])
            rows.append([str(k), str(n), *(percents(by_name[name][:3]) for name in ESTIMATORS)])
    words = f'`method="bound"` rejected in at most {100 * bound:.1f} % of these data sets.'
    return Table(("K", "n", *ESTIMATORS), rows, [words])


def _second_order(number: int, size: int) -> list[list[str]]:
    """The cells of one of the tables of the script."""
    _, rows = list(test_second_order_error_rates.tables())[number]
    return [list(cells_of(*arguments, size, max(size // 5, 3))) for _, cells_of, arguments in rows]


def _golden_second_order() -> object:
    settings = [Setting("even"), Setting("confident", "states half"), Setting("dirichlet"), Setting("even", size=10)]
    return [test_second_order_error_rates.results(setting, 2) for setting in settings]


@measured("second-order-level", page="calibration", golden=_golden_second_order)
def second_order_level(size: int = 1000) -> Table:
    """Second-order calibration of right statements: rejections at 5 %, and intervals that hold the truth."""
    columns = ("model", "rejected, n = 100", "covered", "rejected, n = 1,000", "covered")
    return Table(columns, [[name, *row] for name, row in zip(LEVELS, _second_order(0, size), strict=True)])


@measured("second-order-power", page="calibration", golden=_golden_second_order)
def second_order_power(size: int = 500) -> Table:
    """Second-order calibration of wrong statements: rejections at 5 %."""
    names = [f"{who}, {what}" for who in WORLDS.values() for what in ("half", "double")]
    columns = ("model states", "rejected, n = 100", "covered", "wrong", "rejected, n = 1,000", "covered", "wrong")
    return Table(columns, [[name, *row] for name, row in zip(names, _second_order(2, size), strict=True)])


def _golden_families() -> object:
    return [test.pvalue for kind in ("points", "runs") for test in families.family_tests(*families.family(kind, 0))]


@measured("calibration-families", page="calibration", golden=_golden_families)
def calibration_families(size: int = 200) -> Table:
    """Many models in one assay: families in which the calibration tests reject."""
    rows = []
    for kind, label, n in (
        ("points", "10 calibrated models, half of the information each, n = 60: any rejected at 5 %", size),
        ("runs", "5 such models with two runs each: any rejected at 5 %", size),
        ("bad", "36 equally overconfident models (logits × 2), n = 300: all rejected", max(size // 20, 1)),
    ):
        found = []
        for seed in range(n):
            models, y = families.bad_family(kind, seed) if kind == "bad" else families.family(kind, seed)
            counts = len(families.rejected(families.family_tests(models, y, seed=seed)))
            found.append(counts == len(models) if kind == "bad" else counts > 0)
        share = float(np.mean(found))
        rows.append([label, f"{share:.3f}".removeprefix("0") if share < 1 else f"{share:.2f}", str(n)])
    return Table(("family, small test sets", "measured", "families"), rows)
