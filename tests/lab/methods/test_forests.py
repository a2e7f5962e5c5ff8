"""scikit-learn's ensembles, member by member."""

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from uqassay.lab.methods import Bagging, RandomForest


def blobs(n=90, n_classes=3):
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, 2)) + 3.0 * y[:, None], np.array(["a", "b", "c", "d"])[y]


def test_mean_of_the_trees_is_the_forest():
    x, y = blobs()
    forest = RandomForest(n_members=12, random_state=4).fit(x, y)
    theirs = RandomForestClassifier(
        12, min_samples_leaf=5, random_state=int(np.random.SeedSequence(4).generate_state(1)[0])
    ).fit(x, y)
    np.testing.assert_allclose(forest.predict_proba(x), theirs.predict_proba(x), atol=1e-12)
    np.testing.assert_array_equal(forest.predict(x), theirs.predict(x))
    assert forest.predict_uncertainty(x).probs.shape == (90, 12, 3)


def test_a_member_that_missed_a_class_gives_it_no_probability():
    x, y = blobs()
    y = np.where(np.arange(90) == 17, "rare", y)
    bag = Bagging(estimator=KNeighborsClassifier(5), n_members=20).fit(x, y)
    met = [set(member.classes_.tolist()) for member in bag.ensemble_.estimators_]
    rare = list(bag.classes_).index("rare")
    missed = np.array([rare not in classes for classes in met])
    assert 0 < missed.sum() < 20
    probs = bag.predict_uncertainty(x).probs
    assert (probs[:, missed, rare] == 0).all()
    assert (probs[:, ~missed, rare].max(axis=0) > 0).all()
    np.testing.assert_allclose(bag.predict_proba(x), bag.ensemble_.predict_proba(x), atol=1e-12)


def test_images_are_flattened_and_estimators_left_alone():
    x, y = blobs(60, 2)
    given = DummyClassifier(strategy="prior")
    bag = Bagging(estimator=given, n_members=3).fit(x[:, :, None], y)
    assert not hasattr(given, "classes_")
    assert bag.predict_proba(x[:1, :, None]).shape == (1, 2)
