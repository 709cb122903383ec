"""Constructors of common remedies: a command for root, a value for a file, a boot argument."""

from __future__ import annotations

from collections.abc import Callable

from assay.machine.checks.finding import Remedy, Right
from assay.machine.checks.host import Host


def root_remedy(command: str, setting: str | None = None, note: str | None = None) -> Remedy:
    """Return a command that needs root."""
    return Remedy(command, Right.ROOT, setting, note, command=True)


def write_remedy(path: str, value: str, setting: str | None = None) -> Remedy:
    """Return the write of one value into a file, or into all files of a pattern.

    Args:
        path: a file, or a shell pattern.
        value: value to write.
        setting: equivalent setting of assay, as ``name=value``.
    """
    if path.startswith("/proc/sys/"):
        name = path.removeprefix("/proc/sys/").replace("/", ".")
        return root_remedy(f"sysctl -w {name}={value}", setting)
    into = f"| tee {path}" if "*" in path else f"> {path}"
    return root_remedy(f"echo {value} {into}", setting)


def word_remedy(path: str, setting: str | None = None) -> Callable[[str, tuple[str, ...]], Remedy]:
    """Return a remedy that writes the wanted word into differing files.

    Args:
        path: a file, or a shell pattern.
        setting: name of the setting of assay with the same values.
    """
    return lambda word, _: write_remedy(path, word, f"{setting}={word}" if setting else None)


def bound_remedy(path: str, setting: str | None = None) -> Callable[[float, Host], Remedy]:
    """Return a remedy that writes the violated bound."""
    return lambda bound, _: write_remedy(
        path, f"{bound:g}", f"{setting}={bound:g}" if setting else None
    )


def boot_remedy(argument: str, note: str | None = None) -> Remedy:
    """Return an argument for the kernel's command line."""
    return Remedy(f"Boot with {argument}", Right.REBOOT, note=note)
