"""Remedies of the usual kinds: a command for root, a value into a file, a boot argument."""

from __future__ import annotations

from collections.abc import Callable

from assay.machine.checks.finding import Remedy, Right
from assay.machine.checks.host import Host


def root_remedy(command: str, setting: str | None = None, note: str | None = None) -> Remedy:
    """A command that needs root."""
    return Remedy(command, Right.ROOT, setting, note, command=True)


def write_remedy(path: str, value: str, setting: str | None = None) -> Remedy:
    """One value into a file, or into all that a pattern names.

    Args:
        path: a file, or a pattern of the shell.
        value: what is written.
        setting: assay's own that does the same, as ``name=value``.
    """
    if path.startswith("/proc/sys/"):
        name = path.removeprefix("/proc/sys/").replace("/", ".")
        return root_remedy(f"sysctl -w {name}={value}", setting)
    into = f"| tee {path}" if "*" in path else f"> {path}"
    return root_remedy(f"echo {value} {into}", setting)


def word_remedy(path: str, setting: str | None = None) -> Callable[[str, tuple[str, ...]], Remedy]:
    """A remedy that writes the wanted word as it is, wherever another stands.

    Args:
        path: a file, or a pattern of the shell.
        setting: the name of assay's own that takes the same word.
    """
    return lambda word, _: write_remedy(path, word, f"{setting}={word}" if setting else None)


def bound_remedy(path: str, setting: str | None = None) -> Callable[[float, Host], Remedy]:
    """A remedy that writes the bound that is not kept."""
    return lambda bound, _: write_remedy(
        path, f"{bound:g}", f"{setting}={bound:g}" if setting else None
    )


def boot_remedy(argument: str, note: str | None = None) -> Remedy:
    """A word for the kernel's command line."""
    return Remedy(f"Boot with {argument}", Right.REBOOT, note=note)
