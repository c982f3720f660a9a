"""The mean loss over all scored targets, read in batches that do not hold equally many."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong
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
    yield Case("a batch of which nothing is scored", targets(3, 2, [0, 2, 0]), 1)
    yield Case("a batch larger than all there is", targets(3, 4, [1]), 10)


def losses_of(targets):
    """A loss for each target, as a model might have them: (B, T)."""
    return 0.5 + np.abs(targets) + np.arange(targets.shape[1])


def of_batch(idx, targets):
    """The mean loss over the scored targets of a batch; 0 if there are none, as the library's own loss gives."""
    scored = targets != IGNORE
    return float(losses_of(targets)[scored].mean()) if scored.any() else 0.0


def called(answer, targets, batch_size):
    return answer(Validation(np.zeros_like(targets), targets), of_batch, batch_size)


def plain_mean(self, loss, batch_size):
    return float(np.mean([loss(*batch) for batch in self.batches(batch_size)]))


def by_rows(self, loss, batch_size):
    return sum(loss(idx, targets) * len(idx) for idx, targets in self.batches(batch_size)) / len(self)


def by_places(self, loss, batch_size):
    return right(self, loss, batch_size) * self.scored / self.targets.size


def added(self, loss, batch_size):
    return sum(loss(*batch) for batch in self.batches(batch_size))


def right(self, loss, batch_size):
    return float(losses_of(self.targets)[self.targets != IGNORE].mean())


def without_short(self, loss, batch_size):
    """Only batches of full size count."""
    full = [(idx, targets) for idx, targets in self.batches(batch_size) if len(idx) == batch_size]
    counts = [int((targets != IGNORE).sum()) for _, targets in full]
    return sum(loss(*batch) * count for batch, count in zip(full, counts, strict=True)) / max(sum(counts), 1)


exercise = Exercise(
    title="A fair mean",
    minutes=15,
    defines="mean_loss",
    target="course_lib.data.windows.Validation.mean_loss",
    given="import numpy as np\nfrom collections.abc import Callable\nfrom course_lib.data import IGNORE",
    cases=cases,
    reference=right,
    call=called,
    mistakes=[
        Mistake("Each batch counts as much as any other, however few targets it has. Each *target* should count the same.",
                like=plain_mean),
        Mistake("Each batch counts by its rows. But in some rows fewer targets are scored: count these.", like=by_rows),
        Mistake("You divide by all places, also by those that are not scored.", like=by_places),
        Mistake("The losses of the batches are added up, and never divided.", like=added),
        Mistake("The last batch is left out where it has fewer rows. Its targets count as well.", like=without_short),
    ],
    hints=(
        "A batch's loss is a mean. What must you multiply it by, to get the sum over its targets?",
        "(targets != IGNORE).sum() counts the scored targets of a batch. Divide by self.scored, only once, at the end.",
        "total = 0; for idx, targets in self.batches(batch_size): total += loss(idx, targets) * (targets != IGNORE).sum(); "
        "return float(total / self.scored).",
    ),
    sibling='''def mean_age(classes):
    """The mean age of all pupils; classes is a list of pairs (mean age of the class, pupils)."""
    return sum(age * pupils for age, pupils in classes) / sum(pupils for age, pupils in classes)
''',
    right=[
        """def mean_loss(self, loss, batch_size):
    means, counts = [], []
    for idx, targets in self.batches(batch_size):
        count = np.count_nonzero(targets != IGNORE)
        if count:
            means.append(loss(idx, targets))
            counts.append(count)
    return np.average(means, weights=counts)
""",
        """def mean_loss(self, loss, batch_size):
    mean, seen = 0.0, 0
    for idx, targets in self.batches(batch_size):
        new = int((targets != -1).sum())
        if new == 0:
            continue
        seen += new
        mean += (loss(idx, targets) - mean) * new / seen
    return mean
""",
    ],
    wrong=[
        Wrong("""def mean_loss(self, loss, batch_size):
    return float(np.mean([loss(idx, targets) for idx, targets in self.batches(batch_size)]))
""", "Each *target* should count the same"),
        Wrong("""def mean_loss(self, loss, batch_size):
    total = 0
    for idx, targets in self.batches(batch_size):
        total += loss(idx, targets) * len(idx)
    return total / len(self)
""", "Each batch counts by its rows"),
        Wrong(Changed(("float(sum(sums)) / self.scored", "float(sum(sums)) / self.targets.size")), "by all places"),
        Wrong("""def mean_loss(self, loss, batch_size):
    return sum(loss(idx, targets) for idx, targets in self.batches(batch_size))
""", "never divided"),
        Wrong("""def mean_loss(self, loss, batch_size):
    total = count = 0
    for idx, targets in self.batches(batch_size):
        if len(idx) < batch_size: break
        n = (targets != IGNORE).sum()
        total += loss(idx, targets) * n
        count += n
    return total / max(count, 1)
""", "The last batch is left out"),
    ],
)  # fmt: skip
