"""What follows from an assay for a decision: which cases to keep and which to pass on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from uqassay.evidence.presentation import PresentedAssay

if TYPE_CHECKING:
    from uqassay.evidence.refusing import ModelRefusal
    from uqassay.metrics.risk.expected_cost import ExpectedCost

__all__ = ["DecidingAssay"]


class DecidingAssay(PresentedAssay):
    """The methods of `Assay` that answer with a decision."""

    def certified_refusal(
        self,
        model: str | None = None,
        score: str | Sequence[str] | None = None,
        *,
        risk: float,
        confidence: float = 0.95,
        run: int | None = None,
        choosing: ArrayLike | None = None,
        share: float = 0.3,
        rng: int | np.random.Generator | None = None,
    ) -> "ModelRefusal":
        """Find a threshold on an uncertainty score below which at most a share `risk` of new cases is wrong.

        Parameters
        ----------
        model, score : str, optional
            By default the model and the score are chosen, too, on the choosing part alone, so the confidence holds for the
            choice. Several scores may be given.
        risk, confidence, choosing, share, rng
            As in `metrics.certified_refusal`. The groups are those of the assay.
        run : int, optional
            Training run of a model that has several, counted from 0: a threshold belongs to one trained model.

        Returns
        -------
        ModelRefusal
            The threshold to deploy, the sentence about it, and the refusal that both belong to.

        Raises
        ------
        InputError
            As in `metrics.certified_refusal`; a model, score or run that is not there; label distributions.

        Examples
        --------
        >>> import uqassay as uq
        >>> rng = np.random.default_rng(0)
        >>> p = rng.beta(4.0, 1.0, 2000)
        >>> right = rng.random(2000) < p
        >>> a = uq.assay({"m": uq.Point(np.column_stack([p, 1 - p]))}, np.where(right, 0, 1))
        >>> found = a.certified_refusal("m", "total-entropy", risk=0.1)
        >>> found.threshold, round(float(found.refusal.coverage), 2)
        (0.5194, 0.62)
        """
        from uqassay.evidence.refusing import certified_refusal_of

        return certified_refusal_of(
            self._assay,
            model,
            score,
            risk=risk,
            confidence=confidence,
            run=run,
            choosing=choosing,
            share=share,
            rng=rng,
        )

    def expected_cost(
        self,
        model: str,
        score: str | None = None,
        *,
        prices: ArrayLike | None = None,
        run: int | None = None,
        rng: int | np.random.Generator | None = None,
    ) -> "ExpectedCost":
        """Find the expected cost per case if uncertain cases of a model are passed on at a price; a mistake costs 1.

        Parameters
        ----------
        model : str
        score : str, optional
            By default the total entropy, or the first score that the model has.
        prices, rng
            As in `metrics.expected_cost_curve`. Groups and level are those of the assay.
        run : int, optional
            Training run of a model that has several, counted from 0.

        Returns
        -------
        ExpectedCost
            `figures.plot_expected_cost` draws it.

        Raises
        ------
        InputError
            As in `metrics.expected_cost_curve`; a model, score or run that is not there.

        Examples
        --------
        >>> import uqassay as uq
        >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.6, 0.4]] * 50)}, [0, 0, 0, 1] * 25)
        >>> found = a.expected_cost("m", prices=[0.1, 0.6])
        >>> [round(float(cost), 3) for cost in found.costs], found.thresholds
        ([0.05, 0.25], (0.5, inf))
        """
        from uqassay.evidence.refusing import expected_cost_of

        return expected_cost_of(self._assay, model, score, prices=prices, run=run, rng=rng)
