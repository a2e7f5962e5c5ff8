"""Calibration measures by name, each for many mixtures and many draws of labels at once, as calibration tests need them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, Protocol, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.metrics.calibration import (
    PrepareCalibrationError,
    PrepareCumulative,
    PrepareHosmerLemeshow,
    error_of_excess,
    prepare_bins,
    prepare_hosmer_lemeshow_paper_code,
)
from uqassay.metrics.kernel_error import PrepareKernel
from uqassay.metrics.reliability_diagrams import Binning, bins_of_classes_left_inclusive, check_bins
from uqassay.metrics.smooth import prepare_brier, prepare_log_score

__all__ = [
    "CALIBRATION_MEASURES",
    "CalibrationMeasure",
    "PreparedMeasure",
    "Sides",
    "calibration_measure",
    "named_measure",
]

Labels = NDArray[np.intp]
Sides = Literal["upper", "both"]


class PreparedMeasure(Protocol):
    """A measure prepared for probabilities (..., n, K), to be evaluated for many labels."""

    def values(self, labels: Labels) -> Floats:
        """The measure for labels (..., n); leading axes broadcast with those of the probabilities."""
        ...


Prepare = Callable[[Floats], PreparedMeasure]


@final
@dataclass(frozen=True)
class CalibrationMeasure:
    """A calibration measure: its expectation is 0 or small for a calibrated classifier, and greater for others."""

    name: str  #: in lower case with hyphens
    #: "confidence", "classwise" or "strong": the notion of calibration (credal calibration, definitions 1 to 3)
    notion: str
    sentence: str  #: what it measures, in words
    source: str  #: paper and equation
    prepare: Prepare  #: maps probabilities (..., n, K) to a `PreparedMeasure`
    bytes_per_entry: float = 40.0  #: memory of one mixture for each of its n K probabilities
    #: True if it is a continuous function of the probabilities; a search for its minimum then needs fewer mixtures
    smooth: bool = False
    n_bins: int | None = None  #: number of bins; None: no bins
    binning: Binning | None = None  #: "width" or "mass": Kind of bins; None: no bins, or only one kind of bins
    bounds: tuple[float, float] = (-math.inf, math.inf)  #: least and greatest possible value, up to rounding
    #: "upper" or "both": Whether only large values tell of miscalibration, or values on both sides of the expected one
    sides: Sides = "upper"
    label: str = ""  #: its name in words
    equation: str = ""  #: in symbols, as plain text
    #: maps a number and kind of bins to the same measure with these bins
    rebuild: "Callable[[int, Binning | None], CalibrationMeasure] | None" = field(
        default=None, repr=False, compare=False
    )

    def of_stated(self) -> "CalibrationMeasure":
        """The measure of a stated confidence: the probability of the second of two classes, not folded at ½.

        Measures of other notions than "confidence" are never folded. One of your own that is of that notion is refused.
        """
        if self.notion != "confidence":
            return self
        if not isinstance(self.prepare, PrepareCalibrationError | PrepareCumulative):
            rule, remedy = (
                "cannot be judged on the whole scale of a stated confidence",
                "choose a measure of this package",
            )
            fail("measure", rule, f"got {self.name!r}", remedy, code="conflict")
        return replace(self, prepare=replace(self.prepare, by="event"), rebuild=None)

    def values(self, probs: Floats, labels: Labels) -> Floats:
        """The measure of probabilities (..., n, K) for labels (..., n); leading axes broadcast."""
        if isinstance(self.prepare, PrepareCalibrationError):
            return self.prepare.values(probs, labels)
        return self.prepare(probs).values(labels)


def calibration_measure(
    measure: str | CalibrationMeasure, *, n_bins: int | None = None, binning: Binning | None = None
) -> CalibrationMeasure:
    """The measure of this name, optionally with other bins; a `CalibrationMeasure` is returned unchanged.

    Parameters
    ----------
    measure : str or CalibrationMeasure
        One of `CALIBRATION_MEASURES`, or a measure of your own. Names of measures with both kinds of bins may end in "-width"
        or "-mass"; the ending of the default kind changes nothing.
    n_bins : int, optional
        Number of bins, for measures with bins.
    binning : {"width", "mass"}, optional
        Kind of bins, for measures with both kinds; the name of the result shows a kind other than the default.

    Notes
    -----
    "skce-uq" and "skce-biased" compare all pairs of instances: n² K operations for each mixture, compared with about n K for
    the others. A test of ten members and ten classes with 99 draws evaluates 30,000 mixtures: for 150, 300 and 600 instances
    that takes about 3, 10 and 35 s on one core. One classifier takes 4 s for 3,000 instances, ten classes and 999 draws.

    Examples
    --------
    >>> calibration_measure("ece-confidence").n_bins
    10
    >>> other = calibration_measure("ece-confidence", n_bins=15, binning="mass")
    >>> other.name, other.n_bins, other.binning
    ('ece-confidence-mass', 15, 'mass')
    >>> calibration_measure("hosmer-lemeshow-mass") == calibration_measure("hosmer-lemeshow")
    True
    """
    found = named_measure(measure) if isinstance(measure, str) else measure
    if not isinstance(found, CalibrationMeasure):
        known = ", ".join(CALIBRATION_MEASURES)
        fail(
            "measure",
            f"must be one of {known}",
            f"got {measure!r}",
            "or pass a CalibrationMeasure of your own",
            code="choice",
        )
    if n_bins is None and binning is None:
        return found
    option, value = ("n_bins", n_bins) if n_bins is not None else ("binning", binning)
    if found.rebuild is None or found.n_bins is None:
        why = "has no bins" if found.n_bins is None else "is already built"
        fail(option, f"cannot be set for {found.name}, which {why}", f"got {value!r}", "leave it out", code="conflict")
    if binning is not None and found.binning is None:
        rule = f"cannot be set for {found.name}, which has only one kind of bins"
        fail("binning", rule, f"got {binning!r}", "leave it out", code="conflict")
    chosen = found.binning if binning is None else binning
    check_bins(found.n_bins if n_bins is None else n_bins, chosen or "width")
    return found.rebuild(found.n_bins if n_bins is None else int(n_bins), chosen)


def named_measure(name: str) -> CalibrationMeasure | None:
    """The measure of this name, which may end in the kind of its bins; None if unknown."""
    if name in CALIBRATION_MEASURES:
        return CALIBRATION_MEASURES[name]
    for kind in _BINNED:
        for binning in ("width", "mass") if kind.binning is not None else ():
            if name == f"{kind.name}-{binning}":
                return kind.build(kind.n_bins, binning)
    return None


# -- the measures -----------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class _Binned:
    """Description of a binned measure, from which variants with other bins are built."""

    name: str
    notion: str
    label: str
    sentence: str  # with {bins}
    equation: str
    source: str
    prepare: Callable[..., Prepare]
    n_bins: int
    binning: Binning | None  # the default
    bytes_per_entry: float = 40.0
    bounds: tuple[float, float] = (0.0, 1.0)

    def build(self, n_bins: int, binning: Binning | None) -> CalibrationMeasure:
        """The measure with these bins."""
        options = {"n_bins": n_bins} if binning is None else {"n_bins": n_bins, "binning": binning}
        full = {"width": "equally wide", "mass": "equally full", None: ""}[binning]
        return CalibrationMeasure(
            self.name if binning == self.binning else f"{self.name}-{binning}",
            self.notion,
            self.sentence.format(bins=" ".join(f"{n_bins} {full} bins".split()) if n_bins > 1 else "one bin"),
            self.source,
            self.prepare(**options),
            self.bytes_per_entry,
            n_bins=n_bins,
            binning=binning,
            bounds=self.bounds,
            label=self.label if binning == self.binning else f"{self.label}, equal {binning}",
            equation=self.equation,
            rebuild=self.build,
        )


def _prepare_left_inclusive(*, n_bins: int) -> Prepare:
    return partial(prepare_bins, bins=partial(bins_of_classes_left_inclusive, n_bins=n_bins), combine=error_of_excess)


_CLASSWISE_ECE = "1/K · Σ over c, bins B of |B|/n · |frequency of c in B − mean p(c) in B|"
_HOSMER_LEMESHOW = "Σ over c, bins B of (observed − expected)² / expected"
_SQUARES = "Σ over bins B of |B|/n · ((Σ d)² − Σ d²) / (|B| (|B| − 1)), sums over B"
_LINEAR_KERNEL = "1/⌊n/2⌋ · Σ over pairs of (e(y) − p)ᵀ k(p, p′) (e(y′) − p′)"

_BINNED = (
    _Binned(
        "ece-confidence",
        "confidence",
        "confidence ECE",
        "How far accuracy is from confidence, averaged over {bins} of the confidence.",
        "Σ over bins B of |B|/n · |accuracy(B) − confidence(B)|",
        "credal calibration, equation 5",
        partial(PrepareCalibrationError, "confidence"),
        n_bins=10,
        binning="width",
    ),
    _Binned(
        "ece-classwise",
        "classwise",
        "classwise ECE",
        "How far the frequency of a class is from its probability, averaged over {bins} and over classes.",
        _CLASSWISE_ECE,
        "credal calibration, equation 4",
        partial(PrepareCalibrationError, "classwise"),
        n_bins=10,
        binning="width",
    ),
    _Binned(
        "mce-confidence",
        "confidence",
        "largest confidence error",
        "How far accuracy is from confidence in the worst of {bins} of the confidence.",
        "max over bins B of |accuracy(B) − confidence(B)|",
        "Naeini, Cooper, Hauskrecht (2015)",
        partial(PrepareCalibrationError, "confidence", norm="max"),
        n_bins=10,
        binning="width",
    ),
    _Binned(
        "l2-confidence-debiased",
        "confidence",
        "debiased confidence error",
        "Squared distance of accuracy from confidence over {bins}, without the part that chance adds; can be negative.",
        f"{_SQUARES},  d = confidence − right",
        "Kumar, Liang, Ma (2019), with pairs of different instances",
        partial(PrepareCalibrationError, "confidence", norm="squared", debiased=True),
        n_bins=10,
        binning="width",
        bounds=(-1.0, 1.0),
    ),
    _Binned(
        "l2-classwise-debiased",
        "classwise",
        "debiased classwise error",
        "Squared distance of a class's frequency from its probability over {bins} and classes, without the part that chance "
        "adds; can be negative.",
        f"1/K · Σ over c: {_SQUARES},  d = p(c) − [y = c]",
        "Kumar, Liang, Ma (2019), with pairs of different instances",
        partial(PrepareCalibrationError, "classwise", norm="squared", debiased=True),
        n_bins=10,
        binning="width",
        bounds=(-1.0, 1.0),
        bytes_per_entry=56.0,
    ),
    _Binned(
        "hosmer-lemeshow",
        "classwise",
        "Hosmer-Lemeshow",
        "Squared differences of observed and expected counts over the expected ones, in {bins} per class; bins that expect "
        "less than one event are merged with the next.",
        _HOSMER_LEMESHOW,
        "Hosmer and Lemeshow; credal calibration, equation 2, with counts",
        partial(PrepareHosmerLemeshow, least_expected=1.0),
        n_bins=5,
        binning="mass",
        bounds=(0.0, math.inf),
    ),
    _Binned(
        "hosmer-lemeshow-proportions",
        "classwise",
        "Hosmer-Lemeshow, proportions",
        "Squared differences of observed and expected proportions over the expected ones, in {bins} per class.",
        "Σ over c, bins B of (frequency of c in B − mean p(c) in B)² / mean p(c) in B",
        "credal calibration, equation 2",
        partial(PrepareHosmerLemeshow, form="proportions"),
        n_bins=5,
        binning="mass",
        bounds=(0.0, math.inf),
    ),
    _Binned(
        "ece-classwise-paper-code",
        "classwise",
        "classwise ECE, authors' code",
        "As ece-classwise with {bins} that hold their left edge, spaced evenly from 0 to 1 + 1e-8.",
        _CLASSWISE_ECE,
        "code of the authors of credal calibration",
        _prepare_left_inclusive,
        n_bins=10,
        binning=None,
    ),
    _Binned(
        "hosmer-lemeshow-paper-code",
        "classwise",
        "Hosmer-Lemeshow, authors' code",
        "As hosmer-lemeshow with {bins} by rank of class 0's probability for all classes; nan where 0 is divided by 0.",
        _HOSMER_LEMESHOW,
        "code of the authors of credal calibration",
        prepare_hosmer_lemeshow_paper_code,
        n_bins=5,
        binning=None,
        bounds=(0.0, math.inf),
    ),
)

_WITHOUT_BINS = (
    CalibrationMeasure(
        "ks-confidence",
        "confidence",
        "How far the number of right predictions is from the sum of the confidences, at most, up to some confidence.",
        "Gupta et al. (2021)",
        PrepareCumulative("confidence"),
        bounds=(0.0, 1.0),
        label="Kolmogorov-Smirnov on confidence",
        equation="max over t of |C(t)|,  C(t) = 1/n · Σ over confidence ≤ t of (confidence − right)",
    ),
    CalibrationMeasure(
        "ks-classwise",
        "classwise",
        "How far the number of labels of a class is from the sum of its probabilities, at most, up to some probability; "
        "averaged over classes.",
        "Gupta et al. (2021)",
        PrepareCumulative("classwise"),
        bytes_per_entry=72.0,
        bounds=(0.0, 1.0),
        label="Kolmogorov-Smirnov by class",
        equation="1/K · Σ over c of max over t of |C(t)|,  C(t) = 1/n · Σ over p(c) ≤ t of (p(c) − [y = c])",
    ),
    CalibrationMeasure(
        "kuiper-confidence",
        "confidence",
        "How far the number of right predictions is from the sum of the confidences, at most, between two confidences.",
        "Arrieta-Ibarra et al. (2022)",
        PrepareCumulative("confidence", "kuiper"),
        bounds=(0.0, 1.0),
        label="Kuiper on confidence",
        equation="max(C, 0) − min(C, 0) over t,  C(t) = 1/n · Σ over confidence ≤ t of (confidence − right)",
    ),
    CalibrationMeasure(
        "skce-ul",
        "strong",
        "Whether errors of probability agree between instances with similar predictions, over consecutive pairs.",
        "Widmann, Lindsten, Zachariah (2019); credal calibration, equation 7",
        PrepareKernel("linear"),
        smooth=True,
        bounds=(-2.0, 2.0),
        label="SKCE, linear",
        equation=_LINEAR_KERNEL,
    ),
    CalibrationMeasure(
        "skce-uq",
        "strong",
        "Whether errors of probability agree between instances with similar predictions, over all pairs.",
        "Widmann, Lindsten, Zachariah (2019); credal calibration, equation 6",
        PrepareKernel("quadratic"),
        bytes_per_entry=200.0,
        smooth=True,
        bounds=(-2.0, 2.0),
        label="SKCE, quadratic",
        equation="2/(n(n − 1)) · Σ over i < j of (e(yᵢ) − pᵢ)ᵀ k(pᵢ, pⱼ) (e(yⱼ) − pⱼ)",
    ),
    CalibrationMeasure(
        "skce-biased",
        "strong",
        "As skce-uq with the pairs of an instance with itself: never negative, and above 0 for a calibrated classifier.",
        "Widmann, Lindsten, Zachariah (2019)",
        PrepareKernel("biased"),
        bytes_per_entry=200.0,
        smooth=True,
        bounds=(0.0, 2.0),
        label="SKCE, biased",
        equation="1/n² · Σ over i, j of (e(yᵢ) − pᵢ)ᵀ k(pᵢ, pⱼ) (e(yⱼ) − pⱼ)",
    ),
    CalibrationMeasure(
        "skce-ul-paper-code",
        "strong",
        "As skce-ul with the kernel exp(−TV² / 2), TV half the sum of absolute differences.",
        "code of the authors of credal calibration",
        PrepareKernel("linear", kernel="tv-squared"),
        smooth=True,
        bounds=(-2.0, 2.0),
        label="SKCE, linear, authors' code",
        equation=f"{_LINEAR_KERNEL},  k = exp(−TV² / 2)",
    ),
    CalibrationMeasure(
        "brier",
        "strong",
        "Mean squared distance of the label from the probabilities: calibration and refinement together, so 0 for certainty "
        "that is right only.",
        "Brier (1950)",
        prepare_brier,
        smooth=True,
        bounds=(0.0, 2.0),
        sides="both",
        label="Brier score",
        equation="1/n · Σ over instances and c of ([y = c] − p(c))²",
    ),
    CalibrationMeasure(
        "log-loss",
        "strong",
        "Mean −ln of the label's probability: calibration and refinement together, so 0 for certainty that is right only.",
        "Good (1952)",
        prepare_log_score,
        smooth=True,
        bounds=(0.0, math.inf),
        sides="both",
        label="log loss",
        equation="−1/n · Σ over instances of ln p(y)",
    ),
)


_USUAL = tuple(kind.build(kind.n_bins, kind.binning) for kind in _BINNED)
_OF_EQUAL_MASS = tuple(kind.build(kind.n_bins, "mass") for kind in _BINNED[:2])

CALIBRATION_MEASURES = {measure.name: measure for measure in (*_USUAL, *_OF_EQUAL_MASS, *_WITHOUT_BINS)}
