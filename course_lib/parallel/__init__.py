"""Many processes, one model: communicators, and what trains with them.

results = parallel.virtual(4, function)     function(communicator) on four virtual ranks of this process
communicator = parallel.world("cpu")        of the processes that mpiexec started; of one, if nothing did
"""

from course_lib.parallel.communicator import (
    Alone,
    CommunicationError,
    Communicator,
    Deadlock,
    Mismatch,
    RankFailed,
    Traffic,
)
from course_lib.parallel.launch import launched
from course_lib.parallel.virtual import virtual


def train(preset: str | None = None, **settings):
    """Train on every rank of a communicator: training.py in this folder."""
    from course_lib.parallel import training

    return training.train(preset, **settings)


def world(device: str = "cpu") -> Communicator:
    """The communicator of the processes that mpiexec or srun started; of one process if no launcher started this one.

    device: whose arrays it takes: NCCL for "cuda", MPI for all others, which go by way of the host.
    """
    if launched() == 1:
        return Alone()
    from course_lib.parallel.mpi import Mpi

    if device != "cuda":
        return Mpi()
    import cupy

    from course_lib.parallel.launch import local_rank
    from course_lib.parallel.nccl import Nccl

    cupy.cuda.Device(local_rank()[0] % cupy.cuda.runtime.getDeviceCount()).use()
    return Nccl(Mpi())


__all__ = [
    "Alone", "CommunicationError", "Communicator", "Deadlock", "Mismatch", "RankFailed", "Traffic", "train", "virtual",
    "world",
]  # fmt: skip
