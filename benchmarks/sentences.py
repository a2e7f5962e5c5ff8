"""Every sentence that an assay can say: docs/sentences.md, from the code that words them, each with an example.

python -m benchmarks.sentences   # writes the page; the tests compare it
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import uqassay as uq
from uqassay.evidence.answer import Answer, Recommendation
from uqassay.evidence.calibration import judged_tests, point_models
from uqassay.evidence.excess import failing_at_most
from uqassay.evidence.lens import lenses
from uqassay.evidence.order import order_of
from uqassay.evidence.sentences import advice, calibration_sentences, claim, could_have_shown, details, headline
from uqassay.report.page import SECTIONS
from uqassay.report.sentences import (
    answer_choices,
    answer_remarks,
    caution_finding,
    compared_sentence,
    depends_sentence,
    meanings,
    section_findings,
)
from uqassay.text import markdown_text

__all__ = ["PAGE", "Sentence", "examples", "page", "sentences"]

ROOM = Path(uq.__file__).resolve().parent
PAGE = Path(__file__).resolve().parents[1] / "docs" / "sentences.md"
LEAST_WORDS = 3  # of what is listed; shorter texts stand in longer ones

# where sentences are worded: heading, file, its functions (none: all); of the verdict in the order in which they are told
SOURCES: Sequence[tuple[str, str, tuple[str, ...]]] = (
    (
        "Headline",
        "evidence/sentences.py",
        ("headline", "condition", "range_text", "_choice", "_ties", "_number_of", "_at_some"),
    ),
    (
        "Where no model is worth using",
        "evidence/sentences.py",
        ("_no_choice", "_none_sentence", "none_clauses", "_one_unit"),
    ),
    ("Conditions", "evidence/excess.py", ("failing_at_most", "_share")),
    (
        "Verdict: the order",
        "evidence/sentences.py",
        ("_best", "_worse", "within_margin", "could_have_shown", "_beyond_margin"),
    ),
    (
        "Verdict: what limits it",
        "evidence/sentences.py",
        ("_unseen", "_skewed", "_choices_on_other_inputs", "_order_on_other_inputs", "_in_groups", "_same"),
    ),
    (
        "Verdict: more",
        "evidence/sentences.py",
        ("_lowest_in_turn", "_baselines", "_parts", "_in_part", "_resamples", "_refusal", "_backward", "_scale"),
    ),
    ("Verdict: wider sets", "evidence/scale.py", ("sentence",)),
    ("The class that matters", "evidence/critical.py", ("_sentence", "_shown_sentences")),
    ("Verdict: coverage of classes", "evidence/sets.py", ("covered_less", "_and_others", "_shown_sentences")),
    (
        "Calibration",
        "evidence/sentences.py",
        ("claim", "advice", "_rejections", "_rejected", "_no_rejection", "_passing", "_undefined", "_untold", "_part"),
    ),
    (
        "Card",
        "report/sentences.py",
        ("depends_sentence", "answer_choices", "_choice", "_others", "_worse_somewhere", "answer_remarks"),
    ),
    ("What the words of the card mean", "report/sentences.py", ("meanings",)),
    (
        "Findings of the page's sections",
        "report/sentences.py",
        (
            "compared_sentence",
            "order_templates",
            "order_values",
            "_lower",
            "_why",
            "_instances",
            "_how",
            "caution_finding",
        ),
    ),
    (
        "Findings of the lenses",
        "report/sentences.py",
        ("confidence_finding", "refusal_sentence", "_shown", "_others_refused", "why_nothing", "why_unmixed"),
    ),
    (
        "Findings of the lenses: refusal, sets, votes, parts",
        "report/sections.py",
        ("_finding", "_no_limit", "_sets_finding", "_votes_finding", "_view", "_range"),
    ),
    ("Warnings", "evidence/cautions.py", ()),
)


class Sentence(NamedTuple):
    """A sentence, or a part of one, as the code has it."""

    heading: str
    template: str  #: With … for what is filled in.
    example: str  #: Where an example says it; "" where none does.


def sentences() -> list[Sentence]:
    """All templates of `SOURCES` in their order, each with the shortest example that holds it."""
    said = sorted({" ".join(text.split()) for text in examples() if text}, key=lambda text: (len(text), text))
    found = []
    for heading, file, functions in SOURCES:
        for template in dict.fromkeys(_templates(ROOM / file, functions)):
            known = re.compile(".*?".join(map(re.escape, template.split("…"))), re.IGNORECASE)
            found.append(Sentence(heading, template, next((text for text in said if known.search(text)), "")))
    return found


def page() -> str:
    """The page as Markdown."""
    lines = [
        "# All sentences",
        "",
        "Every template by which an assay's headline, verdict, card, findings and warnings are worded, with an example.",
        "… stands for what is filled in.",
        "",
        "    python -m benchmarks.sentences",
    ]
    heading = ""
    for one in sentences():
        if one.heading != heading:
            heading = one.heading
            lines += ["", f"## {heading}", "", "| template | example |", "|---|---|"]
        lines.append(f"| {markdown_text(one.template)} | {markdown_text(one.example)} |")
    return "\n".join(lines) + "\n"


# -- the templates of a file ---------------------------------------------------------------------------------------------


def _templates(file: Path, functions: Sequence[str]) -> Iterator[str]:
    """Texts of at least `LEAST_WORDS` words in functions of a file, but for docstrings, names of facts, and errors."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    known = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for name in functions or known:
        yield from _texts(known[name])


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "fail":
        return
    if isinstance(node, ast.JoinedStr):
        yield from _long("".join(str(p.value) if isinstance(p, ast.Constant) else "…" for p in node.values))
        for part in node.values:
            yield from () if isinstance(part, ast.Constant) else _texts(part)
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from _long(node.value)
        return
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.FunctionDef):
        children = node.body[1:] if ast.get_docstring(node) is not None else list(node.body)
    for child in children:
        yield from _texts(child)


