"""The process of one part: `python -m course_lib.prove.child MODULE CALL DEVICE FILE [small]` writes its result to FILE as JSON.

small: the sizes that the simulator takes, whatever the device is: a rehearsal.
"""

import json
import sys
from importlib import import_module
from pathlib import Path

from course_lib.paths import write_whole


def main(name: str, call: str, device: str, file: str, small: str = "") -> None:
    module = import_module(name)
    if small:
        for table in vars(module).values():  # sizes by device
            if isinstance(table, dict) and set(table) == {"cuda", "simulator"}:
                table["cuda"] = table["simulator"]
    write_whole(Path(file), json.dumps(getattr(module, call)(device), allow_nan=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
