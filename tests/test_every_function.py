"""What holds for every public function of the first wing, so that no other test needs to look at it.

Layouts of memory, number types, the order of instances, and the scale of weights change no number; weights are repetitions;
nan, wrong lengths, weights, levels and numbers of draws are refused by the name of the parameter. The arguments are those of
`tests.test_metamorphic`, where a new function must have its row. The sentences of refusals are in `tests.test_checks`.
"""

import inspect

import numpy as np
import pytest

import uqassay as uq
from tests.refusals import refuses
from tests.test_metamorphic import CASES, POOL, Values, arguments, built, call, functions, in_numpy, leaves, numbers
from uqassay.errors import InputError
from uqassay.measures.registry import score_names

CHOSEN = [case for case in CASES if not case.startswith("evidence.")]
DRAWN = {  # draws belong to rows
    *("metrics.certified_refusal", "metrics.expected_cost_curve", "metrics.delay_curve"),
    *("metrics.delay_curve_of_gains", "statistics.student_draws", "statistics.bootstrap_estimate"),
    *("statistics.bootstrap_means", "statistics.bootstrap_weights", "calibration.calibration_test"),
    *("calibration.credal_calibration_test", "calibration.credal_calibration_tests", "calibration.cross_fitted_map"),
    *("calibration.instance_dependent_calibration_test", "calibration.kernel_calibration_estimate"),
    *("calibration.skce_pvalue", "calibration.vote_compatibility_test", "calibration.weighted_average_effect"),
}
OTHER = {  # rows that are no instances, or rows of an option that stays where it is
    *("metrics.lower_envelope", "metrics.ranking_changes", "statistics.linearised_estimate"),
    *("statistics.paired_statistic_test", "statistics.pairwise_statistic_tests"),
}
ROWS_KEPT = {  # the result has rows of its own, or numbers that the weights multiply
    *("statistics.concordance", "statistics.bootstrap_estimate", "statistics.bootstrap_weights"),
    *("statistics.kendall_tau_influence", "statistics.auc_influence", "statistics.spearman_influence"),
    # the joint intervals of bins take copies in groups for a little more than their weight
    *("metrics.reliability", "metrics.score_calibration"),
}
NAN_IS_A_VALUE = {  # errors outside of the distribution are not looked at; a test that was not made has no p-value
    *("metrics.scod_augrc_loss /errors", "metrics.scod_aurc_loss /errors", "metrics.scod_risk_loss /errors"),
    *(f"statistics.agreeing_pvalues /{name}" for name in ("first", "pvalue", "second", "second_pvalue")),
}
BROADCAST = {"metrics.tradeoff_scale", "statistics.mean_correlation_estimate"}  # these need no equal lengths
LAYOUTS = {
    "Fortran's order": np.asfortranarray,
    "every second": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")) if x.dtype.kind in "fiu" else x,
}


@pytest.mark.parametrize("case", CHOSEN)
def test_layouts_of_memory_change_no_number_and_no_argument_is_written_to(case):
    given, options = arguments(case)
    base = numbers(call(case, built(given, "", in_numpy), options))
    before = {path: value.array.copy() for path, value in leaves(given, "").items()}
    for name, changed in LAYOUTS.items():

        def laid_out(value: Values, _path: str, changed=changed):
            array = changed(value.array).view()
            array.flags.writeable = False
            return array if value is not POOL["with_logits"] else in_numpy(value)

        found = numbers(call(case, built(given, "", laid_out), options))
        np.testing.assert_allclose(found, base, rtol=1e-12, atol=1e-14, err_msg=name)
    for path, value in leaves(given, "").items():
        np.testing.assert_array_equal(value.array, before[path])


