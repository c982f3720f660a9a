"""Bank conflicts counted by hand: different words in one bank."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("neighbouring words", list(range(32)))
    yield Case("one word for all", [7] * 32)
    yield Case("down a column of 32", [32 * lane for lane in range(32)])
    yield Case("down a column of 33", [33 * lane + 5 for lane in range(32)])
    yield Case("every second word", [2 * lane for lane in range(32)])
    yield Case("one bank, two words, each for half the lanes", [3, 35] * 16)
    yield Case("three lanes take part", [64, 10, 96])
    yield Case("the last bank is the busiest", [31, 63, 95, *range(29)])
    yield Case("random words", [int(word) for word in random.integers(0, 200, size=32)])


SOLUTION = "len({word for word in words if word % 32 == bank})"

exercise = Exercise(
    title="Count the wavefronts",
    minutes=4,
    core=False,
    defines="count_wavefronts",
    cases=cases,
    reference=lambda words: max(len({word for word in words if word % 32 == bank}) for bank in range(32)),
    hints=("For each of the 32 banks: how many different words with word % 32 == bank? The busiest bank decides.",),
    wrong=[
        Wrong(Changed((SOLUTION, "len([word for word in words if word % 32 == bank])")),
              "Lanes that want the same word are served together. Count different words of a bank."),
        Wrong("def count_wavefronts(words):\n    return len(set(words))",
              "These are all different words. Words in different banks come in the same wavefront."),
        Wrong("def count_wavefronts(words):\n    return len({word % 32 for word in words})",
              "This counts the banks that are used. Count the words that the busiest one must deliver."),
        Wrong("def count_wavefronts(words):\n    return 32 // len({word % 32 for word in words})",
              "Not every bank has the same number of words, and lanes may want the same one. Count them bank by bank."),
        Wrong(Changed(("word % 32 == bank", "word // 32 == bank")),
              "A word lies in bank word % 32: neighbouring words are in neighbouring banks."),
    ],
)  # fmt: skip
