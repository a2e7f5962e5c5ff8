"""Rows with an index and classes with names may stand in any order: public functions give equal numbers, or refuse.

Each public function of the rooms below is in one of two tables: `CASES` gives its arguments, `WITHOUT` says why it has none.
Each case runs with the values in NumPy arrays, and again in tables and labelled arrays of four libraries.
"""

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import uqassay as uq
from uqassay.errors import InputError

ROOMS = ("statistics", "measures", "losses", "metrics", "calibration", "evidence")
N, K, M, R = 40, 3, 4, 3
LABELS = {  # of the axes of values
    "rows": np.array([f"case {i}" for i in np.random.default_rng(5).permutation(N)], dtype=object),
    "classes": np.array(["b", "c", "a"], dtype=object),
    "models": np.array(["one", "two", "three"], dtype=object),
    "data sets": np.array([f"set {i}" for i in range(12)], dtype=object),
}
CONTAINERS = ("pandas", "polars", "arrow", "xarray")

# the arguments in the order of their rights: the first one that has an index sets the order of the rows.
# "parameter=values" where a parameter does not have the name of its values; after "|" further options
RANKED = "errors uncertainty sample_weight groups"
CALIBRATED = "probs y_true sample_weight"
CASES: dict[str, str] = {
    "losses.brier_loss": "prediction=probs y_true",
    "losses.is_correct": "prediction=probs y_true",
    "losses.log_loss": "prediction=probs y_true",
    "losses.prediction_errors": "prediction=probs y_true",
    "losses.probability_gap": "prediction=probs y_true",
    "losses.unified_loss": "prediction=members y_true",
    "losses.second_order_gap": "prediction=members votes | votes_are='counts'",
    "losses.squared_truth_distance": "prediction=members votes | votes_are='counts'",
    **dict.fromkeys(
        (
            *("metrics.augrc_loss", "metrics.aurc_loss", "metrics.e_aurc_loss", "metrics.prediction_rejection_score"),
            *(
                "metrics.score_calibration",
                "metrics.g_auc_score",
                "metrics.h_auc_score",
                "metrics.risk_coverage_curve",
                "metrics.uq_auc_score",
            ),
        ),
        RANKED,
    ),
    "metrics.accuracy_at_coverage_score": f"{RANKED} | coverage=0.5",
    "metrics.selective_gain": f"{RANKED} | coverage=0.5",
    "metrics.coverage_at_risk_score": f"{RANKED} | risk=0.3",
    "metrics.uq_c_index_score": "gap=uncertainty uncertainty=epistemic sample_weight groups",
    "metrics.certified_refusal": "errors uncertainty groups | risk=0.6",
    "metrics.expected_cost_curve": "errors uncertainty groups",
    "metrics.aupr_score": "is_out uncertainty sample_weight groups | positive='out'",
    "metrics.fpr_at_tpr_error": "is_out uncertainty sample_weight groups",
    "metrics.ood_auc_score": "is_out uncertainty sample_weight groups",
    "metrics.scod_augrc_loss": "is_out errors uncertainty sample_weight groups",
    "metrics.scod_aurc_loss": "is_out errors uncertainty sample_weight groups",
    "metrics.scod_risk_loss": "is_out errors uncertainty sample_weight groups | coverage=0.5",
    "metrics.calibration_error_estimate": "probs y_true groups",
    "metrics.class_set_scores": "prediction=sets y_true groups",
    "metrics.mean_set_size": "prediction=sets groups",
    "metrics.mean_credal_width": "prediction=members groups",
    "metrics.box_coverage_score": "prediction=members y_true=other groups | tolerance=0.1",
    "metrics.class_set_curve": "y_true groups predictions=named_sets",
    "metrics.critical_class_refusal": "y_true=label predicted uncertainty groups sample_weight | critical=1, coverage=0.6",
    "metrics.set_coverage_in_parts": "prediction=sets y_true groups",
    "metrics.set_coverage_score": "prediction=sets y_true groups",
    "metrics.set_utility_score": "prediction=sets y_true groups",
    "metrics.classwise_calibration_error": CALIBRATED,
    "metrics.confidence_calibration_error": CALIBRATED,
    "metrics.proper_score_parts": CALIBRATED,
    "metrics.correlation_study": "metrics truths",
    "metrics.cumulative_calibration_error": "probs y_true",
    "metrics.hosmer_lemeshow_statistic": "probs y_true | n_bins=4, least_expected=0",
    "metrics.kernel_calibration_error": "probs y_true",
    "metrics.smooth_calibration_error": "probs=binary y_true=errors",
    "metrics.delay_curve": "before=probs y_true after=other epistemic groups",
    "metrics.delay_curve_of_gains": "gains=gain epistemic groups",
    "metrics.epistemic_calibration_error": "gain epistemic groups",
    "metrics.epistemic_correlation_score": "gain epistemic groups",
    "metrics.mapped_calibration_error": "gain mapped=uncertainty epistemic groups | edges=(0, 0.5, 1)",
    "metrics.expected_calibration_error": "correct=errors confidence=shares",
    "metrics.reliability": "correct=errors confidence=shares groups",
    "metrics.reliability_diagram": "probs y_true groups",
    "metrics.gain": "before=probs y_true after=other | loss='brier'",
    "metrics.true_uncertainty": "predicted=probs label_probs=other | loss='brier'",
    "metrics.kendall_tau_score": "truth=epistemic uncertainty groups sample_weight",
    "metrics.misalignment_truth": "prediction=probs label_distribution=other",
    "metrics.misclassification_truth": "prediction=probs label_distribution=other",
    "metrics.paired_ranking_test": "a=ranking b=other_ranking groups sample_weight",
    "metrics.pairwise_ranking_tests": "rankings groups sample_weight",
    "metrics.prediction_metric": "y_prob=probs y_true | metric='brier'",
    "metrics.doubt_sources": "probs=run_probs epistemic=run_epistemic labels=run_labels shares=run_shares",
    "metrics.estimate_correlations": "estimates",
    "metrics.epistemic_trend_test": "epistemic=run_epistemic shares=run_shares",
    "metrics.tradeoff_scale": "distances=run_epistemic kl=run_epistemic",
    "metrics.lower_envelope": "distance=shares nonspecificity=uncertainty",
    "metrics.ranking_changes": "distance=shares nonspecificity=uncertainty",
    "statistics.agreeing_pvalues": "first=uncertainty pvalue=shares second=epistemic second_pvalue=shares",
    "statistics.linearised_estimate": "groups sample_weight | statistics=LINEAR",
    "statistics.paired_statistic_test": "groups sample_weight | a=LINEAR, b=OTHER_LINEAR",
    "statistics.pairwise_statistic_tests": "groups sample_weight | statistics={'a': LINEAR, 'b': OTHER_LINEAR}",
    "statistics.student_draws": "models=runs_of_models groups sample_weight | n_draws=20",
    "statistics.auc_estimate": "positive=errors scores=uncertainty sample_weight groups",
    "statistics.delong_covariance": "positive=errors scores=uncertainty groups",
    "statistics.concordance": "truth=epistemic scores=uncertainty sample_weight",
    "statistics.bootstrap_estimate": "groups sample_weight | statistic=np.sum, n=40, n_draws=50",
    "statistics.bootstrap_means": "values=uncertainty groups sample_weight | n_draws=50",
    "statistics.bootstrap_weights": "groups sample_weight | n=40, n_draws=20",
    "statistics.detectable_difference": "a=uncertainty b=epistemic groups sample_weight",
    "statistics.paired_margin_test": "a=uncertainty b=epistemic groups sample_weight | margin=0.1",
    "statistics.paired_mean_test": "a=uncertainty b=epistemic groups sample_weight",
    "statistics.kendall_tau_estimate": "x=uncertainty y=epistemic groups sample_weight",
    "statistics.kendall_tau_influence": "x=uncertainty y=epistemic sample_weight",
    "statistics.pearson_estimate": "x=uncertainty y=epistemic groups",
    "statistics.spearman_estimate": "x=uncertainty y=epistemic groups",
    "statistics.spearman_influence": "x=uncertainty y=epistemic",
    "statistics.mean_estimate": "values=uncertainty groups sample_weight",
    "statistics.proportion_estimate": "values=errors groups sample_weight",
    "statistics.pairwise_mean_tests": "values=named_values groups sample_weight",
    "statistics.auc_influence": "positive=errors scores=uncertainty sample_weight groups",
    "statistics.variance_components": "values=runs other=other_runs groups sample_weight",
    "statistics.mean_correlation_estimate": "correlations=shares n_pairs=counts",
    "statistics.matched_difference_interval": "plus=few minus=fewer n=counts",
    "calibration.calibration_test": "probs y_true groups | n_draws=30",
    "calibration.credal_calibration_test": "members y_true | n_draws=20, measure='brier'",
    "calibration.credal_calibration_tests": "members y_true | n_draws=20, measures=('brier',)",
    "calibration.cross_fitted_map": "gain epistemic groups | n_folds=2",
    "calibration.hosmer_lemeshow_test": "probs y_true | n_bins=3, least_expected=0",
    "calibration.instance_dependent_calibration_test": "members y_true features groups | n_draws=20, measure='brier'",
    "calibration.kernel_calibration_estimate": "probs y_true",
    "calibration.second_order_test": "prediction=members votes groups | votes_are='counts'",
    "calibration.skce_pvalue": "probs y_true | n_draws=30",
    "calibration.vote_compatibility_test": "prediction=members votes groups | votes_are='counts', n_draws=200",
    "calibration.weighted_average_effect": "members y_true groups | n_draws=20, null_draws=20, measure='brier'",
    "evidence.coverage_curve": "prediction=members y_true groups",
    "evidence.sample_of_pair": "before=members y_true after=other_members label_probs=other groups",
    "evidence.compare_table": "values=scores_of_models groups=of_data_sets | greater_is_better=True",
    **{
        f"measures.{name}": "prediction=members"
        for name in (
            *("credal_uncertainty", "credal_width", "decompose", "entropy_decomposition", "generalised_hartley"),
            *("label_wise_decomposition", "least_confidence", "lower_entropy", "margin_uncertainty", "nonspecificity"),
            *("predicted_class_variance", "proper_score_decomposition", "total_variance", "upper_entropy"),
            *("variance_decomposition", "variation_ratio", "vote_entropy", "zero_one_decomposition"),
        )
    },
    "measures.free_energy": "prediction=with_logits",
    "measures.entropy": "probs",
    "measures.label_wise_parts": "prediction=members",
    "measures.not_ruled_out": "prediction=members",
    "measures.probability_moments": "prediction=members",
    "measures.uncertainty_score": "prediction=members | name='total-entropy'",
    "measures.score_columns": "prediction=members | names=('total-entropy', 'variation-ratio')",
}

