"""Public functions of the rooms called on generated data: the fields, looks and tables of what they return."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import uqassay as uq
from tests.golden import data
from tests.golden.capture import attempt
from tests.golden.registry import Scenario, sections
from uqassay import calibration as cal
from uqassay import credal, losses, measures, metrics
from uqassay import statistics as st
from uqassay.lab import datasets

Calls = dict[str, Callable[[], Any]]
N = 60


def ranking_of_errors() -> Calls:
    e, u, v = data.errors()
    gap = np.random.default_rng(0).normal(size=len(e)) + u
    common: dict[str, dict[str, Any]] = {
        "": {},
        "in groups": {"groups": data.groups(len(e))},
        "weighted": {"sample_weight": 1 + (np.arange(len(e)) % 3)},
        "at 90 %": {"level": 0.9},
    }
    functions = {
        "UQ-AUC": metrics.uq_auc_score,
        "g-AUC": metrics.g_auc_score,
        "h-AUC": metrics.h_auc_score,
        "AURC": metrics.aurc_loss,
        "E-AURC": metrics.e_aurc_loss,
        "AUGRC": metrics.augrc_loss,
        "PRR": metrics.prediction_rejection_score,
    }
    calls: Calls = {f"{f} {c}": partial(functions[f], e, u, **common[c]) for f in functions for c in common}
    calls |= {f"C-index {c}": partial(metrics.uq_c_index_score, gap, u, **common[c]) for c in common}
    calls |= {f"Kendall {c}": partial(metrics.kendall_tau_score, gap, u, **common[c]) for c in ("", "in groups")}
    return calls | {
        "no error": lambda: metrics.uq_auc_score(np.zeros(9), u[:9]),
        "constant": lambda: metrics.uq_auc_score(e, np.ones(len(e))),
        "nearly tied": lambda: metrics.uq_auc_score(e, np.where(u < np.quantile(u, 0.985), 0.0, u)),
        "paired": lambda: metrics.paired_ranking_test((e, u), (e, v)),
        "paired AURC in groups": lambda: metrics.paired_ranking_test(
            (e, u), (e, v), metric="aurc", groups=data.groups(len(e))
        ),
        "paired by permutation": lambda: metrics.paired_ranking_test((e, u), (e, v), method="permutation", n_draws=99),
        "all pairs": lambda: metrics.pairwise_ranking_tests({"u": (e, u), "v": (e, v), "one": (e, np.ones(len(e)))}),
        "registry": lambda: [(m.name, m.truth, m.higher_is_better) for m in metrics.RANKING_METRICS.values()],
        "concordance": lambda: st.concordance(gap, u),
        "correlation of metrics": lambda: metrics.correlation_study(
            {"auc": u[:20], "aurc": v[:20]}, {"truth": gap[:20]}
        ),
    }


def refusing() -> Calls:
    e, u, _ = data.errors()
    g = data.groups(len(e))
    return {
        "risk and coverage": lambda: metrics.risk_coverage_curve(e, u),
        "risk and coverage in groups": lambda: metrics.risk_coverage_curve(e, u, groups=g),
        "selective gain": lambda: metrics.selective_gain(e, u, coverage=0.7),
        "accuracy at coverage": lambda: metrics.accuracy_at_coverage_score(e, u, coverage=0.5),
        "coverage at risk": lambda: metrics.coverage_at_risk_score(e, u, risk=0.2),
        "certified": lambda: metrics.certified_refusal(e, u, risk=0.35, confidence=0.9),
        "certified in groups": lambda: metrics.certified_refusal(e, u, risk=0.4, groups=g, rng=1),
        "not certified": lambda: metrics.certified_refusal(e, u, risk=0.01),
        "expected cost": lambda: metrics.expected_cost_curve(e, u),
        "expected cost in groups": lambda: metrics.expected_cost_curve(e, u, prices=[0.1, 0.5], groups=g),
        "λ without abstention": lambda: metrics.tradeoff_range(False),
        "λ at a cost": lambda: metrics.tradeoff_range(True, 0.2),
        "scale of λ": lambda: metrics.tradeoff_scale([0.2, 0.5], [1.0, 3.0]),
        "lower envelope": lambda: metrics.lower_envelope([0.1, 0.2, 0.5], [1.0, 0.5, 0.0]),
        "ranking changes": lambda: metrics.ranking_changes([0.1, 0.2, 0.5], [1.0, 0.5, 0.0]),
    }


def out_of_distribution() -> Calls:
    e, u, _ = data.errors()
    out = np.arange(len(e)) % 3 == 0
    u = u + 0.2 * out
    of_errors = {"errors": np.where(out, 0, e)}
    return {
        "AUC": lambda: metrics.ood_auc_score(out, u),
        "AUC in groups": lambda: metrics.ood_auc_score(
            out, u, groups=np.where(out, -1, 1) * (1 + np.arange(len(e)) // 6)
        ),
        "FPR": lambda: metrics.fpr_at_tpr_error(out, u),
        "FPR, ties whole": lambda: metrics.fpr_at_tpr_error(out, u, tpr=0.8, ties="whole", positive="in"),
        "AUPR": lambda: metrics.aupr_score(out, u),
        "SCOD AURC": lambda: metrics.scod_aurc_loss(out, of_errors["errors"], u, error_cost=0.6, share_out=0.2),
        "SCOD AUGRC": lambda: metrics.scod_augrc_loss(out, of_errors["errors"], u),
        "SCOD risk": lambda: metrics.scod_risk_loss(out, of_errors["errors"], u, coverage=0.6),
        "registries": lambda: [list(metrics.OOD_METRICS), list(metrics.SCOD_METRICS)],
    }


def calibration_errors() -> Calls:
    y, p = data.labels(), data.members()[:, 0]
    g = data.groups()
    calls: Calls = {
        f"{name} {norm} {binning}": partial(f, y, p, norm=norm, binning=binning)
        for name, f in (
            ("confidence", metrics.confidence_calibration_error),
            ("classwise", metrics.classwise_calibration_error),
        )
        for norm in ("l1", "l2", "max")
        for binning in ("width", "mass")
    }
    return calls | {
        "debiased": lambda: metrics.confidence_calibration_error(y, p, norm="squared", debiased=True),
        "too sure": lambda: metrics.confidence_calibration_error(y, p, direction="over"),
        "batched": lambda: metrics.confidence_calibration_error(y, data.members().transpose(1, 0, 2), batched=True),
        "estimate": lambda: metrics.calibration_error_estimate(y, p, groups=g),
        "cumulative": lambda: metrics.cumulative_calibration_error(y, p),
        "cumulative, Kuiper": lambda: metrics.cumulative_calibration_error(y, p, statistic="kuiper"),
        "kernel": lambda: metrics.kernel_calibration_error(y, p),
        "smooth": lambda: metrics.smooth_calibration_error(y, p),
        "ECE": lambda: metrics.expected_calibration_error(p.argmax(axis=1) == y, p.max(axis=1)),
        "Hosmer-Lemeshow": lambda: metrics.hosmer_lemeshow_statistic(y, p),
        "Brier parts": lambda: metrics.proper_score_parts(y, p),
        "log parts": lambda: metrics.proper_score_parts(y, p, score="log"),
        "reliability": lambda: metrics.reliability(p.argmax(axis=1) == y, p.max(axis=1), n_bins=5, groups=g),
        "diagram": lambda: metrics.reliability_diagram(y, p, n_bins=5, binning="mass"),
        "measures": lambda: [
            {"name": m.name, "notion": m.notion, "sentence": m.sentence, "source": m.source}
            for m in metrics.CALIBRATION_MEASURES.values()
        ],
        "one measure": lambda: metrics.calibration_measure("ece-confidence", n_bins=7).sentence,
    }


def set_metrics() -> Calls:
    y = data.labels()
    calls: Calls = {}
    for kind in ("ClassSets", "Intervals", "Members", "Masses"):
        p = data.prediction(kind)
        calls |= {
            f"{kind}, all": partial(metrics.class_set_scores, y, p),
            f"{kind}, coverage": partial(
                metrics.set_coverage_score, y, p, rule="interval-dominance", groups=data.groups()
            ),
            f"{kind}, size": partial(metrics.mean_set_size, p),
            f"{kind}, utility": partial(metrics.set_utility_score, y, p, utility="u80"),
        }
    return calls | {
        "coverage curve": lambda: uq.evidence.coverage_curve(y, data.prediction("Members"), scales=[0.5, 1.0, 2.0]),
    }


def of_predictions() -> Calls:
    """Metrics of labels and predictions, streaming ones, and those of scikit-learn's form."""
    y, p = data.labels(), data.members()
    votes = data.votes()
    stream = metrics.StreamingMetric("unified", tradeoff=0.3)

    def streamed() -> Any:
        stream.update(uq.Members(p[:30]), y[:30])
        stream.update(uq.Members(p[30:]), y[30:])
        return stream.compute()

    names = ("unified", "accuracy", "log-loss", "brier", "uq-auc", "aurc", "distance")
    calls: Calls = {n: partial(metrics.prediction_metric, y, p[:, 0], metric=n) for n in names}
    return calls | {
        "stream": streamed,
        "misclassification truth": lambda: metrics.misclassification_truth(votes / 5, uq.Members(p)),
        "misalignment truth": lambda: metrics.misalignment_truth(votes / 5, uq.Members(p)),
        "scorer": lambda: metrics.UncertaintyScorer("unified"),
    }


