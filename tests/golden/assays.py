"""Assays of every kind of prediction and with every option: each table, sentence, list, look and file format."""

import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import uqassay as uq
from tests.golden import data
from tests.golden.capture import attempt, digest_of, page_text, sentences_of, text_of, titled
from tests.golden.registry import Scenario, sections

TABLES = ("findings", "ranking", "breakpoints", "ranking-changes", "calibration", "mistakes", "scale-check", "variance")
MORE_TABLES = ("sets", "coverage-curve", "votes", "claims")
TESTED = uq.evidence.CALIBRATION
FEW = ("total-entropy", "epistemic-entropy", "margin")
METRICS = ("unified", "accuracy", "nonspecificity")


def told(a: uq.Assay) -> dict[str, Callable[[], Any]]:
    """What every assay is asked: the sentences, what was given and counted, and the tables."""
    names = ("n_instances", "n_units", "class_names", "model_names", "tradeoffs", "settings", "subgroups", "labels")
    found: dict[str, Callable[[], Any]] = {
        "summary": a.summary,
        "verdict": lambda: "\n".join(a.verdict()),
        "warnings": lambda: [note.to_dict() for note in a.warnings],
        "facts": lambda: {name: getattr(a, name) for name in names},
        "models": lambda: [{"name": m.name, "kind": m.kind, "runs": m.n_runs} for m in a.models],
    }
    return found | {f"table {name}": partial(a.table, name) for name in (*TABLES, *MORE_TABLES)}


def looks(a: uq.Assay) -> dict[str, Callable[[], Any]]:
    """How an assay is shown elsewhere."""
    return {
        "repr": lambda: repr(a),
        "headline": lambda: "\n".join(a.headline()),
        "notebook": lambda: page_text(a._repr_html_()),
        "Markdown": a.to_markdown,
        "LaTeX": a.to_latex,
        "ranking": lambda: a.ranking(1.0),
        "ranking in LaTeX over runs": lambda: a.ranking(0.5).to_latex(spread="runs"),
        "LaTeX over metrics": lambda: a.to_latex(1.0, metrics=["accuracy", "brier", "uq-auc"], score="total-entropy"),
    }


def decisions(a: uq.Assay) -> dict[str, Callable[[], Any]]:
    """Answers as data, comparisons of models, of scores, and ranks by several metrics."""
    first, last = a.model_names[0], a.model_names[-1]
    score = a.uncertainty_names(first)[-1]
    found: dict[str, Callable[[], Any]] = {
        "answer": a.answer,
        "winners": a.winners,
        "ranking changes": a.ranking_changes,
        "scale of λ": a.tradeoff_scale,
        "shares of resamples": lambda: a.win_shares([0.0, 0.5, 2.0]),
        "scale check": lambda: a.scale_check(0.5),
        "compare": lambda: a.compare(first, last),
        "compare, permutation": lambda: a.compare(first, last, tradeoff=1.0, method="permutation"),
        "variance": lambda: a.variance(first),
        "refusal": lambda: a.refusal(first, score, 0.8),
        "risk and coverage": lambda: a.risk_coverage(first, score, [0.3, 0.6, 1.0]),
        "expected cost": lambda: a.expected_cost(first, prices=[0.1, 0.3]),
        "certified refusal": lambda: a.certified_refusal(risk=0.4),
        "scores of models": lambda: {name: a.uncertainty_names(name) for name in a.model_names},
        "compare scores": lambda: a.compare_uncertainties((first, score), (last, a.uncertainty_names(last)[0])),
        "reliability": lambda: a.reliability(first, n_bins=5),
        "extreme instances": lambda: a.extreme_instances(4),
        "subsets by correctness": lambda: a.table("subsets", by="correct"),
        "subsets by class": lambda: a.table("subsets", by="class", ranking=False),
        "backward scores": lambda: uq.evidence.backward_scores(a),
        "calibration claims": lambda: uq.evidence.calibration_claims(a),
    }
    return found | {f"ranks by {metric}": partial(a.rank_sets, metric=metric) for metric in METRICS}


def kept(a: uq.Assay) -> dict[str, Callable[[], Any]]:
    """Its JSON, and the assay that a folder gives back."""

    def again() -> str:
        with tempfile.TemporaryDirectory() as folder:
            b = uq.Assay.load(a.save(Path(folder, "assay")))
            names = sorted(path.name for path in Path(folder, "assay").iterdir())
            return f"the same summary: {b.summary() == a.summary()}; files {', '.join(names)}"

    return {"scores": lambda: a.table("scores"), "JSON": a.to_json, "saved and loaded": again}


N = 60
SOME = ("Point", "Members", "Dirichlet", "ClassSets", "Masses", "GaussianLogits")


def made(models: data.Models, n: int = N, k: int = 3, **options: Any) -> Callable[[], uq.Assay]:
    """An assay of these models about the usual labels; by default with few scores and no calibration tests, which take long."""
    y = options.pop("y", None)
    options = {"n_draws": 300, "calibration": (), "measures": FEW, **options}
    return lambda: uq.assay(models, data.labels(n, k) if y is None else y, **options)


