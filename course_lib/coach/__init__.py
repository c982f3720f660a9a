"""The coach: exercises, the judge that tries answers, hints, progress. It knows the learner, and nothing in the house knows it.

    exercise.py catalogue.py exercises/     what an exercise is, and all of them, one small file for each
    regions.py builder.py                   solutions/NN_topic.py -> the solved and the blank notebook
    judge.py answers.py kernels.py outcome.py compare.py  one answer, loaded, called and compared in a process of its own
    telling.py facts.py faults.py measuring.py            which sentence comes first, and the numbers of what is right
    warm.py client.py                       that process, kept warm, and how one talks to it
    verdict.py pictures.py show.py          what the learner sees, as text and as HTML
    state.py copies.py update.py            answers, tries, progress; the learner's copies; living with git
    answering.py helping.py magic.py        from a cell to its verdict; hints, solutions, progress; `%%exercise`
    mine.py milestone.py ladder.py          answers inside the library, a run with them, the tries at a challenge as a picture
    verify.py                               the proof of every exercise

The learner's door is `from course_lib import course`; the author's is in CONTRIBUTING.md.
"""
