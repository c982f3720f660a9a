"""What is cut out of a source: solutions, blanks, pieces of the library."""

from pathlib import Path

import pytest

from course_lib.coach import regions
from course_lib.coach.exercise import ExerciseError

HERE = Path("solutions/00_test.py")


def cut(text: str) -> regions.Piece:
    return regions.piece(text, "test", HERE)


def test_marked_lines_are_the_learners():
    piece = cut("def f(x):\n    y = x + 1\n    # yours: double it\n    y = 2 * y\n    # end\n    return y\n")
    assert piece.solution == "def f(x):\n    y = x + 1\n    y = 2 * y\n    return y"
    assert piece.blank == "def f(x):\n    y = x + 1\n    # Your part: double it\n    ...\n    return y"
    assert not piece.planted


def test_a_fault_is_planted_with_instead():
    piece = cut("def f(x):\n    # yours: fix it\n    return 2 * x\n    # instead\n    # return 3 * x\n    # end\n")
    assert piece.solution == "def f(x):\n    return 2 * x"
    assert piece.blank == "def f(x):\n    # Your part: fix it\n    return 3 * x"
    assert piece.planted


def test_a_kernel_stands_in_a_raw_string():
    piece = cut('r"""\n__global__ void f(float* x) {\n    // yours: write zero\n    x[0] = 0.0f;\n    // end\n}\n"""')
    assert piece.solution == "__global__ void f(float* x) {\n    x[0] = 0.0f;\n}"
    assert piece.blank == "__global__ void f(float* x) {\n    // Your part: write zero\n}"


def test_without_marks_the_whole_body_is_the_learners():
    piece = cut('def f(x):\n    """Doubles."""\n    # how\n    return 2 * x\n')
    assert piece.blank.startswith('def f(x):\n    """Doubles."""\n') and "2 * x" not in piece.blank
    assert piece.blank.endswith("...")


def test_a_piece_of_the_library_is_included_and_never_written_twice():
    piece = cut("# include course_lib/tensor/shapes.py repeated_axes: find them")
    text = (regions.ROOT / "course_lib/tensor/shapes.py").read_text()
    assert piece.solution in text and "# Your part: find them" in piece.blank
    assert compile(piece.blank, "blank", "exec")


def test_a_kernel_is_included_with_its_template_line():
    piece = cut("# include kernels/scale.cu scale: multiply")
    head = '#include "vector.cuh"\n\ntemplate <int N> __global__ void scale('
    assert piece.solution.startswith(head) and piece.solution.endswith("}")
    assert piece.blank.count("{") == piece.blank.count("}") == 1 and "// Your part: multiply" in piece.blank


def test_a_kernel_and_what_it_calls_make_one_text():
    piece = cut(
        "# given kernels/include/gelu.cuh gelu_gate\n"
        "# include kernels/include/gelu.cuh gelu_grad: the slope\n"
        "# include kernels/gelu.cu gelu_backward: the product"
    )
    assert piece.solution.startswith('#include "vector.cuh"\n\n__device__'), "gelu.cuh would define them twice"
    assert piece.solution.count("gelu_gate(float x)") == piece.solution.count("gelu_grad(float x)") == 1
    assert "expf" in piece.blank and "0.134145f" not in piece.blank
    assert "// Your part: the slope" in piece.blank and "// Your part: the product" in piece.blank
    assert piece.blank.count("return {};") == 1, "the slope must give something back, the kernel nothing"
    assert "return {};" not in piece.solution and not piece.planted


def test_a_fault_is_planted_in_a_kernel_of_the_library():
    piece = cut("# include kernels/scale.cu scale: fix it\n# plant i + N <= n => i < n")
    assert piece.planted and "i + N <= n" in piece.solution
    assert piece.blank == piece.solution.replace("i + N <= n", "i < n").replace(
        "int n) {\n", "int n) {\n    // Your part: fix it\n"
    )


def test_one_function_of_a_struct_is_the_learners(tmp_path):
    twice = """struct Twice {
    float* y;
    __device__ void operator()(int i, float v) const {
        y[i] = 2.0f * v;
    }
    __device__ void end() const {}
};"""
    file = tmp_path / "ends.cuh"
    file.write_text(f"{twice}\n\nstruct Other {{ int n; }};\n")
    piece = cut(f"# include {file} Twice.operator: write twice v")
    assert piece.solution == twice
    assert "Your part: write twice v" in piece.blank and "2.0f" not in piece.blank
    assert piece.blank.splitlines()[-2:] == ["    __device__ void end() const {}", "};"]
    with pytest.raises(ExerciseError, match="no function missing"):
        cut(f"# include {file} Twice.missing: this")


def test_a_fault_that_fits_nowhere_is_said():
    with pytest.raises(ExerciseError, match="stands 0 times"):
        cut("# include kernels/scale.cu scale: fix it\n# plant nowhere => there")


def test_a_region_of_a_file_wins_over_the_definition(tmp_path):
    file = tmp_path / "lib.py"
    lines = ["class A:", "    # region f: told here", "    def f(self):", "        # yours: one", "        return 1",
             "        # end", "    # endregion", "", "def f():", "    return 2"]  # fmt: skip
    file.write_text("\n".join(lines))
    assert regions.included(file, "f").startswith("def f(self):\n    # yours: one\n    return 1\n")


def test_a_comment_that_begins_like_a_mark_is_none():
    piece = cut("def f(x):\n    # yours: a\n    # end of the story\n    return 1\n    # end\n")
    assert piece.solution == "def f(x):\n    # end of the story\n    return 1"


@pytest.mark.parametrize(
    "text, says",
    [
        ("def f():\n    # yours\n    return 1\n", "has no `end`"),
        ("def f():\n    # end\n    return 1\n", "stands where yours was expected"),
        ("def f():\n    # yours\n    # yours\n    # end\n", "stands where instead or end was expected"),
        ("x = 1\n", "nothing to blank"),
        ("# include course_lib/tensor/shapes.py no_such_name", "neither a region nor a definition"),
    ],
)
def test_what_is_not_marked_right_is_said(text, says):
    with pytest.raises(ExerciseError, match=says):
        cut(text)