def _long(text: str) -> Iterator[str]:
    shown = re.sub(r"…+", "…", re.sub(r"\{\w+\}", "…", text)).strip(" ")
    if " " in shown and len(re.findall(r"[A-Za-z]{2,}", shown)) >= LEAST_WORDS:
        yield shown


# -- the examples ----------------------------------------------------------------------------------------------------------


def examples() -> Iterator[str]:
    """What some small assays say."""
    for assay in _assays():
        yield from assay.headline()
        yield from details(assay)
        yield from _of_answer(assay.answer(), order_of(assay).yardsticks)
        yield from section_findings(assay).values()
        yield compared_sentence(assay)
        yield from (note.text for note in assay.warnings)
        if assay.warnings:
            yield caution_finding([note.code for note in assay.warnings])
        for lens in lenses():
            if lens.id not in SECTIONS:
                shown = lens.measure(assay)
                yield from () if shown is None else shown._shown_sentences()
                continue
            found = SECTIONS[lens.id](assay)
            yield "" if found is None else str(found["finding"])
            yield from _views(found)
        judged = judged_tests(assay.calibration, 1 - assay.settings.level, points=point_models(assay))
        yield from calibration_sentences(judged)
        for one in judged:
            yield claim(one)
            yield from advice(one)
    yield from (could_have_shown(found) for found in ([np.inf], [0.01, np.inf]))
    yield failing_at_most({"a": np.inf}, "kl")
    for answer in _answers():
        yield from headline(answer)
        yield from _of_answer(answer, ("vacuous", "class-prior"))


def _views(found: Mapping[str, Any] | None) -> Iterator[str]:
    for table in (found or {}).get("tables", ()):
        for views in table["views"].values():
            for view in views:
                yield from (view["sentence"], view["caption"], view["caption_near"])
    for view in (found or {}).get("views", ()):
        yield from view["refusal"]


def _of_answer(answer: Answer, baselines: Sequence[str]) -> Iterator[str]:
    yield depends_sentence(answer)
    for one in answer_choices(answer):
        yield f"{one.before} {' and '.join(one.models)} {one.after}"
        yield one.where
        yield from (f"{label} {' and '.join(names)}" for label, names in one.others)
    yield from (text for _, text in answer_remarks(answer))
    for votes in (False, True):
        for words in meanings(baselines, answer.loss, votes=votes, price=True):
            yield from words


