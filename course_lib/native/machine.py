"""What this machine is: its processor, as far as `-march=native` depends on it, and its cores."""

import os
import platform
import subprocess
from functools import cache
from pathlib import Path


@cache
def processor() -> str:
    """A line that differs between processors for which `-march=native` means different instructions."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        kept = ("model name", "flags", "features", "cpu implementer", "cpu part")
        lines = {
            line.strip() for line in info.read_text(errors="replace").splitlines() if line.lower().startswith(kept)
        }
        return " ".join(sorted(lines)) or platform.machine()
    return _sysctl("machdep.cpu.brand_string") or platform.processor() or platform.machine()


def cores() -> int:
    """How many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return int(_sysctl("hw.perflevel0.physicalcpu") or os.cpu_count() or 1)  # Apple: the fast cores only


@cache
def _sysctl(name: str) -> str:
    """A value of macOS's system table, or nothing where there is none."""
    try:
        return subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