def gain_metrics() -> Calls:
    d = data.gains()
    g, e = d["gain"], d["epistemic"]
    groups = data.groups(len(g))
    y, before = data.labels(), data.members()[:, 0]
    after = 0.5 * before + 0.5 * np.eye(3)[y]
    return {
        "zero-one": lambda: metrics.gain(y, before, after),
        "log": lambda: metrics.gain(y, before, after, loss="log"),
        "bins": lambda: metrics.gain_bins(e, bins=5),
        "bins of equal width": lambda: metrics.gain_bins(e, bins=4, binning="equal-width"),
        "error": lambda: metrics.epistemic_calibration_error(g, e, bins=8),
        "error in groups": lambda: metrics.epistemic_calibration_error(
            g, e, bins=5, groups=groups, normalisation="printed"
        ),
        "correlation": lambda: metrics.epistemic_correlation_score(g, e, groups=groups),
        "delay": lambda: metrics.delay_curve_of_gains(g, e, correct_before=d["before"], correct_after=d["after"]),
        "delay of predictions": lambda: metrics.delay_curve(y, before, after, before.max(axis=1)),
        "mapped": lambda: metrics.mapped_calibration_error(g, e * 0.9, e, edges=np.quantile(e, [0, 0.5, 1])),
        "true uncertainty": lambda: metrics.true_uncertainty(data.votes() / 5, before.argmax(axis=1)),
        "map": lambda: cal.EpistemicMap(n_bins=6, bins="own").fit(e, g),
        "cross-fitted map": lambda: cal.cross_fitted_map(g, e, bins=6),
    }