WITHOUT: dict[str, str] = {
    **dict.fromkeys(
        (
            *("statistics.benjamini_hochberg", "statistics.holm", "statistics.shaffer", "statistics.shaffer_factor"),
            *("statistics.average_ranks", "statistics.friedman_test", "statistics.nemenyi_pvalues"),
            *("statistics.pairwise_signed_rank_tests", "statistics.signed_rank_test", "statistics.sign_flip_test"),
            *("statistics.bayesian_signed_rank_test", "statistics.percentile_interval", "statistics.win_shares"),
            *("statistics.bca_interval", "statistics.permutation_test", "statistics.no_worse_than_best"),
            "statistics.mean_over_runs",
            *("losses.counts_of_votes", "metrics.gain_bins"),
        ),
        "one array, or draws that belong to nothing",
    ),
    **dict.fromkeys(
        (
            *("statistics.agreeing_comparisons", "statistics.check_margin"),
            *(
                "statistics.nemenyi_difference",
                "statistics.plan_difference",
                "statistics.plan_precision",
                "statistics.rank_sets",
            ),
            *("metrics.below_chance_test", "metrics.calibration_measure", "metrics.disentanglement_error"),
            *(
                "metrics.expected_absolute_correlation",
                "metrics.paired_disentanglement_test",
                "metrics.recombined_error",
            ),
            *("metrics.swap_test", "metrics.tradeoff_range", "evidence.backward_scores", "evidence.calibration_claims"),
            *("evidence.compare_over_data_sets", "evidence.contenders_of", "evidence.disentanglement_lines"),
            *("evidence.disentanglement_sentences", "evidence.gain_lines", "evidence.gain_sentences"),
            *("evidence.rank_disentanglement", "measures.decomposition_names", "measures.score_names"),
            *("evidence.default_gain_scores", "evidence.is_held_out", "evidence.join_studies"),
        ),
        "numbers, or results of other functions",
    ),
    **dict.fromkeys(("calibration.calibration_power", "calibration.required_instances"), "draws its labels itself"),
    "measures.gaussian_logits_decomposition": "a kind of prediction that no container holds",
    "evidence.assay": "below",
}


