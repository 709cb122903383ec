"""CPU lists on the kernel's command line.

Format: ``Documentation/admin-guide/kernel-parameters.rst``, "cpu lists": besides the format of
kernel files, ``all``, and ``N`` for the last CPU; ``isolcpus=`` starts with flags.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.machine.boot import argument_name
from assay.machine.cpulist import parse_list

FLAGS = frozenset({"domain", "nohz", "managed_irq"})
"""Flags of ``isolcpus=``; the default is ``domain``."""


def values_of(name: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """Return all values of a boot argument; dashes and underscores are the same."""
    matching = (argument for argument in arguments if argument_name(argument) == name)
    return tuple(argument.partition("=")[2] for argument in matching)


def flags_of(value: str) -> frozenset[str]:
    """Return the flags of a value of ``isolcpus=``, or the default."""
    found = frozenset(part for part in value.split(",") if part in FLAGS)
    return found or frozenset({"domain"})


def cpus_of(value: str, last: int) -> frozenset[int]:
    """Return the CPUs of a value.

    Args:
        value: value with or without flags.
        last: highest possible CPU number of the host.

    Raises:
        InvalidInputError: the value is not a list.
    """
    parts = [part for part in value.split(",") if part not in FLAGS]
    text = ",".join(parts).replace("all", f"0-{last}")
    return frozenset(parse_list(re.sub(r"\bN\b", str(last), text)))
