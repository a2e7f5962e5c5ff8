"""Ranking metrics of networks that were trained on the JPEG copy of CIFAR-10, against the votes of CIFAR-10H.

Run: python -m benchmarks.ranking_cifar10_jpeg RUN VOTES [--figures FOLDER] [--store]      (a minute)

RUN is the folder of trainings that `reproduce unified --dataset cifar-10 --data COPY --resume RUN` wrote, VOTES a folder with
labels.npy and human_counts.npy. The same as `uqassay reproduce ranking-cifar10h --data RUN --set votes=VOTES`, with fewer
scores. --store keeps the table for the guide; see benchmarks/docs_numbers.py.
"""

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # so that it also runs uninstalled

import numpy as np

from benchmarks.stored_tables import Source, Table, store
from uqassay.lab.papers.paper_tables import printed_table
from uqassay.lab.papers.ranking.human_labels import (
    LEAST,
    HumanLabels,
    contrast_lines,
    labels_and_votes,
    stored_trainings,
    trained_models,
    truth_lines,
)
from uqassay.lab.papers.ranking.printed import METRICS, TRUTHS
from uqassay.lab.papers.ranking.scorings import Scoring, judge, study
from uqassay.measures.registry import SCORES
from uqassay.text import estimate_text, interval, listed, number, percent, percent_interval

NAME = "ranking-cifar10-jpeg"
COPY = "CIFAR-10 (JPEG copy)"
PAPER = "CIFAR10-H"
SCORE = "total-entropy"  # the only one that the paper uses here
SHOWN = (SCORE, "least-confidence", "epistemic-entropy", "credal-width")
MEMBER = re.compile(r".* member \d+")
LETTERS = dict(zip(TRUTHS, "φψ", strict=True))
COLUMNS = ("model", "accuracy", "score", *METRICS, *(f"τ with {letter}" for letter in LETTERS.values()))
SOURCE = Source(
    f"python -m benchmarks.{NAME.replace('-', '_')} RUN VOTES --store",
    "uqassay.lab.papers.ranking.human_labels:reproduce_ranking_cifar10h",
    cost="a minute of a core, after the trainings of unified-cifar-10-jpeg",
    quotes=True,
)


@dataclass(frozen=True)
class Judged:
    """The models of a folder of trainings.

    Attributes
    ----------
    scorings : list of Scoring
        With the labels of the data set.
    by_votes : list of Scoring
        By the entropy, with the votes as labels.
    accuracies : dict of str to float
        By name of the model; members of an ensemble are named "… member 1", and have one row together.
    human : HumanLabels
    notes : list of str
    """

    scorings: list[Scoring]
    by_votes: list[Scoring]
    accuracies: dict[str, float]
    human: HumanLabels
    notes: list[str]


def table(judged: Judged) -> Table:
    """The table of the guide: every model by some scores, and beneath it the correlations over the models."""
    members = [name for name in judged.accuracies if MEMBER.fullmatch(name)]
    rows = [_row(s, percent(judged.accuracies[s.model])) for s in judged.scorings if s.model not in members]
    entropies = [s for s in judged.scorings if s.score == SCORE]
    rows += _row_of_members([s for s in entropies if s.model in members], judged.accuracies)
    single = [s for s in entropies if s.model not in members]
    text = _correlations("", entropies)
    text += _correlations(", members left out", single) if members and len(single) >= LEAST else []
    text += _correlations(", with the votes as labels", judged.by_votes)
    said = (
        *contrast_lines(study(entropies, "fisher"), entropies),
        *truth_lines(judged.human, entropies),
        *judged.notes,
    )
    undefined = [s.model for s in entropies if not s.defined]
    if undefined:
        text.append(f"* Left out of the correlations, because τ or a metric is undefined: {listed(undefined)}.")
    return Table(COLUMNS, rows, [*text, *(f"* {line}" for line in said if line)])


def judged_models(run: Path, votes: Path) -> Judged:
    """Judge every training and ensemble of a folder."""
    labels, counts = labels_and_votes(votes, "give the folder of labels.npy and human_counts.npy")
    rows = np.arange(len(labels))
    trainings, notes = stored_trainings(run)
    found = Judged([], [], {}, HumanLabels(PAPER, labels, counts, rows, len(rows)), notes)
    for model in trained_models(run, trainings, labels, counts, notes):
        found.accuracies[model.name] = float((model.prediction.labels() == labels).mean())
        scores = [name for name in SHOWN if SCORES[name].offered_by(model.prediction)]
        by_labels = judge(model.prediction, labels, counts, scores, model=model.name, method="", given=model.scores)
        found.scorings.extend(s for s in by_labels if s.defined or s.score == SCORE)
        found.by_votes.extend(judge(model.prediction, counts, counts, (SCORE,), model=model.name, method=""))
    return found


def main() -> None:
    """Judge, print and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="folder of the trainings")
    parser.add_argument("votes", type=Path, help="folder of labels.npy and human_counts.npy")
    parser.add_argument("--figures", type=Path, help="folder for Figure 1")
    parser.add_argument("--store", action="store_true", help="keep the table for the guide")
    told = parser.parse_args()
    code = SOURCE.code()
    judged = judged_models(told.run, told.votes)
    made = table(judged)
    print("\n".join(made.markdown()))
    if told.figures is not None:
        from uqassay.lab.papers.ranking.figures import write_real_figure

        print(write_real_figure(told.figures, [s for s in judged.scorings if s.score == SCORE], COPY))
    if told.store:
        store(NAME, made, SOURCE, code=code)


# -- helpers -----------------------------------------------------------------------------------------------------------


def _row(s: Scoring, accuracy: str) -> list[str]:
    values = (estimate_text(float(e), e.low, e.high) for e in (*s.metrics, *s.taus))
    return [s.model, accuracy, s.score, *values]


def _row_of_members(scorings: Sequence[Scoring], accuracies: Mapping[str, float]) -> list[list[str]]:
    """The least and the greatest value of the members together."""
    if not scorings:
        return []
    values = np.array([[*s.metrics, *s.taus] for s in scorings], dtype=np.float64)
    shares = [accuracies[s.model] for s in scorings]
    name = f"members of {scorings[0].model.rpartition(' member ')[0]}, {len(scorings)} alone, least to greatest"
    accuracy = f"{percent(min(shares)).removesuffix(' %')} to {percent(max(shares))}"
    return [[name, accuracy, SCORE, *(interval(v.min(), v.max()) for v in values.T)]]


def _correlations(of: str, scorings: Sequence[Scoring]) -> list[str]:
    """One sentence with the four correlations of a sample of models and the printed ones."""
    found = study(scorings, "fisher")
    parts = []
    for row in (row for row in printed_table("ground_truth_free_table1") if row["dataset"] == PAPER):
        for truth, end in zip(TRUTHS, ("", "2"), strict=True):
            r, printed = found[row["metric"], truth], float(row[f"corr_{truth}_percent"])
            ours = f"{percent(float(r)).removesuffix(' %')} ({percent_interval(r.low, r.high).removesuffix(' %')})"
            limits = interval(float(row[f"low{end}"]), float(row[f"high{end}"]), 2)
            parts.append(f"{row['metric']} with {LETTERS[truth]} {ours}, printed {number(printed, 2)} ({limits})")
    return [f"* Correlations in percent over {found.n_scorings} models by the entropy{of}: {listed(parts)}."]


if __name__ == "__main__":
    main()
