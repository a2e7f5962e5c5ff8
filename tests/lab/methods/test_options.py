"""Options of every method that are out of range or in conflict: refused by their name, with and without data."""

import re

import numpy as np
import pytest
import torch
from sklearn.linear_model import Perceptron
from tests.refusals import refuses

from uqassay.lab.methods import build_method

# method, options, the one that is refused where it is not the last, code, what is said
REFUSED = [
    ("snn", {"epochs": 0}, "", "range", "got 0"),
    ("snn", {"batch_size": 2.5}, "", "type", "got 2.5"),
    ("snn", {"patience": True}, "", "type", "got True"),
    ("snn", {"learning_rate": 0.0}, "", "range", "got 0.0"),
    ("snn", {"learning_rate": "0.1"}, "", "type", "got '0.1'"),
    ("snn", {"learning_rate": True}, "", "type", "got True"),
    ("snn", {"weight_decay": -1.0}, "", "range", "got -1.0"),
    ("snn", {"weight_decay": None}, "", "type", "got None"),
    ("snn", {"validation_fraction": 1.0}, "", "range", "got 1.0"),
    ("snn", {"parallel": "threads"}, "", "choice", "got 'threads'"),
    ("snn", {"device": "gpu"}, "", "choice", ""),
    ("snn", {"early_stopping": "False"}, "", "type", "got 'False'"),
    ("snn", {"standardise": 0}, "", "type", "got 0"),
    ("snn", {"optimiser": "lbfgs"}, "", "choice", "got 'lbfgs'"),
    ("snn", {"optimiser": "sgd", "momentum": 1.0}, "", "range", "got 1.0"),
    ("snn", {"optimiser": "sgd", "momentum": float("nan")}, "", "range", "got nan"),
    ("snn", {"optimiser": "sgd", "momentum": "0.9"}, "", "type", "got '0.9'"),
    ("snn", {"momentum": 0.9}, "", "conflict", "got 0.9 with 'adam'"),
    ("snn", {"rate_drops": 80}, "", "type", "got 80"),
    ("snn", {"rate_drops": (80, 120.5)}, "", "type", "got 120.5"),
    ("snn", {"rate_drops": (True,)}, "", "type", "got True"),
    ("snn", {"rate_drops": (0, 80)}, "", "range", "got 0"),
    ("snn", {"rate_drops": [120, 80]}, "", "range", r"got \[120, 80\]"),
    ("snn", {"mixed_precision": "False"}, "", "type", "got 'False'"),
    ("deep-ensemble", {"n_members": 0}, "", "range", "got 0"),
    ("deep-ensemble", {"first_member": -1}, "", "range", "got -1"),
    ("deep-ensemble", {"first_member": 1.5}, "", "type", "got 1.5"),
    ("deep-ensemble", {"head": "linear"}, "", "choice", "got 'linear'"),
    ("deep-ensemble", {"convention": "paper"}, "", "choice", "got 'paper'"),
    ("mc-dropout", {"rate": 1.0}, "", "range", "got 1.0"),
    ("mc-dropout", {"rate": -0.1}, "", "range", "got -0.1"),
    ("mc-dropout", {"rate": "0.1"}, "", "type", "got '0.1'"),
    ("mc-dropout", {"n_samples": 0}, "", "range", "got 0"),
    ("mc-dropout", {"where": "first"}, "", "choice", "got 'first'"),
    ("mc-dropconnect", {"rate": 1.0}, "", "range", "got 1.0"),
    ("mc-dropconnect", {"n_samples": 2.0}, "", "type", "got 2.0"),
    ("mc-dropconnect", {"where": "last"}, "", "choice", "got 'last'"),
    ("mc-dropconnect", {"backbone": torch.nn.Flatten()}, "where", "conflict", ""),
    ("flipout", {"n_samples": 0}, "", "range", "got 0"),
    ("flipout", {"where": "last"}, "", "choice", "got 'last'"),
    ("flipout", {"prior_scales": ()}, "", "range", r"got \(\)"),
    ("flipout", {"prior_scales": (1.0, 0.0)}, "", "range", r"got \(1.0, 0.0\)"),
    ("flipout", {"prior_scales": 2.0}, "", "range", "got 2.0"),
    ("flipout", {"initial_rho": -50.0}, "", "range", "got -50.0"),
    ("flipout", {"kl_weight": -1.0}, "", "range", "got -1.0"),
    ("flipout", {"head": "sigmoid"}, "", "choice", ""),
    ("flipout", {"backbone": torch.nn.Flatten()}, "where", "conflict", ""),
    ("ddu", {"coefficient": 0.0}, "", "range", "got 0.0"),
    ("ddu", {"residual": 1}, "", "type", "got 1"),
    ("ddu", {"prior_instances": -1.0}, "", "range", "got -1.0"),
    ("evidential", {"evidence": "tanh"}, "", "choice", "got 'tanh'"),
    ("evidential", {"evidence": ["exp"]}, "", "choice", r"got \['exp'\]"),
    ("evidential", {"annealing_epochs": 0}, "", "range", "got 0"),
    ("e-cnn", {"n_prototypes": 0}, "", "range", "got 0"),
    ("e-cnn", {"n_prototypes": 2.0}, "", "type", "got 2.0"),
    ("e-cnn", {"nu": 1.0}, "", "range", "got 1.0"),
    ("e-cnn", {"nu": np.nan}, "", "range", "got nan"),
    *(("creinn", {"initial_radius": radius}, "", "range", "") for radius in (0, -1.0, np.nan, np.inf)),
    ("creinn", {"batch_norm": "False"}, "", "type", "got 'False'"),
    ("creinn", {"batch_size": 1}, "", "range", "got 1"),
    ("rs-nn", {"n_sets": -1}, "", "range", "got -1"),
    ("rs-nn", {"n_sets": 2.5}, "", "type", "got 2.5"),
    ("rs-nn", {"negative_weight": -1.0}, "", "range", "got -1.0"),
    ("rs-nn", {"sum_weight": np.nan}, "", "range", "got nan"),
    ("rs-nn", {"repair": "no"}, "", "type", "got 'no'"),
    ("rs-nn", {"focal_sets": [[0], [0, 1]]}, "", "missing", "class 1 is missing"),
    ("rs-nn", {"focal_sets": [[0], [1], [2]]}, "", "range", "set 2 holds 2"),
    ("rs-nn", {"focal_sets": [[0], [1], [1]]}, "", None, ""),
    *(
        ("laplace-bridge", {"prior_precision": tau}, "", "range", re.escape(f"got {tau!r}"))
        for tau in (0.0, -1.0, 1e-300, 1e-20, 9.9e-9, 1.1e20, 1e300, np.inf, np.nan)
    ),
    ("laplace-bridge", {"prior_precision": "None"}, "", "type", "got 'None'.*None"),
    ("laplace-bridge", {"posterior": "map"}, "", "choice", "got 'map'"),
    ("laplace-bridge", {"hessian": "diag"}, "", "choice", "got 'diag'"),
    ("laplace-bridge", {"bridge": "none"}, "", "choice", "got 'none'"),
    ("laplace-bridge", {"output": "point"}, "", "choice", "got 'point'"),
    ("laplace-bridge", {"n_samples": 0}, "", "range", "got 0"),
    ("random-forest", {"n_members": 0}, "", "range", "got 0"),
    ("bagging", {"n_members": 2.5}, "", "type", "got 2.5"),
    ("bagging", {"estimator": Perceptron()}, "", "type", "got Perceptron"),
    ("local-gp", {"lengthscale": 0.0}, "", "range", "got 0.0"),
    ("local-gp", {"lengthscale": "wide"}, "", "choice", "got 'wide'"),
    ("local-gp", {"lengthscale": True}, "", "type", "got True"),
    ("local-gp", {"signal_variance": None}, "", "type", "got None"),
    ("local-gp", {"signal_variance": np.inf}, "", "range", "got inf"),
    ("local-gp", {"cell_size": 0}, "", "range", "got 0"),
    ("local-gp", {"n_neighbours": 2.5}, "", "type", "got 2.5"),
    ("local-gp", {"multiclass": "one-versus-one"}, "", "choice", "got 'one-versus-one'"),
    ("sparse-gp", {"n_inducing": 0}, "", "range", "got 0"),
    ("sparse-gp", {"inducing": "grid"}, "", "choice", "got 'grid'"),
    ("sparse-gp", {"learn_kernel": 1}, "", "type", "got 1"),
    ("sparse-gp", {"lengthscale": 0.0}, "", "range", "got 0.0"),
    ("sparse-gp", {"lengthscale": "wide"}, "", "type", "got 'wide'"),
    ("sparse-gp", {"lengthscale": [1.0]}, "", "conflict", "ard=True"),
    ("sparse-gp", {"signal_variance": np.inf}, "", "range", "got inf"),
    ("sparse-gp", {"natural_rate": 1.5}, "", "range", "got 1.5"),
    ("sparse-gp", {"learning_rate": 0.0}, "", "range", "got 0.0"),
    ("sparse-gp", {"epochs": 2.5}, "", "type", "got 2.5"),
    ("sparse-gp", {"epochs": True}, "", "type", "got True"),
    ("sparse-gp", {"epochs": -1}, "", "range", "of at least 0; got -1"),
    ("sparse-gp", {"final_passes": 0}, "", "range", "got 0"),
    ("sparse-gp", {"precision": "half"}, "", "choice", "got 'half'"),
    ("sparse-gp", {"device": "tpu"}, "", "choice", "got 'tpu'"),
    ("sparse-gp", {"multiclass": "one-versus-one"}, "", "choice", "got 'one-versus-one'"),
]


@pytest.mark.parametrize(("method", "options", "parameter", "code", "got"), REFUSED)
def test_options_that_are_refused(method, options, parameter, code, got):
    made = build_method(method, **options)
    for check in (lambda: made.fit([[0.0], [1.0]], [0, 1]), lambda: made.check_options((1,), 2)):
        with refuses(parameter or list(options)[-1], code, got=got):
            check()


def test_one_instance_at_a_time_needs_no_batch_norm():
    build_method("creinn", batch_size=1, batch_norm=False, epochs=1).fit([[0.0], [1.0]], [0, 1])
