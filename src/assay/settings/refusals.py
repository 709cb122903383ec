"""Refusals that several settings share, and their conditions."""

from __future__ import annotations

from assay.machine.document import Program
from assay.machine.programs.elf import Ident
from assay.records import Domain, Value
from assay.settings.base import Refused

STATIC_OBSTACLE = "is statically linked: nothing can be preloaded"
"""Obstacle of a program without a loader (ld.so(8))."""


def preload_obstacle(program: Program, arch: str) -> str | None:
    """Return why nothing can be preloaded into a program; ``None`` if it is possible.

    The text is a predicate of the program. The libraries are built with glibc, for ``arch`` (as
    printed by ``uname -m``).
    """
    if program.static:
        return STATIC_OBSTACLE
    ident = Ident(program.elf_machine, program.elf_bits)
    if program.elf_bits and not ident.runs_on(arch):
        return f"is a {ident} program, into which no library of {arch} can be preloaded"
    if program.loader and "ld-musl" in program.loader:
        return "uses musl, whose loader cannot map glibc's libraries"
    if names := program.sanitizers or program.sanitizers_seen:
        flags = ", ".join(f"-fsanitize={name}" for name in names)
        how = "is built with" if program.sanitizers else "ran code built with"
        return (
            f"{how} {flags}, whose runtime contains its own allocator and must be loaded first:"
            " nothing can be preloaded"
        )
    return None


def is_preloadable(path: str) -> bool:
    """Return whether ``LD_PRELOAD`` can contain a path: ld.so(8) splits it and has no escapes."""
    return not set(path) & set(" :\t\n")


def unpreloadable(path: str, remedy: str | None = None) -> Refused:
    """Return the refusal of a library that ``LD_PRELOAD`` cannot contain."""
    return Refused(f"{path!r} cannot be preloaded: its path contains a space or a colon", remedy)


def out_of_domain(name: str, value: Value, domain: Domain) -> Refused:
    """Return the refusal of a value outside the domain of a setting."""
    return Refused(f"invalid value: {name}={value!r}", f"Use {domain}.")
