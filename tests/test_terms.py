"""One word per concept, the field's own: homely words that once stood for a term do not come back into what learners read."""

import re

import pytest

from course_lib.coach import catalogue
from tests.test_spelling import CODE, NO_PROSE, ROOT, TEXTS, prose

INSTEAD = {  # what is not said, as a pattern: what is
    r"bends?|bent": "activation, nonlinearity",
    r"(the|its|their|on the|whole) way back|going back": "backward pass, backward, gradient",
    r"what came back": "upstream gradient",
    r"(a|an|its|the|each|their|of|equal|whose|own|in) shares?": "attention weight; probability; fraction",
    r"hears?|heard": "receives the gradient",
    r"odds": "probability",
    r"turn(s|ed|ing)? (it |them )?over|turned round": "transpose",
    r"nudg(e|es|ed|ing)": "a small change; finite difference",
    r"doors": "banks",
    r"desks?": "shared memory",
    r"short numbers|long sums in": "bfloat16 inputs, float32 accumulation",
    r"walk(s|ed|ing)?": "loop over, iterate, pass",
    r"rungs?|ladders?": "version, optimisation steps",
    r"fences?(?= .{0,40}(tokeni|merge|pre-token))": "pre-token boundaries",
    r"windows? of words": "sliding-window attention",
    r"grouped heads": "grouped-query attention",
    r"knobs?": "hyperparameter, parameter",
    r"less (the|its) (mean|square|largest|maximum)": "minus",
    r"mend(s|ed|ing)?": "fix",
    r"slow memory": "HBM (global memory), L2, shared memory (SRAM), registers",
}
PATTERNS = {re.compile(rf"\b({pattern})\b", re.IGNORECASE): term for pattern, term in INSTEAD.items()}


def faults(text: str) -> list[str]:
    return [
        f"{text[max(0, found.start() - 40) : found.end() + 30]!r}: say {term}"
        for pattern, term in PATTERNS.items()
        for found in pattern.finditer(text)
    ]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT).with_suffix("")))
def test_the_prose_says_the_fields_words(path):
    found = faults(" ".join(prose(path).split()))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("chapter", sorted({catalogue.load(name).chapter for name in catalogue.names()}))
def test_the_coach_says_the_fields_words(chapter):
    exercises = [catalogue.load(name) for name in catalogue.names(chapter)]
    said = [text for one in exercises for text in (one.title, *one.hints, *(wrong.says for wrong in one.wrong))]
    found = faults(" ".join(CODE.sub(" ", NO_PROSE.sub(" ", "\n\n".join(text or "" for text in said))).split()))
    assert not found, "\n".join(found)


PAGE = sorted(path for path in (ROOT / "course_lib/web/page").iterdir() if path.suffix in (".html", ".js", ".css"))


@pytest.mark.parametrize("path", PAGE, ids=lambda path: path.name)
def test_the_page_of_a_trained_model_says_the_fields_words(path):
    assert not faults(" ".join(path.read_text(encoding="utf-8").split()))


@pytest.mark.parametrize("text", ["The odds of a word", "a ladder of kernels", "On the way back", "x less the mean"])
def test_a_homely_word_is_found(text):
    assert len(faults(text)) == 1


@pytest.mark.parametrize("text", ["in turn", "takes place", "views share a buffer", "a street", "less than the mean"])
def test_plain_english_is_not(text):
    assert not faults(text)
