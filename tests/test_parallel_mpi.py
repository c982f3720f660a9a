"""The communicator on MPI: the same results, to the bit, as virtual ranks give; and what its debug mode finds."""

from ranks import mpiexec

WORK = """
import hashlib, numpy as np
def work(c):
    found = []
    for n, dtype in ((1, "f8"), (7, "f4"), (100_003, "f4"), (12, "i4")):
        x = (np.random.default_rng([c.rank, n]).normal(size=(n, 2)) * 100).astype(dtype)
        found += [c.all_reduce(x), c.all_gather(x), c.broadcast(x, c.size - 1)]
        counts = [n] + [0] * (c.size - 1)
        part = c.reduce_scatter(x, counts)
        found += [part, c.reduce_scatter(x, counts, onto=part), c.all_gather(x[: c.rank], range(c.size)) if n > 3 else x]
        pending = [c.start_all_reduce(x + i) for i in range(3)]
        onto = np.full(2 * n // c.size + (c.rank < 2 * n % c.size), 3, dtype)
        pending += [c.start_all_gather(x), c.start_all_reduce(x, onto), c.start_reduce_scatter(x, counts, part)]
        c.barrier()
        found += [one.wait() for one in reversed(pending)]
        c.send(x[: c.rank + 1], (c.rank + 1) % c.size)
        found.append(c.recv((c.rank - 1) % c.size))
    found.append(c.all_reduce(np.float32(c.rank)))
    return hashlib.sha256(b"".join(str((a.shape, a.dtype)).encode() + a.tobytes() for a in found)).hexdigest(), c.traffic
"""


def test_mpi_and_virtual_ranks_give_the_same_bits_and_count_the_same():
    scope: dict = {}
    exec(WORK, scope)
    from course_lib import parallel

    code = (
        WORK
        + """
from course_lib import parallel
communicator = parallel.world("cpu")
digest, traffic = work(communicator)
print(communicator.rank, digest, traffic.messages, traffic.bytes, flush=True)
"""
    )
    for size in (2, 3):
        expected = [f"{rank} {digest} {traffic.messages} {traffic.bytes}"
                    for rank, (digest, traffic) in enumerate(parallel.virtual(size, scope["work"]))]  # fmt: skip
        done = mpiexec(size, code)
        assert sorted(done.stdout.split("\n")[:-1]) == expected, done.stderr


def test_the_debug_mode_finds_a_mismatch_and_names_ranks_and_lines():
    done = mpiexec(2, """
        import numpy as np
        from course_lib import parallel
        c = parallel.world()
        c.all_reduce(np.zeros(3))
        try:
            c.all_reduce(np.zeros(3)) if c.rank == 0 else c.all_gather(np.zeros(3))
        except parallel.Mismatch as error:
            print(str(error).replace(chr(10), "|"), flush=True)
    """, COURSE_DEBUG_COLLECTIVES="1")  # fmt: skip
    assert "rank 0 calls all_reduce of float64 (3,), this cell, line 7|  rank 1 calls all_gather" in done.stdout, done
    assert "in collective 2." in done.stdout


def test_the_debug_mode_finds_a_deadlock_and_says_who_waits_for_what():
    done = mpiexec(3, """
        import numpy as np
        from course_lib import parallel
        c = parallel.world()
        try:
            if c.rank == 2:
                c.finish()
            else:
                c.recv(1 - c.rank) if c.rank else c.barrier()
        except parallel.Deadlock as error:
            print(str(error).replace(chr(10), "|"), flush=True)
        from mpi4py import MPI
        MPI.COMM_WORLD.Barrier()
    """, COURSE_DEBUG_COLLECTIVES="1")  # fmt: skip
    assert "rank 0 waits in barrier, this cell, line 9|  rank 1 waits in recv from rank 0" in done.stdout, done
    assert "rank 2 has finished" in done.stdout