def in_float16(x):
    """Values that float16 holds: multiples of 1/64; distributions of multiples of 1/1024, some at its edges .3, .6, .7."""
    if x.ndim == 1 or not np.allclose(x.sum(axis=-1), 1):
        return np.round(64 * x) / 64
    found = np.floor(1024 * x) / 1024
    found[..., -1] = 1 - found[..., :-1].sum(axis=-1)
    if x.shape[-1] == 3:
        near = [float(np.float16(edge)) for edge in (0.3, 0.6, 0.7)]
        rows = np.array(
            [[near[0], 0.5, 0.5 - near[0]], [1 - near[1], near[1], 0], [near[2], 0, 1 - near[2]], [1, 0, 0]]
        )
        flat = found.reshape(-1, 3)
        flat[::4] = rows[np.arange(len(flat[::4])) % 4]
    assert (found == found.astype(np.float16)).all()
    return found


VARIED = {  # options whose values take different ways
    "binning": ("width", "mass"),
    "loss": ("zero-one", "log", "brier"),
    "n_bins": (3, 10, 15),
    "distance": ("js", "tv", "brier"),
}


def varied(case):
    """The options of a case, and these with another value of each that its function takes."""
    _, options = arguments(case)
    room, name = case.split(".")
    parameters = inspect.signature(functions(room)[name]).parameters
    yield options
    if case == "measures.uncertainty_score":
        yield from ({"name": one} for one in score_names(uq.Members(POOL["members"].array), on_request=True))
    for option, values in VARIED.items():
        default = parameters[option].default if option in parameters else None
        if default in (*values, "kl") or (option == "n_bins" and option in parameters):
            yield from (options | {option: value} for value in values)


@pytest.mark.parametrize("case", [case for case in CHOSEN if "with_logits" not in CASES[case]])
def test_float16_values_give_the_same_numbers_in_all_types(case):
    given, _ = arguments(case)
    for options in varied(case):

        def found(dtype, options=options):
            def held(value: Values, _path: str):
                return in_float16(value.array).astype(dtype) if value.array.dtype.kind == "f" else value.array

            return numbers(call(case, built(given, "", held), options))

        for dtype in (np.float16, np.float32):
            expected = found(np.float64)
            np.testing.assert_allclose(found(dtype), expected, rtol=1e-12, atol=1e-13, err_msg=f"{dtype} {options}")


def test_every_metric_by_name_gives_the_same_numbers_in_all_types():
    members, y = in_float16(POOL["members"].array), POOL["y_true"].array
    for name in ("unified", "distance", "nonspecificity", "accuracy", "log-loss", "brier", *uq.metrics.RANKING_METRICS):
        expected = numbers(uq.metrics.prediction_metric(y, members, metric=name))
        for dtype in (np.float16, np.float32, np.float64):
            values = members.astype(dtype)
            metric = uq.metrics.StreamingMetric(name)
            for rows in (slice(0, 7), slice(7, None)):
                metric.update(values[rows], y[rows])
            streamed = numbers(metric.compute())
            np.testing.assert_allclose(streamed, expected, rtol=1e-12)
            np.testing.assert_allclose(
                numbers(uq.metrics.prediction_metric(y, values, metric=name)), expected, rtol=1e-12
            )


@pytest.mark.parametrize("case", [case for case in CHOSEN if case not in DRAWN | OTHER])
def test_the_order_of_instances_changes_no_number(case):
    given, options = arguments(case)
    base = numbers(call(case, built(given, "", in_numpy), options))
    order = np.random.default_rng(7).permutation(40)

    def moved(value: Values, path: str):
        array, _ = value.moved({"rows": order, "data sets": order[order < 12]})
        return array if value is not POOL["with_logits"] else uq.Point.from_logits(array)

    found = numbers(call(case, built(given, "", moved), options))
    np.testing.assert_allclose(np.sort(found), np.sort(base), rtol=1e-9, atol=1e-12)


def with_parameter(name):
    return [
        case
        for case in CHOSEN
        if name in inspect.signature(functions(case.split(".")[0])[case.split(".")[1]]).parameters
    ]


