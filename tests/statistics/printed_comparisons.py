"""Printed and independent numbers about the AUC of four variants of C4.5 on 14 data sets (Demšar 2006, Table 6).

The numbers of other packages come from this script (baycomp 1.0.3, autorank 1.3.0, scikit-posthocs 0.17.1, SciPy 1.17.1):

    for i, k in itertools.combinations(range(4), 2):
        for rope in (0, 0.0103):
            baycomp.SignedRankTest.probs(AUC[:, i], AUC[:, k], rope, nsamples=200_000, random_state=1)
        scipy.stats.wilcoxon(AUC[:, i], AUC[:, k], zero_method="pratt", method=PermutationMethod(n_resamples=np.inf))
    found = autorank.autorank(DataFrame(AUC), approach="frequentist", force_mode="nonparametric")
    found.cd, found.pvalue, found.rankdf.meanrank
    scikit_posthocs.posthoc_nemenyi_friedman(AUC)
    scipy.stats.friedmanchisquare(*AUC.T)
"""

import numpy as np

MODELS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
ROWS = {
    "adult (sample)": (0.763, 0.768, 0.771, 0.798),
    "breast cancer": (0.599, 0.591, 0.590, 0.569),
    "breast cancer wisconsin": (0.954, 0.971, 0.968, 0.967),
    "cmc": (0.628, 0.661, 0.654, 0.657),
    "ionosphere": (0.882, 0.888, 0.886, 0.898),
    "iris": (0.936, 0.931, 0.916, 0.931),
    "liver disorders": (0.661, 0.668, 0.609, 0.685),
    "lung cancer": (0.583, 0.583, 0.563, 0.625),
    "lymphography": (0.775, 0.838, 0.866, 0.875),
    "mushroom": (1.000, 1.000, 1.000, 1.000),
    "primary tumor": (0.940, 0.962, 0.965, 0.962),
    "rheum": (0.619, 0.666, 0.614, 0.669),
    "voting": (0.972, 0.981, 0.975, 0.975),
    "wine": (0.957, 0.978, 0.946, 0.970),
}
AUC = np.array(list(ROWS.values()))  # (14, 4)

# the paper ranks the two .975 of "voting" by digits that it does not print
RANKED = AUC + np.where(np.array(list(ROWS))[:, np.newaxis] == "voting", [0, 0, 1e-4, 0], 0)
PRINTED_RANKS = (3.143, 2.000, 2.893, 1.964)
PRINTED_CHI, PRINTED_F, PRINTED_DIFFERENCE = 9.28, 3.69, 1.25
TIES_OF_PRINTED = 1 - 78 / 840  # Σ (t³ − t) = 3 · 6 + 60 of N J (J² − 1); the printed χ² has no correction
PRINTED_RANK_SUMS = (93.0, 12.0)  # of C4.5+m against C4.5, with half of the ranks of the two zeros on each side

CRITICAL = {  # Demšar's Table 5: critical values of Nemenyi's test by the number of models
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}

AUTORANK = {"cd": 1.2535512603486423, "pvalue": 0.011986176325417788, "ranks": (3.142857, 2.0, 2.928571, 1.928571)}
SCIPY_FRIEDMAN = 10.952380952380956
NEMENYI = {(0, 1): 0.088673, (0, 2): 0.971686, (0, 3): 0.061683, (1, 2): 0.226697, (1, 3): 0.998882, (2, 3): 0.170052}
PRATT = {(0, 1): 0.0078125, (0, 2): 0.865966796875, (1, 2): 0.052978515625}
BAYCOMP = {  # (left, rope, right) of the column k minus the column i, by (i, k, rope); no mean lies at ±0.0103
    (0, 1, 0.0): (0.0009, 0.0, 0.9991),
    (0, 1, 0.0103): (0.0, 0.3286, 0.6714),
    (0, 2, 0.0): (0.4211, 0.0, 0.5789),
    (0, 2, 0.0103): (0.069, 0.782, 0.149),
    (0, 3, 0.0): (0.0028, 0.0, 0.9972),
    (0, 3, 0.0103): (0.0003, 0.0391, 0.9606),
    (1, 2, 0.0): (0.9846, 0.0, 0.0154),
    (1, 2, 0.0103): (0.4459, 0.5475, 0.0066),
    (1, 3, 0.0): (0.2145, 0.0, 0.7855),
    (1, 3, 0.0103): (0.0016, 0.7877, 0.2107),
    (2, 3, 0.0): (0.0067, 0.0, 0.9933),
    (2, 3, 0.0103): (0.0007, 0.2194, 0.7799),
}
