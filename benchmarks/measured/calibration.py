"""Tables of docs/coverage-calibration.md, docs/coverage-calibration-further.md and docs/calibration-in-an-assay.md."""

from dataclasses import replace

import numpy as np
from tests.calibration import (
    test_direction,
    test_group_error_rates,
    test_hosmer_lemeshow,
    test_instance_hypothesis,
    test_kernel_hypothesis,
    test_measures_power,
    test_second_order_error_rates,
    test_simplex_search,
    test_weighted_average,
)
from tests.evidence import test_calibration_families as families

from benchmarks.measured.registry import measured, percents, printed, printed_rows
from benchmarks.stored_tables import Table

SECOND_ORDER = "tests.calibration.test_second_order_error_rates:tables"
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


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


@measured("power-of-measures", function="tests.calibration.test_measures_power:rejections", cost="hours")
def power_of_measures(size: int = 200) -> Table:
    """Power of the tests of one classifier; with 100 classes half of the data sets, and a fifth for n = 10,000."""
    found: dict[tuple[str, int], list[str]] = {}
    for k in (2, 10, 100):
        for n in (500, 2000, 10_000):
            n_sets = size if k < 100 else size // 2 if n < 10_000 else size // 5
            rates = test_measures_power.rejections(k, n, max(n_sets, 1))
            for name in dict.fromkeys(name for name, _ in rates):
                cell = percents((rates[name, truth] for truth in test_measures_power.TRUTHS), 0)
                found.setdefault((name, k), []).append(cell)
    rows = []
    for name in dict.fromkeys(name for name, _ in found):
        shown = f"`{name}`" if name in test_measures_power.MEASURES else name
        rows += [[shown if k == 2 else "", str(k), *found[name, k]] for k in (2, 10, 100)]
    return Table(("test", "K", "n = 500", "n = 2,000", "n = 10,000"), rows)


