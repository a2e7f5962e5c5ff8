"""Error rates of the credal calibration test as cells and text, with reference values."""

from collections.abc import Sequence

import numpy as np
from scipy import special

from uqassay.experiments.credal_calibration.runs import ALPHAS, MEASURES, ErrorRates
from uqassay.experiments.credal_calibration.scenarios import SCENARIOS, CredalSetting
from uqassay.experiments.reproduction import PrintedCell
from uqassay.statistics import Estimate, proportion_estimate
from uqassay.wording import count, listed, percent, text_table

__all__ = [
    "NOTES",
    "SHOWN",
    "SOURCE",
    "above_level",
    "beside_references",
    "error_cells",
    "rates_of",
    "read_rates",
    "reference",
]

SOURCE = "Mortier, Bengs, Hüllermeier, Luca and Waegeman, On calibration of ensemble-based credal predictors"
SHOWN = (0.05, 0.1, 0.2, 0.5)
SURE = 0.0005
KINDS = {"S1": "type I", "S2": "type II", "S3": "type II"}

# Error rates at SHOWN of another implementation of Algorithm 1 as it is printed (random null, instances resampled, a batched
# search for the minimum) in the setting of Figure 1; the paper prints curves only.
PRINTED_ALGORITHM = {
    ("S1", "ece-confidence"): (0.0, 0.008, 0.023, 0.118),
    ("S1", "ece-classwise"): (0.04, 0.09, 0.15, 0.43),
    ("S1", "hosmer-lemeshow"): (0.013, 0.027, 0.083, 0.328),
    ("S1", "skce-ul"): (0.033, 0.073, 0.17, 0.443),
    ("S2", "ece-confidence"): (0.30, 0.22, 0.12, 0.04),
    ("S2", "ece-classwise"): (0.98, 0.95, 0.87, 0.49),
    ("S2", "hosmer-lemeshow"): (0.995, 0.99, 0.96, 0.89),
    ("S2", "skce-ul"): (0.99, 0.96, 0.88, 0.51),
    ("S3", "ece-confidence"): (0.0, 0.0, 0.0, 0.0),
    ("S3", "ece-classwise"): (0.0, 0.0, 0.0, 0.0),
    ("S3", "hosmer-lemeshow"): (0.0, 0.0, 0.0, 0.0),
    ("S3", "skce-ul"): (0.81, 0.73, 0.65, 0.46),
}
# The same with |t| and a permutation, as the authors' code has them.
AUTHORS_CODE = {("S1", "skce-ul"): (0.128, 0.205, 0.412, 0.978)}

NOTES = (
    "the paper draws curves and prints no error rates; the references are those of another implementation of Algorithm 1 as "
    "printed, in the setting of Figure 1, and, for the authors' code, with |t| and a permutation",
    "the paper says that the type I error of SKCE_ul is not bounded by α. This does not follow from Algorithm 1: the least g "
    "over λ is at most g(λ0), so that the type I error averaged over λ0 ~ Dir(1, …, 1) cannot exceed α for any measure g where "
    "the instances stay as they are. It follows from the authors' code, which compares |t|: SKCE_ul has mean 0 at λ0, so that "
    "its minimum over λ is mostly negative, and |t| is then greatest where the fit is best",
    "at a fixed λ0 the random null gives no such bound: a vertex can be true and be rejected nearly always. The minimised "
    "null (labels from a combination that they make likely, and the minimum taken again) is the one for verdicts",
    "line 2 of Algorithm 1 draws instances with replacement; the authors' code permutes them, which changes nothing but the "
    "pairs of SKCE_ul. With replacement, copies of an instance change the deviations of sparse bins; classwise ECE then "
    "rejects even the true combination too often, and the more so the more classes there are (--no-resample leaves them be)",
    "for p_e outside the credal set the paper gives no boundary; the segment starts from the members' mean there, which lies "
    "inside. The authors' code takes the corner itself, and with it labels that are certain",
    "the authors' code minimises by COBYLA from equal weights, which stops in poor minima of the measures with bins, so that "
    "it rejects more; the search here compares hundreds of combinations. It also measures classwise ECE, Hosmer-Lemeshow and "
    "SKCE_ul by other bins and another kernel",
)


def reference(rates: ErrorRates, scenario: str, measure: str, alpha: float) -> float:
    """The reference value in this setting, or nan."""
    plan = rates.plan
    known = plan.setting == CredalSetting() and plan.null == "random" and alpha in SHOWN
    table = AUTHORS_CODE if plan.convention == "paper-code" else PRINTED_ALGORITHM if plan.resample else {}
    values = table.get((scenario, measure))
    return values[SHOWN.index(alpha)] if known and values else float("nan")


def rates_of(rates: ErrorRates, scenario: str, measure: str) -> list[Estimate]:
    """Error rate at each of `ALPHAS` with its 95 % interval (Wilson)."""
    columns = rates.errors(scenario, measure).T.astype(np.float64)
    return [proportion_estimate(column) for column in columns]


def error_cells(figure: str, rates: ErrorRates) -> list[PrintedCell]:
    """One cell for each scenario, measure and level: our rate with its interval; the paper prints none."""
    plan = rates.plan
    cells = []
    for scenario in SCENARIOS:
        for measure in MEASURES:
            for alpha, rate in zip(ALPHAS, rates_of(rates, scenario, measure), strict=True):
                name = f"figure{figure}/{plan.convention}/{scenario}/{measure}/alpha={alpha:g}"
                known = reference(rates, scenario, measure, alpha)
                note = "" if np.isnan(known) else f"reference {known:g}, {_place(known, rate)} our interval"
                cells.append(PrintedCell.within(name, float("nan"), float(rate), rate.low, rate.high, note=note))
    return cells


