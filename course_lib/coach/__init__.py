"""The coach: exercises, the judge that tries answers, hints, progress. It knows the learner, and nothing in the house knows it.

    exercise.py catalogue.py exercises/     what an exercise is, and all of them, one small file for each
    regions.py builder.py                   solutions/NN_topic.py -> the solved and the blank notebook
    judge.py answers.py kernels.py shaders.py compare.py  one answer, loaded, called and compared in a process of its own
    outcome.py measuring.py                 what one case showed; the counters of an answer that is right
    diagnosis.py heuristics.py messages.py kernel_source.py   which sentence explains a failure
    repairs.py two_repairs.py two_mistakes.py kernel_repairs.py slips/   which change of the text makes the cases right
    kernel_causes.py kernel_slips.py kernel_statements.py kernel_sums.py what_if.py how_wrong.py where_wrong.py goal_causes.py
                                            the same for kernels
    warm.py client.py                       that process, kept warm, and how one talks to it
    verdict.py pictures.py show.py          what the learner sees, as text and as HTML
    state.py copies.py update.py            answers, tries, progress; the learner's copies; living with git
    answering.py helping.py magic.py        from a cell to its verdict; hints, solutions, progress; `%%exercise`
    swapping.py swaps.py milestone.py       answers swapped into the library, the table of them, a run with them
    versions.py                             the learner's versions of a challenge, under a roofline
    shared_cases.py verify.py               cases that several exercises use; the proof of every exercise

The learner's door is `from course_lib import course`; the author's is in CONTRIBUTING.md.
"""
