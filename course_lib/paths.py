"""Where the course's files lie.

Promises: `ROOT` is the folder that was cloned; `cache(name)` is an existing folder for what can be made again.
Limit: the course runs from its clone (an editable install), since notebooks and kernels lie beside the library.
"""

import os
from pathlib import Path

ROOT: Path = Path(__file__).resolve().parent.parent


def cache(name: str) -> Path:
    """The folder `name` below $COURSE_CACHE, or below `<clone>/.cache`; made if it is not there yet."""
    folder = Path(os.environ.get("COURSE_CACHE") or ROOT / ".cache") / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
