"""What several test files of this room share."""

import numpy as np


def given_of(members, labels):
    return np.take_along_axis(members, labels[:, None, None], axis=2)[..., 0]
