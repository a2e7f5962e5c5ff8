"""Changes to the folders that assays and studies are saved in."""

import json

import numpy as np


def change_facts(folder, edit):
    """Write the plain values that `edit` changes in place."""
    (path,) = folder.glob("*.json")
    facts = json.loads(path.read_text(encoding="utf-8"))
    edit(facts)
    path.write_text(json.dumps(facts), encoding="utf-8")


def change_arrays(folder, edit):
    """Write the arrays that `edit` changes in place."""
    with np.load(folder / "arrays.npz") as archive:
        arrays = dict(archive)
    edit(arrays)
    np.savez(folder / "arrays.npz", **arrays)
