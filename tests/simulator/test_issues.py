"""How one issue reads: which element, which two lines, as text and as HTML."""

import numpy as np
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from course_lib.cuda import Kernel, sanitize

IN_PLACE = """
__global__ void smooth(float* x, int n) {
    int i = threadIdx.x;
    float left = i > 0 ? x[i - 1] : 0.0f;
    float right = i < n - 1 ? x[i + 1] : 0.0f;
    float own = x[i];
    x[i] = left + own + right;
}
"""


def test_a_race_names_the_element_and_both_lines(compiler):
    x = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32)
    report = sanitize(Kernel(IN_PLACE, "smooth"), 1, 8, (x, 8))
    assert {issue.kind for issue in report.issues} == {"race"}
    places = {tuple(sorted((issue.line, issue.other_line))) for issue in report.issues}
    assert places == {(4, 7), (5, 7)}, (
        "each reads a neighbour that the neighbour itself writes; its own read is innocent"
    )
    issue = next(issue for issue in report.issues if 4 in (issue.line, issue.other_line))
    assert "one thread reads what another writes: element 0 of the array 'x'" in issue.message
    assert (issue.thread, issue.line) == ((1, 0, 0), 4) and "thread (0, 0, 0), line 7" in issue.message


def test_an_issue_shows_itself_in_a_notebook():
    x = np.zeros(8, np.float32)
    issue = sanitize(Kernel(IN_PLACE.replace("i > 0 ?", "i < 1 ?"), "smooth"), 1, 8, (x, 8)).issues[0]
    html = issue._repr_html_()
    assert html.index("<b>out-of-bounds</b>") < html.index("element -1 of &#x27;x&#x27;") < html.index("float left")
    assert "i &lt; 1 ?" in html
    assert repr(issue) == str(issue) and "element -1 of 'x'" in repr(issue)


def test_a_notebook_shows_the_learners_line_and_the_sentence():
    """Not the frames of this library between the two."""
    shell = InteractiveShell()
    shell.run_cell("from course_lib.cuda import Kernel\ndef launch(n):\n    add(1, 8, (n,))", silent=True)
    shell.user_ns["code"] = "__global__ void add(float* x, int n) { x[n] = 1.0f; }"
    with capture_output() as captured:
        shell.run_cell("add = Kernel(code, 'add')\n\nlaunch(3)")
    shown = captured.stdout
    assert "line 3: launch(3)\nline 3: add(1, 8, (n,))\n\nArgumentError: add takes 2 arguments" in shown
    assert "course_lib" not in shown and len(shown.strip().splitlines()) == 4
