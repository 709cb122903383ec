"""``cpu.isa``: instruction set of libraries with several code paths.

A level has two effects: it selects the kernels of OpenBLAS, and, below the highest level of the
machine, it limits oneDNN, oneMKL and glibc's string functions. The highest level has no limit: it
only corrects OpenBLAS, whose detection fails for processors newer than itself (Debian 12's 0.3.21
mistakes a recent Xeon for a Prescott).

Sources: OpenBLAS ``driver/others/dynamic.c`` and ``dynamic_arm64.c`` (core types), oneDNN "CPU
Dispatcher Control", oneMKL "MKL_ENABLE_INSTRUCTIONS", glibc manual "Hardware Capability Tunables"
with the names of ``sysdeps/x86/cpu-tunables.c``.

Evidence: *seen* if OpenBLAS reports its core type: ``OPENBLAS_VERBOSE=2``, which the launcher's
document adds, makes it print ``Core: NAME`` on standard error, and ``Core not found`` for an
unsupported one. Otherwise *set*.
"""

from __future__ import annotations

import re

import msgspec

from assay.machine.document import Machine, Program
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    GrantStatus,
    Level,
    Plan,
    RunFacts,
)
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion, set_variables
from assay.settings.evidence import granted, judge_environment, refused, without_user_variables
from assay.settings.pools import linked_runtimes

CORE_TYPE = "OPENBLAS_CORETYPE"

_READERS = {"openblas": "OpenBLAS", "onednn": "oneDNN", "mkl": "oneMKL"}


class IsaLevel(msgspec.Struct, frozen=True):
    """One level: required processor flags, and the names used by libraries."""

    flags: frozenset[str]
    core: str
    caps: dict[str, str] = msgspec.field(default_factory=dict)
    hwcaps: tuple[str, ...] = ()
    """glibc features that this level disables."""


_AVX512_HWCAPS = ("AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL")
_AVX2_HWCAPS = (*_AVX512_HWCAPS, "AVX2")
_AVX_HWCAPS = (*_AVX2_HWCAPS, "AVX")

_SSE42 = frozenset({"sse4_2", "popcnt"})
_AVX = _SSE42 | {"avx"}
_AVX2 = _AVX | {"avx2", "fma", "bmi2"}
_AVX512 = _AVX2 | {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}


def _caps(onednn: str, mkl: str) -> dict[str, str]:
    return {"ONEDNN_MAX_CPU_ISA": onednn, "MKL_ENABLE_INSTRUCTIONS": mkl}


_X86: dict[str, IsaLevel] = {
    "sse4.2": IsaLevel(_SSE42, "Nehalem", _caps("SSE41", "SSE4_2"), _AVX_HWCAPS),
    "avx": IsaLevel(_AVX, "Sandybridge", _caps("AVX", "AVX"), _AVX2_HWCAPS),
    "avx2": IsaLevel(_AVX2, "Haswell", _caps("AVX2", "AVX2"), _AVX512_HWCAPS),
    # Mostly the same kernels as Haswell, with block sizes for AMD's caches.
    "avx2-zen": IsaLevel(_AVX2, "Zen", _caps("AVX2", "AVX2"), _AVX512_HWCAPS),
    # Cooperlake and SapphireRapids differ from it only in bfloat16, and 0.3.21 rejects both ("Core
    # not found").
    "avx512": IsaLevel(_AVX512, "SkylakeX"),
}
_ARM: dict[str, IsaLevel] = {
    "armv8": IsaLevel(frozenset({"asimd"}), "ARMV8"),
    "armv8.2": IsaLevel(frozenset({"asimd", "atomics", "asimddp"}), "NEOVERSEN1"),
    "sve": IsaLevel(frozenset({"asimd", "atomics", "sve"}), "NEOVERSEV1"),
}
_LEVELS: dict[str, dict[str, IsaLevel]] = {"x86_64": _X86, "aarch64": _ARM}

_CORE_TYPE = re.compile(r"^Core: (\S+)", re.MULTILINE)
_NOT_FOUND = re.compile(r"^Core not found: (\S+)", re.MULTILINE)


