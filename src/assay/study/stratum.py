"""Strata: the conditions under which samples may be pooled."""

from __future__ import annotations

from assay import __version__
from assay.errors import NotPossible
from assay.machine.document import Machine
from assay.machine.reader import fingerprint
from assay.records import Stratum, to_builtins


def stratum_of(number: int, machine: Machine, program_digest: str | None) -> Stratum:
    """The conditions at hand."""
    return Stratum(
        number=number,
        program_digest=program_digest,
        kernel=machine.kernel,
        cpus=machine.allowed,
        default_state=machine.default_state,
        engine=__version__,
        machine=fingerprint(machine),
        model=machine.model,
        host=to_builtins(machine),
    )


def differences(then: Stratum, now: Stratum) -> list[str]:
    """What changed between two strata, one line each."""
    found = []
    for name, label in (
        ("machine", "the machine"),
        ("program_digest", "the program"),
        ("kernel", "the kernel"),
        ("cpus", "the usable CPUs"),
        ("engine", "assay's version"),
    ):
        before, after = getattr(then, name), getattr(now, name)
        if before != after:
            found.append(f"{label}: {_show(before)} then, {_show(after)} now")
    for name in sorted(then.default_state.keys() | now.default_state.keys()):
        before, after = then.default_state.get(name), now.default_state.get(name)
        if before != after:
            found.append(f"{name}: {_show(before)} then, {_show(after)} now")
    return found


def _show(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    text = str(value)
    return text[:12] if len(text) == 64 else text


def demand_same(then: Stratum, now: Stratum) -> None:
    """Refuse to pool what was measured under other conditions.

    Raises:
        NotPossible: something changed; names it.
    """
    changed = differences(then, now)
    if changed:
        raise NotPossible(
            "Samples from before and after cannot be pooled:\n    " + "\n    ".join(changed),
            "Put it back, or go on apart from them with --new-stratum.",
        )
