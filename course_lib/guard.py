"""Shuts a process off from the learner's files: it may read, and write in its own folder only.

Linux from 5.13 on has Landlock for it (https://docs.kernel.org/userspace-api/landlock.html), which needs no rights. Elsewhere
nothing is shut off, and `problem()` says so; the limits of memory and time hold everywhere. Modes and times of files can be
changed in spite of it, and the network is open.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
from collections.abc import Iterable
from pathlib import Path

MEMORY, FILE_SIZE = 2 << 30, 64 << 20

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls, of one number on all processors
NO_NEW_PRIVILEGES, DIES_WITH_PARENT = 38, 1  # of prctl
PATH_BENEATH = 1
SIGNALS_AND_SOCKETS = 3  # of processes outside
WRITE_FILE = 1 << 1
# remove folder, remove file, make: character device, folder, file, socket, pipe, block device, link
CHANGE = WRITE_FILE | sum(1 << bit for bit in range(4, 13))
MOVE, TRUNCATE = 1 << 13, 1 << 14


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def _version() -> int:
    """Of Landlock; 0 where this system has none."""
    if platform.system() != "Linux":
        return 0
    found = ctypes.CDLL(None, use_errno=True).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(0, found)


def problem() -> str:
    """Why an answer that is judged could write to the learner's files; empty where it cannot."""
    if _version():
        return ""
    return (
        "This system has no Landlock (Linux 5.13 or newer has it), so an answer that writes or deletes files really does "
        "so while it is judged."
    )


def shut_off(writable: Iterable[Path]) -> None:
    """From here on this process, and what it starts, may write only below these folders. Nothing happens without Landlock."""
    version = _version()
    if not version:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    files = CHANGE | (MOVE if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    rules = _Ruleset(files, 0, SIGNALS_AND_SOCKETS if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return
    for folder in writable:
        opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        rule = _Beneath(files, opened)
        libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), ctypes.c_uint32(0))
        os.close(opened)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.syscall(RESTRICT_SELF, ruleset, ctypes.c_uint32(0))
    os.close(ruleset)


def end_with_parent() -> None:
    """This process ends when the one that started it does (Linux)."""
    if platform.system() == "Linux":
        ctypes.CDLL(None).prctl(DIES_WITH_PARENT, 9, 0, 0, 0)


def limit(seconds: float) -> None:
    """2 GB of memory (not enforced on macOS), files of 64 MB, and processor time far above `seconds`, should nobody be left to
    end this process."""
    most = {
        resource.RLIMIT_DATA: MEMORY,
        resource.RLIMIT_FSIZE: FILE_SIZE,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(300 + 10 * seconds),
    }
    for what, wanted in most.items():
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
