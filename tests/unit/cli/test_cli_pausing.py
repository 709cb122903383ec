"""Messages of a study that waits for another boot."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from assay.cli.boot_loaders import loader_lines
from assay.cli.boot_pauses import pause_document, pause_lines, reboot_variables, report_pause
from assay.cli.show.kernels import MAX_SHOWN, kernel_lines
from assay.errors import NotPossibleError
from assay.machine.root import Root
from assay.records import BootChange, KernelComparison, KernelDifference
from assay.reporting.parts.kernels import kernels
from assay.study.booting import BootPause

CHANGE = BootChange(
    settings={"boot.mitigations": "off", "firmware.fan": "low"},
    missing=("/proc/cmdline has mitigations=auto, not mitigations=off",),
    add=("mitigations=off",),
    remove=("mitigations=auto",),
    required_arguments=("mitigations=off",),
    firmware={"fan": "low"},
    unconfirmed=("firmware.fan",),
    missing_after_boot=True,
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
            "systemd-boot: in /etc/kernel/cmdline remove b=2 and add a=1 c, then",
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
        "  The machine was booted since the last launch, without this change:",
        "  read      /proc/cmdline has mitigations=auto, not mitigations=off",
        "  remove    mitigations=auto",
        "  add       mitigations=off",
        "  firmware  fan = low, in the setup menu of the firmware",
        "  assay study resume abc --confirm firmware.fan=low",
    ):
        assert line in lines


def test_a_boot_of_its_own_changes_nothing() -> None:
    change = BootChange(
        settings={"boot.nosmt": "present"}, required_arguments=("nosmt",), repeat_boot=True
    )
    text = "\n".join(pause_lines(BootPause("abc", change)))
    assert "boot again" in text
    assert "put in" not in text
    assert "sudo" not in text
    document = pause_document(BootPause("abc", change))
    paused = document["boot_change"]
    assert paused == {
        "settings": {"boot.nosmt": "present"},
        "required_arguments": ("nosmt",),
        "repeat_boot": True,
    }


KERNEL = BootChange(
    settings={"boot.kernel": "6.12.117"},
    missing=("uname -r prints 6.1.0, not 6.12.117",),
    kernel="6.12.117",
    running_kernel="6.1.0",
)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/etc/default/grub", "    sudo grub-reboot 'gnulinux-advanced-UUID>ENTRY'"),
        ("/usr/sbin/grubby", "    sudo grubby --set-default=/boot/vmlinuz-6.12.117"),
        ("/boot/loader/entries/x.conf", "    sudo bootctl set-oneshot ENTRY-6.12.117.conf"),
        (
            "/usr/bin/kernelstub",
            "    sudo kernelstub --kernel-path=/boot/vmlinuz-6.12.117"
            " --initrd-path=/boot/initrd.img-6.12.117",
        ),
    ],
)
def test_the_boot_loader_is_told_another_kernel(tmp_path: Path, path: str, told: str) -> None:
    lines = list(loader_lines((), (), tree(tmp_path, path), kernel="6.12.117"))
    assert told in lines
    assert not any("put in" in line or "update-kernel" in line for line in lines)


def test_the_kernel_that_is_needed_and_the_one_that_runs_are_said() -> None:
    lines = list(pause_lines(BootPause("abc", KERNEL)))
    assert lines[0] == "Study abc is paused: it needs a boot with boot.kernel=6.12.117."
    assert "  read      uname -r prints 6.1.0, not 6.12.117" in lines
    assert "  kernel    6.12.117 in place of 6.1.0" in lines
    assert any("is not installed here" in line for line in lines)
    assert not any("did not boot" in line for line in lines)
    assert reboot_variables("abc", KERNEL)["ASSAY_BOOT_KERNEL"] == "6.12.117"
    assert reboot_variables("abc", CHANGE)["ASSAY_BOOT_KERNEL"] == ""


def test_a_kernel_that_did_not_boot_is_said_and_no_boot_follows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mark = tmp_path / "booted"
    pause = BootPause("abc", msgspec.structs.replace(KERNEL, missing_after_boot=True))
    with pytest.raises(NotPossibleError) as refused:
        report_pause(pause, ("touch", str(mark)), json=False)
    assert not mark.exists()
    assert "uname -r prints 6.1.0, not 6.12.117" in refused.value.cause
    assert "6.12.117 did not boot, or the boot loader chose another kernel" in refused.value.cause
    assert "boot 6.12.117 by hand, and resume" in (refused.value.remedy or "")
    assert "did not boot, or the boot loader chose another" in capsys.readouterr().out


def test_differences_of_kernels_are_listed_and_the_report_has_them_all() -> None:
    names = [f"CONFIG_X{number}" for number in range(MAX_SHOWN + 3)]
    found = KernelComparison(
        releases=("6.1.0", "6.12.117"),
        differences=tuple(KernelDifference(name=name, values=(None, "<y>")) for name in names),
        unreadable_releases=("6.1.0",),
    )
    lines = list(kernel_lines(found))
    assert lines[0].startswith("  kernels  15 differences between 6.1.0 and 6.12.117; the config")
    assert lines[1].split() == ["6.1.0", "6.12.117"]
    assert lines[2].split() == ["CONFIG_X0", "-", "<y>"]
    assert lines[-1] == "    and 3 more: the report and --json have them all"
    assert list(kernel_lines(None)) == []
    page = str(kernels(found))
    assert all(name in page for name in names)
    assert "<y>" not in page
    same = KernelComparison(releases=("6.1.0", "6.1.1"))
    assert list(kernel_lines(same)) == ["  kernels  no difference between 6.1.0 and 6.1.1"]
    assert "<table>" not in str(kernels(same))
