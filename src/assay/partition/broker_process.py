"""Broker process of a partition: start, state and end."""

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

_START_TIMEOUT_S = 10.0
_END_TIMEOUT_S = 10.0
_PAUSE_S = 0.01
_LOG_TAIL_BYTES = 400
BROKER_VARIABLE = "ASSAY_BROKER"


def find_broker(env: Mapping[str, str]) -> Path:
    """Return the program: ``ASSAY_BROKER``, else the one in the folder of the launcher.

    Raises:
        NotPossibleError: the program is missing.
    """
    return find_native(env, "assay-broker", BROKER_VARIABLE)


def start_broker(program: Path, folder: Path) -> None:
    """Start the broker of a partition in its own session, and wait until it answers.

    Args:
        program: path from ``find_broker``.
        folder: folder of the partition, with the document of the broker.

    Raises:
        NotPossibleError: the broker does not start or does not answer.
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
    end = time.monotonic() + _START_TIMEOUT_S
    while not socket.exists() or broker_state(folder) is None:
        if process.poll() is not None:
            log_tail = log.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace").strip()
            raise _not_started(log_tail or f"it ended with status {process.returncode}")
        if time.monotonic() > end:
            raise _not_started(f"it did not answer within {_START_TIMEOUT_S:g} s")
        time.sleep(_PAUSE_S)


def broker_state(folder: Path) -> PartitionState | None:
    """Return the state of a partition from its broker; ``None`` without an answer."""
    try:
        with BrokerClient(socket_in(folder)) as broker:
            return broker.state()
    except AssayError:
        return None


def end_brokers(folder: Path) -> None:
    """End all brokers that were started for this folder, and thereby their shares.

    A broker that does not end in time is killed.
    """
    for pid in _started_for(folder):
        with contextlib.suppress(ProcessLookupError):
            fd = os.pidfd_open(pid)
            try:
                if _is_for(pid, folder):  # the process id was not reused
                    _end(fd)
            finally:
                os.close(fd)
    socket_in(folder).unlink(missing_ok=True)


def _end(fd: int) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        signal.pidfd_send_signal(fd, number)
        if select.select([fd], [], [], _END_TIMEOUT_S)[0]:
            return


def _started_for(folder: Path) -> list[int]:
    numbers = (int(name) for name in os.listdir("/proc") if name.isdecimal())  # noqa: PTH208
    return [pid for pid in numbers if _is_for(pid, folder)]


def _is_for(pid: int, folder: Path) -> bool:
    """Return whether ``start_broker`` started a process of root or this user for this folder."""
    place = Path(f"/proc/{pid}")
    try:
        words = (place / "cmdline").read_bytes().split(b"\0")
        own = place.stat().st_uid in (0, os.geteuid())
    except OSError:
        return False
    arguments = [os.fsencode(document_in(folder)), os.fsencode(socket_in(folder))]
    return own and words[1:3] == arguments


def _not_started(why: str) -> NotPossibleError:
    return NotPossibleError(
        f"The broker of the partition does not run: {why}.",
        "Create a partition without shares with `assay partition create --no-broker`.",
    )
