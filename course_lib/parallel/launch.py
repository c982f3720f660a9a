"""How ranks come to be: what an engine's launcher says of this process, and the command that starts ranks on this machine.

    mpiexec -n 4 course train --preset 12m                         four ranks on this machine
    mpiexec -n 8 --hostfile hosts course train --preset 12m        on many: one line for each, "name slots=4"
    srun -n 8 --mpi=pmix course train --preset 12m                 under Slurm

All three start the same command N times; `course train --processes N` says the first of them itself. Open MPI sends no
environment to other machines unless asked: -x NAME. The folder of the run must be one that rank 0 can write to.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

MISSING = "Training with several processes needs MPI, which is not installed here: {command}"


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
    """Let each of the ranks on a machine use its share of the cores, unless the environment already says how many."""
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
