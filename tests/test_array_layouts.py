"""Every public function of the first wing: any layout of memory gives the same numbers, no argument is written to, and the
order of the instances does not matter.

The arguments are those of `tests.test_metamorphic`, where a new function must have its row. What float16 and float32 hold is in
`tests.test_number_types`.
"""

import numpy as np
import pytest

import uqassay as uq
from tests.test_metamorphic import CASES, POOL, Values, arguments, built, call, in_numpy, leaves, numbers

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


@pytest.mark.parametrize("case", [case for case in CHOSEN if case.startswith("statistics.")])
def test_float16_values_give_the_same_numbers_in_all_types(case):
    given, options = arguments(case)

    def found(dtype):
        def held(value: Values, _path: str):
            x = value.array
            return (np.round(64 * x) / 64).astype(dtype) if x.dtype.kind == "f" else x

        return numbers(call(case, built(given, "", held), options))

    for dtype in (np.float16, np.float32):
        np.testing.assert_allclose(found(dtype), found(np.float64), rtol=1e-12, atol=1e-14, err_msg=str(dtype))


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


def test_the_exceptions_exist():
    assert set(CASES) > DRAWN | OTHER
