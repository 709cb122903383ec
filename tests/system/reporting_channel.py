"""FIFO for the progress of programs, read by a test."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from launching import Launcher, Record

SRC = Path(__file__).resolve().parents[2] / "src"
PYTHONPATH = {"PYTHONPATH": str(SRC)}


class Channel:
    """FIFO that a thread drains continuously, or that is not drained until ``records``."""

    def __init__(self, path: Path, *, drained: bool = False) -> None:
        os.mkfifo(path, 0o600)
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._bytes = bytearray()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._drain_continuously)
        if drained:
            self._thread.start()

    def __enter__(self) -> Channel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._stop()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    @property
    def fd(self) -> int:
        return self._fd

    @property
    def key(self) -> dict[str, Any]:
        """Keys of a plan whose program reports here."""
        return {"progress": str(self.path)}

    def lines(self) -> list[bytes]:
        """Return all lines so far, the last of which is complete."""
        self._stop()
        self._drain()
        text = bytes(self._bytes)
        assert not text or text.endswith(b"\n")
        return text.splitlines()

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines()]

    def steps(self) -> list[Any]:
        return [record["step"] for record in self.records()]

    def _stop(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _drain_continuously(self) -> None:
        while not self._ended.wait(0.001):
            self._drain()

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self._fd, 1 << 16):
                self._bytes += chunk


def reported(launcher: Launcher, channel: Channel, argv: list[Any], **keys: Any) -> Record:
    """Launch a program that reports to a channel and exits with status 0."""
    keys = {"env_set": PYTHONPATH, **channel.key, **keys}
    record = launcher.run(argv, **keys)
    assert (record["outcome"], record.get("exit_status")) == ("exited", 0)
    return record
