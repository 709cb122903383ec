"""The guest itself: input and results are transferred, and a failing guest reports the reason."""

import subprocess
import time
from pathlib import Path

import pytest

from .boot_watch import wait_for_first_process
from .guest import TELL_S, Guest, GuestError, Node

pytestmark = pytest.mark.vm


def test_commands_return_status_outputs_and_files(guest_kernel: Path) -> None:
    every_byte = bytes(range(256)) * 500
    script = "cat /data/in; cp /data/in /out/copy; echo 'a b' >&2; mkdir /out/d; >/out/d/empty"
    copied, killed, missing, afterwards, slow = Guest(kernel=guest_kernel).run(
        {"/data/in": every_byte},
        [
            ["sh", "-c", script + "; exit 3"],
            ["sh", "-c", "kill -9 $$"],
            ["no such", "program"],
            ["sh", "-c", "ls /out; cut -d ' ' -f 4 /proc/$$/stat; ls /sys/class/net"],
            ["sleep", "30"],
        ],
        command_timeout_s=2,
    )
    assert (copied.status, copied.stdout, copied.stderr) == (3, every_byte, b"a b\n")
    assert copied.files == {"/out/copy": every_byte, "/out/d/empty": b""}
    assert (killed.status, killed.stderr) == (137, b"")
    assert missing.status == 127
    assert afterwards.stdout == b"1\nlo\n", "an empty /out, a child of init, no network"
    assert slow.status == 137


def test_guest_has_configured_nodes(guest_kernel: Path) -> None:
    guest = Guest(
        kernel=guest_kernel,
        cpus="4,sockets=2,cores=1,threads=2",
        nodes=[Node(192, "0-1"), Node(192, "2-3"), Node(64)],
        distances={(0, 1): 21, (0, 2): 17, (1, 2): 28},
    )
    nodes = "/sys/devices/system/node/node"
    siblings = "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"
    (result,) = guest.run(
        {}, [["sh", "-c", f"cat {nodes}*/distance {nodes}[01]/cpulist {siblings}"]]
    )
    lines = result.stdout.decode().split("\n")
    assert lines == ["10 21 17", "21 10 28", "17 28 10", "0-1", "2-3", "0-1", ""], str(result)


@pytest.mark.rotating("guests")
def test_hanging_guest_is_killed_and_shows_console(guest_kernel: Path) -> None:
    # On a busy host it may not have reached its command by then.
    with pytest.raises(GuestError, match=r"killed after 7 s; end of its console:\n"):
        Guest(kernel=guest_kernel).run({}, [["sleep", "60"]], timeout_s=7, command_timeout_s=60)


@pytest.mark.rotating("guests")
def test_timed_out_guest_reports_blocking_call(guest_kernel: Path) -> None:
    with pytest.raises(GuestError, match=r"(?s)time is up.*\(sleep\), call .*hrtimer_nanosleep"):
        Guest(kernel=guest_kernel).run(
            {}, [["sleep", "600"]], timeout_s=2.5 * TELL_S, command_timeout_s=600
        )


def test_panicking_guest_shows_console(guest_kernel: Path) -> None:
    with pytest.raises(GuestError, match=r"(?s)before it had sent.*Kernel panic"):
        Guest(kernel=guest_kernel, cmdline="rdinit=/nowhere").run({}, [["true"]])


def test_dynamic_program_is_refused(guest_kernel: Path) -> None:
    with pytest.raises(ValueError, match="dynamically linked"):
        elf = b"\x7fELF" + bytes(60) + b"/lib64/ld-linux-x86-64.so.2\0"
        Guest(kernel=guest_kernel).run({"/bin/program": elf}, [["program"]])


def test_kernel_that_hangs_during_boot_fails_early(tmp_path: Path) -> None:
    console = tmp_path / "console"
    console.write_text("[    0.678622] smp: Bringing up secondary CPUs ...\n")
    # Stands for QEMU: a kernel whose first processor waits for ever keeps it busy.
    with subprocess.Popen(["sleep", "600"]) as qemu:
        end_s = time.monotonic() + 600
        trouble = wait_for_first_process(qemu, console, end_s, max_silence_s=1)
        qemu.kill()
    assert trouble == "the guest's kernel hung: 1 s without output during its boot"
    assert time.monotonic() < end_s
