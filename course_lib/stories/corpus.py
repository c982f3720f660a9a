"""The grammar of the course's corpus: all word lists and all plots."""

from course_lib.stories import details, marvels, people, places, things
from course_lib.stories.grammar import Grammar
from course_lib.stories.plots import family, frame, friends

LISTS = people.LISTS | places.LISTS | things.LISTS | marvels.LISTS | details.LISTS
RULES = frame.RULES | friends.RULES | family.RULES
GRAMMAR = Grammar(LISTS, RULES)
