"""The frame of the command line leaves room for the frames of what it calls."""

import resource

from twinlink.cli.exit import _with_room

N_CALLS = 100


def callee() -> None:
    """Do nothing, in a frame of 800 bytes."""


callee.__code__ = callee.__code__.replace(co_stacksize=100)


def pages_taken(depth: int) -> int:
    """Return the pages of memory that the system hands out during a loop of calls, so many calls below this one."""
    if depth:
        return pages_taken(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(N_CALLS):
        callee()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def most_taken() -> int:
    """Return the most pages taken at any depth: 300 levels need three pieces of 16 KB."""
    return max(pages_taken(depth) for depth in range(300))


def test_a_loop_at_the_end_of_a_piece_takes_another_at_each_call() -> None:
    assert most_taken() >= N_CALLS


def test_with_room_no_loop_takes_one() -> None:
    assert _with_room(most_taken)() < N_CALLS