def disentanglement_metrics() -> Calls:
    rng = np.random.default_rng(0)
    accuracy = np.linspace(0.5, 0.9, 6) + 0.01 * rng.normal(size=(4, 6))
    noise = np.linspace(0.9, 0.4, 6) + 0.01 * rng.normal(size=(4, 6))
    conditions = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
    wobble = partial(rng.normal, 0.5, 0.02, (4, 6))
    size = metrics.Curves(accuracy, wobble(), 1 - accuracy + 0.1 * wobble(), conditions)
    label = metrics.Curves(noise, 1 - noise + 0.1 * wobble(), wobble(), conditions)
    other = metrics.Curves(accuracy, 1 - accuracy, 1 - accuracy, conditions)
    a, b = metrics.disentanglement_error(size, label), metrics.disentanglement_error(other, label)
    draws = rng.normal(size=(4, 3, 20))
    shares = [0.1, 0.5, 1.0]
    return {
        "error": lambda: a,
        "error as a sum": lambda: metrics.disentanglement_error(size, label, aggregate="sum"),
        "below chance": lambda: metrics.below_chance_test(size, label, n_draws=199, rng=0),
        "swapped": lambda: metrics.swap_test(size, label, n_draws=199, rng=0),
        "paired": lambda: metrics.paired_disentanglement_test(a, b, n_draws=199, rng=0),
        "recombined": lambda: metrics.recombined_error([0.9, 0.1, 0.2, 0.8]),
        "chance": lambda: metrics.expected_absolute_correlation(7),
        "correlations": lambda: metrics.estimate_correlations({"a": draws[0], "b": draws[1], "c": draws[0] + draws[2]}),
        "trend": lambda: metrics.epistemic_trend_test(np.abs(draws).transpose(0, 1, 2), shares),
        "sources": lambda: metrics.doubt_sources(
            rng.dirichlet(np.ones(3), (4, 3, 20)), np.abs(draws), rng.integers(0, 3, 20), shares
        ),
    }


