"""Kernels: the readings that describe the kernel of a boot."""

from __future__ import annotations

from assay.machine.boot_state import CPU
from assay.machine.document import Machine
from assay.machine.state import STATE_FILES
from assay.records import Evidence, StudySpec
from assay.search.history.kernels import OPTION_PREFIX, kernel_evidence
from assay.settings.boot.common import FIRMWARE
from assay.settings.boot.kernel import NAME, RELEASE

KERNEL_SETTINGS = frozenset({NAME, f"{FIRMWARE}.kernel"})
"""Settings that select another kernel."""
_FOLDERS = ("/proc/sys/", "/sys/kernel/", "/sys/module/", f"{CPU}/")
_WORDS = "boot"
"""Reading with command line arguments, which are not properties of the kernel."""


def varies_kernel(spec: StudySpec) -> bool:
    """Return whether a study varies the kernel."""
    return not KERNEL_SETTINGS.isdisjoint(spec.reboot_settings)


def kernel_description(began: Machine, here: Machine) -> Evidence:
    """Return evidence that describes the present kernel relative to the original one."""
    return kernel_evidence((began.kernel, _readings(began)), (here.kernel, _readings(here)))


def _readings(machine: Machine) -> dict[str, str]:
    """Return the defaults, files and options that distinguish kernels."""
    files = {
        path: text
        for path, text in (machine.system_files | machine.boot.files).items()
        if path.startswith(_FOLDERS) and path not in STATE_FILES
    }
    found = {_short(path): text for path, text in files.items()}
    found.pop(_short(RELEASE), None)
    state = {name: text for name, text in machine.default_state.items() if name != _WORDS}
    options = {f"{OPTION_PREFIX}{name}": value for name, value in machine.boot.config.items()}
    return {name: " ".join(text.split()) for name, text in (found | state | options).items()}


def _short(path: str) -> str:
    """Return a path without its common prefix."""
    return path.removeprefix(f"{CPU}/").removeprefix("/sys/kernel/debug/")
