"""The bodies of `course bench`: each module measures one part against its bar and prints a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any


def run_parts(
    package: str, parts: Mapping[str, str], part: str, json_path: str | Path | None, begin: Callable[[], tuple]
) -> dict[str, Any]:
    """Run one part of a package, or all in order; print tables, write what was found as JSON if asked, and return it.

    parts: the module of each letter. begin: says what is measured on; returns that, and what each module's `measure` is given.
    Raises ValueError for a part that does not exist.
    """
    name = package.rpartition(".")[2]
    if part and part not in parts:
        raise ValueError(f"bench {name} has no part {part!r}: choose one of {', '.join(parts)}, or none for all.")
    device, *given = begin()
    report = {"device": device, "command": f"course bench {name}{f' --part {part}' if part else ''}"}
    for letter in part or parts:
        print(f"\npart {letter}: {parts[letter].replace('_', ' ')}", flush=True)
        report[letter] = import_module(f"{package}.{parts[letter]}").measure(*given)
        if json_path is not None:
            Path(json_path).write_text(json.dumps(report, indent=1) + "\n")
    return report
