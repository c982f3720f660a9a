"""A sampled story with the judgement of the grammar: what is wrong, and the first sentence that could not be told."""

import html

from course_lib import stories
from course_lib.plots.picture import Page
from course_lib.plots.style import INK


def judged(text: str | None) -> Page:
    """text: a sample, None for one that did not come to an end. Plain text marks the faulty sentence with >>> <<<."""
    if text is None:
        return Page("<p>This sample did not come to an end.</p>", "This sample did not come to an end.")
    verdict = stories.judge(text)
    said = finding(verdict)
    sentences = stories.sentences(text)
    fault = verdict.first_fault if verdict.first_fault is not None and verdict.first_fault < len(sentences) else None
    shown, plain = [], []
    for index, sentence in enumerate(sentences):
        escaped = html.escape(sentence)
        mark = f'<mark style="background:#F7CFB4;color:{INK}">{escaped}</mark>'
        shown.append(mark if index == fault else escaped)
        plain.append(f">>>{sentence}<<<" if index == fault else sentence)
    return Page(f"<p><strong>{html.escape(said)}</strong></p><p>{' '.join(shown)}</p>", f"{said}\n{' '.join(plain)}")


def finding(verdict: stories.Verdict) -> str:
    """A verdict in a sentence."""
    if verdict.possible:
        return "Possible: our grammar could have told exactly this."
    where = "" if verdict.first_fault is None else f", first in sentence {verdict.first_fault + 1}"
    if verdict.well_formed:
        facts = "one fact is" if verdict.wrong_facts == 1 else f"{verdict.wrong_facts} facts are"
        return f"Well-formed, but {facts} wrong{where}."
    return f"Not well-formed{where}: no story of ours goes on like this."
