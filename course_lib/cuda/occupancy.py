"""Occupancy: how many warps a multiprocessor of a card holds, and which limit it is that allows no more.

The rules are those of NVIDIA's cuda_occupancy.h, for compute capability 7.5 to 9.0; tests/simulator/test_profile.py compares.
Limits: no clusters, and shared memory as large as the card can make it, as a launch asks for it.
"""

from dataclasses import dataclass

from course_lib.cuda.cards import Card

WARP = 32
QUARTERS = 4  # each holds a quarter of the registers and of the warps
REGISTER_UNIT = 256  # registers are given to a warp in units of this
UNLIMITED = 1 << 30


@dataclass(frozen=True)
class Occupancy:
    """Blocks that each limit allows on a multiprocessor, and what follows. registers: None if the registers are not known."""

    block_limit: int
    warp_limit: int
    register_limit: int | None
    shared_limit: int
    warps_per_block: int
    most_warps: int

    @property
    def blocks(self) -> int:
        """Resident blocks: the smallest limit."""
        return min(self.block_limit, self.warp_limit, self.shared_limit, self.register_limit or self.block_limit)

    @property
    def limited_by(self) -> tuple[str, ...]:
        """What allows no more, in the words of the limits."""
        limits = {"blocks": self.block_limit, "warps": self.warp_limit, "registers": self.register_limit,
                  "shared memory": self.shared_limit}  # fmt: skip
        return tuple(name for name, limit in limits.items() if limit == self.blocks)

    @property
    def theoretical(self) -> float:
        """Resident warps, as a fraction of those that the card can hold."""
        return self.blocks * self.warps_per_block / self.most_warps

    def achieved_at_most(self, blocks: int, multiprocessors: int) -> float:
        """The mean over a launch of `blocks` that all take equally long: the last wave may leave multiprocessors half full."""
        per_wave = self.blocks * multiprocessors
        waves, rest = divmod(blocks, per_wave)
        busy = waves * multiprocessors + min(
            rest, multiprocessors
        )  # multiprocessors with at least one block, wave by wave
        return blocks * self.warps_per_block / (busy * self.most_warps)


def occupancy(card: Card, threads: int, registers: int | None, shared: int) -> Occupancy:
    """Of blocks of `threads`, each with so many registers, and `shared` bytes, of fixed size and dynamic, for a block.

    Raises ValueError for a block that the card cannot run.
    """
    warps = -(-threads // WARP)
    limit = None
    if registers is not None:
        of_warp = _round_up(registers * WARP, REGISTER_UNIT)
        fits = (
            of_warp * _round_up(warps, QUARTERS) <= card.registers
        )  # the hardware checks a block as if it filled all quarters
        limit = card.registers // QUARTERS // of_warp * QUARTERS // warps if fits else 0
    shared_of_block = _round_up(shared + reserved(card), 128 if card.capability >= (8, 0) else 256)
    found = Occupancy(
        card.blocks, card.threads // WARP // warps, limit, card.shared // shared_of_block if shared_of_block else UNLIMITED,
        warps, card.threads // WARP,
    )  # fmt: skip
    if limit == 0 or shared > card.shared_per_block or not found.warp_limit:
        raise ValueError(
            f"{card.name} cannot run a block of {threads} threads with {registers or 'unknown'} registers each and {shared:,} "
            f"bytes of shared memory: it has {card.registers:,} registers, and {card.shared_per_block:,} bytes for a block."
        )
    return found


def reserved(card: Card) -> int:
    """Bytes of shared memory that the driver keeps of each block."""
    return 1024 if card.capability >= (8, 0) else 0


def _round_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
