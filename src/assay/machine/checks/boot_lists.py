"""Lists of CPUs on the kernel's command line.

Format: ``Documentation/admin-guide/kernel-parameters.rst``, "cpu lists": besides what files of the
kernel hold, ``all``, and ``N`` for the last CPU; ``isolcpus=`` has flags in front.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.machine.boot import argument_name
from assay.machine.cpulist import parse_list

FLAGS = frozenset({"domain", "nohz", "managed_irq"})
"""Of ``isolcpus=``; without any it is ``domain``."""


def values_of(name: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """The values of a boot argument, as often as it is there; dashes and underscores are alike."""
    mine = (argument for argument in arguments if argument_name(argument) == name)
    return tuple(argument.partition("=")[2] for argument in mine)


def flags_of(value: str) -> frozenset[str]:
    """The flags of a value of ``isolcpus=``, with the one that holds without any."""
    found = frozenset(part for part in value.split(",") if part in FLAGS)
    return found or frozenset({"domain"})


def cpus_of(value: str, last: int) -> frozenset[int]:
    """The CPUs that a value names.

    Args:
        value: with or without flags.
        last: the highest number that a CPU of this host can have.

    Raises:
        InvalidInputError: it is no list.
    """
    parts = [part for part in value.split(",") if part not in FLAGS]
    text = ",".join(parts).replace("all", f"0-{last}")
    return frozenset(parse_list(re.sub(r"\bN\b", str(last), text)))
