"""Watch of a guest's boot by its console: a kernel that hangs ends the wait early."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

MAX_SILENCE_S = 60.0
"""Longest time between two messages of a kernel that boots, in seconds.

On a host with five busy processes for two CPUs a whole boot took 20 to 40 s, with about 500 lines.
"""
POLL_S = 0.1
STARTED = b" vm: "
"""Part of the messages of a guest's first process."""


def wait_for_first_process(
    qemu: subprocess.Popen[bytes],
    console: Path,
    end_s: float,
    max_silence_s: float = MAX_SILENCE_S,
) -> str:
    """Wait until a guest's first process reports something, QEMU has ended, or time is up.

    A kernel that hangs prints nothing more. From the first message of `init.sh` on, the guest
    itself limits the time of its commands.

    Args:
        qemu: the guest.
        console: file of its serial console.
        end_s: time at which the wait ends in any case, on the monotonic clock.
        max_silence_s: longest time without output, in seconds. A host that pauses this process
            does not use it up, as one poll counts for `POLL_S`.

    Returns:
        A description of the failure; an empty text without one.
    """
    size, polls = 0, 0
    while qemu.poll() is None and time.monotonic() < end_s:
        text = console.read_bytes() if console.exists() else b""
        if STARTED in text:
            return ""
        polls = 0 if len(text) > size else polls + 1
        if polls * POLL_S > max_silence_s:
            return f"the guest's kernel hung: {max_silence_s:g} s without output during its boot"
        size = len(text)
        time.sleep(POLL_S)
    return ""
