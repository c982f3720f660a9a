"""Mutants of chapter 21 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {}