def read_rates(figure: str, runs: Sequence[ErrorRates]) -> list[str]:
    """Tables and comparisons as lines of text."""
    lines: list[str] = []
    for rates in runs:
        lines += [_headline(figure, rates), *_table(rates), *_about(rates), ""]
    return lines[:-1]


def beside_references(rates: ErrorRates, levels: Sequence[float] = SHOWN) -> tuple[int, int]:
    """How many references lie inside our intervals, and how many there are.

    Parameters
    ----------
    rates : ErrorRates
    levels : sequence of float
        Of `ALPHAS`.
    """
    inside = [
        _place(known, rates_of(rates, scenario, measure)[ALPHAS.index(level)]) == "inside"
        for scenario in SCENARIOS
        for measure in MEASURES
        for level in levels
        if not np.isnan(known := reference(rates, scenario, measure, level))
    ]
    return sum(inside), len(inside)


def above_level(rates: ErrorRates) -> dict[str, float]:
    """Measures that reject more often than the level in S1 by more than chance, with the level where it is clearest.

    A binomial tail below .0005 counts, because there are 84 of them.
    """
    found = {}
    for measure in MEASURES:
        errors = rates.errors("S1", measure).sum(axis=0)
        tails = special.bdtrc(errors - 1.0, rates.n_runs, np.array(ALPHAS))  # P(as many errors or more)
        if tails.min() < SURE:
            found[measure] = ALPHAS[int(tails.argmin())]
    return found


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _headline(figure: str, rates: ErrorRates) -> str:
    plan, setting = rates.plan, rates.plan.setting
    convention = "authors' code" if plan.convention == "paper-code" else "exact"
    resampled = "resampled" if plan.resample else "as they are"
    if plan.convention == "paper-code":
        resampled = "permuted"
    few = "; so few data sets only check that the code runs, they are no evidence" if rates.n_runs < 50 else ""
    return (
        f"Figure {figure}, {convention}: R = {count(rates.n_runs)} data sets of N = {setting.n_instances}, "
        f"M = {setting.n_members}, K = {setting.n_classes}, u = {setting.spread:g}; D = {plan.n_draws}, "
        f"{plan.null} null, instances {resampled}{few}. "
        "Error rates with 95 % intervals (Wilson), then the reference where there is one:"
    )


def _table(rates: ErrorRates) -> list[str]:
    body = []
    for scenario in SCENARIOS:
        for measure in MEASURES:
            by_alpha = dict(zip(ALPHAS, rates_of(rates, scenario, measure), strict=True))
            row = [f"{scenario}, {KINDS[scenario]}, {measure}"]
            for alpha in SHOWN:
                known = reference(rates, scenario, measure, alpha)
                row += [_shown(by_alpha[alpha]), "" if np.isnan(known) else _share(known)]
            body.append(row)
    header = ["scenario, error, measure"]
    for alpha in SHOWN:
        header += [f"α = {alpha:g}", "ref."]
    filled = [i for i in range(len(header)) if i % 2 == 0 or i == 0 or any(row[i] for row in body)]
    filled = sorted({*filled, *range(1, len(header), 2)})
    return text_table([header[i] for i in filled], [[row[i] for i in filled] for row in body])


def _about(rates: ErrorRates) -> list[str]:
    lines = [_against_level(rates)]
    inside, known = beside_references(rates)
    if known:
        lines.append(
            f"{inside} of {known} references lie inside our 95 % intervals (the references vary by chance as well)."
        )
    if rates.plan.convention == "exact" and rates.plan.null == "random":
        above = ", ".join(f"{measure} {n}" for measure, n in rates.above_truth.items())
        lines.append(f"Data sets of S1 where the least g found was above g at the true λ0: {above}.")
    undefined = sum(int(np.isnan(p).sum()) for p in rates.pvalues.values())
    if undefined:
        lines.append(f"Tests without a p-value, which reject nothing: {count(undefined)}.")
    share = f"p_e lies outside its credal set, by more than 1e-9, in {percent(rates.outside)} of the instances"
    stands = (
        "there the truth is the corner itself" if rates.plan.convention == "paper-code" else "there the mean stands in"
    )
    return [*lines, f"{share}; {stands}."]


def _against_level(rates: ErrorRates) -> str:
    worst = [
        f"{measure} (most clearly at α = {level:g}: {_shown(rates_of(rates, 'S1', measure)[ALPHAS.index(level)])})"
        for measure, level in above_level(rates).items()
    ]
    if not worst:
        return f"In S1 no measure exceeds α by more than chance at any of the {len(ALPHAS)} levels."
    return f"In S1 these exceed α by more than chance: {listed(worst)}."


def _place(value: float, rate: Estimate) -> str:
    return "inside" if rate.low - 5e-4 <= value <= rate.high + 5e-4 else "outside"


def _shown(rate: Estimate) -> str:
    if np.isnan(rate.low):
        return _share(float(rate))
    return f"{_share(float(rate))} [{_share(rate.low)}, {_share(rate.high)}]"


def _share(value: float) -> str:
    """Three decimals without the leading zero."""
    text = f"{value:.3f}"
    return text.removeprefix("0") if value < 0.9995 else "1"
