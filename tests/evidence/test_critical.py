"""The class that matters in an assay: its scores, what refusing costs and saves, and where that is shown."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.cli import main
from uqassay.metrics import critical_class_refusal
from uqassay.report.page import lens_sections


def models(rng, n=200):
    y = rng.integers(0, 3, n)
    members = rng.dirichlet([2, 2, 2], (n, 5)) * 0.9 + 0.1 * np.eye(3)[y][:, None]
    return {"DE": uq.Members(members), "mean": uq.Point(members.mean(axis=1))}, y


def test_scores_of_the_class_against_the_moments(random_generator):
    given, y = models(random_generator)
    a = uq.assay(given, y, class_names=["a", "b", "c"], critical="c", calibration=(), scales=())
    probs = given["DE"].probs[:, :, 2]
    columns = a["DE"].columns
    assert columns["critical-variance"][0] == pytest.approx(probs.var(axis=1))
    assert columns["critical-information"][0] == pytest.approx(probs.var(axis=1) / (2 * probs.mean(axis=1)))
    assert np.isnan(a["mean"].columns["critical-variance"]).all()
    assert "critical-variance" in {row["score"] for row in a.rows("mistakes")}
    total = uq.measures.uncertainty_score(given["DE"], "epistemic-taylor")
    assert total == pytest.approx((given["DE"].probs.var(axis=1) / (2 * given["DE"].probs.mean(axis=1))).sum(axis=1))


def test_contributions_are_near_the_mutual_information(random_generator):
    """To second order: of members that differ little, the sum is the mutual information; where a class is ruled out it is 0."""
    centre = random_generator.dirichlet([3, 3, 3, 3], 50)[:, None]
    p = centre + 0.01 * (random_generator.dirichlet(np.ones(4), (50, 8)) - 0.25)
    exact = uq.measures.entropy_decomposition(uq.Members(p)).epistemic
    assert uq.measures.probability_moments(p).contributions.sum(axis=1) == pytest.approx(exact, rel=0.05)
    ruled_out = uq.Members([[[0.4, 0.6, 0.0], [0.6, 0.4, 0.0]]])
    assert uq.measures.probability_moments(ruled_out).contributions[0].round(9).tolist() == [0.01, 0.01, 0.0]
    alpha = np.array([[2.0, 3.0, 5.0]])
    moments = uq.measures.probability_moments(uq.Dirichlet(alpha))
    assert moments.contributions[0] == pytest.approx((1 - alpha[0] / 10) / 22)  # α̂(1 − α̂)/11 over 2 α̂


def test_refusals_are_those_of_the_metric(random_generator):
    given, y = models(random_generator)
    groups = np.arange(200) // 4
    a = uq.assay(given, y, critical=1, groups=groups, calibration=(), scales=())
    found = a.critical_refusals(coverage=0.8).found
    assert list(found)[:2] == [("DE", "total-entropy"), ("DE", "epistemic-entropy")]
    assert ("mean", "critical-variance") not in found
    for (model, score), one in found.items():
        p = given[model]
        doubt = uq.measures.probability_moments(p).contributions[:, 1] if score == "critical-information" else None
        if doubt is None:
            continue
        alone = critical_class_refusal(y, p.labels(), doubt, critical=1, coverage=0.8, groups=groups)
        assert repr(one) == repr(alone)
    assert len(a.rows("critical", coverage=0.8)) == 6 * len(found)


def test_the_class_is_on_page_terminal_and_json(random_generator, tmp_path, capsys, monkeypatch):
    given, y = models(random_generator)
    monkeypatch.chdir(tmp_path)
    uq.save(given["DE"], "DE.npz")
    np.save("y.npy", y)
    assert main(["report", "DE=DE.npz", "--labels", "y.npy", "--critical", "1", "--calibration", "none"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    a = uq.assay({"DE": given["DE"]}, y, critical=1, calibration=())
    sentence = a.critical_refusals()._shown_sentences()[0]
    assert sentence in told
    (section,) = [one for one in lens_sections(a) if one["id"] == "critical"]
    assert section["finding"] == sentence
    assert {row["share"] for row in a.to_json()["critical"]} >= {"recall", "caught"}
    assert a.to_json()["settings"]["critical"] == 1
    a.save(tmp_path / "kept")
    assert uq.Assay.load(tmp_path / "kept").rows("critical") == a.rows("critical")


def test_words_without_cases_and_without_misses():
    a = uq.assay({"m": uq.Point([[0.9, 0.1, 0.0], [0.8, 0.1, 0.1]])}, [0, 0], critical=0, calibration=())
    assert (
        a.critical_refusals()
        ._shown_sentences()[0]
        .startswith("m misses none of the 2 cases of class 0. Refusing the 10 %")
    )
    a = uq.assay({"m": uq.Point([[0.9, 0.1, 0.0], [0.8, 0.1, 0.1]])}, [0, 0], critical=2, calibration=())
    assert a.critical_refusals()._shown_sentences() == ["No case is of class 2."]
    assert a.critical_refusals().to_markdown()


def test_refused_options(random_generator):
    given, y = models(random_generator)
    with refuses("critical", "choice"):
        uq.assay(given, y, critical="frog")
    with refuses("critical", "choice"):
        uq.assay(given, y, critical=3)
    with refuses("critical", "conflict"):
        uq.assay({"m": uq.Answers([True, False])}, critical=1)
    with refuses("critical", "missing"):
        uq.assay(given, y, calibration=(), scales=()).critical_refusals()


def test_an_index_may_be_text(random_generator):
    given, y = models(random_generator)
    options = {"class_names": ["cat", "dog", "cow"], "calibration": (), "scales": ()}
    by_text, by_number = (uq.assay(given, y, critical=one, **options) for one in ("1", 1))
    assert by_text.rows("critical") == by_number.rows("critical")
    with refuses("critical", "choice"):  # the name of no class, where names are numbers
        uq.assay(given, y + 1, critical="0", **options | {"class_names": ["1", "2", "3"]})
