"""Refusals that several settings share, and what they rest on."""

from __future__ import annotations

from assay.machine.document import Program
from assay.machine.elf import Ident
from assay.records import Domain, Value
from assay.settings.base import Refused

STATIC_OBSTACLE = "is linked statically: nothing can be preloaded"
"""What is said of a program that has no loader (ld.so(8))."""


def preload_obstacle(program: Program, arch: str) -> str | None:
    """Return why nothing can be preloaded into a program, as a predicate; none where it can.

    The libraries are built with glibc, for ``arch`` (as ``uname -m`` names it).
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
        how = "is built with" if program.sanitizers else "was seen to run code built with"
        return (
            f"{how} {flags}, whose runtime has an allocator of its own and must be the"
            " first that is loaded: nothing can be preloaded"
        )
    return None


def is_preloadable(path: str) -> bool:
    """Whether ld.so(8), which splits ``LD_PRELOAD`` and knows no escape, can read it there."""
    return not set(path) & set(" :\t\n")


def out_of_domain(name: str, value: Value, domain: Domain) -> Refused:
    """The value is none that the setting has here."""
    return Refused(f"{name} cannot be {value!r} here", f"It takes {domain}.")