LN2 = float(np.log(2))


def _sets(distance: Any, size: Any, n: int) -> uq.Intervals:
    """Intervals of two classes with this KL distance to label 0 and this non-specificity."""
    high = np.exp(-np.broadcast_to(np.asarray(distance, dtype=float), n))
    low = high - np.broadcast_to(np.asarray(size, dtype=float), n) / LN2
    return uq.Intervals(np.column_stack([low, 1 - high]), np.column_stack([high, 1 - low]))


def _noise(n: int, seed: int, width: float = 0.05) -> np.ndarray:
    x = np.random.default_rng(seed).uniform(-width, width, n)
    return x - x.mean()


def _judged(means: Mapping[str, tuple[float, float]], n: int, *, width: float = 0.05, **options: Any) -> uq.Assay:
    """Models of these mean distances and sizes."""
    models = {
        name: _sets(d + _noise(n, k, width), size + (0.4 * _noise(n, 100 + k, width) if size else 0.0), n)
        for k, (name, (d, size)) in enumerate(means.items())
    }
    given = {"calibration": (), "measures": ("total-entropy",), "n_draws": 100, "prior": [0.5, 0.5], "floor": 0.2}
    return uq.assay(models, np.zeros(n, dtype=int), **{**given, **options})


def _points(n: int, seed: int, *, blurs: Mapping[str, float], k: int = 3, **options: Any) -> uq.Assay:
    """Softmax outputs of models that see the label through noise; of a blur below 0 they are too sure."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)

    def softmax(z: np.ndarray) -> np.ndarray:
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    models = {
        name: uq.Point(softmax((1.5 + 4 * (blur < 0)) * (np.eye(k)[y] + abs(blur) * rng.normal(size=(n, k)))))
        for name, blur in blurs.items()
    }
    return uq.assay(models, y, **{"n_draws": 100, **options})


def _assays() -> Iterator[uq.Assay]:
    yield _judged({"a": (0.15, 0.1), "b": (0.3, 0.1), "c": (0.4, 0.1)}, 600)
    yield _judged({"a": (0.15, 0.1), "b": (0.1502, 0.1), "c": (0.4, 0.1)}, 600, margin=0.05)
    yield _judged({"a": (0.15, 0.1), "b": (0.16, 0.1), "c": (0.17, 0.1)}, 300, margin=0.012, width=0.1)
    yield _judged({"a": (0.15, 0.1), **{f"b{j}": (0.3 + 0.01 * j, 0.1) for j in range(6)}}, 600)
    yield _judged({"a": (0.15, 0.3), "b": (0.4, 0.0)}, 600)
    yield _judged({"a": (0.150, 0.21), "b": (0.151, 0.209)}, 300)
    yield _judged({"only": (0.15, 0.05)}, 300)
    yield _judged({"bad": (0.75, 0.25)}, 600, width=0.02)
    yield _judged({"bad": (0.75, 0.25), "worse": (0.8, 0.1)}, 600, width=0.02)
    yield _judged({"a": (0.28, 0.12), "b": (0.3, 0.12)}, 6, width=0.24)
    yield _judged({"a": (0.02, 0.0), "b": (0.3, 0.05)}, 12, floor=None, width=0.01)
    yield _judged({"a": (0.001, 0.0), "b": (0.3, 0.0)}, 60, floor=None, width=0.0005)
    yield _judged({"a": (0.15, 0.05), "b": (0.3, 0.05)}, 300, floor=None)
    yield _judged({"a": (0.15, 0.3), "b": (0.4, 0.0)}, 300, floor=None)
    yield _judged({"a": (0.15, 0.05), "b": (0.3, 0.05)}, 300, floor=None, groups=np.arange(300) // 25)
    yield _judged({"a": (0.15, 0.01), "b": (0.3, 0.01)}, 1, width=0.0)
    yield _judged({"a": (0.15, 0.05), "b": (0.3, 0.05)}, 300, distance="js", floor=None)
    yield _judged({"a": (0.15, 0.05), "b": (0.3, 0.05)}, 30, groups=np.zeros(30))
    five = {name: (0.15 + 0.01 * k, 0.1) for k, name in enumerate("abcde")}
    yield _judged(five, 200, margin=0.002, width=0.1)
    yield _judged({"a": (0.02, 0.0), "b": (0.025, 0.0)}, 60, floor=None, width=0.01, margin=0.02)
    yield uq.assay({"a": uq.Point([[1.0, 0.0], [1.0, 0.0]])}, [0, 1], floor=0, calibration=())
    answers = uq.Answers([True, False, True, False], [1.0, 1.0, 0.75, 0.25])
    yield uq.assay({"a": answers}, calibration=())
    yield uq.assay({"a": answers, "b": uq.Answers([True, True, False, False])}, calibration=())
    yield uq.assay({"a": uq.Point([[0.9, 0.1]] * 4), "b": uq.Point([[0.0, 1.0]] * 4)}, [0] * 4, floor=0, calibration=())
    yield from _of_parts()
    yield from _of_points()
    yield from _of_sets()
    yield from _with_warnings()
    yield from _of_uneven_coverage()
    yield from _of_a_critical_class()


def _of_a_critical_class() -> Iterator[uq.Assay]:
    rng, y = np.random.default_rng(0), np.arange(90) % 3
    point = uq.Point(0.4 * rng.dirichlet(np.ones(3), 90) + 0.6 * np.eye(3)[np.where(np.arange(90) % 6 == 5, 0, y)])
    models = dict.fromkeys("abcde", point)
    yield uq.assay(models, y, critical=2, calibration=(), scales=(), n_draws=100)
    yield uq.assay({"a": uq.Point(0.1 + 0.7 * np.eye(3)[y])}, y, critical=2, calibration=(), scales=(), n_draws=100)
    yield uq.assay({"a": point}, np.minimum(y, 1), critical=2, calibration=(), scales=(), n_draws=100)


def _of_uneven_coverage() -> Iterator[uq.Assay]:
    """Class sets that hold some classes, and sets of some size, less often."""
    y = np.arange(400) % 4
    sets = np.eye(4, dtype=bool)[np.where((y > 1) & (np.arange(400) % 3 == 0), 0, y)]
    yield uq.assay({"a": uq.ClassSets(sets)}, y, calibration=(), scales=())
    sets[y == 0, 1] = sets[y == 1, 0] = True
    yield uq.assay({"a": uq.ClassSets(sets)}, y, calibration=(), scales=())


def _of_parts() -> Iterator[uq.Assay]:
    n, y = 900, np.zeros(900, dtype=int)
    site = np.arange(n) % 3
    strong = {"a": (0.2, 0.3, 0.1), "b": (0.5, 0.2, 0.3), "c": (0.4, 0.15, 0.4)}
    models = {name: _sets(np.array(by)[site] + _noise(n, k), 0.1, n) for k, (name, by) in enumerate(strong.items())}
    given: dict[str, Any] = {"floor": 0.2, "prior": [0.5, 0.5], "calibration": (), "n_draws": 100}
    yield uq.assay(models, y, subgroups={"site": site}, **given)
    weak = {"a": np.where(np.arange(n) % 6 == 0, 0.05, 0.3), "b": np.where(np.arange(n) % 6 == 0, 0.9, 0.2)}
    many = {name: _sets(d + _noise(n, 7 + k), 0.1, n) for k, (name, d) in enumerate(weak.items())}
    yield uq.assay(many, y, subgroups={"site": np.arange(n) % 6}, **given)
    # c is close to v and always worse; w scatters too much to be told from it; d is v again
    near, far = _noise(400, 1, 0.1), _noise(400, 2, 0.25)
    losses = {"w": 0.298 + far, "v": 0.30 + near, "c": 0.312 + near + _noise(400, 3, 0.01), "d": 0.30 + near}
    yield uq.assay({name: _sets(d, 0.05, 400) for name, d in losses.items()}, y[:400], **given)
    far = np.full(400, 0.15)
    far[0] = 12.0
    yield uq.assay(
        {"a": _sets(far, np.where(far > 1, 0.0, 0.05), 400)},
        y[:400],
        distance="js",
        prior=[0.5, 0.5],
        calibration=(),
        n_draws=100,
    )
    skewed = np.full(300, 0.1)
    skewed[:4] = 1.4
    pair = {
        "a": _sets(0.1 + _noise(300, 1, 0.02), 0.1, 300),
        "b": _sets(skewed + _noise(300, 2, 0.02), 0.1 * (skewed < 1), 300),
    }
    yield uq.assay(pair, y[:300], **given)


def _of_points() -> Iterator[uq.Assay]:
    tests = {"calibration": ["ece-confidence", "ece-classwise"]}
    yield _points(400, 0, blurs={"plain": 0.5, "rough": 1.5, "too sure": -1.0}, **tests)
    yield _points(400, 1, blurs={"plain": 0.5}, calibration=["ece-confidence"])
    yield _points(400, 2, blurs={"plain": 0.5, "like it": 0.52}, calibration=())
    yield _points(400, 3, blurs={"unsure": 3.0}, calibration=())
    yield _points(60, 4, blurs={"sure": -0.01}, calibration=())
    yield _points(14, 5, blurs={"some": 1.5, "other": 1.4}, calibration=())
    yield _points(14, 5, blurs={"alone": 1.5}, calibration=())
    rng = np.random.default_rng(5)
    y, p = rng.integers(0, 2, 400), rng.uniform(0.55, 0.95, 400)
    said = np.where(rng.random(400) < p, y, 1 - y)
    probs = np.where(np.eye(2)[said] == 1, p[:, np.newaxis], 1 - p[:, np.newaxis])
    backward = np.where(said == y, 0.5, 0.0) + 0.3 * rng.random(400)
    yield uq.assay(
        {"m": uq.Point(probs)}, y, uncertainties={"m": {"density": backward, "second": backward**2}}, calibration=()
    )
    yield uq.assay({"fair": uq.Point(probs)}, y, calibration=["ece-confidence", "ece-classwise"], n_draws=100)
    twice = np.stack([probs, np.clip(probs + 0.02 * rng.normal(size=(400, 1)) * [1, -1], 0.01, 0.99)], axis=1)
    both = {"fair": uq.Members(twice), "like it": uq.Members(twice[:, ::-1])}
    yield uq.assay(both, y, calibration=["ece-confidence", "ece-classwise"], n_draws=100)
    turned = np.where(np.eye(2)[np.where(p > 0.8, 1 - y, y)] == 1, p[:, np.newaxis], 1 - p[:, np.newaxis])
    yield uq.assay({"sure where wrong": uq.Point(turned)}, y, calibration=(), n_draws=100)
    votes = rng.multinomial(9, np.column_stack([p, 1 - p]))
    yield uq.assay(
        {"m": uq.Members(np.stack([probs, 0.5 * probs + 0.25], axis=1)), "p": uq.Point(probs)},
        votes,
        votes_are="counts",
    )


def _of_sets() -> Iterator[uq.Assay]:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 300)
    mean = np.where(np.eye(3)[y] == 1, 0.7, 0.15)
    members = np.stack([mean * rng.uniform(0.6, 1.4, (300, 3)) for _ in range(4)], axis=1)
    members /= members.sum(axis=2, keepdims=True)
    off = members**3 / (members**3).sum(axis=2, keepdims=True)
    tests = ["ece-confidence", "ece-classwise"]
    yield uq.assay({"members": uq.Members(members)}, y, calibration=tests, n_draws=100)
    yield uq.assay({"off": uq.Members(off), "fewer": uq.Members(off[:, :2])}, y, calibration=tests, n_draws=100)
    holds = np.eye(3, dtype=bool)[y] | (rng.random((300, 3)) < 0.3)
    yield uq.assay({"members": uq.Members(members), "conformal": uq.ClassSets(holds)}, y, calibration=(), n_draws=100)


def _with_warnings() -> Iterator[uq.Assay]:
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 40)
    mean = np.where(np.eye(3)[y] == 1, 0.7, 0.15)
    runs = [uq.Point(mean), uq.Point(0.9 * mean + 0.1 / 3), uq.Point(0.8 * mean + 0.2 / 3)]
    none = mean * (np.arange(3) != y[:, np.newaxis] * (np.arange(40) < 2)[:, np.newaxis])
    models: dict[str, Any] = {"one run": uq.Point(none / none.sum(axis=1, keepdims=True)), "three runs": runs}
    models |= {"two members": uq.Members(np.stack([mean, 0.5 * mean + 0.5 / 3], axis=1))}
    models |= {"three members": uq.Members(np.stack([mean, 0.5 * mean + 0.5 / 3, 0.8 * mean + 0.2 / 3], axis=1))}
    labels = np.where(np.arange(40) < 3, -1, y)
    yield uq.assay(
        models, labels, ignore_label=-1, groups=np.arange(40) // 4, calibration=["ece-confidence"], n_draws=100
    )
    yield uq.assay({"m": uq.Point(mean)}, y, groups=np.minimum(np.arange(40), 30), calibration=(), n_draws=100)
    yield uq.assay({"two runs": runs[:2], "three runs": runs}, y, calibration=(), n_draws=100)
    yield uq.assay({"m": uq.Point(mean, class_names=("cat", "dog", "owl"))}, y, calibration=(), n_draws=100)
    many = rng.dirichlet(np.ones(20), (120, 3))
    yield uq.assay({"m": uq.Members(many)}, rng.integers(0, 15, 120), calibration=(), n_draws=100)
    holds = np.eye(3, dtype=bool)[y] | (np.arange(3) == 0)
    holds[:2] = ~np.eye(3, dtype=bool)[y[:2]]
    yield uq.assay({"sets": uq.ClassSets(holds)}, y, calibration=(), n_draws=100)


def _answers() -> Iterator[Answer]:
    """Answers of many models and ranges, which small assays seldom have."""
    some = _judged({"a": (0.15, 0.05), **{f"b{j}": (0.1501, 0.05) for j in range(7)}}, 600).answer()
    yield some

    def choice(low: float, high: float, *, models: tuple[str, ...] = ("a",), **others: Any) -> Recommendation:
        given: dict[str, Any] = {"tied": (), "partly": (), "told": {}, "worse": (), "cases": {}, "sure": None}
        given["lowest"] = tuple((high, name) for name in models)
        return Recommendation(low, high, models, **{**given, **others})

    def answer(*choices: Recommendation, **others: Any) -> Answer:
        return replace(some, kind="choose", choices=choices, none=(), condition="", **others)

    yield answer(choice(0.3, 1.9, partly=("b0",), told={"b0": ((0.3, 0.8),)}))
    yield answer(choice(0.3, 1.9, partly=("b0",), told={"b0": ((0.9, 1.9),)}))
    two = {"b0": ((0.5, 0.8),), "b1": ((0.9, 1.9),)}
    yield answer(choice(0.3, 1.9, partly=("b0", "b1"), told=two, worse=("b2",)))
    long = tuple(f"a model with a long name, number {j}" for j in range(5))
    names = {"models": ("a", "b0", *long)}
    yield answer(choice(0.3, 1.9, tied=long[:4], partly=long[4:], told={long[4]: ((0.3, 0.8),)}), **names)
    yield answer(choice(0.3, 1.9, models=("a", "b0"), tied=("b1",), worse=("b2",)))
    each = [choice(0.1 * k, 0.1 * k + 0.05, models=("ab"[k % 2],)) for k in range(1, 6)]
    yield answer(*each, models=("a", "b"))
    yield answer(*each[:2], models=("a", "b"))
    for choices in ([choice(0.3, 1.9)], each[:2]):
        yield replace(answer(*choices), condition="groups", grouped=True, n_units=12)
    yield replace(answer(choice(0.3, 1.9, cases={"a": 220.0}, sure=(0.5, 1.2))), condition="")


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