def scores_of_kinds() -> Calls:
    """Every score, non-specificity and decomposition that a kind of prediction offers."""
    calls: Calls = {}
    for kind, p in data.all_kinds(20).items():
        calls[f"{kind}, prediction"] = partial(repr, p)
        calls[f"{kind}, scores"] = partial(_scores, p)
        calls[f"{kind}, non-specificity"] = partial(_nonspecificities, p)
        calls[f"{kind}, decompositions"] = partial(_decompositions, p)
    return calls


def _scores(p: uq.Prediction) -> Any:
    return {name: measures.uncertainty_score(p, name) for name in measures.score_names(p, on_request=True)}


def _nonspecificities(p: uq.Prediction) -> Any:
    names = ("hartley", "smets", "korner", "pal")
    return {name: attempt(partial(measures.nonspecificity, p, name)) for name in names}


def _decompositions(p: uq.Prediction) -> Any:
    return {name: attempt(partial(measures.decompose, p, name)) for name in measures.decomposition_names(p)}


def single_measures() -> Calls:
    m, g = data.prediction("Members", 20), data.prediction("GaussianLogits", 20)
    box, point = data.prediction("Intervals", 20), data.prediction("Point", 20)
    return {
        "registry": lambda: [(s.name, s.unit) for s in measures.SCORES.values()],
        "decompositions": lambda: [(d.name, d.source) for d in measures.DECOMPOSITIONS.values()],
        "entropy": lambda: measures.entropy(point.probs),
        "least confidence": lambda: measures.least_confidence(m),
        "margin": lambda: measures.margin_uncertainty(m),
        "variation ratio": lambda: measures.variation_ratio(m),
        "vote entropy": lambda: measures.vote_entropy(m),
        "total variance": lambda: measures.total_variance(m),
        "variance of the class": lambda: measures.predicted_class_variance(m),
        "upper entropy": lambda: measures.upper_entropy(box),
        "lower entropy": lambda: measures.lower_entropy(box),
        "upper entropy of members": lambda: measures.upper_entropy(m),
        "credal uncertainty": lambda: measures.credal_uncertainty(m),
        "credal width": lambda: measures.credal_width(m, of="mean"),
        "generalised Hartley": lambda: measures.generalised_hartley(m),
        "weights": lambda: measures.hartley_weights(4),
        "label-wise": lambda: measures.label_wise_decomposition(m),
        "label-wise parts": lambda: measures.label_wise_parts(m),
        "proper score": lambda: measures.proper_score_decomposition(m, score="brier"),
        "zero-one": lambda: measures.zero_one_decomposition(m),
        "entropy parts": lambda: measures.entropy_decomposition(m),
        "variance parts": lambda: measures.variance_decomposition(m),
        "Gaussian logits": lambda: measures.gaussian_logits_decomposition(g),
        "moments": lambda: measures.probability_moments(m),
        "not ruled out": lambda: measures.not_ruled_out(box),
        "free energy": lambda: measures.free_energy(g),
    }


