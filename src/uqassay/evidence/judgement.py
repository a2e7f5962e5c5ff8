"""The main call: predictions of any kind and what happened → evidence about which model to choose."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from uqassay.evidence.dask import assay_on_dask, holds_dask
from uqassay.evidence.options import CALIBRATION, TRADEOFFS
from uqassay.evidence.result import Assay
from uqassay.evidence.scale import SCALES
from uqassay.evidence.stream import AssayStream
from uqassay.predictions import Prediction
from uqassay.predictions.adapters import predicted_by_classifiers

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CALIBRATION", "TRADEOFFS", "assay"]


def assay(
    predictions: Mapping[str, Prediction | ArrayLike | Sequence[Prediction | ArrayLike] | Any],
    y_true: ArrayLike | None = None,
    *,
    X: Any = None,
    class_names: Sequence[str] | None = None,
    tradeoffs: Sequence[float] = TRADEOFFS,
    distance: str = "kl",
    nonspecificity: str = "hartley",
    convention: Literal["exact", "paper"] = "exact",
    focal_sets: Any = None,
    floor: float | None = None,
    measures: Sequence[str] | None = None,
    uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    calibration: Sequence[str] = CALIBRATION,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    subgroups: "Mapping[str, ArrayLike] | pd.DataFrame | None" = None,
    prior: ArrayLike | None = None,
    scales: Sequence[float] = SCALES,
    repair: bool = False,
    common_members: int | None = None,
    votes_are: Literal["counts", "single"] | None = None,
    ignore_label: int | str | None = None,
    tolerance: float | None = None,
    level: float = 0.95,
    margin: float | None = None,
    critical: str | int | None = None,
    n_draws: int = 2000,
    rng: int | None = None,
    progress: Callable[[str], None] | None = None,
    client: Any = None,
) -> Assay:
    """Judge classifiers by what they predicted and what happened.

    Parameters
    ----------
    predictions : dict of str to Prediction, or to a list of Prediction
        The models by name; a list holds the training runs of one model. Arrays (n, K) and (n, M, K), tensors, and objects of
        other libraries that `from_object` knows, are taken as well, alone or as runs. Dask arrays, and `DaskPrediction` over
        them, are scored chunk by chunk where they lie. With `X`, fitted classifiers of scikit-learn, alone or by name, are
        taken at what their `predict_proba` says; see `from_classifier`, which also takes the members of a forest.
    y_true : int array (n,), or array (n, K), or Series
        Labels (integers, or class names as text), or label distributions / vote counts. Whole numbers with a column for each
        class are numbers of votes, which are tested against the predictions as well. A Series is aligned to the ids of the
        predictions by its index. Left out where the predictions are `Answers`, which hold what was right.
    X : array (n, D), DataFrame, or what else the classifiers take, optional
        Test inputs, where classifiers are given in place of predictions.
    class_names : sequence of str, optional
        Names of the K classes, in the order of the columns; by default those that a prediction carries. Predictions that
        carry the same names in another order are put into this one.
    tradeoffs : sequence of float
        The λ of the findings; any other λ can be asked for afterwards.
    distance, nonspecificity, convention, focal_sets, floor
        As in `losses.unified_loss`.
    measures : sequence of str, optional
        Uncertainty scores to compute, from `measures.SCORES`; by default every one of the default list that some
        model can offer. Each is judged by how it ranks the mistakes.
    uncertainties : dict of str to dict of str to array (n,) or (R, n), optional
        Further scores, such as a density or those of a second model: {"model": {"density": values}}. Greater is less certain.
    calibration : sequence of str
        Measures of `metrics.CALIBRATION_MEASURES` by which each model is tested: sets of members, vertices, intervals and
        masses by `calibration.credal_calibration_test`, whether some mixture of them is calibrated, the others by
        `calibration.calibration_test` of their mean. Large test sets are tested on a random part of the instances, and the
        results say so. The tests are made when `calibration`, findings, claims, verdict, page or `save` first ask for them,
        with the same numbers whenever that is. () for none.
    groups : array (n,), optional
        Patients, sites, videos: intervals, tests and bootstrap resample whole groups. By default those that a prediction
        carries.
    sample_weight : array (n,), optional
        Importance weights of the instances, for a test set that was drawn otherwise than the cases to come: by a survey, with
        other class frequencies. Every mean becomes Σ w l / Σ w with the variance of these weights; only their ratios matter,
        and instances of weight 0 are left out. See docs/intervals-and-tests.md.
    subgroups : dict of str to array (n,), or DataFrame, optional
        Parts of the test set to report on, such as {"site": site}; of a DataFrame every column.
    prior : array (K,), optional
        Class frequencies of the class-prior baseline, from training data. By default those of `y_true` itself, which saw the
        labels: a model is then told from the baseline only if it also is by the frequencies of all other instances (groups).
    scales : sequence of float
        Factors of the spread of the sets, for `Assay.scale_check`; () for none.
    repair : bool
        Clip and renormalise the masses of beliefs that are not belief functions, instead of refusing them.
    common_members : int, optional
        Span every ensemble's and Dirichlet's set by this many members or draws, so that their non-specificities compare.
    votes_are : {"counts", "single"}, optional
        What a table of whole numbers in `y_true` holds: numbers of votes for each class, or one label of every annotator. By
        default counts; a table without class names that may be either is refused.
    ignore_label : int or str, optional
        Label of instances that are left out, such as −1 or 255; the warnings say how many.
    tolerance : float, optional
        Standard error wanted of each estimated non-specificity (K > 16), nats.
    level : float
        Confidence level of the intervals.
    margin : float, optional
        Greatest difference of mean E that does not matter. The ranking and the verdict then tell which models are no worse
        than any other by more than that; see docs/intervals-and-tests.md.
    critical : str or int, optional
        The class that matters, by name or index: what refusing costs and saves for its cases is told then, also by the variance
        of its probability and by what it adds to the mutual information; see `Assay.critical_refusals`.
    n_draws : int
        Draws behind the shares of resamples.
    rng : int, optional
        Seed; None means 0, so that a rerun agrees.
    progress : callable, optional
        Called with the name of each stage when it begins, as `Assay.to_html` does; `print` will do. By default a terminal or
        a notebook shows the stage where it takes longer than a second.
    client : distributed.Client or str, optional
        Where Dask scores the chunks of the instances: a client, or the address of a scheduler. By default, and for dask arrays
        alone, the current client, or dask's scheduler in this process. The result is the same, see docs/large-data.md.

    Returns
    -------
    Assay

    Raises
    ------
    InputError
        When the models disagree about instances or classes, labels do not fit, or a name is unknown.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"sure": uq.Point([[0.9, 0.1], [0.1, 0.9]]), "unsure": uq.Point([[0.6, 0.4], [0.5, 0.5]])}, [0, 1])
    >>> [(r.model, round(float(r.estimate), 3)) for r in a.ranked(0.5)]
    [('sure', 0.105), ('vacuous', 0.347), ('unsure', 0.602), ('class-prior', 0.693)]
    """
    stream = AssayStream(
        class_names=class_names,
        tradeoffs=tradeoffs,
        distance=distance,
        nonspecificity=nonspecificity,
        convention=convention,
        focal_sets=focal_sets,
        floor=floor,
        measures=measures,
        calibration=calibration,
        prior=prior,
        scales=scales,
        repair=repair,
        common_members=common_members,
        votes_are=votes_are,
        ignore_label=ignore_label,
        tolerance=tolerance,
        level=level,
        margin=margin,
        critical=critical,
        n_draws=n_draws,
        rng=rng,
        progress=progress,
    )
    predictions = predicted_by_classifiers(predictions, X)
    if client is not None or holds_dask(predictions):
        return assay_on_dask(
            predictions,
            y_true,
            stream,
            client=client,
            uncertainties=uncertainties,
            groups=groups,
            sample_weight=sample_weight,
            subgroups=subgroups,
        )
    return stream._updated(predictions, y_true, uncertainties, groups, sample_weight, subgroups, last=True).compute()
