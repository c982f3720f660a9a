"""The mean loss over all scored targets, in batches with different numbers of them."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Refused, Wrong
from course_lib.data.windows import IGNORE, Validation


def cases(random):
    def targets(rows, context, ignored):
        values = random.integers(0, 9, (rows, context)).astype(np.int32)
        for row, count in enumerate(ignored):
            values[row, context - count :] = IGNORE
        return values

    yield Case("one batch", targets(2, 3, []), 2)
    yield Case("two equal batches", targets(4, 3, []), 2)
    yield Case("the last batch has fewer rows", targets(3, 2, []), 2)
    yield Case("targets that are not scored", targets(4, 3, [2, 2, 0, 0]), 2)
    yield Case("one row at a time", targets(5, 4, [3, 0, 1, 0, 2]), 1)
    yield Case("a batch without scored targets", targets(3, 2, [0, 2, 0]), 1)
    yield Case("a batch size larger than the set", targets(3, 4, [1]), 10)


def losses_of(targets):
    """A loss for each target, as a model might have them: (B, T)."""
    return 0.5 + np.abs(targets) + np.arange(targets.shape[1])


def of_batch(idx, targets):
    """The mean loss over the scored targets of a batch; 0 if there are none, as in the library."""
    scored = targets != IGNORE
    return float(losses_of(targets)[scored].mean()) if scored.any() else 0.0


class Asked(Validation):
    """Takes note of the batch sizes that it is asked for."""

    def batches(self, batch_size):
        self.sizes = {*getattr(self, "sizes", ()), batch_size}
        return super().batches(batch_size)


def called(answer, targets, batch_size):
    windows = Asked(np.zeros_like(targets), targets)
    mean = answer(windows, of_batch, batch_size)
    others = getattr(windows, "sizes", set()) - {batch_size}
    if others:
        raise Refused(
            f"You call self.batches({min(others)}). The caller wants batches of batch_size rows, here {batch_size}."
        )
    return mean


def right(self, loss, batch_size):
    return float(losses_of(self.targets)[self.targets != IGNORE].mean())


exercise = Exercise(
    title="A fair mean",
    minutes=15,
    defines="mean_loss",
    target="course_lib.data.windows.Validation.mean_loss",
    given="import numpy as np\nfrom collections.abc import Callable\nfrom course_lib.data import IGNORE",
    cases=cases,
    reference=right,
    call=called,
    hints=(
        "A batch's loss is a mean. What must you multiply it by, to get the sum over its targets?",
        "(targets != IGNORE).sum() counts the scored targets of a batch. Divide by self.scored once, at the end.",
        "total = 0; for idx, targets in self.batches(batch_size): total += loss(idx, targets) * (targets != IGNORE).sum(); "
        "return float(total / self.scored).",
    ),
    example='''def mean_age(classes):
    """The mean age of all pupils; classes is a list of pairs (mean age of the class, pupils)."""
    return sum(age * pupils for age, pupils in classes) / sum(pupils for age, pupils in classes)
''',
    wrong=[
        Wrong("""def mean_loss(self, loss, batch_size):
    return float(np.mean([loss(idx, targets) for idx, targets in self.batches(batch_size)]))
""", "All batches have the same weight, however few targets they have. All *targets* must have the same weight."),
        Wrong("""def mean_loss(self, loss, batch_size):
    total = 0
    for idx, targets in self.batches(batch_size):
        total += loss(idx, targets) * len(idx)
    return total / len(self)
""", "Batches are weighted by their rows. But in some rows fewer targets are scored: weight by the scored targets."),
        Wrong(Changed(("float(sum(sums)) / self.scored", "float(sum(sums)) / self.targets.size")),
              "You divide by the number of all targets, also of those that are not scored."),
        Wrong("""def mean_loss(self, loss, batch_size):
    return sum(loss(idx, targets) for idx, targets in self.batches(batch_size))
""", "The losses of the batches are added up, but never divided."),
        Wrong("""def mean_loss(self, loss, batch_size):
    total = count = 0
    for idx, targets in self.batches(batch_size):
        if len(idx) < batch_size: break
        n = (targets != IGNORE).sum()
        total += loss(idx, targets) * n
        count += n
    return total / max(count, 1)
""", "The last batch is left out where it has fewer rows. Its targets count as well."),
        Wrong(Changed(("(targets != IGNORE).sum()", "targets.size")),
              "A batch counts with all its targets, also with those that are not scored. Count those that are not IGNORE."),
    ],
)  # fmt: skip
