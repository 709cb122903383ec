"""State of the boot: kernel command line, and files that show its effects.

Interfaces: ``proc_cmdline(5)``, ``random(4)`` (``boot_id``),
``Documentation/ABI/testing/sysfs-devices-system-cpu`` (``nohz_full``, ``isolated``, ``smt``,
``vulnerabilities``), ``Documentation/admin-guide/kernel-parameters.rst``
(``/sys/module/*/parameters``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.machine.boot import BOOT_ID, digest, digested_arguments, is_digest, normalised_name
from assay.machine.document import Boot
from assay.machine.kernel_config import performance_options
from assay.machine.root import Root

CPU = "/sys/devices/system/cpu"
VULNERABILITIES = f"{CPU}/vulnerabilities"
CLOCK_SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
COMMAND_LINE = "/proc/cmdline"
ADDRESS_RANDOMISATION = "/proc/sys/kernel/randomize_va_space"
PREEMPT = "/sys/kernel/debug/sched/preempt"

MAX_READ_BYTES = 4096
"""Maximum number of bytes read from one of these files."""
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
    ADDRESS_RANDOMISATION,
    PREEMPT,
)


def read_boot(root: Root, release: str | None = None) -> Boot:
    """Read the state of the boot.

    Args:
        root: root of the host.
        release: release of its kernel, to read the options of its configuration too.
    """
    words = digested_arguments(root)
    found = read_files(root, _paths(root, words))
    config = {} if release is None else performance_options(root, release)
    return Boot(id=_boot_id(root), arguments=words, files=found, config=config)


def read_files(root: Root, paths: Iterable[str]) -> dict[str, str]:
    """Read the files that show effects of boot arguments; missing ones are left out."""
    texts = {path: root.read_text(path, MAX_READ_BYTES) for path in sorted(paths)}
    return {path: text for path, text in texts.items() if text is not None}


def parameter_file(name: str) -> str | None:
    """Return the file of a module parameter such as ``zswap.enabled``, else ``None``."""
    if not _MODULE.fullmatch(name):
        return None
    module, _, parameter = normalised_name(name).partition(".")
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
    """Return a digest: the kernel's own boot id also occurs in logs of the host."""
    text = root.read_text(BOOT_ID, 64)
    return digest(text)[:_ID_DIGITS] if text else None