def losses_of_kinds() -> Calls:
    y, votes = data.labels(20), data.votes(20)
    calls: Calls = {}
    for kind, p in data.all_kinds(20).items():
        for distance in ("kl", "js", "tv", "hellinger", "brier"):
            calls[f"{kind}, {distance}"] = partial(losses.unified_loss, y, p, tradeoff=0.5, distance=distance)
        calls[f"{kind}, votes"] = partial(losses.unified_loss, votes, p, nonspecificity="pal")
        for name in ("log_loss", "brier_loss", "is_correct", "prediction_errors", "probability_gap"):
            calls[f"{kind}, {name}"] = partial(getattr(losses, name), y, p)
    return calls | {
        "paper's convention": lambda: losses.unified_loss(y, data.prediction("Masses", 20), convention="paper"),
        "floor": lambda: losses.log_loss(y, np.eye(3)[np.roll(y, 1)], floor=0.01),
        "counts": lambda: losses.counts_of_votes([[0, 1], [2, 2]], 3),
        "second-order gap": lambda: losses.second_order_gap(votes, data.prediction("Members", 20)),
        "squared distance": lambda: losses.squared_truth_distance(votes, data.prediction("Members", 20)),
    }


def estimates() -> Calls:
    rng = np.random.default_rng(1)
    x, y = rng.gamma(2.0, 1.0, 60), rng.normal(size=60)
    g, w = data.groups(60), 1 + np.arange(60) % 2
    b = rng.random(60) < 0.3
    return {
        "mean": lambda: st.mean_estimate(x),
        "mean in groups": lambda: st.mean_estimate(x, groups=g),
        "mean, weighted": lambda: st.mean_estimate(x, sample_weight=w, level=0.9),
        "mean, Hall": lambda: st.mean_estimate(x, method="hall"),
        "mean, bootstrap": lambda: st.mean_estimate(x, method="bca", n_draws=200, rng=0),
        "one value": lambda: st.mean_estimate([1.0]),
        "share": lambda: st.proportion_estimate(b),
        "share in groups": lambda: st.proportion_estimate(b, groups=g),
        "AUC": lambda: st.auc_estimate(b, x),
        "AUC, DeLong": lambda: st.auc_estimate(b, x, method="delong"),
        "Kendall": lambda: st.kendall_tau_estimate(x, y),
        "Kendall in groups": lambda: st.kendall_tau_estimate(x, y, groups=g),
        "Pearson": lambda: st.pearson_estimate(x, y),
        "Pearson, bootstrap": lambda: st.pearson_estimate(x, y, method="bca", n_draws=200, rng=0),
        "Spearman": lambda: st.spearman_estimate(x, y, groups=g),
        "mean correlation": lambda: st.mean_correlation_estimate([0.1, 0.5, 0.4]),
        "bootstrap": lambda: st.bootstrap_estimate(lambda weights: weights @ x / weights.sum(), 60, n_draws=200, rng=0),
        "bootstrap means": lambda: st.bootstrap_means(x, n_draws=50, rng=0),
        "bootstrap weights": lambda: st.bootstrap_weights(20, n_draws=30, rng=0),
        "percentiles": lambda: st.percentile_interval(np.sort(x)),
        "matched": lambda: st.matched_difference_interval(12, 5, 60),
        "variance": lambda: st.variance_components(np.stack([x, x + 0.1 * y, x - 0.1 * y])),
        "variance of a difference": lambda: st.variance_components(np.stack([x, y]), np.stack([y, x]), groups=g),
        "DeLong's covariance": lambda: st.delong_covariance(b, np.stack([x, y])),
        "influence": lambda: (st.kendall_tau_influence(x, y), st.spearman_influence(x, y)),
    }


