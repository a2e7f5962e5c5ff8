"""How two models or scores of an assay compare, and where the variance of a mean or of a difference comes from."""

from collections.abc import Sequence

from uqassay.evidence.deciding import DecidingAssay
from uqassay.evidence.mistake_ranking import compare_rankings, compare_two_rankings
from uqassay.evidence.ranking import compare_at
from uqassay.evidence.variance import variance_of
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.statistics import PairedComparison, PairwiseComparisons, VarianceComponents

__all__ = ["ComparedAssay"]


class ComparedAssay(DecidingAssay):
    """The methods of `Assay` that compare two models or scores."""

    def compare(
        self,
        a: str,
        b: str,
        *,
        tradeoff: float = DEFAULT_TRADEOFF,
        method: str = "student-t",
        margin: float | None = None,
    ) -> PairedComparison:
        """Paired test of the mean E of two models at one λ.

        Parameters
        ----------
        a, b : str
        tradeoff : float
            λ.
        method : {"student-t", "permutation"}
        margin : float, optional
            Greatest difference of mean E that does not matter, by default that of the assay. The result's `margin` then tells
            whether a is better, equivalent, no worse or worse; see `statistics.paired_margin_test`.

        Returns
        -------
        PairedComparison
            With `detectable`, the smallest difference that this test set could have shown, and how many instances or runs it
            takes to show the one observed.

        Examples
        --------
        >>> import numpy as np
        >>> import uqassay as uq
        >>> rng = np.random.default_rng(0)
        >>> y, p = np.zeros(400, dtype=int), rng.uniform(0.6, 0.9, 400)
        >>> q = p + rng.uniform(-0.02, 0.02, 400)
        >>> models = {name: uq.Point(np.stack([v, 1 - v], axis=1)) for name, v in (("a", p), ("b", q))}
        >>> found = uq.assay(models, y, distance="brier", calibration=()).compare("a", "b", margin=0.02)
        >>> found.reject(), found.margin.verdict, round(found.detectable.difference, 4)
        (False, 'equivalent', 0.0155)
        """
        return compare_at(self._assay, a, b, tradeoff, method, margin)

    def variance(
        self,
        model: str,
        other: str | None = None,
        *,
        tradeoff: float = DEFAULT_TRADEOFF,
        metric: str = "unified",
    ) -> VarianceComponents:
        """How much of the variance of a mean comes from the training runs, and how much from the test instances.

        Parameters
        ----------
        model : str
        other : str, optional
            A second model: the components are those of the difference of both means.
        tradeoff : float
            λ, for "unified".
        metric : str
            "unified" (E), the distance's name, "nonspecificity", "accuracy", "log-loss" or "brier".

        Returns
        -------
        VarianceComponents
            Shares with intervals, and how many runs or instances reach an interval or show a difference; whole groups are
            the units of the instances. `table("variance")` has those of all models.
        """
        return variance_of(self._assay, model, other, tradeoff, metric)

    def compare_uncertainties(
        self, a: tuple[str, str], b: tuple[str, str], *, metric: str = "uq-auc"
    ) -> PairedComparison:
        """Paired test of two uncertainties, each given by (model, score), by a name of `metrics.RANKING_METRICS`.

        Examples
        --------
        >>> import uqassay as uq
        >>> p = uq.Point([[0.8, 0.1, 0.1], [0.6, 0.4, 0.0], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]])
        >>> found = uq.assay({"m": p}, [0, 0, 1, 1]).compare_uncertainties(("m", "margin"), ("m", "total-entropy"))
        >>> round(float(found.difference), 3)
        -0.125
        """
        return compare_two_rankings(self._assay, a, b, metric=metric)

    def pairwise_uncertainties(
        self, pairs: Sequence[tuple[str, str]], *, metric: str = "uq-auc"
    ) -> PairwiseComparisons:
        """Paired tests of every two of several uncertainties, adjusted for all pairs."""
        return compare_rankings(self._assay, pairs, metric=metric)
