"""The numbers of the figures of the disentanglement page, as folded tables below them."""

from collections.abc import Mapping, Sequence

from uqassay.evidence.disentanglement_behaviour import DisentanglementBehaviour
from uqassay.evidence.disentanglement_measured import EXPERIMENTS, KINDS
from uqassay.evidence.disentanglement_ranking import Contender, RankedContender
from uqassay.metrics import DoubtSources, EpistemicTrend, EstimateCorrelations
from uqassay.metrics.epistemic_trends import QUANTILES
from uqassay.report.figures.disentanglement_behaviour import SOURCES
from uqassay.report.figures.disentanglement_curves import computed_curves
from uqassay.report.figures.disentanglement_terms import TERMS, shown_classes
from uqassay.report.static_pieces import figure_data, with_ends, with_interval
from uqassay.statistics import Estimate
from uqassay.wording import ABSENT, number, percent

__all__ = ["behaviour_data", "contender_data", "ranking_data"]

DECIMALS = 3
Text = Mapping[str, str]


def ranking_data(caption: str, rows: Sequence[RankedContender], text: Text) -> str:
    """Errors of the contenders that have one, and the lines that they are compared with; empty without an error."""
    errors = {row.contender.label: row.found for row in rows if row.found is not None}
    if not errors:
        return ""
    found = next(iter(errors.values()))
    lines = {"floor": found.floor, "together": found.together, "line_chance": found.chance}
    held = [[label, _cell(one.error)] for label, one in errors.items()]
    held += [[text[name], number(value, DECIMALS)] for name, value in lines.items()]
    return figure_data(caption, [text["head_contender"], text["head_error"]], held, text)


def contender_data(contender: Contender, text: Text, *, level: float) -> dict[str, str]:
    """By the names of `contender_figures`: curves of each experiment, the four terms, and the classes left out."""

    def table(name: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        return figure_data(f"{text[name]}: {contender.label}", heads, rows, text)

    held = {}
    for name in EXPERIMENTS[:2]:
        if name in contender.study.measured:
            held[name] = table(name, *_curves(contender, name, text, level))
    if contender.has_error:
        terms = contender.disentanglement(level=level).terms
        held["terms"] = table(
            "terms",
            [text["head_term"], text["head_deviation"], "r"],
            [[TERMS[t.experiment, t.estimate], _cell(t.deviation), _cell(t.correlation)] for t in terms],
        )
    if contender.has_classes:
        found = contender.study.detection(contender.decomposition, level=level)
        names = contender.study.class_names
        rows = [[text["mean"], *(_cell(getattr(found, f"{kind}_mean")) for kind in KINDS)]]
        rows += [[names[k], *(_cell(found.of_class(k, kind)) for kind in KINDS)] for k in shown_classes(contender)]
        held[EXPERIMENTS[2]] = table(EXPERIMENTS[2], [text["head_class"], *(text[kind] for kind in KINDS)], rows)
    return held


def _curves(contender: Contender, name: str, text: Text, level: float) -> tuple[list[str], list[list[str]]]:
    drawn = computed_curves(contender, name, level=level)
    heads = [text[f"head_{name}"], *(text[f"head_{kind}"] for kind in drawn.bands)]
    heads += [f"{text[f'head_{kind}']}, {text['expected_curve']}" for kind in drawn.expected]
    rows = [
        [
            percent(condition),
            *(
                with_ends(*(float(part[i]) for part in (band.mean, band.low, band.high)), decimals=DECIMALS)
                for band in drawn.bands.values()
            ),
            *(number(float(values[i]), DECIMALS) for values in drawn.expected.values()),
        ]
        for i, condition in enumerate(drawn.conditions.tolist())
    ]
    return heads, rows


def behaviour_data(found: DisentanglementBehaviour, text: Text) -> dict[str, str]:
    """By the names of `behaviour_figures`: trend, sources of doubt, correlations of all estimates."""
    return {
        **({} if found.trend is None else {"trend": _trend(found.trend, text)}),
        **({} if found.doubts is None else {"doubts": _doubts(found.doubts, text)}),
        **({} if found.correlations is None else {"correlations": _correlations(found.correlations, text)}),
    }


def _trend(found: EpistemicTrend, text: Text) -> str:
    """Mean over the runs, and the quantiles of the instances, by the share of the training instances."""
    heads = [text["head_dataset-size"], text["mean"], *(f"{percent(q, 0)} {text['quantile']}" for q in QUANTILES)]
    rows = [
        [percent(share), *(number(float(v), DECIMALS) for v in (found.means[:, c].mean(), *found.quantiles[:, c]))]
        for c, share in enumerate(found.shares.tolist())
    ]
    return figure_data(text["trend"], heads, rows, text)


def _doubts(found: DoubtSources, text: Text) -> str:
    """Correlation of the estimate with each source, by the share of the training instances."""
    held = {(one.share, one.source): _cell(one.correlation) for one in found.found}
    rows = [
        [percent(share), *(held.get((share, source), ABSENT) for source in SOURCES)] for share in found.shares.tolist()
    ]
    return figure_data(text["doubts"], [text["head_dataset-size"], *SOURCES.values()], rows, text)


def _correlations(found: EstimateCorrelations, text: Text) -> str:
    """The matrix of correlations."""
    rows = [
        [name, *(number(float(v), 2) for v in values)] for name, values in zip(found.names, found.matrix, strict=True)
    ]
    return figure_data(text["correlations"], [text["head_estimate"], *found.names], rows, text)


def _cell(value: Estimate) -> str:
    return with_interval(value, DECIMALS)