@cache
def cases() -> dict[str, Callable[[], uq.Assay]]:
    """Assays by name."""
    rivals, kinds, point = data.rivals(n_models=2), data.all_kinds(), data.rivals(kind="Point")
    found = {
        f"kind {kind}": made({"m": prediction}, calibration=TESTED, measures=None) for kind, prediction in kinds.items()
    }
    found |= {f"{n} models": made(data.rivals(n_models=n), calibration=TESTED if n == 3 else ()) for n in (2, 3, 6)}
    found["all kinds"] = made(kinds)
    found["points alone"] = made(point)
    found["vertices alone"] = made(data.rivals(kind="Vertices"))
    found["runs"] = made({"runs": data.runs(), "one": kinds["Members"]}, calibration=TESTED)
    found["runs of points"] = made(
        {"runs": [uq.Point(data.members()[:, r]) for r in range(5)], "Point": kinds["Point"]}, calibration=TESTED
    )
    found["groups"] = made(data.rivals(), groups=data.groups(), calibration=TESTED)
    found["groups and runs"] = made({"runs": data.runs(), **rivals}, groups=data.groups())
    found["weights"] = made({**rivals, "runs": data.runs(), "s": kinds["ClassSets"]}, sample_weight=data.weights())
    found["weights and groups"] = made(point, groups=data.groups(), sample_weight=data.weights())
    found["few groups"] = made(rivals, groups=data.groups(size=20))
    found["subgroups"] = made(rivals, subgroups={"site": data.sites(), "odd": np.arange(N) % 2 == 1})
    found["votes"] = made(data.all_kinds(names=SOME), y=data.votes())
    found["single votes"] = made(rivals, y=data.votes(per_instance=1), votes_are="counts")
    found["distributions"] = made(rivals, y=data.votes() / 5, calibration=TESTED)
    found["votes and groups"] = made(rivals, y=data.votes(), groups=data.groups())
    found["class names"] = made(
        {"net_1 & 50 %": data.prediction("Members", class_names=("healthy", "ill", "a_b | c")), "<b>": kinds["Point"]},
        y=np.array(["healthy", "ill", "a_b | c"])[data.labels()],
        class_names=("healthy", "ill", "a_b | c"),
    )
    ids = [f"case {i}" for i in range(N)]
    found["ids"] = made({"m": data.prediction("Members", ids=ids), "p": data.prediction("Point", ids=ids)})
    found["two classes"] = made(data.all_kinds(k=2, names=SOME), k=2, calibration=TESTED)
    found["five classes"] = made(data.all_kinds(k=5, names=SOME), k=5)
    found["seventeen classes"] = made({"m": data.prediction("Members", 40, 17)}, 40, 17)
    found["one instance"] = made(data.all_kinds(1, names=SOME), 1, calibration=TESTED)
    found["two instances"] = made(data.rivals(2), 2)
    found["nine instances"] = made(data.rivals(9), 9, calibration=TESTED)
    found["many instances"] = made(data.rivals(600, n_models=2), 600)
    found["a class missing"] = made(rivals, y=np.minimum(data.labels(), 1))
    found["one class only"] = made(rivals, y=np.zeros(N, dtype=int))
    sure = np.eye(3)[data.labels()]
    found["perfect and wrong"] = made({"right": uq.Point(sure), "wrong": uq.Point(np.roll(sure, 1, axis=1))})
    found["equal models"] = made({"a": kinds["Members"], "b": kinds["Members"]})
    found["ties"] = made({"a": uq.Point(_rounded(data.members()[:, 0])), "b": uq.Point(np.full((N, 3), 1 / 3))})
    for distance in ("js", "js_distance", "tv", "hellinger", "brier"):
        # along the scales total variation is nearly flat, so that the best one depends on rounding
        flat = {"scales": ()} if distance == "tv" else {}
        found[f"distance {distance}"] = made(rivals, distance=distance, **flat)
    for measure in ("korner", "pal", "credal-uncertainty", "credal-uncertainty-box"):
        found[f"nonspecificity {measure}"] = made(rivals, nonspecificity=measure)
    found["paper's convention"] = made({"m": kinds["Members"], "b": kinds["Masses"]}, convention="paper")
    found["margin"] = made(data.rivals(400, n_models=2), 400, margin=0.05)
    found["bounded distance and margin"] = made(
        data.rivals(400, n_models=2), 400, margin=0.02, distance="brier", level=0.9
    )
    found["options"] = made(rivals, tradeoffs=(0.25, 4.0), level=0.9, floor=0.01, prior=[0.2, 0.3, 0.5], rng=3)
    found["measures"] = made(rivals, measures=("margin", "epistemic-variance", "vote-entropy", "credal-width"))
    found["common members"] = made(data.all_kinds(names=SOME), common_members=3)
    found["other calibration"] = made(rivals, calibration=("skce-ul", "hosmer-lemeshow", "ece-confidence"))
    found["scores given"] = made(rivals, uncertainties={"a": {"density": np.linspace(0, 1, N)}})
    found["ignored label"] = made(rivals, y=np.where(np.arange(N) % 9 == 0, -1, data.labels()), ignore_label=-1)
    found["no scales"] = made(rivals, scales=())
    found["stream"] = streamed
    found["merged streams"] = merged
    found["classifiers"] = classifiers
    return found


