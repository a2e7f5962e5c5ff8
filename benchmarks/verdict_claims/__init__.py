"""How often the sentences of an assay are false: data sets with known truth, whole assays, and their claims counted."""
