"""Signals by their meaning for a process that runs others."""

from __future__ import annotations

import signal

SELF_SIGNALS = frozenset((
    signal.SIGKILL, signal.SIGSTOP,  # cannot be caught
    signal.SIGCHLD, signal.SIGPIPE, signal.SIGTTIN, signal.SIGTTOU,  # of its own children and files
    signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,  # of its own faults
    signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS,
))  # fmt: skip
"""Signals that concern a process itself."""

CATCHABLE = frozenset(signal.valid_signals()) - SELF_SIGNALS
"""Signals by which others tell a process something, real-time ones included."""

_HARMLESS = frozenset((
    signal.SIGCONT, signal.SIGTSTP, signal.SIGURG, signal.SIGWINCH, signal.SIGXFSZ,
))  # fmt: skip

ENDING_SIGNALS = CATCHABLE - _HARMLESS
"""Signals that end a process which has made no arrangements (signal(7))."""

ARRIVAL_DELAY_S = 0.5
"""How much later than a process that it started assay may have a signal that is for both."""

REPEAT_WINDOW_S = 1.0
"""How long after a signal another one is taken for the same: batch systems send several."""
