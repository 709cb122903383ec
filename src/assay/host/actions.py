"""Actions on a host, and the values of their targets.

For any plan or journal, only files of the table of tunables are written, and only with text of
their form. The only device that is kept open is that of the CPU latency.
"""

from __future__ import annotations

import errno
import os

from assay.errors import InvalidInputError, NotPossibleError
from assay.host import control_groups, irqbalance
from assay.host.host import Host
from assay.host.threads import is_thread_name, read_affinity, write_affinity
from assay.machine.cpulist import format_list, parse_list
from assay.machine.swaps import SWAPS, swap_areas
from assay.machine.tunables import LATENCY, find_tunable, find_writable
from assay.machine.value_formats import is_writable_value, normalised
from assay.records.action import (
    ControlGroup,
    DelegateController,
    HoldFd,
    HostAction,
    IrqBalance,
    Swap,
    TaskAffinity,
    WriteFile,
)

ON, OFF = "on", "off"
_MAX_LATENCY_US = (1 << 31) - 1
"""Largest value of the latency device: a signed number of 32 bits."""


def demand_allowed(action: HostAction) -> None:
    """Refuse a target that no setting writes, and a value of another form.

    Raises:
        NotPossibleError: the target or the value is not allowed.
    """
    match action:
        case WriteFile(path=path, value=value, form=form, resets=resets):
            tunable = find_writable(path)
            sound = tunable is not None and tunable.form == form and is_writable_value(form, value)
            if not sound or any(find_writable(other) is None for other in resets):
                raise _not_allowed(f"{value!r} into {path}")
        case HoldFd(path=path, value=value) if path != LATENCY or not 0 <= value <= _MAX_LATENCY_US:
            raise _not_allowed(f"{value} into {path}")
        case Swap(path=path):
            words = path.split("/")
            if words[0] or ".." in words or "\0" in path:
                raise _not_allowed(f"swap {path}")
        case ControlGroup(path=path) if not control_groups.is_valid_group(action):
            raise _not_allowed(f"the control group {path}")
        case DelegateController(path=path) if not control_groups.is_valid_delegation(action):
            raise _not_allowed(path)
        case TaskAffinity(path=path, cpus=cpus) if not (is_thread_name(path) and cpus):
            raise _not_allowed(path)
        case _:
            pass


def observe(host: Host, action: HostAction) -> str | None:
    """Return the normalised value of an action's target; ``None`` if it cannot be read."""
    match action:
        case WriteFile(path=path):
            return read_file(host, path)
        case Swap(path=path):
            text = host.read(SWAPS)
            if text is None:
                return None
            area = swap_areas(text).get(path)
            return OFF if area is None else _in_use(area.priority)
        case ControlGroup():
            return control_groups.observe_group(host, action)
        case DelegateController():
            return control_groups.observe_delegated(host, action)
        case TaskAffinity(path=path):
            return read_affinity(host, path)
        case IrqBalance():
            return irqbalance.banned(host)
        case _:
            return None


def side_effects(host: Host, action: HostAction) -> tuple[str, ...]:
    """Return other targets that an action changes: files of the table, and named threads."""
    match action:
        case WriteFile(resets=resets):
            return resets
        case ControlGroup():
            return control_groups.own_affinities(host, action)
        case _:
            return ()


def read_file(host: Host, path: str) -> str | None:
    """Return the normalised value of a file of the table, or the CPUs of a named thread."""
    if is_thread_name(path):
        return read_affinity(host, path)
    if path == irqbalance.NAME:
        return irqbalance.banned(host)
    tunable, text = find_tunable(path), host.read(path)
    return None if text is None or tunable is None else normalised(tunable.form, text)


def target_value(action: HostAction) -> str:
    """Return the normalised value that the target shall have."""
    match action:
        case WriteFile(value=value, form=form):
            return normalised(form, value)
        case Swap(on=False):
            return OFF
        case Swap(priority=priority):
            return _in_use(-1 if priority is None else priority)
        case ControlGroup():
            return control_groups.target_group(action)
        case DelegateController():
            return control_groups.ON
        case TaskAffinity(cpus=cpus):
            return format_list(cpus)
        case IrqBalance(cpus=cpus):
            return format_list(cpus) or irqbalance.NONE
        case _:
            return str(action.value)


def perform(host: Host, action: HostAction, value: str) -> None:
    """Set the target of an action to a value: the target value, or the previous one.

    Raises:
        NotPossibleError: the target or the value is not allowed.
        OSError: the kernel refuses.
    """
    match action:
        case WriteFile(path=path):
            write_file(host, path, value)
        case Swap(path=path) if value == OFF:
            demand_allowed(action)
            host.swap_off(path)
        case Swap(path=path):
            demand_allowed(action)
            priority = value.removeprefix(ON).strip()
            host.swap(path, int(priority) if priority else None)
        case ControlGroup():
            demand_allowed(action)
            if value == control_groups.ABSENT:
                control_groups.remove_group(host, action.path)
            else:
                control_groups.make_group(host, action)
        case DelegateController():
            demand_allowed(action)
            control_groups.delegate(host, action, value)
        case TaskAffinity(path=path) | IrqBalance(path=path):
            write_file(host, path, value)
        case _:
            raise _not_allowed(action.path)


def _in_use(priority: int) -> str:
    """Return the state of a swap area; the kernel's own negative priorities cannot be requested."""
    return ON if priority < 0 else f"{ON} {priority}"


def write_file(host: Host, path: str, value: str) -> None:
    """Write a file of the table, or restrict a thread or irqbalance to a list of CPUs.

    Raises:
        NotPossibleError: the file is not in the table, or the value has another form.
        OSError: the kernel refuses.
    """
    if is_thread_name(path):
        write_affinity(host, path, _listed(value))
        return
    if path == irqbalance.NAME:
        irqbalance.ban(host, () if value == irqbalance.NONE else _listed(value))
        return
    tunable = find_writable(path)
    if tunable is None or not is_writable_value(tunable.form, value):
        raise _not_allowed(f"{value!r} into {path}")
    host.write(path, value)


def _listed(text: str) -> tuple[int, ...]:
    try:
        return parse_list(text)
    except InvalidInputError as error:
        raise _not_allowed(f"the CPUs {text!r}") from error


def explain_error(error: OSError, path: str) -> str:
    """Return the meaning of an error of the kernel."""
    if path == irqbalance.NAME:
        return error.strerror or str(error)
    message = os.strerror(error.errno) if error.errno else str(error)
    match error.errno:
        # Newer kernels return EPERM (observed with 6.18), older ones EIO.
        case errno.EIO | errno.EPERM if "/irq/" in path:
            return f"{message}: its driver manages this interrupt (boot with isolcpus=managed_irq)"
        case errno.EROFS:
            return f"{message}: a container may only read it; change it on the host"
        case errno.EINVAL:
            return f"{message}: the kernel does not accept this value here"
        case _:
            return message


def _not_allowed(what: str) -> NotPossibleError:
    return NotPossibleError(
        f"System settings do not write this file or value: {what}.",
        "`assay settings list` shows all settings.",
    )
