"""The plots, one dictionary of rules per file. See `course_lib.stories.grammar` for how a rule is written."""