def comparisons() -> Calls:
    rng = np.random.default_rng(2)
    a = rng.gamma(2.0, 1.0, 80)
    b = a + rng.normal(0.15, 0.4, 80)
    c = a + rng.normal(0.0, 0.6, 80)
    g = data.groups(80)
    values = {"a": a, "b": b, "c": c}
    p = [0.001, 0.02, 0.03, 0.5]
    square = np.array([[np.nan, 0.01, 0.2], [0.01, np.nan, 0.03], [0.2, 0.03, np.nan]])
    return {
        "paired": lambda: st.paired_mean_test(a, b),
        "paired in groups": lambda: st.paired_mean_test(a, b, groups=g),
        "paired by permutation": lambda: st.paired_mean_test(a, b, method="permutation", n_draws=199, rng=0),
        "equal": lambda: st.paired_mean_test(a, a),
        "margin": lambda: st.paired_margin_test(a, b, margin=0.3),
        "detectable": lambda: st.detectable_difference(a, b),
        "all pairs": lambda: st.pairwise_mean_tests(values),
        "all pairs, bounded, in groups": lambda: st.pairwise_mean_tests(values, groups=g, bound=5.0),
        "rank sets": lambda: st.rank_sets(st.pairwise_mean_tests(values)),
        "sign flips": lambda: st.sign_flip_test(a - b, n_draws=199, rng=0),
        "permutations": lambda: st.permutation_test(1.5, rng.normal(size=199)),
        "Holm": lambda: st.holm(p),
        "Benjamini-Hochberg": lambda: st.benjamini_hochberg(p),
        "Shaffer": lambda: st.shaffer(square),
        "no worse": lambda: st.no_worse_than_best(square),
        "shares of resamples": lambda: st.win_shares(
            st.bootstrap_means(np.stack([a, b, c], axis=1), n_draws=99, rng=0)
        ),
    }


def over_data_sets() -> Calls:
    rng = np.random.default_rng(3)
    values = 0.7 + 0.05 * np.array([0.0, 0.5, 1.5]) + 0.03 * rng.normal(size=(9, 3))
    table = partial(uq.evidence.compare_table, greater_is_better=True, models=["a", "b", "c"], label="accuracy")
    assays = {
        f"set {s}": uq.assay(
            {"m": data.members(30, seed=s), "p": data.members(30, seed=s)[:, 0]},
            data.labels(30, seed=s),
            calibration=(),
        )
        for s in range(6)
    }
    compare = uq.evidence.compare_over_data_sets
    return {
        "ranks": lambda: st.average_ranks(values, greater_is_better=True),
        "Friedman": lambda: st.friedman_test(values, greater_is_better=True),
        "signed ranks": lambda: st.signed_rank_test(values[:, 0] - values[:, 1]),
        "signed ranks of pairs": lambda: st.pairwise_signed_rank_tests(values),
        "Nemenyi": lambda: (st.nemenyi_difference(3, 9), st.nemenyi_pvalues(values)),
        "Bayesian": lambda: st.bayesian_signed_rank_test(values[:, 0] - values[:, 1], rope=0.01, n_draws=500, rng=0),
        "table": lambda: table(values),
        "table with a rope": lambda: table(values, rope=0.01),
        "table of two data sets": lambda: table(values[:2]),
        "assays": lambda: compare(assays),
        "assays by accuracy": lambda: compare(assays, metric="accuracy"),
        "assays by UQ-AUC": lambda: compare(assays, metric="uq-auc", score="total-entropy"),
    }


