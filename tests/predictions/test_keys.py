"""Which keys and columns make which kind of prediction."""

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError, InputError
from uqassay.predictions import keys
from uqassay.predictions import keys as named_arrays
from uqassay.predictions.keys import (
    ALIASES,
    FORMS,
    KNOWN_KEYS,
    arrays_from_prediction,
    choose_form,
    form_of_kind,
    key_of_bare_array,
    needed_keys,
    prediction_from_arrays,
    shown_keys,
)

# Which keys make which kind of prediction.


@pytest.mark.parametrize("name", FORMS)
def test_the_keys_of_a_form_make_it_whatever_else_is_there(name):
    keys = [*FORMS[name].keys, *FORMS[name].settings, "labels", "epoch"]
    assert choose_form(keys) == choose_form(reversed(keys)) == name
    assert set(needed_keys(keys)) == set(keys) - {"labels", "epoch"}


def test_incomplete_and_several_forms_are_refused():
    with refuses("keys", "choice", got="found lower"):
        choose_form(["lower"])
    with refuses("keys", "ambiguous", got="probs and dirichlet"):
        choose_form(["probs", "alpha"])
    assert choose_form(["probs", "alpha"], "dirichlet") == "dirichlet"


SPELLINGS = {
    "Point": "probs",
    "MEMBERS": "probs",
    "GaussianLogits": "gaussian-logits",
    "gaussian_logits": "gaussian-logits",
}


@pytest.mark.parametrize(("kind", "form"), SPELLINGS.items())
def test_spelling_of_a_kind(kind, form):
    assert form_of_kind(kind) == form


@pytest.mark.parametrize("kind", ["softmax", "", None, 5, ["point"], {"a": 1}])
def test_what_is_no_kind(kind):
    with refuses("kind", "choice"):
        form_of_kind(kind)


def test_one_array_without_a_name():
    assert key_of_bare_array(None, np.ones((4, 3))) == "probs"
    assert key_of_bare_array(None, np.ones((4, 3), bool)) == "sets"
    assert key_of_bare_array("dirichlet", np.ones((4, 3))) == "alpha"
    with refuses("kind", "missing"):
        key_of_bare_array("intervals", np.ones((4, 3)))
    with refuses("probs", "shape", got="from_binary"):
        key_of_bare_array(None, np.ones(4))


def test_aliases_are_known_and_name_known_keys():
    assert set(ALIASES) | set(ALIASES.values()) <= KNOWN_KEYS


def test_keys_in_a_message_are_short_and_on_one_line():
    shown = shown_keys([f"key\n{i} " + "x" * 100 for i in range(50)])
    assert "\n" not in shown
    assert len(shown) < 12 * 45
    assert shown.endswith("…")
    assert shown_keys([]) == "nothing"


def test_odd_keys_in_a_message_are_quoted():
    assert shown_keys(["", "a, b", " c", "plain"]) == "'', 'a, b', ' c', plain"


@pytest.mark.parametrize(
    ("keys", "remedy"),
    [
        (["ids", "logprobs"], "rename logprobs to logits"),
        (["answers", "labels"], "count how often answers has each class, and give the counts as probs"),
        (["preds", "labels"], "rename preds to probs if it holds class probabilities"),
        (["a", "b"], "class probabilities are probs"),
    ],
)
def test_unknown_keys_are_answered_by_what_they_may_hold(keys, remedy):
    with pytest.raises(InputError) as caught:
        choose_form(keys)
    assert remedy in caught.value.remedy
    with pytest.raises(InputError, match=f"found labels, {keys[0]}"):
        choose_form(["labels"], others=keys)


def test_a_single_column_without_numbers_is_refused(tmp_path):
    path = tmp_path / "p.parquet"
    pd.DataFrame({"group": [1, 1, 2], "proba_1": [np.nan] * 3}).to_parquet(path)
    with pytest.raises(FileFormatError, match="one column of probabilities is needed for each class"):
        uq.load(path)


# Which keys make which kind of prediction.


HALF = np.full((2, 2), 0.5)
THIRD_AXIS = np.full((2, 3, 2), 0.5)
SETS = np.array([[1, 0], [1, 1]])


