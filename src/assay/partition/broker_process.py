"""Daemon: the broker of a partition as a process, from its start to its end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from assay.errors import AssayError, NotPossibleError
from assay.native_programs import find_native
from assay.partition.broker import BrokerClient, PartitionState
from assay.partition.folders import document_in, socket_in
from assay.partition.registry import LOG

_ANSWERS_S = 10.0
_ENDS_S = 10.0
_PAUSE_S = 0.01
_LOG_TAIL_BYTES = 400
BROKER_VARIABLE = "ASSAY_BROKER"


def find_broker(env: Mapping[str, str]) -> Path:
    """The program: ``ASSAY_BROKER``, else that beside the launcher.

    Raises:
        NotPossibleError: there is none.
    """
    return find_native(env, "assay-broker", BROKER_VARIABLE)


def start_broker(program: Path, folder: Path) -> None:
    """Start the broker of a partition, of a session of its own, and wait until it answers.

    Args:
        program: as ``find_broker`` gives it.
        folder: of the partition, with what the broker is told of it.

    Raises:
        NotPossibleError: it does not start, or does not answer.
    """
    socket = socket_in(folder)
    socket.unlink(missing_ok=True)
    log = folder / LOG
    try:
        with log.open("wb") as file:
            process = subprocess.Popen(
                [program, document_in(folder), socket],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd="/",
                env={},
                start_new_session=True,
            )
    except OSError as error:
        raise _not_started(error.strerror or str(error)) from error
    end = time.monotonic() + _ANSWERS_S
    while not socket.exists() or broker_state(folder) is None:
        if process.poll() is not None:
            told = log.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace").strip()
            raise _not_started(told or f"it ended with status {process.returncode}")
        if time.monotonic() > end:
            raise _not_started(f"it did not answer within {_ANSWERS_S:g} s")
        time.sleep(_PAUSE_S)


def broker_state(folder: Path) -> PartitionState | None:
    """What the broker of a partition tells; ``None`` where none answers."""
    try:
        with BrokerClient(socket_in(folder)) as broker:
            return broker.state()
    except AssayError:
        return None


def end_brokers(folder: Path) -> None:
    """End whatever broker was started for this folder; its shares end with it.

    One that does not end by itself is killed.
    """
    for pid in _started_for(folder):
        with contextlib.suppress(ProcessLookupError):
            fd = os.pidfd_open(pid)
            try:
                if _is_for(pid, folder):  # the number is still that of the one that was found
                    _end(fd)
            finally:
                os.close(fd)
    socket_in(folder).unlink(missing_ok=True)


def _end(fd: int) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        signal.pidfd_send_signal(fd, number)
        if select.select([fd], [], [], _ENDS_S)[0]:
            return


def _started_for(folder: Path) -> list[int]:
    numbers = (int(name) for name in os.listdir("/proc") if name.isdecimal())  # noqa: PTH208
    return [pid for pid in numbers if _is_for(pid, folder)]


def _is_for(pid: int, folder: Path) -> bool:
    """Whether a process of root's, or of this user's, was started as ``start_broker`` does."""
    place = Path(f"/proc/{pid}")
    try:
        words = (place / "cmdline").read_bytes().split(b"\0")
        own = place.stat().st_uid in (0, os.geteuid())
    except OSError:
        return False
    told = [os.fsencode(document_in(folder)), os.fsencode(socket_in(folder))]
    return own and words[1:3] == told


def _not_started(why: str) -> NotPossibleError:
    return NotPossibleError(
        f"The broker of the partition does not run: {why}.",
        "`assay partition create --no-broker` makes one without shares.",
    )