# -- the values ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Values:
    """Numbers, and what each of their axes is: a key of `LABELS`, or empty."""

    array: np.ndarray
    axes: tuple[str, ...]

    def moved(self, orders: Mapping[str, np.ndarray]) -> tuple[np.ndarray, list[np.ndarray | None]]:
        array, labels = self.array, []
        for i, axis in enumerate(self.axes):
            order = orders.get(axis, np.arange(array.shape[i]))
            array = np.take(array, order, axis=i)
            labels.append(LABELS[axis][order] if axis else None)
        return array, labels


def pool() -> dict[str, Any]:
    """All values by name; dicts and tuples are nested arguments."""
    rng = np.random.default_rng(1)
    rows, table, members = ("rows",), ("rows", "classes"), ("rows", "", "classes")

    def of_rows(array: Any) -> Values:
        return Values(np.asarray(array), rows)

    errors = rng.integers(0, 2, N).astype(float)
    found: dict[str, Any] = {
        "probs": Values(rng.dirichlet(np.ones(K), N), table),
        "other": Values(rng.dirichlet(np.ones(K), N), table),
        "members": Values(rng.dirichlet(np.ones(K), (N, M)), members),
        "other_members": Values(rng.dirichlet(np.ones(K), (N, M)), members),
        "sets": Values(np.eye(K, dtype=bool)[rng.integers(0, K, N)] | (rng.random((N, K)) < 0.3), table),
        "votes": Values(rng.integers(2, 6, (N, K)), table),
        "costs": Values(rng.random((K, K)), ("classes", "classes")),
        "y_true": of_rows(rng.integers(0, K, N)),
        "features": Values(rng.random((N, 2)), ("rows", "")),
        "groups": of_rows(np.array([f"site {i}" for i in rng.integers(0, 12, N)], dtype=object)),
        "sample_weight": of_rows(rng.random(N) + 0.5),
        "errors": of_rows(errors),
        "is_out": of_rows(rng.integers(0, 2, N)),
        "gain": of_rows(rng.integers(-1, 2, N)),
        "few": of_rows(rng.integers(0, 5, N)),
        "fewer": of_rows(rng.integers(0, 5, N)),
        "counts": of_rows(rng.integers(20, 30, N)),
        **{name: of_rows(rng.random(N)) for name in ("uncertainty", "epistemic", "shares")},
        "runs": Values(rng.random((R, N)), ("", "rows")),
        "other_runs": Values(rng.random((R, N)), ("", "rows")),
        "run_probs": Values(rng.dirichlet(np.ones(K), (4, 3, N)), ("", "", "rows", "classes")),
        "run_epistemic": Values(rng.random((4, 3, N)), ("", "", "rows")),
        "run_labels": of_rows(rng.integers(0, K, N)),
        "run_shares": Values(np.array([0.1, 0.5, 1.0]), ("",)),
        "scores_of_models": Values(rng.random((12, 3)), ("data sets", "models")),
        "of_data_sets": Values(np.array([f"family {i // 2}" for i in range(12)], dtype=object), ("data sets",)),
    }
    found["binary"] = Values(rng.dirichlet(np.ones(2), N), ("rows", ""))
    uncertainty, epistemic, shares = found["uncertainty"], found["epistemic"], found["shares"]
    found["ranking"] = (found["errors"], uncertainty)
    found["other_ranking"] = (found["errors"], epistemic)
    found["rankings"] = {"a": found["ranking"], "b": found["other_ranking"]}
    found["named_values"] = {"a": uncertainty, "b": found["runs"], "c": shares}
    found["estimates"] = {"a": uncertainty, "b": epistemic, "c": shares}
    found["runs_of_models"] = [Values(rng.random((R, N, 2)), ("", "rows", "")) for _ in range(2)]
    found["metrics"] = {"uq-auc": uncertainty, "uq-c-index": epistemic}
    found["truths"] = {"phi": shares}
    found["with_logits"] = Values(rng.normal(size=(N, K)), table)
    # drawn last, so that the values above are what they were
    found["named_sets"] = {"narrow": found["sets"], "wide": Values(rng.random((N, K)) < 0.8, table)}
    found |= {name: of_rows(rng.integers(0, K, N)) for name in ("label", "predicted")}
    return found


