"""Which keys make which kind of prediction."""

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError, InputError
from uqassay.predictions.keys import (
    ALIASES,
    FORMS,
    KNOWN_KEYS,
    choose_form,
    form_of_kind,
    key_of_bare_array,
    needed_keys,
    shown_keys,
)


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
