"""The process of one part: `python -m course_lib.prove.child NAME DEVICE FILE [small]` writes the part's result to FILE as JSON.

small: the sizes that the simulator takes, whatever the device is: a rehearsal.
"""

import json
import sys
from importlib import import_module
from pathlib import Path

from course_lib.paths import write_whole
from course_lib.prove.parts import PARTS


def main(name: str, device: str, file: str, small: str = "") -> None:
    part = next(part for part in PARTS if part.name == name)
    module = import_module(part.module)
    if small:
        for table in vars(module).values():  # sizes by device
            if isinstance(table, dict) and set(table) == {"cuda", "simulator"}:
                table["cuda"] = table["simulator"]
    result = getattr(module, part.call)(device)
    write_whole(Path(file), json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
