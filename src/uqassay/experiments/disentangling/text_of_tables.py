"""Tables 1 to 5 of paper 004 and the differences that conventions make, as text."""

import math
from collections.abc import Mapping, Sequence

from uqassay.errors import InputError
from uqassay.experiments.disentangling.printed_values import IDEALS, PARTS
from uqassay.experiments.disentangling.tables import LEVEL, TableRow, printed_number
from uqassay.statistics import mean_estimate
from uqassay.wording import ABSENT, interval, listed, number, text_table

__all__ = ["convention_lines", "table_lines"]

EXPERIMENT = {"table3": "size", "table4": "noise"}


def table_lines(judged: Sequence[TableRow]) -> list[str]:
    """The tables of one data set as text: errors, correlations, and the detection of classes left out.

    Parameters
    ----------
    judged : sequence of TableRow
        Of one data set.

    Raises
    ------
    InputError
        Several data sets.
    """
    if len({one.dataset for one in judged}) > 1:
        raise InputError("judged", "must be of one data set", "got several", "make a table for each", code="mismatch")
    lines: list[str] = []
    with_error = [one for one in judged if one.error is not None]
    if with_error:
        lines += [*_error_lines(with_error), "", *_correlation_lines(with_error)]
    with_classes = [one for one in judged if ("table5", "epistemic") in one.values]
    if with_classes:
        lines += [*([""] if lines else []), *_detection_lines(with_classes)]
    return lines


def _error_lines(judged: Sequence[TableRow]) -> list[str]:
    first = judged[0].error
    assert first is not None
    lines = [
        f"Disentanglement error (Table 2), 0 is ideal; jitter alone gives {number(first.floor, 2)}, estimates unrelated to "
        f"the accuracy {number(first.chance, 2)}, the total uncertainty given as both {number(first.together, 2)}:"
    ]
    body = []
    for one in judged:
        error = one.error
        assert error is not None
        printed, ci95 = (printed_number("table2", one, one.printed_as, column) for column in ("error", "ci95"))
        shown = ABSENT if math.isnan(printed) else f"{number(printed)} ± {number(ci95)}"
        e = error.error
        body.append(
            (
                one.row_label,
                number(float(e)),
                interval(e.low, e.high, decimals=3),
                number(one.paper_code_ci95),
                number(error.pooled.error),
                shown,
            )
        )
    return [*lines, *text_table(("", "error", "95 %", "± as authors", "pooled", "printed"), body)]


def _correlation_lines(judged: Sequence[TableRow]) -> list[str]:
    lines = [
        "Correlation of confidence and accuracy over the sizes of the training part (Table 3) and over the levels of label "
        "noise (Table 4), and its ideal:"
    ]
    header = ["", *(f"{EXPERIMENT[table]} {part[:3]}. → {ideal:g}" for (table, part), ideal in IDEALS.items())]
    body = []
    for one in judged:
        shown = [[one.row_label], ["  95 %"], ["  pooled"], ["  printed (pooled)"]]
        for key in IDEALS:
            cell, paper = one.values[key], printed_number(key[0], one, one.printed_as, key[1])
            texts = number(cell.value), interval(cell.low, cell.high), number(cell.pooled), number(paper)
            for row, text in zip(shown, texts, strict=True):
                row.append(text)
        body += shown if one.printed_as else shown[:3]
    return [*lines, *text_table(header, body)]


def _detection_lines(judged: Sequence[TableRow]) -> list[str]:
    names = judged[0].study.class_names
    classes = judged[0].study.measured["left-out-class"].conditions
    some = "all classes" if len(classes) == len(names) else listed([names[int(k)] for k in classes])
    lines = [f"ROC-AUC for the class left out (Table 5), mean over {some}:"]
    header = [""]
    for part in PARTS:
        header += [part, "95 %", "printed"]
    body = []
    for one in judged:
        row = [one.row_label]
        for part in PARTS:
            cell, paper = one.values["table5", part], printed_number("table5", one, one.printed_as, part)
            row += [number(cell.value), interval(cell.low, cell.high), number(paper)]
        body.append(row)
    return [*lines, *text_table(header, body)]


def convention_lines(judged: Sequence[TableRow], sentences: Mapping[str, str]) -> list[str]:
    """What each convention changes in the disentanglement error, as differences of the same runs.

    Parameters
    ----------
    judged : sequence of TableRow
        Of one data set, with several conventions.
    sentences : dict of str to str
        What a convention is, by its name.
    """
    base = {one.label: one for one in judged if one.convention == "exact" and one.error is not None}
    body = []
    for one in judged:
        exact = base.get(one.label)
        if one.convention == "exact" or exact is None or exact.error is None or one.error is None:
            continue
        found = mean_estimate(one.error.per_run - exact.error.per_run, level=LEVEL)
        errors = (number(float(e.error.error)) for e in (exact, one) if e.error is not None)
        body.append((one.label, one.convention, *errors, number(float(found)), interval(found.low, found.high)))
    if not body:
        return []
    lines = [f"{name}: {sentence}" for name, sentence in sentences.items()]
    return [*lines, *text_table(("", "convention", "as printed", "with it", "difference", "95 %"), body)]