def _rounded(p: np.ndarray) -> np.ndarray:
    q = np.floor(4 * p) + 1
    return q / q.sum(axis=1, keepdims=True)


def streamed() -> uq.Assay:
    """Three chunks with groups and subgroups."""
    p, y, stream = data.members(), data.labels(), uq.AssayStream(n_draws=300)
    for rows in (slice(0, 32), slice(32, 60), slice(60, 80)):
        models = {"m": p[rows], "p": p[rows, 0]}
        stream.update(models, y[rows], groups=data.groups()[rows], subgroups={"site": data.sites()[rows]})
    return stream.compute()


def merged() -> uq.Assay:
    """Two streams joined."""
    p, y = data.members(), data.labels()
    first = uq.AssayStream(n_draws=300).update({"m": p[:50]}, y[:50])
    return first.merge(uq.AssayStream(n_draws=300, first_row=50).update({"m": p[50:]}, y[50:])).compute()


def classifiers() -> uq.Assay:
    """Fitted classifiers of scikit-learn."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    g = np.random.default_rng(1)
    y = data.labels()
    x = data.exact(np.eye(3)[y] + g.normal(size=(N, 3)))
    fitted = {"logistic": LogisticRegression(), "bayes": GaussianNB()}
    return uq.assay({name: one.fit(x, y) for name, one in fitted.items()}, y, X=x, n_draws=300)


SHOWN = (
    *("kind Members", "kind ClassSets", "6 models", "all kinds", "runs", "groups and runs", "votes", "class names"),
    "weights",
)
MORE_SHOWN = ("two classes", "margin", "one instance", "bounded distance and margin", "stream")
DECIDED = ("kind Members", "3 models", "groups and runs", "votes", "two classes", "margin", "one instance")
STORED = ("kind Members", "groups and runs")


@cache
def pages() -> dict[str, Callable[[], uq.Assay]]:
    """Small assays whose pages are looked at: a page takes a second."""
    n = 30
    two, some = data.rivals(n, n_models=2), ("Members", "Masses")
    return {
        "two models": made(two, n, calibration=TESTED),
        "some kinds": made(data.all_kinds(n, names=some), n),
        "groups, runs and subgroups": made(
            {"runs": data.runs(n, n_runs=2)}, n, groups=data.groups(n), subgroups={"site": data.sites(n)}
        ),
        "votes": made({"m": two["a"]}, y=data.votes(n)),
        "weights": made(two, n, calibration=TESTED, sample_weight=data.weights(n)),
        "one instance": made(data.rivals(1, n_models=2), 1),
        "class sets": made({"s": data.prediction("ClassSets", n)}, n, measures=None),
    }


@cache
def case(name: str) -> uq.Assay:
    """The assay of a name, made once for all that look at it."""
    return cases()[name]()


def seen(name: str, *views: Callable[[uq.Assay], dict[str, Callable[[], Any]]]) -> str:
    """An assay, looked at."""
    a = attempt(lambda: case(name))
    if not isinstance(a, uq.Assay):
        if not isinstance(a, dict):
            return text_of(a)
        return titled("warned", text_of(a["warnings"])) + sections(_joined(a["found"], views))
    return sections(_joined(a, views))


def _joined(a: uq.Assay, views: Any) -> dict[str, Callable[[], Any]]:
    return {title: work for view in views for title, work in view(a).items()}


@cache
def payload(name: str) -> dict[str, Any]:
    """The values of a page; of markup what a reader sees."""
    return _read(uq.report.payload(pages()[name](), command="uqassay report m=m.npz"))


def _read(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: page_text(one) if key == "markup" else _read(one) for key, one in value.items()}
    return [_read(one) for one in value] if isinstance(value, list) else value


def page(name: str) -> str:
    """A digest of each part of a page, and its sentences: all of them of the first page, then those that are new."""
    first = next(iter(pages()))
    common = {} if name == first else sentences_of(payload(first))
    told = [text for text in sentences_of(payload(name)) if text not in common]
    digests = {part: digest_of(value) for part, value in payload(name).items()}
    return sections({"digests of the parts": lambda: digests, "sentences": lambda: "\n".join(told)})


def scenarios() -> Iterator[Scenario]:
    """Every assay in words and tables; some of them closely, and as a page."""
    for name in cases():
        needs = ("pandas", "sklearn") if name == "classifiers" else ("pandas",)
        yield Scenario(name, partial(seen, name, told), needs)
    for title, names, view in (
        ("shown", (*SHOWN, *MORE_SHOWN), looks),
        ("decided", DECIDED, decisions),
        ("stored", STORED, kept),
    ):
        for name in names:
            yield Scenario(f"{name}, {title}", partial(seen, name, view), ("pandas",))
    for name in pages():
        yield Scenario(f"{name}, page", partial(page, name), ("pandas",))
