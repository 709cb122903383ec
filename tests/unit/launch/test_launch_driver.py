"""What the driver makes of a document before it starts anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import BadInput
from assay.launch.driver import Driver


@pytest.mark.parametrize(
    "document",
    [
        {"argv": ["true"], "cwd": "/home/m\udcfcller"},
        {"argv": ["true"], "env_set": {"GLIBC_TUNABLES": "a=\udcff:b=1"}},
        {"argv": ["cat", "\udc80"]},
    ],
)
def test_bytes_that_are_no_text_are_refused_before_a_launch(document: dict[str, object]) -> None:
    """The launcher does not exist: to start it would be another error."""
    with pytest.raises(BadInput, match="not UTF-8") as caught:
        Driver(Path("/no/such/launcher"), {}).start(document)
    assert caught.value.remedy is not None


def test_text_of_any_script_arrives_as_it_is(tmp_path: Path) -> None:
    seen = tmp_path / "plan.json"
    launcher = tmp_path / "launcher"
    launcher.write_text(f"#!/bin/sh\ncat /proc/self/fd/$2 > {seen}  # --plan-fd N\n")
    launcher.chmod(0o755)
    with Driver(launcher, {"PATH": "/bin:/usr/bin"}).start({"argv": ["größe", "速い"]}) as running:
        assert running.finished(10.0)
    assert seen.read_bytes() == '{"argv":["größe","速い"]}'.encode()
