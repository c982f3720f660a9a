"""How ranks come to be: what an engine's launcher says of this process, and the command that starts ranks on this machine.

    mpiexec -n 4 course train --preset 12m                         four ranks on this machine
    mpiexec -n 8 --hostfile hosts course train --preset 12m        on many: one line for each, "name slots=4"
    srun -n 8 --mpi=pmix course train --preset 12m                 under Slurm

All three start the same command N times; `course train --processes N` says the first of them itself, and tells in a sentence
which rank was killed, if one was. Open MPI sends no environment to other machines unless asked: -x NAME. Rank 0 alone writes, so
the folder of a run need be on no shared disk; the corpus is prepared on each machine. `kill -USR1` of mpiexec stops a run after
the step at hand, saved (Slurm: --signal=USR1@60).
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from course_lib.paths import pip_command

KILLED = re.compile(r"process rank (\d+) with PID (\d+) on node (\S+) exited on signal (\d+)")
RULE = b"-" * 60  # Open MPI puts its own messages between such lines


def launched() -> int:
    """How many processes the launcher started that started this one; 1 if none did. Asks the environment alone."""
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"):  # Open MPI; MPICH and its kin, and srun --mpi=pmi2
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    if "PMIX_RANK" in os.environ and os.environ.get("SLURM_STEP_NUM_TASKS", "").isdigit():
        return int(os.environ["SLURM_STEP_NUM_TASKS"])
    return 1


def local_rank() -> tuple[int, int]:
    """(this process among those on its machine, how many these are), by what the launcher says."""
    for rank, size in (("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
                       ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"), ("SLURM_LOCALID", "SLURM_NTASKS_PER_NODE")):  # fmt: skip
        if os.environ.get(rank, "").isdigit() and os.environ.get(size, "").isdigit():
            return int(os.environ[rank]), int(os.environ[size])
    return 0, 1


def share_cores(cores: int, processes: int) -> None:
    """Let each of the ranks on a machine use an equal number of the cores, unless the environment already says how many."""
    if not {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"} & os.environ.keys():
        os.environ["OPENBLAS_NUM_THREADS"] = str(max(1, cores // processes))


def mpiexec() -> str | None:
    """The launcher beside this Python, else the one on PATH."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def command(processes: int, program: list[str], launcher: str) -> list[str]:
    """The command that starts `program` as so many ranks on this machine, also as root and with more ranks than cores."""
    flags = ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]  # threads are divided by share_cores
    if os.geteuid() == 0:
        flags.append("--allow-run-as-root")
    return [launcher, *flags, "-n", str(processes), *program]


def start(processes: int, arguments: list[str], again: str) -> int:
    """Run `course` with these arguments as so many ranks on this machine, and show what they say -> exit status.

    again: what to type to go on after a rank was killed. Ctrl-C and SIGTERM reach all ranks, who stop after their step.
    Raises ValueError or RuntimeError with a sentence.
    """
    if processes < 1:
        raise ValueError(f"--processes is {processes}, but must be 1 or more.")
    launcher = mpiexec()
    if launcher is None or importlib.util.find_spec("mpi4py") is None:
        raise RuntimeError(f"Training on several processes needs MPI, which is not here: {pip_command('many')}")
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    if sys.stderr.isatty():  # rank 0 writes into a pipe, and cannot see that it ends here
        environment |= {"COURSE_TERMINAL": "1", "COLUMNS": str(shutil.get_terminal_size().columns)}
    program = [sys.executable, "-m", "course_lib.cli", *arguments]
    job = subprocess.Popen(command(processes, program, launcher), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           env=environment, start_new_session=True)  # fmt: skip
    received: list[signal.Signals] = []

    def on_signal(number: int, frame: object) -> None:
        received.append(signal.Signals(number))
        job.send_signal(signal.SIGUSR1 if len(received) == 1 else signal.SIGTERM)  # mpiexec hands the first one on

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        said = _show(job)
        status = job.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if job.poll() is None:
            job.terminate()
    if received:
        return 128 + received[0]
    if found := KILLED.search(" ".join(said.split())):
        rank, process, node, number = found.groups()
        name = signal.Signals(int(number)).name if int(number) in list(signal.Signals) else number
        print(
            f"Rank {rank} (process {process} on {node}) was killed by {name}, so all {processes} ranks have ended. To go on from "
            f"the last checkpoint: {again}",
            file=sys.stderr,
        )  # fmt: skip
    elif status and "MPI_ABORT" not in said and said:
        print(said, file=sys.stderr)
    return status


def _show(job: subprocess.Popen) -> str:
    """Pass on what the ranks write to standard error as it comes; returns what mpiexec itself had to say."""
    kept, rest, inside = [], b"", False
    while chunk := os.read(job.stderr.fileno(), 1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(RULE):
                inside = not inside
            elif inside:
                kept.append(line)
            else:
                sys.stderr.buffer.write(line + b"\n")
        if rest and not inside and not rest.startswith(b"-"):
            sys.stderr.buffer.write(rest)  # a bar draws itself on one line, again and again
            rest = b""
        sys.stderr.buffer.flush()
    sys.stderr.buffer.write(rest)
    return b"\n".join(kept).decode(errors="replace")
