"""Synthetic ensembles whose truth lies inside the credal set (S1) or outside it (S2, S3)."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.checks import number, one_of, whole
from uqassay.credal import OutsideSegment, closest_corner, in_hull, outside_segment

__all__ = [
    "N_CANDIDATES",
    "SCENARIOS",
    "SHOWN_SETTING",
    "CredalSetting",
    "ScenarioExample",
    "draw_ensemble",
    "draw_examples",
    "draw_truth",
    "log_dirichlet",
]


# Synthetic ensembles whose truth lies inside the credal set (S1) or outside it (S2, S3): credal calibration, section 4.1.
#
# Concentrations K p / u with p from Dir(1/K) can be so small that gamma variables underflow. So logarithms are drawn:
# for any a > 0, ln G(a) = ln G(a + 1) + ln(U) / a in distribution, with U uniform.

Scenario = Literal["S1", "S2", "S3"]
SCENARIOS: tuple[Scenario, ...] = ("S1", "S2", "S3")


@final
@dataclass(frozen=True)
class CredalSetting:
    """Size and spread of the synthetic ensembles.

    Parameters
    ----------
    n_instances, n_members, n_classes : int
        N, M and K of the paper.
    spread : float
        u: members are drawn from Dir(K p_e / u), so a greater u scatters them more about p_e.
    """

    n_instances: int = 100
    n_members: int = 10
    n_classes: int = 10
    spread: float = 0.01

    def __post_init__(self) -> None:
        for name, least in (("n_instances", 1), ("n_members", 1), ("n_classes", 2)):
            value = getattr(self, name)
            whole(value, name, "10 is usual", least=least)
        number(self.spread, "spread", "the paper has 0.01 and 0.1", low=0, ends="()")


@final
@dataclass(frozen=True, eq=False)
class Ensemble:
    """Members (n, M, K) drawn about centres p_e (n, K)."""

    members: Floats
    centre: Floats


@final
@dataclass(frozen=True, eq=False)
class CredalSample:
    """The truth of a data set and the labels drawn from it."""

    truth: Floats  #: (n, K): Distribution of each label
    labels: NDArray[np.intp]  #: (n,)
    weights: Floats | None  #: (M,) or None: Weights λ of the true combination; None in S2 and S3
    #: In S2 and S3 the segments from the boundary of the credal sets to the corners on which the truth lies; its ``inside``
    #: tells whether p_e lies in the credal set. None in S1.
    segment: OutsideSegment | None


def draw_ensemble(setting: CredalSetting, generator: np.random.Generator) -> Ensemble:
    """p_e from Dir(1/K, …, 1/K) and M members from Dir(K p_e / u), for each instance.

    Examples
    --------
    >>> drawn = draw_ensemble(CredalSetting(n_instances=2, n_members=3, n_classes=4), np.random.default_rng(0))
    >>> drawn.members.shape, bool(np.allclose(drawn.members.sum(axis=-1), 1.0))
    ((2, 3, 4), True)
    """
    n, m, k = setting.n_instances, setting.n_members, setting.n_classes
    log_centre = log_dirichlet(np.full((n, k), -np.log(k)), generator)
    log_centre -= np.log(np.exp(log_centre).sum(axis=-1, keepdims=True))
    log_concentration = log_centre + np.log(k / setting.spread)
    log_members = log_dirichlet(np.broadcast_to(log_concentration[:, None, :], (n, m, k)), generator)
    return Ensemble(_normalised(log_members), _normalised(log_centre))


def draw_truth(
    ensemble: Ensemble, scenario: Scenario, generator: np.random.Generator, *, convention: str = "exact"
) -> CredalSample:
    """Draw the truth of one data set, and labels from it.

    Parameters
    ----------
    scenario : {"S1", "S2", "S3"}
        S1: one combination λ of the members, uniform on the simplex, is true for all instances. S2, S3: the truth is a
        uniformly random point of the segment from the boundary of the credal set to a corner of the simplex, the one closest
        to p_e (S2) or a random one (S3). If the set reaches the corner, the corner is the truth.
    convention : {"exact", "paper-code"}
        If p_e lies outside the credal set, the segment starts at the members' mean ("exact"), or is the corner alone, as in
        the authors' code.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ensemble = draw_ensemble(CredalSetting(n_instances=5), rng)
    >>> draw_truth(ensemble, "S1", rng).weights.shape, draw_truth(ensemble, "S3", rng).labels.shape
    ((10,), (5,))
    """
    one_of(scenario, "scenario", SCENARIOS, "S1 is the null hypothesis")
    one_of(convention, "convention", ("exact", "paper-code"), "exact is the default")
    n, m, k = ensemble.members.shape
    weights, segment = None, None
    if scenario == "S1":
        weights = generator.dirichlet(np.ones(m))
        truth = weights @ ensemble.members
    else:
        corner = closest_corner(ensemble.centre) if scenario == "S2" else generator.integers(0, k, n)
        otherwise: Literal["mean", "corner"] = "mean" if convention == "exact" else "corner"
        segment = outside_segment(ensemble.members, ensemble.centre, corner, otherwise=otherwise)
        truth = segment.points(generator.random(n))
    return CredalSample(truth, _draw_labels(truth, generator), weights, segment)


def log_dirichlet(log_concentration: Floats, generator: np.random.Generator) -> Floats:
    """Logarithms of Dirichlet variables, up to a constant along the last axis, from logarithms of the concentrations.

    Concentrations may be so small that only their logarithm is representable; such a component is −inf, unless all are.

    Examples
    --------
    >>> log_dirichlet(np.log([[1e-3, 1e-3]]), np.random.default_rng(1)).round(1).tolist()
    [[0.0, -176.8]]
    """
    a = np.exp(log_concentration)
    with np.errstate(divide="ignore", over="ignore"):
        log_gamma = np.log(generator.standard_gamma(a + 1.0)) + np.log1p(-generator.random(a.shape)) / a
    greatest: Floats = log_gamma.max(axis=-1, keepdims=True)
    return log_gamma - greatest


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _normalised(log_values: Floats) -> Floats:
    values: Floats = np.exp(log_values)
    return values / values.sum(axis=-1, keepdims=True)


def _draw_labels(truth: Floats, generator: np.random.Generator) -> NDArray[np.intp]:
    """One label from each row, by inverting the distribution function."""
    cumulated = np.cumsum(truth, axis=-1)
    aim = generator.random((len(truth), 1)) * cumulated[:, -1:]
    return (cumulated[:, :-1] <= aim).sum(axis=-1)


# One instance of three classes in the three scenarios: credal calibration, Figure 1, left.

SHOWN_SETTING = CredalSetting(
    n_members=10, n_classes=3, spread=0.1
)  # the paper prints K and M of the picture, and no u
N_CANDIDATES = 200  # instances from which the shown one is chosen
N_TRUTHS = 200  # points of each scenario


@final
@dataclass(frozen=True, eq=False)
class ScenarioExample:
    """The truths of one instance in one scenario."""

    scenario: Scenario  #: {"S1", "S2", "S3"}
    members: Floats  #: (M, K)
    centre: Floats  #: (K,): p_e
    truths: Floats  #: (R, K): Each of another draw of the truth
    #: (c, K): Where the segments to the corners leave the credal set, one for each corner that was drawn; none in S1
    boundary: Floats
    corners: NDArray[np.intp]  #: (c,): Classes of those corners


def draw_examples(
    setting: CredalSetting = SHOWN_SETTING, *, n_truths: int = N_TRUTHS, seed: int = 0
) -> tuple[ScenarioExample, ...]:
    """Draw instances, choose one, and draw its truth in each scenario many times.

    Parameters
    ----------
    setting : CredalSetting
        M, K and u; its number of instances is not used.
    n_truths : int
        R.

    Returns
    -------
    tuple of ScenarioExample
        For S1, S2 and S3. The instance is the one whose members are most scattered, Σ_k Var p_k, among those of `N_CANDIDATES`
        whose credal set holds p_e; if there is none, among all.

    Examples
    --------
    >>> s1, s2, s3 = draw_examples(n_truths=50)
    >>> s1.truths.shape, len(s1.corners), len(s2.corners), s3.corners.tolist()
    ((50, 3), 0, 1, [0, 1, 2])
    """
    rng = np.random.default_rng(seed)
    drawn = draw_ensemble(CredalSetting(N_CANDIDATES, setting.n_members, setting.n_classes, setting.spread), rng)
    scatter = drawn.members.var(axis=1).sum(axis=-1)
    inside = in_hull(drawn.members, drawn.centre)
    chosen = int(np.where(inside | ~inside.any(), scatter, -1.0).argmax())
    one = Ensemble(drawn.members[chosen : chosen + 1], drawn.centre[chosen : chosen + 1])
    return tuple(_example(one, scenario, n_truths, rng) for scenario in SCENARIOS)


def _example(one: Ensemble, scenario: Scenario, n_truths: int, rng: np.random.Generator) -> ScenarioExample:
    samples = [draw_truth(one, scenario, rng) for _ in range(n_truths)]
    segments = {int(s.segment.corner[0]): s.segment.boundary[0] for s in samples if s.segment is not None}
    corners = sorted(segments)
    boundary = np.array([segments[corner] for corner in corners]).reshape(-1, one.members.shape[2])
    truths = np.concatenate([sample.truth for sample in samples])
    return ScenarioExample(scenario, one.members[0], one.centre[0], truths, boundary, np.array(corners, dtype=np.intp))
