"""The payload equals the assay's own numbers, and the page holds nothing that data could turn into markup."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

import uqassay as uq
from uqassay.report.definitions import DEFINITIONS, definitions
from uqassay.report.distributions import densities, mean_regions
from uqassay.report.instances import BUDGET, instances, packed, probability_codes
from uqassay.report.lenses import LENSES, lens_sections
from uqassay.report.page import SCRIPTS, json_for_script, render, write_page
from uqassay.report.page_data import payload, tradeoff_grid

HOSTILE = "<img src=x onerror=alert(1)>"
CLASSES = ["</script><script>alert(2)</script>", "a & b", "\u2028 {{payload}}"]


def softmax(z):
    p = np.exp(z - z.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def make(n=120, k=3, *, seed=0, names=CLASSES, **options):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    z = 2.0 * np.eye(k)[y] + rng.normal(size=(n, k))
    members = softmax(z[:, None, :] + 0.6 * rng.normal(size=(n, 5, k)))
    p = softmax(1.3 * z)
    models = {
        HOSTILE: uq.Members(members, class_names=names[:k] if names else None),
        "%{x} {{js}}": uq.Point(p),
        "box": uq.Intervals(np.maximum(p - 0.1, 0), np.minimum(p + 0.1, 1)),
        "runs": [uq.Point(softmax(z + 0.3 * rng.normal(size=z.shape))) for _ in range(2)],
    }
    return uq.assay(models, y, **options)


@pytest.fixture(scope="module")
def hostile():
    return make(subgroups={"<b>site": np.where(np.arange(120) < 50, "<i>A", "B & C")})


def number(value):
    return {None: float("nan"), "Infinity": np.inf, "-Infinity": -np.inf}.get(value, value)


def unpack(entry):
    raw = zlib.decompress(base64.b64decode(entry["zlib"]))
    return np.frombuffer(raw, dtype=np.dtype(entry["dtype"]).newbyteorder("<")).reshape(entry["shape"])


@pytest.mark.parametrize("at", [0.0, 0.37, 1.0, 2.0])
def test_ranking_against_the_assay(hostile, at):
    p = payload(hostile)
    ranking = p["ranking"]
    i = int(np.argmin(np.abs(np.array(ranking["grid"]) - at)))
    assert abs(ranking["grid"][i] - at) < 1e-12
    ranked = hostile.ranked(at)
    assert [p["models"][j]["name"] for j in ranking["order"][i]] == [r.model for r in ranked]
    by_name = {m["name"]: table for m, table in zip(p["models"], ranking["models"], strict=True)}
    for r in ranked:
        table = {key: values[i] for key, values in by_name[r.model].items()}
        for key, expected in [
            ("estimate", float(r.estimate)),
            ("low", r.estimate.low),
            ("high", r.estimate.high),
            ("difference", float(r.difference)),
            ("difference_low", r.difference.low),
            ("difference_high", r.difference.high),
            ("pvalue_holm", r.pvalue_holm),
        ]:
            np.testing.assert_allclose(number(table[key]), expected, rtol=1e-12, atol=1e-12)
        assert table["win_probability"] == r.win_probability
        assert tuple(table["below"]) == r.below


def test_every_tradeoff_of_the_findings_is_on_the_grid():
    a = make(tradeoffs=[0.123, 0.5, 3.7])
    grid = tradeoff_grid(a)
    assert set(a.tradeoffs) <= set(grid.tolist())
    assert grid[0] == 0
    assert grid[-1] >= 3.7
    assert (np.diff(grid) > 0).all()


def test_the_grid_passes_the_last_change_of_the_winner():
    n = 40
    a = uq.assay(
        {
            "set": uq.Intervals(np.tile([0.75, 0.05], (n, 1)), np.tile([0.95, 0.25], (n, 1))),
            "point": uq.Point([[0.6, 0.4]] * n),
        },
        np.zeros(n, dtype=int),
    )
    last = a.winners()[-1][0]  # (ln 0.95 − ln 0.6) / (0.2 ln 2) ≈ 3.3
    assert last > 2
    assert tradeoff_grid(a)[-1] >= 1.2 * last


@pytest.mark.parametrize("distance", ["kl", "js"])
def test_the_grid_reaches_winners_far_beyond_the_usual_tradeoffs(distance):
    n = 40
    sets = uq.Intervals(np.tile([0.93, 0.03], (n, 1)), np.tile([0.97, 0.07], (n, 1)))
    models = {"set": sets, "point": uq.Point([[0.5, 0.5]] * n), "worst": uq.Point([[0.001, 0.999]] * n)}
    a = uq.assay(models, np.zeros(n, dtype=int), distance=distance)
    last = a.winners()[-1][0]
    top = tradeoff_grid(a)[-1]
    assert last > 1
    assert top >= min(1.2 * last, 10)


def test_one_instance_has_no_winning_probability():
    a = uq.assay({"a": uq.Point([[0.9, 0.1]]), "b": uq.Point([[0.8, 0.2]])}, [0])
    p = payload(a)
    assert p["facts"]["resampled"] == 1
    assert all(share is None for table in p["ranking"]["models"] for share in table["win_probability"])


def test_notes_and_floors_of_every_model():
    beliefs = uq.Masses.from_beliefs([[0.6, 0.6, 1.0], [0.2, 0.3, 1.0]], [[0], [1], [0, 1]], n_classes=2)
    a = uq.assay(
        {"beliefs": beliefs, "half": uq.Point(np.array([[0.5, 0.5]] * 2, dtype=np.float16))}, [0, 1], repair=True
    )
    first, second, *_ = payload(a)["models"]
    assert first["notes"] == list(a["beliefs"].notes)
    assert "repaired" in first["notes"][0]
    assert second["notes"] == []
    assert (first["floor"], second["floor"]) == (a["beliefs"].floor, a["half"].floor)


def test_large_assays_keep_fewer_tradeoffs():
    a = make(n=30)
    many = tradeoff_grid(a).size
    stretched = uq.Assay(**{**{f: getattr(a, f) for f in a.__dataclass_fields__}, "labels": np.zeros(10**7, dtype=int)})
    assert tradeoff_grid(stretched).size < many
    assert tradeoff_grid(stretched).size >= 41


def test_payload_is_strict_json(hostile):
    text = json.dumps(payload(hostile), allow_nan=False)
    assert json.loads(text)["schema"] == "uqassay.page/1"


def test_findings_are_those_of_the_assay(hostile):
    rows = payload(hostile)["assay"]["findings"]
    expected = hostile.finding_rows()
    assert len(rows) == len(expected)
    for row, own in zip(rows, expected, strict=True):
        assert (row["model"], row["metric"], row["run"]) == (own["model"], own["metric"], own["run"])
        np.testing.assert_array_equal(number(row["estimate"]), own["estimate"])


def test_questionnaire_against_tradeoff_range(hostile):
    for question in payload(hostile)["ranking"]["questions"]:
        expected = uq.metrics.tradeoff_range(question["abstention"], question["cost"])
        reason = expected.reason.replace("0.333333", "1/3")
        assert (question["low"], question["high"], question["reason"]) == (expected.low, expected.high, reason)


def test_questionnaire_of_another_distance_is_rescaled():
    a = make(distance="js", names=None)
    scale = a.tradeoff_scale()
    question = payload(a)["ranking"]["questions"][0]
    np.testing.assert_allclose([question["low"], question["high"]], [scale, 2 * scale])
    assert "multiplied" in question["reason"]


# -- distributions ------------------------------------------------------------------------------------------------------


def test_ellipses_against_the_covariance_of_the_means():
    a = make(n=300, names=None)
    model = a.models[0]
    d, ns = (model.columns[key][0] for key in ("distance", "nonspecificity"))
    for part, mask in [("all", np.ones(300, bool)), ("correct", model.columns["correct"][0] == 1)]:
        region = mean_regions(a)[part][0]
        covariance = np.cov(d[mask], ns[mask]) / mask.sum()
        from scipy.stats import chi2, norm, t

        factor = (t.ppf(0.975, mask.sum() - 1) * np.sqrt(chi2.ppf(0.95, 2)) / norm.ppf(0.975)) ** 2
        np.testing.assert_allclose(np.square(region["half_widths"]), factor * np.diag(covariance), rtol=1e-9)
        np.testing.assert_allclose(region["covariance"], factor * covariance[0, 1], rtol=1e-6)
        assert region["n"] == mask.sum()
        np.testing.assert_allclose(region["distance"][0], d[mask].mean())


def test_loss_of_correct_and_wrong_against_subset_rows():
    a = make(n=100, names=None)
    rows = [r for r in a.subset_rows("correct") if r["metric"] == "unified"]
    for part, regions in mean_regions(a).items():
        for region in regions:
            own = [r for r in rows if r["subset"] == part and region and r["model"] == region["model"]]
            if own:
                assert region["unified"] == [[r[key] for key in ("tradeoff", "estimate", "low", "high")] for r in own]
    assert [u[0] for u in mean_regions(a)["wrong"][0]["unified"]] == list(a.tradeoffs)


def test_densities_count_every_instance():
    a = make(n=200, names=None)
    found = densities(a, 2.0)
    for j, model in enumerate(a.candidates):
        parts = found["distance"]["models"][j]
        assert parts["correct"]["n"] + parts["wrong"]["n"] == model.n_runs * 200
        for part in parts.values():
            np.testing.assert_allclose(sum(part["density"]) + part["at_end"], 1.0, atol=0.01)
        at_zero, distance = found["unified"]["models"][0][j], parts
        np.testing.assert_allclose(at_zero["wrong"]["mean"], distance["wrong"]["mean"])


def test_densities_without_wrong_predictions_or_with_infinite_losses():
    a = uq.assay({"a": uq.Point([[1.0, 0.0], [0.0, 1.0]]), "b": uq.Point([[1.0, 0.0], [1.0, 0.0]])}, [0, 1], floor=0)
    parts = densities(a, 2.0)["distance"]["models"]
    assert parts[0]["wrong"] is None
    assert parts[0]["correct"]["zero"]
    assert parts[1]["wrong"] is None  # its only value is infinite
    json.dumps(payload(a), allow_nan=False)


# -- lenses -------------------------------------------------------------------------------------------------------------


def test_lenses_without_findings_are_absent():
    a = uq.assay({"a": uq.Point([[0.9, 0.1], [0.8, 0.2]])}, [0, 0], measures=())
    assert [lens["id"] for lens in lens_sections(a)] == ["calibration"]


def test_parts_against_subset_rows(hostile):
    lens = next(lens for lens in lens_sections(hostile) if lens["id"] == "parts")
    assert [table["by"] for table in lens["tables"]] == ["<b>site", "class"]
    rows = hostile.subset_rows("<b>site")
    for part in lens["tables"][0]["parts"]:
        for name, cells in part["models"].items():
            own = [r for r in rows if r["subset"] == part["part"] and r["model"] == name]
            accuracy = next(r["estimate"] for r in own if r["metric"] == "accuracy")
            assert cells["accuracy"][0] == pytest.approx(accuracy, rel=1e-5)
            assert len(cells["unified"]) == len(hostile.tradeoffs)
            assert cells["n"] == own[0]["n"]


def test_calibration_against_reliability(hostile):
    lens = next(lens for lens in lens_sections(hostile) if lens["id"] == "calibration")
    for entry in lens["models"]:
        bins = hostile.reliability(entry["model"])
        assert sum(entry["count"]) == bins.count.sum()
        assert entry["accuracy"] == bins.accuracy[bins.count > 0].tolist()


# -- single instances ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bits", "error"), [(8, 0.0035), (16, 1.3e-5)])
def test_probability_codes_round_trip(bits, error):
    p = np.linspace(0, 1, 5001)
    back = np.sin(probability_codes(p, bits) / (2**bits - 1) * np.pi / 2) ** 2
    np.testing.assert_allclose(back, p, atol=error)
    assert back[0] == 0
    assert back[-1] == 1


def test_instances_against_the_assay(hostile):
    held = instances(hostile)
    rows = np.array(held["rows"])
    for model in hostile.candidates:
        column = held["columns"][model.name]
        np.testing.assert_allclose(unpack(column["distance"]), model.columns["distance"][0][rows], rtol=1e-6)
        np.testing.assert_array_equal(unpack(column["label"]), model.columns["label"][0][rows])
        sample, stored = hostile.sets[model.name], held["sets"][model.name]
        places = np.array(held["set_rows"])
        codes = unpack(stored["mean"])
        back = np.sin(codes / (2 ** held["bits"] - 1) * np.pi / 2) ** 2
        at = [int(np.flatnonzero(sample.rows == row)[0]) for row in rows[places]]
        np.testing.assert_allclose(back, sample.mean[at], atol=2e-5)
    for kind, found in hostile.extreme_instances(20).items():
        assert rows[held["extremes"][kind]].tolist() == found.tolist()


def test_projected_points_against_the_sets(hostile):
    held = instances(hostile)
    three, codes = unpack(held["top_three"]), unpack(held["sets"][HOSTILE]["points"])
    points = hostile.sets[HOSTILE].points
    assert codes.shape == (*points.shape[:2], 2)
    chosen = np.take_along_axis(points, three[:, None, :].astype(int), axis=2)
    np.testing.assert_allclose(codes / 65534, (chosen / chosen.sum(axis=2, keepdims=True))[..., :2], atol=1e-5)


def test_the_label_is_a_corner_of_every_triangle():
    a = make(n=60, k=8, names=None)
    held = instances(a)
    three = unpack(held["top_three"])
    rows = np.array(held["rows"])[held["set_rows"]][: len(three)]
    np.testing.assert_array_equal(three[:, 0], a.labels[rows])
    for corners, row in zip(three, rows, strict=True):
        upper = np.max([s.upper[s.rows == row][0] for s in a.sets.values()], axis=0)
        others = [c for c in np.argsort(-upper, kind="stable") if c != a.labels[row]]
        assert corners[1:].tolist() == others[:2]


def test_point_predictions_are_held_once(hostile):
    assert set(instances(hostile)["sets"]["%{x} {{js}}"]) == {"mean"}


def test_instances_fit_the_budget(monkeypatch):
    a = make(n=2000, names=None)
    assert instances(a)["bits"] == 16
    monkeypatch.setattr("uqassay.report.instances.BUDGET", 190_000)
    held = instances(a)
    assert held["bits"] == 8
    assert len(held["set_rows"]) < 2000
    size = sum(len(entry["zlib"]) for part in ("columns", "sets") for m in held[part].values() for entry in m.values())
    assert size <= 190_000
    assert set(held["sample"]) <= set(range(len(held["rows"])))


def test_ids_count_towards_the_budget(monkeypatch):
    a = make(n=2000, names=None)
    size = sum(len(e["zlib"]) for part in ("columns", "sets") for m in instances(a)[part].values() for e in m.values())
    monkeypatch.setattr("uqassay.report.instances.BUDGET", size)
    assert instances(a)["bits"] == 16
    named = uq.Assay(
        **{**{f: getattr(a, f) for f in a.__dataclass_fields__}, "ids": np.array([f"{i:040}" for i in range(2000)])}
    )
    assert instances(named)["bits"] == 8


def test_packed_is_little_endian_whatever_the_input():
    big = np.arange(5, dtype=">u2")
    np.testing.assert_array_equal(unpack(packed(big)), big)


def test_label_distributions():
    rng = np.random.default_rng(3)
    votes = rng.multinomial(20, [0.5, 0.3, 0.2], size=50)
    a = uq.assay({"m": uq.Members(softmax(rng.normal(size=(50, 4, 3))))}, votes)
    p = payload(a)
    shares = unpack(p["instances"]["shares"])
    np.testing.assert_allclose(np.sin(shares / 65535 * np.pi / 2) ** 2, a.labels[p["instances"]["rows"]], atol=1e-4)


# -- definitions --------------------------------------------------------------------------------------------------------


def test_definitions_follow_what_was_computed():
    rng = np.random.default_rng(3)
    models = {"m": uq.Members(softmax(rng.normal(size=(50, 4, 3))))}
    votes = rng.multinomial(20, [0.5, 0.3, 0.2], size=50)
    found = payload(uq.assay(models, votes, nonspecificity="pal", level=0.9))["definitions"]
    assert "share of the votes" in found["accuracy"]["sentence"]
    assert "Above 0.1 the difference" in found["pvalue"]["sentence"]
    assert found["nonspecificity"]["equation"] == "NS(ŷ) = 1 − Σ over A ⊆ Ω of m(A) / |A|"
    assert found["vacuous"]["equation"] == "E = λ (1 − 1/K)"
    usual = payload(uq.assay(models, votes.argmax(axis=1)))["definitions"]
    for name in ("accuracy", "pvalue", "nonspecificity", "vacuous"):
        assert usual[name] == DEFINITIONS[name]._asdict()


@pytest.mark.parametrize("measure", ["korner", "pal", "credal-uncertainty"])
def test_vacuous_baseline_against_its_definition(measure):
    k = 4
    a = uq.assay({"m": uq.Point(np.full((6, k), 1 / k))}, [0, 1, 2, 3, 0, 1], nonspecificity=measure)
    equation = definitions(a.settings, label_distributions=False)["vacuous"].equation
    expected = {"E = λ K": k, "E = λ (1 − 1/K)": 1 - 1 / k, "E = λ ln K": np.log(k)}[equation]
    np.testing.assert_allclose(a["vacuous"].columns["nonspecificity"], expected, rtol=1e-6)


# -- the page -----------------------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Every start tag with its attributes, and the text of scripts by id."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self.current = [], {}, None

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.current = dict(attrs).get("id", tag) if tag in ("script", "title", "style") else None

    def handle_endtag(self, tag):
        self.current = None

    def handle_data(self, data):
        self.text[self.current] = self.text.get(self.current, "") + data


@pytest.fixture(scope="module")
def page(hostile):
    pytest.importorskip("plotly")
    return render(hostile, command="uqassay report 'a <b>.npz' && echo")


@pytest.fixture(scope="module")
def tags(page):
    parser = Tags()
    parser.feed(page)
    return parser


def test_names_and_labels_make_no_markup(tags):
    assert all(tag != "img" for tag, _ in tags.tags)
    assert sum(tag == "script" for tag, _ in tags.tags) == 3
    assert not [name for _, attributes in tags.tags for name in attributes if name.startswith("on")]
    assert HOSTILE in tags.text["title"]


def test_payload_survives_the_page(tags, hostile):
    held = json.loads(tags.text["payload"])
    assert held["models"][0]["name"] == HOSTILE
    assert held["assay"]["class_names"] == CLASSES
    assert held["command"] == "uqassay report 'a <b>.npz' && echo"


def test_page_needs_no_network(page):
    without_data = re.sub(r'<script type="text/plain" id="plotly">.*?</script>', "", page, flags=re.S)
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", without_data)
    assert "@import" not in without_data
    assert "url(" not in without_data
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_verdict_and_warnings_stand_without_the_script(page, hostile):
    import html

    plain = html.unescape(page).replace("\u00a0", " ")
    for sentence in (*hostile.verdict(), *hostile.warnings):
        assert sentence in plain


def test_json_for_script_escapes_what_html_reads():
    text = json_for_script({"<a>": "</script>&\u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"<a>": "</script>&\u2028\u2029"}


def test_scripts_never_set_markup():
    from importlib.resources import files

    for name in SCRIPTS:
        text = files("uqassay.report").joinpath(name).read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), name
        assert len(text.encode()) < 24_000, name


def test_every_lens_has_its_drawing():
    from importlib.resources import files

    text = "".join(files("uqassay.report").joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    for lens in LENSES:
        assert f"\nlenses.{lens.id} = " in text


def test_write_page_replaces_in_one_step(tmp_path, hostile, page):
    target = tmp_path / "deep" / "report.html"
    assert write_page(hostile, target) == target
    first = target.read_text(encoding="utf-8")
    write_page(hostile, target)
    assert [p.name for p in target.parent.iterdir()] == ["report.html"]
    assert target.read_text(encoding="utf-8") == first  # the same assay, the same page


def test_a_failed_write_leaves_the_old_page(tmp_path, hostile, monkeypatch, page):
    target = tmp_path / "report.html"
    target.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_page(hostile, target)
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_missing_plotly_names_the_extra(hostile, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError, match=r"uqassay\[report\]"):
        render(hostile)


@pytest.mark.parametrize("n", [1, 3])
def test_tiny_assays(n):
    pytest.importorskip("plotly")
    y = np.arange(n) % 2
    text = render(uq.assay({"only": uq.Point(np.tile([0.7, 0.3], (n, 1)))}, y))
    assert "only" in text


@pytest.mark.slow
def test_page_of_ten_models_stays_under_ten_megabytes():
    pytest.importorskip("plotly")
    rng = np.random.default_rng(0)
    n, k = 10_000, 10
    y = rng.integers(0, k, n)
    models = {
        f"model {j}": uq.Members(softmax((1.5 + 0.2 * j) * np.eye(k)[y][:, None, :] + rng.normal(size=(n, 4, k))))
        for j in range(10)
    }  # random numbers hardly compress: the worst case
    a = uq.assay(models, y, n_draws=50, calibration=("ece-confidence",))
    text = render(a)
    assert len(text.encode()) < 9_800_000  # the other tests of calibration add some kilobytes
    held = instances(a)
    assert len(held["set_rows"]) == n
    assert BUDGET < 10_000_000


def test_names_with_lone_surrogates_make_a_page(tmp_path):
    pytest.importorskip("plotly")
    a = uq.assay({"mod\udce9": uq.Point([[0.7, 0.3], [0.4, 0.6]])}, [0, 1])
    text = write_page(a, tmp_path / "page.html", command="uqassay report mod\udce9").read_text(encoding="utf-8")
    assert r'"command":"uqassay report mod\udce9"' in text
