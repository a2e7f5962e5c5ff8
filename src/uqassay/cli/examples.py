"""An example of each command and the paper that defines what it computes, for the end of its help.

`reproduce` writes its own help, which lists the papers.
"""

__all__ = ["EXAMPLES", "PAPERS", "epilog"]

EXAMPLES = {
    "report": "uqassay report DE=ensemble.npz EDL=edl.npz --labels labels.npy -o report.html",
    "rank": "uqassay rank DE=ensemble.npz softmax.npz --labels labels.npy --tradeoff 0.1 --tradeoff 1",
    "demo": "uqassay demo --output demo",
    "inspect": "uqassay inspect passes.npy --member-axis 0",
    "convert": "uqassay convert softmax.npz softmax.csv",
    "tradeoff": "uqassay tradeoff --abstention --cost 0.1",
    "ood": "uqassay ood ensemble=ensemble.npz --out ensemble=ensemble_out.npz",
    "refuse": "uqassay refuse DE=ensemble.npz --labels labels.npy --risk 0.3",
    "gain": "uqassay gain before.npz after.npz --labels labels.npy -o gain.html",
    "calibration-test": "uqassay calibration-test DE=ensemble.npz softmax.npz --labels labels.npy",
    "second-order": "uqassay second-order DE=ensemble.npz EDL=edl.npz --votes votes.npy",
    "compare": "uqassay compare digits=runs/digits wine=runs/wine iris=runs/iris --metric accuracy",
    "bench": "uqassay bench --dataset iris --method random-forest,bagging --preset smoke -o forests",
}

_UNIFIED = "Manchingal et al., A Unified Evaluation Framework for Epistemic Predictions (E = d + λ · NS)"
_CREDAL = "Mortier et al., On Calibration of Ensemble-Based Credal Predictors"
_RANKING = "Pignet et al., Legitimate ground-truth-free metrics for deep uncertainty classification scoring (UQ-AUC)"
_LEARN_THEN_TEST = "Angelopoulos et al., Learn then Test: Calibrating Predictive Algorithms to Achieve Risk Control"
_GAIN = "The Evaluation and Calibration of Epistemic Uncertainty Estimates (EECE)"
_DISENTANGLEMENT = "de Jong et al., Measuring Uncertainty Disentanglement Error in Classification"
_MANY = "Statistical Comparisons of Classifiers over Multiple Data Sets (Demšar 2006)"
_MEAN_RANKS = "Benavoli et al., Should We Really Use Post-Hoc Tests Based on Mean-Ranks? (signed-rank tests)"
_ROPE = "Benavoli et al., Time for a Change: a Tutorial for Comparing Multiple Classifiers Through Bayesian Analysis (--rope)"
PAPERS = {
    "report": (_UNIFIED, _RANKING, _CREDAL),
    "rank": (_UNIFIED,),
    "tradeoff": (_UNIFIED,),
    "refuse": (_LEARN_THEN_TEST,),
    "gain": (_GAIN,),
    "calibration-test": (_CREDAL,),
    "compare": (_MANY, _MEAN_RANKS, _ROPE),
    "bench": (_UNIFIED, _DISENTANGLEMENT),
}


def epilog(command: str) -> str:
    """The end of a command's help.

    Examples
    --------
    >>> print(epilog("convert"))
    Example: uqassay convert softmax.npz softmax.csv
    """
    examples = [f"Example: {EXAMPLES[command]}"] if command in EXAMPLES else []
    return "\n\n".join([*examples, *(f"Paper: {paper}" for paper in PAPERS.get(command, ()))])
