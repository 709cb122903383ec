"""Driver: encoding of the document, and stopped launchers."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from assay.launch.driver import Driver


def test_invalid_utf8_is_passed_as_hexadecimal_digits(tmp_path: Path) -> None:
    seen = tmp_path / "plan.json"
    launcher = tmp_path / "launcher"
    launcher.write_text(f"#!/bin/sh\ncat /proc/self/fd/$2 > {seen}  # --plan-fd N\n")
    launcher.chmod(0o755)
    document = {"argv": ["cat", "é\udc80"], "env_set": {"A": "\udcff"}, "cwd": "/m\udcfcller"}
    with Driver(launcher, {"PATH": "/bin:/usr/bin"}).start(document) as running:
        assert running.finished(10.0)
    assert seen.read_bytes() == (
        b'{"argv":["cat",{"hex":"c3a980"}],"env_set":{"A":{"hex":"ff"}},'
        b'"cwd":{"hex":"2f6dfc6c6c6572"}}'
    )


def test_non_ascii_text_is_passed_unchanged(tmp_path: Path) -> None:
    seen = tmp_path / "plan.json"
    launcher = tmp_path / "launcher"
    launcher.write_text(f"#!/bin/sh\ncat /proc/self/fd/$2 > {seen}  # --plan-fd N\n")
    launcher.chmod(0o755)
    with Driver(launcher, {"PATH": "/bin:/usr/bin"}).start({"argv": ["größe", "速い"]}) as running:
        assert running.finished(10.0)
    assert seen.read_bytes() == '{"argv":["größe","速い"]}'.encode()


STOPPING = """#!/bin/sh
trap 'exit 0' SYS
kill -STOP $$
sleep {seconds} &
wait
"""
"""A launcher that is stopped, and hears of a request for its end only when it goes on."""


def test_stopped_launcher_is_continued(tmp_path: Path) -> None:
    launcher = tmp_path / "launcher"
    # The kernel stops nothing by SIGTTIN in a process group that no shell watches.
    with_parent = "import os, signal; signal.signal(signal.SIGTTIN, signal.SIG_DFL)\n"
    launcher.write_text(f"#!{sys.executable}\n{with_parent}os.kill(os.getpid(), signal.SIGTTIN)\n")
    launcher.chmod(0o755)
    with Driver(launcher, {}).start({"argv": ["true"]}) as running:
        assert running.finished(10.0)


def test_stopped_launcher_receives_request_to_end(tmp_path: Path) -> None:
    launcher = tmp_path / "launcher"
    launcher.write_text(STOPPING.format(seconds=60))
    launcher.chmod(0o755)
    running = Driver(launcher, {"PATH": "/bin:/usr/bin"}).start({"argv": ["true"]})
    end_s = time.monotonic() + 10
    while " T " not in Path(f"/proc/{running.pid}/stat").read_text():
        assert time.monotonic() < end_s
        time.sleep(0.01)
    before_s = time.monotonic()
    running.close()
    assert time.monotonic() - before_s < 0.9, "it went on at the next look only"
