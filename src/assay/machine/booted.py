"""Booted: how the running kernel was booted, and what shows it.

Interfaces: ``proc_cmdline(5)``, ``random(4)`` (``boot_id``), ``Documentation/ABI/testing/
sysfs-devices-system-cpu`` (``nohz_full``, ``isolated``, ``smt``, ``vulnerabilities``),
``Documentation/admin-guide/kernel-parameters.rst`` (``/sys/module/*/parameters``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.machine.boot import is_known
from assay.machine.document import Boot
from assay.machine.processor import boot_arguments
from assay.machine.root import Root

CPU = "/sys/devices/system/cpu"
FLAWS = f"{CPU}/vulnerabilities"
CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
COMMAND_LINE = "/proc/cmdline"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
RANDOMIZE = "/proc/sys/kernel/randomize_va_space"
PREEMPT = "/sys/kernel/debug/sched/preempt"

MOST_READ_BYTES = 4096
"""Of one of these files."""
DIGITS = 4
"""Hexadecimal digits of the digest of a value: a change goes unseen once in 65,536, and a secret is
not given away by sixteen bits."""
_ID_DIGITS = 12
_DIGEST = re.compile(r"\*[0-9a-f]{4}")
_MODULE = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_]+", re.ASCII)

_FILES = (
    f"{CPU}/isolated",
    f"{CPU}/nohz_full",
    f"{CPU}/online",
    f"{CPU}/possible",
    f"{CPU}/smt/control",
    f"{CPU}/intel_pstate/status",
    f"{CPU}/amd_pstate/status",
    CLOCK,
    RANDOMIZE,
    PREEMPT,
)


def read_boot(root: Root) -> Boot:
    """How a host was booted."""
    words = tuple(shown(word) for word in boot_arguments(root))
    return Boot(id=_boot_id(root), words=words, found=read_files(root, _paths(root, words)))


def read_files(root: Root, paths: Iterable[str]) -> dict[str, str]:
    """What files hold that show how a host was booted; those that are not there are left out."""
    texts = {path: root.read_text(path, MOST_READ_BYTES) for path in sorted(paths)}
    return {path: text for path, text in texts.items() if text is not None}


def plain(name: str) -> str:
    """The name of an argument in one spelling: the kernel takes dashes for underscores."""
    return name.replace("-", "_")


def shown(word: str) -> str:
    """A word of the command line as a machine document holds it.

    The value of an argument that assay does not know is a digest; one that is a digest stays so.
    """
    name, equals, value = word.partition("=")
    if not equals or is_known(name) or _DIGEST.fullmatch(value):
        return word
    return f"{name}=*{_digest(value)[:DIGITS]}"


def is_hidden(value: str) -> bool:
    """Whether a value is only a digest of one, or one of several is."""
    return any(map(_DIGEST.fullmatch, value.split()))


def parameter_file(name: str) -> str | None:
    """The file that shows an argument of a module: ``zswap.enabled``; ``None`` of all others."""
    if not _MODULE.fullmatch(name):
        return None
    module, _, parameter = plain(name).partition(".")
    return f"/sys/module/{module}/parameters/{parameter}"


def _paths(root: Root, words: tuple[str, ...]) -> Iterator[str]:
    yield from _FILES
    yield from (f"{FLAWS}/{name}" for name in root.listdir(FLAWS))
    for word in words:
        name, _, value = word.partition("=")
        path = parameter_file(name)
        if path is not None and not is_hidden(value):
            yield path


def _boot_id(root: Root) -> str | None:
    """A digest: the kernel's own number of a boot is in logs of the host as well."""
    text = root.read_text(BOOT_ID, 64)
    return _digest(text)[:_ID_DIGITS] if text else None


def _digest(text: str) -> str:
    import hashlib  # a run under a setting of its own process alone needs none

    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()