def planning() -> Calls:
    e, u, v = data.errors()
    truth = u + np.random.default_rng(4).normal(0.0, 0.3, len(u))
    first, second = st.kendall_tau_influence(truth, u), st.kendall_tau_influence(truth, v)
    return {
        "AUC by width": lambda: st.plan_precision(st.auc_influence(e, u), width=0.1),
        "AUC by number": lambda: st.plan_precision(st.auc_influence(e, u), n=500),
        "mean from a pilot": lambda: st.plan_precision(first, width=0.1, scale="identity"),
        "difference from a pilot": lambda: st.plan_difference(first - second, power=0.8),
        "power": lambda: cal.calibration_power(
            uq.Point(data.members(20)[:, 0]), cal.Miscalibration.temperature(2.0), 40, n_samples=8, n_draws=19, rng=0
        ),
        "instances": lambda: cal.required_instances(
            uq.Point(data.members(20)[:, 0]), cal.Miscalibration.overconfidence(0.3), n_samples=8, n_draws=19, rng=0
        ),
    }


def calibration_tests() -> Calls:
    y, m = data.labels(), data.members()
    few = {"n_draws": 39, "rng": 0}
    return {
        "one model": lambda: cal.calibration_test(y, m[:, 0], **few),
        "in groups": lambda: cal.calibration_test(y, m[:, 0], measure="ece-classwise", groups=data.groups(), **few),
        "a bad model": lambda: cal.calibration_test(np.roll(y, 1), m[:, 0], **few),
        "Hosmer-Lemeshow": lambda: cal.hosmer_lemeshow_test(y, m[:, 0]),
        "kernel": lambda: cal.kernel_calibration_estimate(y, m[:, 0]),
        "SKCE": lambda: cal.skce_pvalue(y, m[:, 0], rng=0),
        "members": lambda: cal.credal_calibration_test(y, m[:, :3], **few),
        "members, random null": lambda: cal.credal_calibration_test(y, m[:, :3], null="random", **few),
        "members, Berger-Boos": lambda: cal.credal_calibration_test(y, m[:, :2], null="berger-boos", **few),
        "bad members": lambda: cal.credal_calibration_test(np.roll(y, 1), m[:, :3], **few),
        "several measures": lambda: cal.credal_calibration_tests(
            y, m[:, :2], measures=["kuiper-confidence", "ece-classwise"], **few
        ),
        "by instance": lambda: cal.instance_dependent_calibration_test(y, m[:, :2], **few),
        "weighted average": lambda: cal.weighted_average_effect(y, m[:, :3], n_draws=50, null_draws=19, rng=0),
    }


def second_order() -> Calls:
    votes, test = data.votes(), cal.second_order_test
    return {
        "members": lambda: test(votes, data.prediction("Members"), rng=0),
        "Dirichlet": lambda: test(votes, data.prediction("Dirichlet"), buckets=4, groups=data.groups(), rng=0),
        "kernel": lambda: test(votes, data.prediction("Members"), by="kernel", rng=0),
        "moments": lambda: test(votes, data.prediction("Members"), by="moments", rng=0),
        "point": lambda: test(votes, data.prediction("Point"), rng=0),
        "compatible": lambda: cal.vote_compatibility_test(votes, data.prediction("Intervals"), n_draws=39, rng=0),
        "compatible members": lambda: cal.vote_compatibility_test(votes, data.prediction("Members"), n_draws=39, rng=0),
    }


