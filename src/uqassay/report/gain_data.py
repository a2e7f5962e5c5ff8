"""The numbers of the figures of the gain page, as folded tables below them."""

from collections.abc import Mapping, Sequence

from uqassay.evidence.gain_result import GainResult
from uqassay.evidence.over_runs import Curve
from uqassay.report.static_pieces import figure_data, with_ends
from uqassay.wording import number, percent

__all__ = ["delay_data", "gain_data", "map_data"]

DECIMALS = 4
CURVES = ("epistemic", "gain", "calibrated", "true")


def gain_data(result: GainResult, text: Mapping[str, str]) -> str:
    """Means of the curves in each interval of the estimates."""
    bins = result.bins
    curves = {name: curve for name in CURVES if (curve := getattr(bins, name)) is not None}
    heads = [text["data_interval"], *(text[f"data_{name}"] for name in curves)]
    rows = [[str(m + 1), *(_at(curve, m) for curve in curves.values())] for m in range(bins.n_bins)]
    return figure_data(f"{text['gain']}: {result.label}", heads, rows, text)


def delay_data(results: Sequence[GainResult], caption: str, text: Mapping[str, str]) -> str:
    """Gain of each estimate and of a random choice, by the share of the cases that wait."""
    random = {(one.method, one.dataset): one for one in results}  # the same for all estimates of a method
    heads = [text["data_share"]]
    heads += [one.label if len(results) > 1 else text["data_gained"] for one in results]
    heads += [
        f"{text['data_random']}: {one.method}" if len(random) > 1 else text["data_random"] for one in random.values()
    ]
    rows = [
        [
            percent(share),
            *(_at(one.delay.gained, s) for one in results),
            *(number(float(one.delay.random.mean[s]), DECIMALS) for one in random.values()),
        ]
        for s, share in enumerate(results[0].delay.shares.tolist())
    ]
    return figure_data(caption, heads, rows, text)


def map_data(result: GainResult, text: Mapping[str, str]) -> str:
    """The points between which each map is a straight line."""
    maps = []
    for r, run in enumerate(result.runs):
        if run.gain_map is not None:
            maps.append((f"{text['data_run']} {r + 1}", run.gain_map))
        folds = () if run.cross_fit is None else run.cross_fit.fold_maps
        without = f"{text['data_run']} {r + 1}, {text['data_without_fold']}"
        maps += [(f"{without} {f + 1}", one) for f, one in enumerate(folds)]
    rows = [[name, *(number(v, DECIMALS) for v in knot)] for name, one in maps for knot in one.knots.tolist()]
    heads = [text[f"data_{name}"] for name in ("map", "epistemic", "gain")]
    return figure_data(f"{text['map']}: {result.label}", heads, rows, text)


def _at(curve: Curve, place: int) -> str:
    """One point of a curve with its band."""
    return with_ends(*(float(part[place]) for part in (curve.mean, curve.low, curve.high)), decimals=DECIMALS)
