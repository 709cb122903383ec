"""``gpus``: GPUs that are visible to the program.

Interfaces: ``CUDA_VISIBLE_DEVICES`` with ``CUDA_DEVICE_ORDER`` (CUDA C++ Programming Guide, "CUDA
environment variables"), ``ROCR_VISIBLE_DEVICES`` (ROCm, "GPU isolation techniques", which
recommends it on Linux) and ``ZE_AFFINITY_MASK`` with ``ZE_ENABLE_PCI_ID_DEVICE_ORDER`` (oneAPI
Level Zero specification). ``HIP_VISIBLE_DEVICES`` is not set: HIP numbers the devices that
``ROCR_VISIBLE_DEVICES`` leaves, so that both together would select twice. Evidence: *set*.

Not tested on a GPU: the behaviour of the runtimes is taken from their documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from assay.errors import InvalidInputError
from assay.machine.cpulist import format_list
from assay.machine.document import Machine
from assay.machine.gpus import Gpu, ambiguity, find_gpus
from assay.machine.root import LIVE, Root
from assay.records import (
    AnyText,
    Configuration,
    Domain,
    EnvSet,
    Grant,
    Level,
    Plan,
    RunFacts,
)
from assay.settings.base import BaseSetting, Refused, Resolved, set_variables
from assay.settings.evidence import judge_environment, without_user_variables

_VARIABLE = {
    "nvidia": "CUDA_VISIBLE_DEVICES",
    "amd": "ROCR_VISIBLE_DEVICES",
    "intel": "ZE_AFFINITY_MASK",
}
_ORDER: dict[str, tuple[tuple[str, str], ...]] = {
    # CUDA orders the fastest GPU first by default.
    "nvidia": (("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),),
    "amd": (),
    "intel": (("ZE_ENABLE_PCI_ID_DEVICE_ORDER", "1"),),
}
VARIABLES = frozenset(
    {*_VARIABLE.values(), *(name for order in _ORDER.values() for name, _ in order)}
)
"""All variables that select visible GPUs."""
_NONE = "none"
_DOMAIN = AnyText(
    "a list such as 0,2 in the order of PCI addresses, nvidia:0, amd:0, intel:0, or none"
)


class VisibleGpus(BaseSetting, frozen=True):
    """``gpus``: the visible GPUs, or none."""

    name: str = "gpus"
    summary: str = "GPUs that are visible to the program: a list such as 0,2, or none"
    evidence: ClassVar[Level] = Level.SET
    not_suggested: ClassVar[str] = "the user decides which GPUs a program may use"
    root: Root = LIVE
    """Root of the files that list GPUs."""

    def domain(self, machine: Machine) -> Domain:
        """Return numbers of GPUs; ``resolve`` reports invalid ones."""
        return _DOMAIN

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the variable of the runtime for these GPUs."""
        gpus = find_gpus(self.root)
        if not gpus:
            return Refused(
                "no GPU was found",
                "GPUs are listed in /proc/driver/nvidia/gpus (NVIDIA) and in /sys/class/drm"
                " (amdgpu, i915, xe).",
            )
        text = str(config[self.name])
        if text in ("", _NONE):
            return _hidden(gpus)
        vendor, colon, rest = text.rpartition(":")
        vendors = sorted({gpu.vendor for gpu in gpus})
        ambiguous = ambiguity(gpus)
        if not colon and ambiguous is not None:
            return Refused(ambiguous, f"Write gpus={vendors[0]}:{rest}.")
        vendor = vendor or vendors[0]
        if vendor not in vendors:
            return Refused(f"no GPU of {vendor!r} was found", f"Available: {', '.join(vendors)}.")
        numbers = _numbers(rest)
        if isinstance(numbers, Refused):
            return numbers
        present = [gpu.index for gpu in gpus if gpu.vendor == vendor]
        foreign = [number for number in numbers if number not in present]
        if foreign:
            return Refused(
                f"no GPU {foreign[0]} of {vendor} was found", f"Available: {format_list(present)}."
            )
        listed = ",".join(map(str, numbers))
        return Resolved(set_variables({_VARIABLE[vendor]: listed, **dict(_ORDER[vendor])}))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the variables are in the environment."""
        set_here = {
            a.name: a.value for a in plan.actions if isinstance(a, EnvSet) and a.name in VARIABLES
        }
        return judge_environment(config[self.name], without_user_variables(set_here, config), facts)


def variables_for(numbers: tuple[int, ...], root: Root = LIVE) -> dict[str, str]:
    """Return the variables that make only these GPUs visible to a program.

    Args:
        numbers: GPUs of one vendor, in the order of PCI addresses; an empty tuple hides all.
        root: root of the files that list GPUs. If none is found, as in some containers, the
            variables of all runtimes are set.
    """
    vendors = {gpu.vendor for gpu in find_gpus(root)} & _VARIABLE.keys() or _VARIABLE.keys()
    listed = ",".join(map(str, numbers))
    found = {_VARIABLE[vendor]: listed for vendor in sorted(vendors)}
    for vendor in sorted(vendors):
        found |= dict(_ORDER[vendor])
    return found


def visible_in(env: Mapping[str, str]) -> frozenset[int] | None:
    """Return the GPUs that a batch system assigned to this process; ``None`` without numbers."""
    for name in _VARIABLE.values():
        words = env.get(name, "").split(",")
        if words != [""] and all(word.isascii() and word.isdigit() for word in words):
            return frozenset(map(int, words))
    return None


def _numbers(text: str) -> tuple[int, ...] | Refused:
    """Return the numbers in the given order, which is the program's own numbering."""
    words = text.split(",")
    if not all(word.isascii() and word.isdigit() for word in words):
        return Refused(f"invalid value: gpus={text!r}", f"Use {_DOMAIN}.")
    numbers = tuple(map(int, words))
    if len(set(numbers)) < len(numbers):
        raise InvalidInputError(f"gpus={text} contains a GPU twice.", "List each GPU once.")
    return numbers


def _hidden(gpus: tuple[Gpu, ...]) -> Resolved:
    """Return variables for all runtimes; an empty list hides all GPUs from CUDA and ROCm."""
    intel = sum(gpu.vendor == "intel" for gpu in gpus)
    actions = [EnvSet(name=_VARIABLE[vendor], value="") for vendor in ("nvidia", "amd")]
    if not intel:
        return Resolved(tuple(actions))
    # The specification has no value for none; a number that no GPU has selects none.
    mask = EnvSet(name=_VARIABLE["intel"], value=str(intel))
    return Resolved(
        (*actions, mask),
        degraded="Level Zero has no value for none: a nonexistent number is set",
    )