@measured(
    "search-against-cobyla",
    function="tests.calibration.test_simplex_search:main",
    cost="a quarter of an hour of a core",
)
def search(size: int = 200) -> Table:
    """Minima found above those of COBYLA; for two measures a fifth of the data sets."""
    names = (
        "ece-confidence",
        "ece-classwise",
        "kuiper-confidence",
        "hosmer-lemeshow",
        "skce-ul",
        "ece-confidence-mass",
    )
    rows = []
    for name in names:
        few = name in ("kuiper-confidence", "hosmer-lemeshow")
        n_sets = max(size // 5, 1) if few else size
        found = {}
        for line in printed(test_simplex_search.main, n_sets, [name])[2:]:
            members, _, which, worse, _, greatest, *_ = line.split()
            share = float(worse.removesuffix("%"))
            excess = f"{float(greatest):.2g}".replace("0.", ".", 1)
            found[which, members] = f"{share:g} % ({excess})" if share else "0"
        places = [(which, members) for which in ("THOROUGH", "PATIENT") for members in ("around", "apart")]
        label = f"`{name}` ({n_sets})" if few else f"`{name}`"
        rows.append([label, *(found.get(place, "–") for place in places)])
    return Table(("measure", "`THOROUGH`, around", "apart", "`PATIENT`, around", "apart"), rows)


@measured(
    "power-of-measures-sets",
    function="tests.calibration.test_measures_power:set_rejections",
    cost="half an hour of a core",
)
def power_of_sets(size: int = 40) -> Table:
    """Power of the credal test by two measures."""
    names = ("similar, T = .8", "similar, T = 1.25", "outside, M = K = 3", "outside, M = K = 10")
    rows = printed_rows(test_measures_power.main_sets, size)[1:]
    cells = [[cell.replace("(0.", "(.") for cell in row[1:]] for row in rows]
    columns = ("labels come from", "`ece-confidence`", "`kuiper-confidence`")
    return Table(columns, [[name, *row] for name, row in zip(names, cells, strict=True)])


@measured("direction-of-miscalibration", function="tests.calibration.test_direction:told")
def direction(size: int = 400) -> Table:
    """How often a direction is told."""
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


@measured("calibration-of-groups", function="tests.calibration.test_group_error_rates:rates", cost="hours")
def groups(size: int = 200) -> Table:
    """Calibrated classifiers with groups: share rejected."""
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


@measured("power-in-groups", function="tests.calibration.test_group_error_rates:rates", cost="hours")
def power_in_groups(size: int = 100) -> Table:
    """Power with groups, and in brackets that of the test that takes labels as independent."""
    names = ("ece-confidence", "kuiper-confidence", "ece-classwise", "hosmer-lemeshow", "brier", "log-loss")
    found = printed_rows(test_group_error_rates.power, range(size), names, [3, 10])[1:]
    rows = [
        [*grouped[:3], *(f"{a} ({b})" for a, b in zip(grouped[4:], alone[4:], strict=True))]
        for grouped, alone in zip(found[::2], found[1::2], strict=True)
    ]
    return Table(("K", "truth", "groups", *(f"`{name}`" for name in names)), rows)


@measured("hosmer-lemeshow-rates", function="tests.calibration.test_hosmer_lemeshow:rejection_rates")
def hosmer_lemeshow(size: int = 4000) -> Table:
    """Level of the chi-squared test."""
    cells = ((2, 5), (3, 5), (10, 5), (10, 10))
    found = [test_hosmer_lemeshow.rejection_rates(k, n_bins, 1000, max(size, 100)) for k, n_bins in cells]
    rows = [[f"{k}, {b}", *(f"{x:.3f}" for x in rates)] for (k, b), rates in zip(cells, found, strict=True)]
    return Table(("K, B", "classwise, held out", "common, held out", "classwise, fitted", "common, fitted"), rows)


@measured("kernel-level", "kernel-power", function="tests.calibration.test_kernel_hypothesis:rejections")
def kernels(size: int = 1000) -> tuple[Table, Table]:
    """Level and power of the tests of the kernel calibration error; a fifth of the data sets for n = 1000."""
    module, tables, bound = test_kernel_hypothesis, [], 0.0
    for calibrated, levels in ((True, slice(0, 3)), (False, slice(1, 3))):
        rows = []
        for k in (2, 10):
            for n in (50, 100, 1000):
                n_sets = size if n < 1000 else max(size // 5, 1)
                found = module.rejections(n, k, calibrated, module.TESTS, n_sets=n_sets, seed=20)
                by_name = dict(zip(module.TESTS, found, strict=True))
                bound = max(bound, *by_name["quadratic, bound"][:3])
                rows.append([str(k), str(n), *(percents(by_name[name][levels]) for name in ESTIMATORS)])
        tables.append(Table(("K", "n", *ESTIMATORS), rows))
    words = f'`method="bound"` rejected in at most {100 * bound:.1f} % of these data sets.'
    return tables[0], replace(tables[1], text=[words])


@measured("coverage-kernel-error", function="tests.calibration.test_kernel_hypothesis:coverage")
def kernel_error(size: int = 2000) -> Table:
    """Intervals of the kernel calibration error."""
    rows = []
    for k in (2, 10):
        for n in (100, 1000):
            found = [
                test_kernel_hypothesis.coverage(n, k, state, (2, 5, 10), n_sets=size, seed=21)
                for state in (True, False)
            ]
            rows.append([str(k), str(n), *map(percents, found)])
    return Table(("K", "n", "calibrated", "temperature ½"), rows)


@measured("instance-weights-level", function="tests.calibration.test_instance_hypothesis:rate", cost="hours")
def instance_weights(size: int = 100) -> Table:
    """Level of the test with weights that depend on the instance; refitted, the default measure on three fifths of the sets."""
    rows = []
    for sizes in ((50, 50), (200, 200), (800, 800), (800, 200), (3200, 200)):
        cells = []
        for measure, n_sets in (
            ("kuiper-confidence", {"fixed": size, "refitted": size * 3 // 5}),
            ("ece-confidence", {"fixed": 2 * size, "refitted": size}),
        ):
            for kind, n in n_sets.items():
                if measure == "kuiper-confidence" and sizes in ((800, 800), (3200, 200)):
                    cells.append("–")
                else:
                    cells.append(_percent(test_instance_hypothesis.rate(kind, *sizes, n, measure=measure)))
        rows.append([f"{sizes[0]}, {sizes[1]}", *cells])
    return Table(("training, test part", "fixed", "refitted", "fixed, `ece-confidence`", "refitted"), rows)


@measured("coverage-weighted-average", function="tests.calibration.test_weighted_average:coverage")
def weighted_average(size: int = 500) -> Table:
    """Intervals of the effect of the calibrated combination."""
    rows = []
    for label, sharpness in (("calibrated", 1.0), ("less underconfident", 0.75)):
        found = [
            test_weighted_average.coverage(name, n, sharpness, size)
            for name in ("ece-confidence", "ece-classwise")
            for n in (200, 1000)
        ]
        rows.append([label, *(f"{here:.1f} ({limit:.1f})" for here, limit in found)])
    columns = ("weighted average", "confidence, 200", "confidence, 1000", "classwise, 200", "classwise, 1000")
    return Table(columns, rows)


def _second_order(number: int, size: int) -> list[list[str]]:
    """The cells of one of the tables of the script."""
    _, rows = list(test_second_order_error_rates.tables())[number]
    return [list(cells_of(*arguments, size, max(size // 5, 3))) for _, cells_of, arguments in rows]


@measured("second-order-level", function=SECOND_ORDER, cost="half an hour of a core")
def second_order_level(size: int = 1500) -> Table:
    """Level and coverage of the test over all statements."""
    columns = ("model", "rejected, n = 100", "covered", "rejected, n = 1,000", "covered")
    return Table(columns, [[name, *row] for name, row in zip(LEVELS, _second_order(0, size), strict=True)])


@measured("second-order-level-further", function=SECOND_ORDER, cost="hours")
def second_order_kernels(size: int = 1500) -> Table:
    """Level of the tests without bins, on a fifth of the data sets."""
    columns = ("model", "kernel, n = 100", "n = 1,000", "moments, n = 100", "n = 1,000")
    return Table(columns, [[name, *row] for name, row in zip(LEVELS, _second_order(1, size), strict=True)])


@measured("second-order-power", function=SECOND_ORDER)
def second_order_power(size: int = 1500) -> Table:
    """Models that state half or double the true variance."""
    names = [f"{who}, {what}" for who in WORLDS.values() for what in ("half", "double")]
    columns = ("model states", "rejected, n = 100", "covered", "wrong", "rejected, n = 1,000", "covered", "wrong")
    return Table(columns, [[name, *row] for name, row in zip(names, _second_order(2, size), strict=True)])


@measured("second-order-three-tests", function=SECOND_ORDER, cost="an hour of a core")
def second_order_tests(size: int = 1500) -> Table:
    """Power of the three tests, on a fifteenth of the data sets."""
    truths = ("states half", "states double", "right on average", "mean shifted")
    names = [f"{truth}, n = {n}" for truth in truths for n in ("100", "1,000")]
    rows = [[name, *row] for name, row in zip(names, _second_order(3, size), strict=True)]
    return Table(("model", "overall", "kernel", "moments"), rows)


@measured("calibration-families", function="tests.evidence.test_calibration_families:family_tests")
def calibration_families(size: int = 200) -> Table:
    """Many models side by side: how often any, or all, are rejected."""
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
