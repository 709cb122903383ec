"""What the driver makes of a document before it starts anything."""

from __future__ import annotations

from pathlib import Path

from assay.launch.driver import Driver


def test_bytes_that_are_no_text_arrive_as_hexadecimal_digits(tmp_path: Path) -> None:
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


def test_text_of_any_script_arrives_as_it_is(tmp_path: Path) -> None:
    seen = tmp_path / "plan.json"
    launcher = tmp_path / "launcher"
    launcher.write_text(f"#!/bin/sh\ncat /proc/self/fd/$2 > {seen}  # --plan-fd N\n")
    launcher.chmod(0o755)
    with Driver(launcher, {"PATH": "/bin:/usr/bin"}).start({"argv": ["größe", "速い"]}) as running:
        assert running.finished(10.0)
    assert seen.read_bytes() == '{"argv":["größe","速い"]}'.encode()
