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
from course_lib.parallel.virtual import virtual

__all__ = [
    "Alone",
    "CommunicationError",
    "Communicator",
    "Deadlock",
    "Mismatch",
    "RankFailed",
    "Traffic",
    "virtual",
]
