"""Frequency domains of CPUs: the files of each that several readers need.

Interface: ``Documentation/admin-guide/pm/cpufreq.rst``.
"""

from __future__ import annotations

from assay.machine.root import Root

CPUFREQ = "/sys/devices/system/cpu/cpufreq"
_FILES = (
    "cpuinfo_max_freq",
    "energy_performance_preference",
    "scaling_driver",
    "scaling_governor",
)


def domain_texts(root: Root, folder: str) -> dict[str, str]:
    """Return the texts of these files of a domain; its directory is looked up once.

    Args:
        root: root of the machine.
        folder: directory of the domain.
    """
    return root.read_texts(folder, _FILES)
