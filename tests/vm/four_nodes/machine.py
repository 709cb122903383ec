"""Configuration of the guest of this folder; the tests compare readings with it."""

from __future__ import annotations

from vm.guest import Node, Speed

NODES = (
    Node(192, "0-1"),
    Node(192, "2-3"),
    Node(192, "4-5"),
    # This size has space for an aligned page of 1 GiB.
    Node(1600, "6-7"),
    Node(64, initiator=3),
)
CPUS = "8,sockets=2,cores=2,threads=2"
WITH_CPUS = (0, 1, 2, 3)
MEMORY_ONLY = 4
DISTANCES = (
    (10, 12, 21, 21, 28),
    (12, 10, 21, 21, 28),
    (21, 21, 10, 12, 28),
    (21, 21, 12, 10, 17),
    (28, 28, 28, 17, 10),
)
NEAR, FAR, EXPANDER = Speed(80, 100), Speed(140, 50), Speed(300, 20)


def speed(initiator: int, target: int) -> Speed:
    """Return the entry of the HMAT for a pair of nodes."""
    if target == MEMORY_ONLY:
        return EXPANDER
    return NEAR if initiator == target else FAR


SPEEDS = {(i, t): speed(i, t) for i in WITH_CPUS for t in range(len(NODES))}
HUGE_ON_NODE_1 = 3
CMDLINE = f"hugepagesz=1G hugepages=3:1 hugepagesz=2M hugepages=1:{HUGE_ON_NODE_1}"
