"""The coach: exercises, the judge that tries answers, hints, progress. It knows the learner, and nothing in the house knows it.

    exercise.py catalogue.py exercises/     what an exercise is, and all of them, one small file for each
    regions.py builder.py                   solutions/NN_topic.py -> the solved and the blank notebook
    judge.py outcome.py compare.py facts.py kernels.py    one answer, judged in a process of its own
    warm.py client.py                       that process, kept warm, and how one talks to it
    verdict.py pictures.py                  what the learner sees, as text and as HTML
    state.py copies.py update.py            answers, tries, progress; the learner's copies; living with git
    magic.py mine.py verify.py              `%%exercise`, answers inside the library, the proof of every exercise

The learner's door is `from course_lib import course`; the author's is in CONTRIBUTING.md.
"""
