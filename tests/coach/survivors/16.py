"""Mutants of chapter 16 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "sample_metrics": {
        "facts = [wrong for well, wrong in zip(well_formed, wrong_facts, strict=True) if well] -> facts = [wrong for well, wrong in zip(well_formed, wrong_facts) if well]": "equivalent: both lists have a number for each sample",
    },
}