POOL = pool()
LINEAR, OTHER_LINEAR = (
    uq.metrics.RANKING_METRICS["uq-auc"].linearised_of(POOL["errors"].array, POOL[name].array)[0]
    for name in ("uncertainty", "epistemic")
)


def arguments(case: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values by parameter, and the other options."""
    names, _, options = CASES[case].partition("|")
    given = dict((text if "=" in text else f"{text}={text}").split("=") for text in names.split())
    known = {"np": np, "LINEAR": LINEAR, "OTHER_LINEAR": OTHER_LINEAR}
    return {name: POOL[key] for name, key in given.items()}, eval(f"dict({options})", known)


def leaves(value: Any, path: str) -> dict[str, Values]:
    if isinstance(value, Values):
        return {path: value}
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    return {key: leaf for name, one in parts for key, leaf in leaves(one, f"{path}/{name}").items()}


def built(value: Any, path: str, make: Callable[[Values, str], Any]) -> Any:
    if isinstance(value, Values):
        return make(value, path)
    if isinstance(value, dict):
        return {name: built(one, f"{path}/{name}", make) for name, one in value.items()}
    return type(value)(built(one, f"{path}/{i}", make) for i, one in enumerate(value))


def in_numpy(value: Values, path: str = "") -> Any:
    return uq.Point.from_logits(value.array) if value is POOL["with_logits"] else value.array


def in_container(container: str, value: Values, path: str, orders: Mapping[str, np.ndarray]) -> Any:
    """The values with their labels, or their plain array where the container has no labels for them."""
    array, labels = value.moved(orders)
    if value is POOL["y_true"] or (value is POOL["run_labels"] and container == "xarray"):  # four axes with names
        array = LABELS["classes"][array]
    if value is POOL["with_logits"]:
        return uq.Point.from_logits(in_container(container, Values(value.array, value.axes), path, orders))
    if container == "xarray":
        dims = [f"d{i}" for i in range(array.ndim)]
        coords = {dim: label for dim, label in zip(dims, labels, strict=True) if label is not None}
        return xr.DataArray(array, dims=dims, coords=coords)
    if value.axes == ("rows", "", "classes"):
        return uq.Members(array, ids=labels[0], class_names=labels[2].tolist())
    if array.ndim > 2:
        return array
    if array.ndim == 1:
        if container == "pandas":
            return pd.Series(array, index=labels[0])
        if container == "polars":
            return pl.Series(array.tolist())
        one = pa.array(array.tolist())
        return one.dictionary_encode() if array.dtype == object else one
    if container == "pandas" or labels[1] is None or value.axes[0] == "":
        return pd.DataFrame(array, index=labels[0], columns=labels[1])
    frame = pd.DataFrame(array, index=labels[0], columns=labels[1])
    return pa.Table.from_pandas(frame) if container == "arrow" else pl.from_pandas(frame)


def can_move(container: str, value: Values, axis: str) -> bool:
    """Whether the container labels this axis."""
    if axis not in value.axes:
        return False
    if container == "xarray" or value.axes == ("rows", "", "classes"):
        return True
    if len(value.axes) > 2 or (container in ("polars", "arrow") and len(value.axes) == 1):
        return False
    if container == "polars" and value.axes[1] in ("classes", "models"):
        return axis != value.axes[0]
    return True


def orders_of(axes: tuple[str, ...], rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {axis: rng.permutation(len(LABELS[axis])) for axis in axes}


# -- the results --------------------------------------------------------------------------------------------------------


def numbers(result: Any) -> np.ndarray:
    """All numbers of a result, one after another; those of a mapping by its sorted keys."""
    if result is None or isinstance(result, (str, bytes)) or callable(result):
        return np.empty(0)
    if isinstance(result, uq.statistics.Estimate):
        return np.array([float(result), result.low, result.high])
    if isinstance(result, (bool, int, float, np.number, np.ndarray)):
        array = np.asarray(result)
        return array.astype(float).ravel() if array.dtype.kind in "fiub" else np.empty(0)
    if isinstance(result, Mapping):
        parts = [result[key] for key in sorted(result, key=str)]
    elif isinstance(result, (list, tuple, Iterator)):
        parts = list(result)
    elif dataclasses.is_dataclass(result):
        parts = [getattr(result, f.name) for f in dataclasses.fields(result) if not f.name.startswith("_")]
    else:
        return np.empty(0)
    return np.concatenate([np.empty(0), *map(numbers, parts)])


def call(case: str, given: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    room, name = case.split(".")
    return functions(room)[name](**given, **options)


def same(found: Any, base: np.ndarray, *, ordered: bool = True) -> bool:
    values = numbers(found)
    if not ordered:
        values, base = np.sort(values), np.sort(base)
    return values.shape == base.shape and np.allclose(values, base, rtol=1e-9, atol=1e-9, equal_nan=True)


def functions(room: str) -> dict[str, Callable[..., Any]]:
    module = importlib.import_module(f"uqassay.{room}")
    every = {name: getattr(module, name) for name in module.__all__}
    return {name: value for name, value in every.items() if inspect.isfunction(value)}


# -- the relations ------------------------------------------------------------------------------------------------------


def test_every_public_function_is_in_one_table():
    public = {f"{room}.{name}" for room in ROOMS for name in functions(room)}
    known = {*CASES, *WITHOUT}
    assert public == known, (sorted(public - known), sorted(known - public))
    assert not set(CASES) & set(WITHOUT)


@pytest.mark.parametrize("case", CASES)
def test_labels_in_any_order_change_no_number(case):
    given, options = arguments(case)
    base = numbers(call(case, built(given, "", in_numpy), options))
    assert base.size
    rng = np.random.default_rng(3)
    wrong = []
    for container in CONTAINERS:
        wrong += [f"{container}: {what}" for what in differences(case, given, options, container, base, rng)]
    assert not wrong, "\n".join(wrong)


def differences(case, given, options, container, base, rng) -> list[str]:
    """What changes a number, or is refused although every value has labels."""

    def found(orders: Mapping[str, Mapping[str, np.ndarray]], plain: str = "") -> Any:
        def make(value: Values, path: str) -> Any:
            return in_numpy(value) if path == plain else in_container(container, value, path, orders.get(path, {}))

        return call(case, built(given, "", make), options)

    wrong = []
    every = leaves(given, "")
    if not same(found({}), base):
        wrong.append("the container")
    for axis in ("rows", "data sets"):
        with_labels = [path for path, value in every.items() if can_move(container, value, axis)]
        # the first one sets the order; random draws and results for each row follow it
        for moved in [[path] for path in with_labels[1:]] + [with_labels[1:]] * 3:
            orders = {path: orders_of((axis,), rng) for path in moved}
            complete = all(can_move(container, value, axis) for value in every.values() if axis in value.axes)
            try:
                if moved and not same(found(orders), base):
                    wrong.append(f"{axis} of {moved}")
            except InputError as problem:
                if complete:
                    wrong.append(f"{axis} of {moved} refused: {problem}")
        for plain in with_labels[1:]:
            orders = {path: orders_of((axis,), rng) for path in with_labels[1:] if path != plain}
            try:
                if orders and not same(found(orders, plain), base):
                    wrong.append(f"{axis} beside {plain} without labels")
            except InputError:
                pass
    for axis in ("classes", "models"):
        for path in [path for path, value in every.items() if can_move(container, value, axis)]:
            try:
                # results for each class follow the order of the classes, and so do random draws of labels
                result = found({path: orders_of((axis,), rng)})
                if "n_draws" in options and hasattr(result, "statistic"):
                    if not np.allclose(result.statistic, call(case, built(given, "", in_numpy), options).statistic):
                        wrong.append(f"{axis} of {path}")
                elif "n_draws" not in options and not same(result, base, ordered=False):
                    wrong.append(f"{axis} of {path}")
            except InputError as problem:
                if container != "polars" or "costs" not in given:  # polars names the columns alone
                    wrong.append(f"{axis} of {path} refused: {problem}")
    return wrong