@pytest.mark.parametrize(
    ("arrays", "kind"),
    [
        ({"probs": HALF}, "Point"),
        ({"probs": THIRD_AXIS}, "Members"),
        ({"logits": HALF}, "Point"),
        ({"logits": THIRD_AXIS}, "Members"),
        ({"alpha": HALF}, "Dirichlet"),
        ({"lower": HALF, "upper": HALF}, "Intervals"),
        ({"masses": HALF, "focal_sets": SETS}, "Masses"),
        ({"beliefs": HALF, "focal_sets": SETS}, "Masses"),
        ({"vertices": THIRD_AXIS}, "Vertices"),
        ({"mean": HALF, "variance": HALF, "variance_is": "epistemic"}, "GaussianLogits"),
        ({"mean": THIRD_AXIS, "variance": THIRD_AXIS, "variance_is": "epistemic"}, "GaussianLogits"),
    ],
)
def test_keys_decide_the_kind_whatever_stands_beside_them(arrays, kind):
    beside = {"labels": [0, 1], "epoch": 3, "class_names": ["a", "b"], "ids": [5, 6], "group": ["p", "p"]}
    prediction = prediction_from_arrays(arrays | beside)
    assert type(prediction).__name__ == kind
    assert prediction.class_names == ("a", "b")
    assert prediction.ids.tolist() == [5, 6]
    assert prediction.groups.tolist() == ["p", "p"]


def test_every_field_of_every_kind_has_a_key():
    """A field added to a kind must be stored too."""
    forms = {
        uq.Point: "probs", uq.Members: "probs", uq.Dirichlet: "dirichlet", uq.Intervals: "intervals",
        uq.Masses: "masses", uq.Vertices: "vertices", uq.GaussianLogits: "gaussian-logits",
    }  # fmt: skip
    for kind, name in forms.items():
        form = keys.FORMS[name]
        names = set(kind.__dataclass_fields__) - {"normalise", "member_axis", *named_arrays.NOT_STORED}
        names -= {"keys"}  # see `key_names`
        assert names <= {*form.keys, *form.settings, *keys.CARRIED}, kind


def test_logits_become_softmax_members_on_the_right_axis():
    logits = np.log(np.array([[[0.25, 0.75]], [[0.5, 0.5]]]))  # (M, n, K) = (2, 1, 2)
    members = prediction_from_arrays({"logits": logits, "weights": [3, 1]}, member_axis=0)
    np.testing.assert_allclose(members.probs, [[[0.25, 0.75], [0.5, 0.5]]])
    np.testing.assert_allclose(members.mean_probs(), [[0.3125, 0.6875]])


def test_settings_and_member_axis_of_gaussian_logits():
    mean = np.arange(12.0).reshape(3, 2, 2)
    g = prediction_from_arrays(
        {"mean": mean, "variance": mean, "variance_is": "epistemic", "n_draws": np.array([4]), "seed": np.int64(9)},
        member_axis=0,
    )
    assert (g.mean.shape, g.n_draws, g.seed) == ((2, 3, 2), 4, 9)
    np.testing.assert_array_equal(g.mean, np.moveaxis(mean, 0, 1))


GAUSSIAN = {"mean": HALF, "variance": HALF}


def test_the_meaning_of_a_variance_comes_from_the_key_or_the_call():
    for value in ("aleatoric", np.array("aleatoric"), ["aleatoric"], np.array([b"aleatoric"])):
        stated = prediction_from_arrays(GAUSSIAN | {"variance_is": value})
        assert stated.variance_is == "aleatoric"
    assert prediction_from_arrays(GAUSSIAN | {"variance_is": None}, variance_is="epistemic").variance_is == "epistemic"
    assert prediction_from_arrays(GAUSSIAN, variance_is="aleatoric").variance_is == "aleatoric"
    assert prediction_from_arrays(GAUSSIAN | {"variance_is": "aleatoric"}, variance_is="aleatoric").n_passes == 1
    back = arrays_from_prediction(stated)
    assert back["variance_is"].tolist() == ["aleatoric"]
    assert prediction_from_arrays(back).variance_is == "aleatoric"


@pytest.mark.parametrize(
    ("extra", "asked", "code"),
    [
        ({}, None, "missing"),
        ({"variance_is": ""}, None, "missing"),
        ({"variance_is": "both"}, None, "choice"),
        ({"variance_is": 3}, None, "choice"),
        ({}, "both", "choice"),
        ({"variance_is": ["aleatoric", "epistemic"]}, None, "shape"),
        ({"variance_is": "aleatoric"}, "epistemic", "conflict"),
    ],
)
def test_without_one_of_the_two_meanings_a_variance_is_refused(extra, asked, code):
    with refuses("variance_is", code):
        prediction_from_arrays(GAUSSIAN | extra, variance_is=asked)


def test_a_meaning_without_a_variance_is_refused():
    for arrays, found in (({"probs": HALF}, "probs"), ({"logits": HALF}, "logits"), ({"alpha": HALF}, "alpha")):
        with refuses("variance_is", "conflict", got=f"found {found}"):
            prediction_from_arrays(arrays, variance_is="aleatoric")


