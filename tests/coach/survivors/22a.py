"""Mutants of chapter 22a that may pass, and why: see course_lib/coach/mutation.py."""

ZEROS = "a group of zeros gets NaN for its error, which is not below infinity: its scale stays 0, as it should"

SURVIVORS = {
    "best_scale": {
        "divisor = np.where(scale == 0, 1, scale)[:, None]  # (J, 1) -> "
        "divisor = np.where(scale == 1, 1, scale)[:, None]  # (J, 1)": ZEROS,
        "divisor = np.where(scale == 0, 1, scale)[:, None]  # (J, 1) -> "
        "divisor = np.where(scale == 0, 0, scale)[:, None]  # (J, 1)": ZEROS,
        "error = np.square(codes * scale[:, None] - groups).sum(axis=1)  # (J,) -> "
        "error = np.square(codes * scale[:, None] - groups).mean(axis=1)  # (J,)": "all groups have the same width, so the "
        "least mean is where the least sum is",
    },
}