def credal_sets() -> Calls:
    g = np.random.default_rng(5)
    points = g.dirichlet(np.ones(3), (5, 4))
    lower, upper = points.min(axis=1), points.max(axis=1)
    target = g.dirichlet(np.ones(3), 5)
    sets = credal.all_focal_sets(3)
    masses = g.dirichlet(np.ones(len(sets)), 5)
    events = np.vstack([np.zeros((1, 5)), g.dirichlet(np.ones(7), 5).T])  # (2^K, n), in binary order
    beliefs = credal.zeta_transform(events)
    return {
        "focal sets": lambda: sets.astype(int),
        "as focal sets": lambda: credal.as_focal_sets([{0}, {1, 2}], 3),
        "vertices of boxes": lambda: credal.box_vertices(lower, upper),
        "vertices of permutations": lambda: credal.permutation_vertices(masses, sets),
        "reachable": lambda: credal.reachable(lower, upper),
        "intersection probability": lambda: credal.intersection_probability(lower, upper),
        "nearest in box": lambda: [credal.nearest_in_box(target, lower, upper, d) for d in credal.DISTANCES],
        "nearest in hull": lambda: [credal.nearest_in_hull(target, points, d) for d in ("kl", "brier")],
        "nearest in core": lambda: [credal.nearest_in_core(target, masses, sets, d) for d in ("kl", "brier")],
        "divergences": lambda: {d: credal.divergence(target, points[:, 0], d) for d in credal.DISTANCES},
        "in hull": lambda: credal.in_hull(points, points.mean(axis=1)),
        "zeta": lambda: beliefs,
        "Möbius": lambda: credal.moebius_transform(beliefs),
        "event sizes": lambda: credal.event_sizes(3),
        "undominated in box": lambda: credal.undominated_in_box(lower, upper),
        "undominated in hull": lambda: credal.undominated_in_hull(points),
        "undominated in core": lambda: credal.undominated_in_core(masses, sets),
        "closest corner": lambda: credal.closest_corner(target),
        "paper's masses": lambda: credal.paper_masses(masses, sets),
        "family": lambda: credal.family_moebius(np.array([[0.2, 0.3, 1.0]]), [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
        "budget": lambda: credal.budget_from_confusion(data.members(30)[:, 0], data.labels(30), 2),
    }


def of_data_sets() -> Calls:
    return {
        "list": lambda: [(d.name, d.kind) for d in datasets.DATASETS.values()],
        "descriptions": lambda: list(datasets.DATASETS.values()),
        "clusters": lambda: datasets.cluster_grid(60, columns=4, rows=3, rng=0),
        "split": lambda: datasets.stratified_split(data.labels(), 0.3, rng=0),
    }


def registries() -> Calls:
    """Lists that users meet: methods, codes of errors, notes and claims."""
    return {
        "methods": lambda: [(m.name, m.sentence, m.source) for m in uq.lab.methods.METHODS.values()],
        "codes of errors": lambda: dict(uq.errors.CODES),
        "cautions": lambda: dict(uq.evidence.CAUTIONS),
        "claims": lambda: dict(uq.evidence.KINDS),
        "public names": lambda: {
            room: sorted(getattr(uq, room).__all__) for room in ("losses", "measures", "evidence")
        },
    }


PARTS: dict[str, tuple[Callable[[], Calls], tuple[str, ...]]] = {
    "ranking of errors": (ranking_of_errors, ()),
    "refusing": (refusing, ()),
    "out of distribution": (out_of_distribution, ()),
    "calibration errors": (calibration_errors, ()),
    "metrics of sets": (set_metrics, ()),
    "metrics of predictions": (of_predictions, ()),
    "metrics of gains": (gain_metrics, ()),
    "metrics of disentanglement": (disentanglement_metrics, ()),
    "scores of kinds": (scores_of_kinds, ()),
    "single measures": (single_measures, ()),
    "losses of kinds": (losses_of_kinds, ()),
    "estimates": (estimates, ()),
    "comparisons": (comparisons, ()),
    "many data sets": (over_data_sets, ("pandas",)),
    "planning": (planning, ()),
    "calibration tests": (calibration_tests, ()),
    "second order": (second_order, ()),
    "credal sets": (credal_sets, ()),
    "data sets": (of_data_sets, ("sklearn",)),
    "registries": (registries, ()),
}


def scenarios() -> Iterator[Scenario]:
    """One scenario for each part."""
    for name, (calls, needs) in PARTS.items():
        yield Scenario(name, partial(_taken, calls), needs)


def _taken(calls: Callable[[], Calls]) -> str:
    return sections(calls())