def test_focal_sets_as_indices_take_the_number_of_classes_from_elsewhere():
    arrays = {"masses": [[0.5, 0.5]], "focal_sets": [[0], [0, 2]]}
    for extra in ({"n_classes": 4}, {"class_names": list("abcd")}):
        assert prediction_from_arrays(arrays | extra).n_classes == 4


@pytest.mark.parametrize(
    ("arrays", "kind", "parameter", "code", "got"),
    [
        ({"x": HALF, "y": HALF}, None, "keys", "choice", "probs, alpha, lower.upper.*found x, y"),
        ({"lower": HALF}, None, "keys", "choice", "found lower"),
        ({}, None, "keys", "choice", "found nothing"),
        (
            {"probs": HALF, "alpha": HALF},
            None,
            "keys",
            "ambiguous",
            "which make probs and dirichlet; choose one by kind=",
        ),
        ({"probs": HALF}, "logits", "kind", "missing", "found probs"),
        ({"probs": HALF}, "softmax", "kind", "choice", "got 'softmax'"),
        ({"probs": HALF}, ["point"], "kind", "choice", "got ."),
        ({"probs": HALF}, "members", "probs", "shape", r"got shape \(2, 2\)"),
        ({"probs": HALF[None, None]}, None, "probs", "shape", r"got shape \(1, 1, 2, 2\)"),
        ({"probs": [[0.5, 0.5], [1.0]]}, None, "probs", "ragged", "unequal"),
        ({"alpha": HALF, "n_draws": [1, 2]}, None, "n_draws", "shape", r"got int64 of shape \(2,\)"),
        ({"alpha": HALF, "seed": 0.5}, None, "seed", "shape", "got float64"),
        ({"probs": HALF, "ids": [1, 2], "id": [1, 2]}, None, "ids", "duplicate", "two names"),
        ({"probs": HALF, "row_numbers": [-1, 0]}, None, "row_numbers", "type", "got int64"),
    ],
)
def test_what_the_keys_do_not_settle_is_refused(arrays, kind, parameter, code, got):
    with refuses(parameter, code, got=got):
        prediction_from_arrays(arrays, kind=kind)


@pytest.mark.parametrize("member_axis", [2, None, "1", 1.0, True, np.array([0, 1])])
def test_an_axis_that_cannot_hold_members_is_refused(member_axis):
    with refuses("member_axis"):
        prediction_from_arrays(
            {"mean": THIRD_AXIS, "variance": THIRD_AXIS, "variance_is": "epistemic"}, member_axis=member_axis
        )
    with refuses("normalise", "type"):
        prediction_from_arrays({"probs": HALF}, normalise=np.array([True, False]))


@pytest.mark.parametrize("kind", ["gaussian-logits", "gaussian_logits", "GaussianLogits"])
def test_kind_chooses_among_several_in_any_spelling(kind):
    arrays = {"probs": HALF, "mean": HALF, "variance": HALF, "variance_is": "epistemic", "logits": HALF}
    assert isinstance(prediction_from_arrays(arrays, kind=kind), uq.GaussianLogits)
    assert isinstance(prediction_from_arrays(arrays, kind="Point"), uq.Point)


def test_normalise_is_refused_where_it_has_no_meaning():
    assert prediction_from_arrays({"vertices": THIRD_AXIS * 2}, normalise=True).vertices.max() == 0.5
    with refuses("normalise", "conflict", got="found alpha"):
        prediction_from_arrays({"alpha": HALF}, normalise=True)


def test_arrays_hold_what_was_stated_and_nothing_empty():
    arrays = arrays_from_prediction(uq.Point(HALF), labels=[1, 0])
    assert sorted(arrays) == ["labels", "probs"]
    assert sorted(arrays_from_prediction(uq.Point(HALF)[:1])) == ["probs", "row_numbers"]
    with refuses("groups", "type", got="got dtype object"):
        arrays_from_prediction(uq.Point(HALF, groups=np.array(["a", 3], dtype=object)))


def test_label_distributions_of_bfloat16_are_stored_without_its_mark(tmp_path, needs):
    needs("torch")
    import torch

    shares = torch.tensor([[0.25, 0.75], [0.5, 0.5]], dtype=torch.bfloat16)
    uq.save(uq.Point([[0.5, 0.5], [0.1, 0.9]]), tmp_path / "p.npz", labels=shares)
    np.testing.assert_array_equal(uq.load_labels(tmp_path / "p.npz"), [[0.25, 0.75], [0.5, 0.5]])
