"""The one clock: what it adds up, and who asks it."""

import re

import pytest

from course_lib import clock, recipes, training
from course_lib.clock import Prediction
from course_lib.coach import swaps


def by_hand(settings: recipes.Settings, step: float, done: int, tokens: int, context: int) -> float:
    """The steps one by one, as training makes them; a validation costs a third of a step for as many tokens."""
    seconds = 0.0
    for number in range(done + 1, settings.steps + 1):
        seconds += step
        if number % settings.validate_every == 0 or number == settings.steps:
            seconds += step * tokens / (3 * settings.batch * settings.accumulate * context)
    return seconds


@pytest.mark.parametrize("preset", recipes.PRESETS)
@pytest.mark.parametrize("done, accumulate", [(0, 1), (1, 2), (777, 1)])
def test_a_prediction_counts_each_step_and_each_validation(preset, done, accumulate):
    settings = recipes.settings(preset, steps=1234, accumulate=accumulate)
    told = Prediction(settings, "cpu", 256, 64 * 256, 0.5, done)
    assert told.seconds == pytest.approx(by_hand(settings, 0.5, done, 64 * 256, 256), rel=1e-9)


def test_it_names_the_steps_the_batch_the_device_and_the_kind_of_product():
    settings = recipes.settings("small", steps=1200, batch=3, compute="float32")
    assert str(Prediction(settings, "webgpu", 192, 0, 0.1)) == (
        "1,200 steps of small will take about 2 min 0 s in all (3 x 192 tokens each, on webgpu in float32)"
    )


def test_the_pace_of_a_run_gives_the_same_prediction(monkeypatch):
    """Steps that take exactly as long as they should: the clock is turned by hand."""
    now = [0.0]
    monkeypatch.setattr(clock, "perf_counter", lambda: now[0])
    run = clock.rehearsal(recipes.settings("micro", steps=400, model={"layers": 1, "context": 16}), "cpu")
    pace = clock.Pace(run)
    for seconds in (9.0, 2.0, 2.0, 2.0):  # the first warms up
        with pace.training():
            now[0] += seconds
            run.done += 1
    assert pace.prediction(0) == clock.predicted(run, 2.0)
    assert pace.left() == clock.predicted(run, 2.0, done=4).seconds
    assert pace.tokens_per_second() == round(4 * run.tokens_per_step / 15, 1)


def test_steps_with_a_number_of_threads_that_is_not_chosen_tell_nothing(monkeypatch):
    """Two threads take 1 second, one takes 3; after three turns each two are chosen, until the machine slows down."""
    now, tried = [0.0], iter([None, 2, 1, 2, 1, 2, 1, None, None, 2, 1, 2, None])
    monkeypatch.setattr(clock, "perf_counter", lambda: now[0])
    run = clock.rehearsal(recipes.settings("micro", steps=400, model={"layers": 1, "context": 16}), "cpu")
    pace, told = clock.Pace(run), []
    for threads in tried:
        monkeypatch.setattr(clock.native, "on_trial", lambda threads=threads: threads)
        with pace.training():
            now[0] += (9.0 if run.done == 0 else 3.0 if threads == 1 else 1.0) * (2 if run.done >= 9 else 1)
            run.done += 1
        told.append(pace.per_step)
    assert told == [0, *[1.0] * 8, *[2.0] * 4]


def test_a_rehearsal_makes_the_steps_that_the_recipe_says():
    settings = recipes.settings("micro", validation_rows=5)
    run = clock.rehearsal(settings, "cpu")
    idx, targets = run.corpus.train.batch(0, settings.batch)
    context = run.model.config.context
    assert idx.shape == targets.shape == (settings.batch, context)
    assert run.settings == settings and run.validation.idx.shape == (5, context)
    assert clock.rehearsal(recipes.settings("micro", lookups=30.0), "cpu").step()["step"] == 1


def test_what_a_run_and_the_answers_tell_is_the_clocks_own_sentence(monkeypatch):
    told = training.predict("micro", "cpu", steps=123)
    assert re.fullmatch(
        r"123 steps of micro will take about \d.* in all \(2 x 256 tokens each, on cpu in float32\)", str(told)
    )
    shown = swaps.Swaps([], 60, swaps.Stopwatch(), prediction=told)
    assert f"{told}." in str(shown)
