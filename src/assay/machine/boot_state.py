"""Booted: how the running kernel was booted, and what shows it.

Interfaces: ``proc_cmdline(5)``, ``random(4)`` (``boot_id``), ``Documentation/ABI/testing/
sysfs-devices-system-cpu`` (``nohz_full``, ``isolated``, ``smt``, ``vulnerabilities``),
``Documentation/admin-guide/kernel-parameters.rst`` (``/sys/module/*/parameters``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.machine.boot import BOOT_ID, digest, digested_arguments, is_digest, normalized_name
from assay.machine.document import Boot
from assay.machine.kernel_config import speed_options
from assay.machine.root import Root

CPU = "/sys/devices/system/cpu"
VULNERABILITIES = f"{CPU}/vulnerabilities"
CLOCK_SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
COMMAND_LINE = "/proc/cmdline"
ADDRESS_RANDOMIZATION = "/proc/sys/kernel/randomize_va_space"
PREEMPT = "/sys/kernel/debug/sched/preempt"

MAX_READ_BYTES = 4096
"""Of one of these files."""
_ID_DIGITS = 12
_MODULE = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_]+", re.ASCII)

_FILES = (
    f"{CPU}/isolated",
    f"{CPU}/nohz_full",
    f"{CPU}/online",
    f"{CPU}/possible",
    f"{CPU}/smt/control",
    f"{CPU}/intel_pstate/status",
    f"{CPU}/amd_pstate/status",
    CLOCK_SOURCE,
    ADDRESS_RANDOMIZATION,
    PREEMPT,
)


def read_boot(root: Root, release: str | None = None) -> Boot:
    """Read how a host was booted.

    Args:
        root: where it is read.
        release: of its kernel, where the options of its configuration are to be read as well.
    """
    words = digested_arguments(root)
    found = read_files(root, _paths(root, words))
    config = {} if release is None else speed_options(root, release)
    return Boot(id=_boot_id(root), words=words, found=found, config=config)


def read_files(root: Root, paths: Iterable[str]) -> dict[str, str]:
    """What files hold that show how a host was booted; those that are not there are left out."""
    texts = {path: root.read_text(path, MAX_READ_BYTES) for path in sorted(paths)}
    return {path: text for path, text in texts.items() if text is not None}


def parameter_file(name: str) -> str | None:
    """The file that shows an argument of a module: ``zswap.enabled``; ``None`` of all others."""
    if not _MODULE.fullmatch(name):
        return None
    module, _, parameter = normalized_name(name).partition(".")
    return f"/sys/module/{module}/parameters/{parameter}"


def _paths(root: Root, words: tuple[str, ...]) -> Iterator[str]:
    yield from _FILES
    yield from (f"{VULNERABILITIES}/{name}" for name in root.listdir(VULNERABILITIES))
    for word in words:
        name, _, value = word.partition("=")
        path = parameter_file(name)
        if path is not None and not is_digest(value):
            yield path


def _boot_id(root: Root) -> str | None:
    """A digest: the kernel's own number of a boot is in logs of the host as well."""
    text = root.read_text(BOOT_ID, 64)
    return digest(text)[:_ID_DIGITS] if text else None
