"""What is said where a study waits for another boot."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.loaders import loader_lines
from assay.cli.pausing import pause_document, pause_lines
from assay.machine.root import Root
from assay.records import BootChange
from assay.study.booting import BootPause

CHANGE = BootChange(
    settings={"boot.mitigations": "off", "firmware.fan": "low"},
    missing=("/proc/cmdline has mitigations=auto, not mitigations=off",),
    add=("mitigations=off",),
    remove=("mitigations=auto",),
    words=("mitigations=off",),
    firmware={"fan": "low"},
    confirm=("firmware.fan",),
    unbrought=True,
)


def tree(folder: Path, *paths: str) -> Root:
    for path in paths:
        file = folder / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return Root(folder)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/etc/default/grub", "    sudo update-grub"),
        (
            "/usr/sbin/grubby",
            "    sudo grubby --update-kernel=ALL --remove-args=b=2 --args='a=1 c'",
        ),
        (
            "/boot/loader/entries/x.conf",
            "systemd-boot: in /etc/kernel/cmdline take out b=2 and put in a=1 c, then",
        ),
        ("/usr/bin/kernelstub", "    sudo kernelstub --delete-options=b=2 --add-options='a=1 c'"),
    ],
)
def test_the_boot_loader_that_is_there_is_told(tmp_path: Path, path: str, told: str) -> None:
    lines = list(loader_lines(("a=1", "c"), ("b=2",), tree(tmp_path, path)))
    assert told in lines
    every = list(loader_lines(("a=1", "c"), ("b=2",), tree(tmp_path / "other")))
    assert len(every) > len(lines)
    assert set(lines) < set(every)


def test_a_value_that_nobody_may_see_goes_by_its_name(tmp_path: Path) -> None:
    lines = loader_lines((), ("luks.key=*12ab",), tree(tmp_path, "/usr/bin/grubby"))
    assert "    sudo grubby --update-kernel=ALL --remove-args=luks.key" in list(lines)


def test_all_that_is_to_be_changed_is_said() -> None:
    lines = list(pause_lines(BootPause("abc", CHANGE)))
    assert lines[0] == (
        "Study abc is paused: it needs a boot with boot.mitigations=off firmware.fan=low."
    )
    for line in (
        "  The machine was booted since the last launch, and that did not bring it:",
        "  read      /proc/cmdline has mitigations=auto, not mitigations=off",
        "  take out  mitigations=auto",
        "  put in    mitigations=off",
        "  firmware  fan = low, in its menu when the machine starts",
        "  assay study resume abc --confirm firmware.fan=low",
    ):
        assert line in lines


def test_a_boot_of_its_own_changes_nothing() -> None:
    change = BootChange(settings={"boot.nosmt": "present"}, words=("nosmt",), anew=True)
    text = "\n".join(pause_lines(BootPause("abc", change)))
    assert "boot again" in text
    assert "put in" not in text
    assert "sudo" not in text
    document = pause_document(BootPause("abc", change))
    paused = document["paused"]
    assert paused == {"settings": {"boot.nosmt": "present"}, "words": ("nosmt",), "anew": True}
