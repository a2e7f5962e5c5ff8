"""One instance of three classes in the three scenarios: paper 001, Figure 1, left."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay.credal.hull import in_hull
from uqassay.experiments.credal_calibration.scenarios import (
    SCENARIOS,
    CredalSetting,
    Ensemble,
    Scenario,
    draw_ensemble,
    draw_truth,
)

__all__ = ["N_CANDIDATES", "SHOWN_SETTING", "ScenarioExample", "draw_examples"]

Floats = NDArray[np.float64]
SHOWN_SETTING = CredalSetting(
    n_members=10, n_classes=3, spread=0.1
)  # the paper prints K and M of the picture, and no u
N_CANDIDATES = 200  # instances from which the shown one is chosen
N_TRUTHS = 200  # points of each scenario


@final
@dataclass(frozen=True, eq=False)
class ScenarioExample:
    """The truths of one instance in one scenario.

    Attributes
    ----------
    scenario : {"S1", "S2", "S3"}
    members : array (M, K)
    centre : array (K,)
        p_e.
    truths : array (R, K)
        Each of another draw of the truth.
    boundary : array (c, K)
        Where the segments to the corners leave the credal set, one for each corner that was drawn; none in S1.
    corners : int array (c,)
        Classes of those corners.
    """

    scenario: Scenario
    members: Floats
    centre: Floats
    truths: Floats
    boundary: Floats
    corners: NDArray[np.intp]


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
    seed : int

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
    drawn = draw_ensemble(
        CredalSetting(N_CANDIDATES, setting.n_members, setting.n_classes, setting.spread),
        rng,
    )
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
