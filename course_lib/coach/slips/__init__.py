"""The slips of a hurried hand in a Python text, each undone by one change."""
