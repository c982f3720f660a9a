"""What the cases and goals of all exercises hold, so that a whole class of wrong answers cannot pass."""

import pytest

from course_lib.coach import catalogue

EXERCISES = {name: catalogue.load(name) for name in catalogue.names()}


def names_of(goals):
    return {goal.name: goal.at_most for goal in goals if goal.at_most is not None}


@pytest.mark.parametrize("name", [name for name, exercise in EXERCISES.items() if exercise.goals])
def test_a_goal_that_is_a_rate_stands_beside_bounds_on_bytes_and_on_idle_lanes(name):
    """One thread that does all the work alone has the best rates of all."""
    goals = names_of(EXERCISES[name].goals)
    for goal in goals:
        if "for each request" in goal:
            space = "shared" if "shared" in goal else "global"
            assert f"idle lanes in a request to {space} memory" in goals
            assert "bytes of global memory moved" in goals
