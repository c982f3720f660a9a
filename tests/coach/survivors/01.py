"""Mutants of chapter 01 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "strided_copy": {
        "return x.reshape(-1)[places].reshape(shape) -> return x.reshape(-1)[places]": "harmless: `places` has the shape already; without axes the result is NumPy's number instead of an array",
    },
}
