"""Signals, classified by their meaning for a process that runs other processes."""

from __future__ import annotations

import signal

SELF_SIGNALS = frozenset((
    signal.SIGKILL, signal.SIGSTOP,  # cannot be caught
    signal.SIGCHLD, signal.SIGPIPE, signal.SIGTTIN, signal.SIGTTOU,  # of its own children and files
    signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,  # of its own faults
    signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS,
))  # fmt: skip
"""Signals that concern the receiving process itself."""

CATCHABLE = frozenset(signal.valid_signals()) - SELF_SIGNALS
"""Signals that other processes send, real-time signals included."""

_HARMLESS = frozenset((
    signal.SIGCONT, signal.SIGTSTP, signal.SIGURG, signal.SIGWINCH, signal.SIGXFSZ,
))  # fmt: skip

ENDING_SIGNALS = CATCHABLE - _HARMLESS
"""Termination signals: they end a process that has installed no handler (signal(7))."""

ARRIVAL_DELAY_S = 0.5
"""Longest delay, in seconds, between the delivery of one signal to a child process and its delivery
to assay, where the sender addressed both."""

REPEAT_WINDOW_S = 1.0
"""Time in seconds within which a repeated signal counts as the same request: batch systems send
several."""