@pytest.mark.parametrize("case", [case for case in with_parameter("sample_weight") if case not in OTHER | ROWS_KEPT])
@pytest.mark.parametrize("tied", [False, True])
def test_weights_are_repetitions_and_their_scale_changes_nothing(case, tied):
    given, options = arguments(case)
    given = {name: value for name, value in given.items() if name not in ("sample_weight", "groups")}
    weights = np.random.default_rng(0).integers(0, 4, 40)

    def found(copies, **weighted):
        def repeated(value: Values, _path: str):
            x = value.array
            if tied and x.ndim == 1 and x.dtype.kind == "f":
                x = np.round(8 * x) / 8
            for axis in [i for i, name in enumerate(value.axes) if name == "rows"]:
                x = np.repeat(x, copies, axis=axis)
            return x if value is not POOL["with_logits"] else uq.Point.from_logits(x)

        if case in with_parameter("groups"):  # copies say no more than one instance, so they are one group
            weighted["groups"] = np.repeat(np.arange(40), copies)
        return numbers(call(case, built(given, "", repeated), options | weighted))

    ones = np.ones(40, dtype=int)
    expected = found(ones, sample_weight=weights)
    for scale in (1e-7, 3e200):
        np.testing.assert_allclose(found(ones, sample_weight=scale * weights), expected, rtol=1e-9, atol=1e-12)
    copied = found(weights)
    if tied and case == "metrics.fpr_at_tpr_error":  # its interval looks at the instances around a tie
        copied, expected = copied[:1], expected[:1]
    other = ~np.isclose(copied, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
    counts = expected[other], copied[other]  # of instances
    assert all((x == np.round(x)).all() and (x >= 0).all() for x in counts)
    assert other.mean() < 0.3


# refusals


def spoiled(change, where):
    """Values with one of them changed."""

    def make(value: Values, path: str):
        x = change(value) if path == where else value.array
        return x if value is not POOL["with_logits"] else uq.Point.from_logits(x)

    return make


def with_nan(value):
    array = value.array.copy()
    array[(0,) * array.ndim] = np.nan
    return array


def without_last(value):
    axis = value.axes.index("rows")
    return np.take(value.array, range(value.array.shape[axis] - 1), axis=axis)


@pytest.mark.parametrize("case", CHOSEN)
def test_nan_is_refused_and_so_are_other_lengths(case):
    given, options = arguments(case)
    every = leaves(given, "")
    names = (
        set(given) | {path.split("/")[-1] for path in every} | {"errors", "uncertainty", "values", "y_true", "logits"}
    )
    several = sum("rows" in value.axes for value in every.values()) > 1
    for path, value in every.items():
        changes = []
        if value.array.dtype.kind == "f" and f"{case} {path}" not in NAN_IS_A_VALUE:
            changes.append((with_nan, {"finite", "range", "type"}))
        if several and "rows" in value.axes and case not in BROADCAST:
            changes.append((without_last, {"mismatch", "shape"}))
        for change, codes in changes:
            with pytest.raises(InputError) as refusal:
                call(case, built(given, "", spoiled(change, path)), options)
            assert refusal.value.code in codes, (path, refusal.value)
            named = refusal.value.parameter.replace(", ", "[").split("[")[0]
            assert named in names, (path, refusal.value.parameter)


NEGATIVE = np.where(np.arange(40) == 3, -1.0, 1.0)
WRONG = [
    ("level", 95, "range"),
    ("level", 1.0, "range"),
    ("n_draws", 0, "range"),
    ("sample_weight", NEGATIVE, "finite"),
    ("sample_weight", np.ones(39), "shape"),
    ("groups", np.ones(39), "shape"),
]


@pytest.mark.parametrize(
    ("case", "name", "bad", "code"),
    [
        pytest.param(case, name, bad, code, id=f"{case}-{name}-{i}")
        for i, (name, bad, code) in enumerate(WRONG)
        for case in with_parameter(name)
        if np.ndim(bad) == 0 or any("rows" in value.axes for value in leaves(arguments(case)[0], "").values())
    ],
)
def test_options_are_refused_by_their_names(case, name, bad, code):
    given, options = arguments(case)
    values = built({key: value for key, value in given.items() if key != name}, "", in_numpy)
    with refuses(name, code):
        call(case, values, {**options, name: bad})


def test_the_exceptions_exist():
    assert set(CASES) > DRAWN | OTHER | ROWS_KEPT | BROADCAST | {case.split()[0] for case in NAN_IS_A_VALUE}
