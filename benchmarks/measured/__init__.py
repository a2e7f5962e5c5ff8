"""The measured tables of the guide: each is made by a registered function and stored for `benchmarks.docs_numbers`."""
