"""Mutants of chapter 20 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {}