class CpuIsa(BaseSetting, frozen=True):
    """``cpu.isa``: the instruction set of libraries."""

    name: str = "cpu.isa"
    summary: str = "instruction set: core type of OpenBLAS, and a limit for other libraries"

    def domain(self, machine: Machine) -> Domain:
        """Return the levels that this processor supports, lowest first."""
        return Choices(tuple(available_levels(machine)), ordered=True)

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest levels if the program uses a library that selects code at run time."""
        readers = linked_runtimes(program, _READERS)
        if not readers:
            return "the program links neither OpenBLAS nor oneDNN nor oneMKL"
        levels = list(available_levels(machine))
        if not levels:
            return f"no level is known for {machine.arch} with the flags of this processor"
        if "openblas" not in program.runtimes:
            levels = [name for name in levels if name != "avx2-zen"][-2:-1]
            if not levels:
                return "the processor supports only one level"
            reason = f"{' and '.join(readers)} may be faster without the widest vectors"
        else:
            levels = _worth_trying(levels, machine)
            reason = "OpenBLAS selects kernels from a list of processors that may lack this one"
        return Suggestion(Choices(tuple(levels), ordered=True), reason)

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return one variable for each library, and a mask for glibc."""
        value = str(config[self.name])
        known = _LEVELS.get(machine.arch, {})
        if value not in known:
            return Refused(
                f"invalid value on {machine.arch}: cpu.isa={value!r}",
                "Allowed values:"
                f" {', '.join(available_levels(machine)) or 'none on this machine'}.",
            )
        missing = sorted(known[value].flags - machine.flags)
        if missing:
            return Refused(
                f"the processor lacks {', '.join(missing)}",
                f"Supported levels: {', '.join(available_levels(machine)) or 'none'}.",
            )
        return Resolved(set_variables(_variables(value, machine)))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the report of OpenBLAS, otherwise by the environment."""
        value = config[self.name]
        level = _X86.get(str(value)) or _ARM.get(str(value))
        if level is None:
            return refused(value, Level.SET, "unknown level")
        expected = without_user_variables({CORE_TYPE: level.core}, config)
        held = judge_environment(value, expected, facts)
        errors = facts.stderr_head or ""
        cores, missing = _CORE_TYPE.findall(errors), _NOT_FOUND.findall(errors)
        if missing:
            return refused(
                value,
                Level.SEEN,
                f"this OpenBLAS has no core type {missing[0]}",
                f"it selected {cores[-1]}" if cores else None,
            )
        if not cores or held.status is GrantStatus.REFUSED:
            return held
        if any(core.lower() != level.core.lower() for core in cores):
            return refused(value, Level.SEEN, f"not {level.core}", f"OpenBLAS selected {cores[-1]}")
        return granted(value, Level.SEEN, f"OpenBLAS selected {cores[-1]}")


def available_levels(machine: Machine) -> dict[str, IsaLevel]:
    """Return the levels that the processor's flags allow, lowest first."""
    known = _LEVELS.get(machine.arch, {})
    return {name: isa for name, isa in known.items() if isa.flags <= machine.flags}


def _variables(value: str, machine: Machine) -> dict[str, str]:
    levels = available_levels(machine)
    level = levels[value]
    variables = {CORE_TYPE: level.core}
    highest = list(levels.values())[-1]
    if level.flags == highest.flags:
        return variables
    off = [name for name in level.hwcaps if _flag(name) in machine.flags]
    if off:
        variables["GLIBC_TUNABLES"] = f"glibc.cpu.hwcaps={','.join(f'-{name}' for name in off)}"
    return variables | level.caps


def _flag(hwcap: str) -> str:
    return hwcap.lower()


def _worth_trying(levels: list[str], machine: Machine) -> list[str]:
    """Return the two highest levels, and on AMD also Zen's block sizes."""
    plain = [name for name in levels if name != "avx2-zen"]
    zen = ["avx2-zen"] if "avx2-zen" in levels and "AMD" in machine.model else []
    chosen = {*plain[-2:], *zen}
    return [name for name in levels if name in chosen]
