"""Changes of the system: journal first, read-back, and restoration."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.errors import NotPossibleError
from assay.host import journal as journals
from assay.host.changes import ActionStatus, HostChanges
from assay.host.journal import APPLY_OWNER, open_journal
from assay.host.undo import preview_undo, undo
from assay.machine.swaps import SWAPS
from assay.records import HoldFd, Swap, WriteFile
from assay.testing.recorded_host import FaultyHost, RecordedHost
from host.trees import (
    ACTIONS,
    BOOT,
    BYTES,
    EFFECTS,
    GOVERNOR,
    IRQ,
    NO_TURBO,
    POOL,
    RATIO,
    SWAPPINESS,
    THP,
    content,
    plant,
)

NEVER = WriteFile(path=THP, value="never", form="choice")
ALWAYS = WriteFile(path=THP, value="always", form="choice")


def restored(host: RecordedHost) -> list[str]:
    """Undo all recorded actions; return the result of each."""
    with open_journal() as journal:
        found = [word.fate for word in undo(host, journal, journal.entries)]
        assert not journal.entries
    return found


def in_child(work: Callable[[], Any]) -> int:
    """Return the wait status of a forked process that does the work."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1]


class Killer:
    """Kills its process at the nth call that changes a file, in the middle of a write."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.write, self.fsync, self.rename = os.write, os.fsync, Path.rename

    def fault_hook(self) -> bool:
        self.left -= 1
        return self.left == 0

    def install(self) -> None:
        def write(fd: int, data: bytes) -> int:
            if self.fault_hook():
                self.write(fd, data[: len(data) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return self.write(fd, data)

        def fsync(fd: int) -> None:
            if self.fault_hook():
                os.kill(os.getpid(), signal.SIGKILL)
            self.fsync(fd)

        def rename(path: Path, target: Path) -> Path:
            if self.fault_hook():
                os.kill(os.getpid(), signal.SIGKILL)
            done = self.rename(path, target)
            if self.fault_hook():
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        os.write, os.fsync, Path.rename = write, fsync, rename  # type: ignore[assignment]


def test_held_actions_are_applied_and_restored(tree: Path) -> None:
    before = content(tree)
    host = RecordedHost(tree, EFFECTS)
    with open_journal() as journal:
        changes = HostChanges(host, journal, "test")
        words = changes.hold(ACTIONS)
        assert {outcome.status for outcome in words} == {ActionStatus.GRANTED}
        assert host.read(THP) == "always madvise [never]"
        assert host.read(NO_TURBO) == "1"
        assert (host.read(BYTES), host.read(RATIO)) == ("1048576", "0")
        # Exactly these hold: one stays, one changes, the rest goes back.
        changes.hold([ACTIONS[4], ALWAYS])
        assert host.read(SWAPPINESS) == "10"
        assert host.read(THP) == "[always] madvise never"
        assert (host.read(GOVERNOR), host.read(RATIO)) == ("powersave", "20")
        assert {word.fate for word in changes.restore()} == {"undone"}
        assert not journal.entries
    assert content(tree) == before


def test_value_reset_by_another_write_is_written_again(tree: Path) -> None:
    host = RecordedHost(tree, EFFECTS)
    host.put(NO_TURBO, "1")
    before = content(tree)
    with open_journal() as journal:
        changes = HostChanges(host, journal, "test")
        # It holds already; the governor after it takes that away.
        words = changes.hold([ACTIONS[1], ACTIONS[0]])
        assert [outcome.status for outcome in words] == [ActionStatus.KEPT, ActionStatus.GRANTED]
        assert host.read(NO_TURBO) == "1"
        changes.restore()
    assert content(tree) == before


@pytest.mark.parametrize("dirty_bytes", [False, True])
def test_alternative_limits_are_both_restored(tree: Path, dirty_bytes: bool) -> None:
    host = RecordedHost(tree, EFFECTS)
    if dirty_bytes:
        host.write(BYTES, "409600")
    before = content(tree)
    action = (
        WriteFile(path=RATIO, value="5", form="number", resets=(BYTES,))
        if dirty_bytes
        else ACTIONS[6]
    )
    with open_journal() as journal:
        changes = HostChanges(host, journal, "test")
        assert changes.hold([action])[0].status is ActionStatus.GRANTED
        assert [word.fate for word in changes.restore()] == ["undone"]
    assert content(tree) == before


def test_apply_killed_at_any_step_is_undone(tree: Path) -> None:
    before = content(tree)

    def apply(at: int) -> None:
        killer = Killer(at)
        host = RecordedHost(tree, EFFECTS)
        with open_journal() as journal:
            killer.install()
            HostChanges(host, journal, "test").hold(ACTIONS)

    steps = 0
    while True:
        steps += 1
        status = in_child(lambda at=steps: apply(at))
        remove_halves(tree)
        if not os.WIFSIGNALED(status):
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
        assert "drifted" not in restored(RecordedHost(tree, EFFECTS)), steps
        assert content(tree) == before, steps
    assert steps > 2 * len(ACTIONS)  # it was killed before, in and after each write
    assert content(tree) != before
    restored(RecordedHost(tree, EFFECTS))
    assert content(tree) == before


def test_restoration_killed_at_any_step_is_repeated(tree: Path) -> None:
    before = content(tree)
    host = RecordedHost(tree, EFFECTS)

    def restore(at: int) -> None:
        killer = Killer(at)
        with open_journal() as journal:
            killer.install()
            undo(RecordedHost(tree, EFFECTS), journal, journal.entries)

    steps = 0
    killed = True
    while killed:
        steps += 1
        with open_journal() as journal:
            HostChanges(host, journal, "test").hold(ACTIONS)
        killed = os.WIFSIGNALED(in_child(lambda at=steps: restore(at)))
        remove_halves(tree)
        restored(host)
        assert content(tree) == before, steps
    assert steps > len(ACTIONS)


def remove_halves(tree: Path) -> None:
    """Remove temporary files, which a recorded tree may have, but the kernel does not."""
    for place in tree.iterdir():
        if place.is_file():
            place.unlink()


@pytest.mark.parametrize("fault", [errno.EIO, errno.EPERM, errno.EBUSY, errno.ENOSPC, "other"])
@pytest.mark.parametrize("at", range(1, 10))
def test_write_with_one_fault_is_repeated(tree: Path, at: int, fault: int | str) -> None:
    before = content(tree)
    if fault == "other":
        target = ACTIONS[at - 1].path if at <= len(ACTIONS) else ""
        fault = "madvise" if "hugepage" in target else "7"
    host = FaultyHost(tree, at, fault, EFFECTS)
    with open_journal() as journal:
        changes = HostChanges(host, journal, "test")
        words = changes.hold(ACTIONS)
        assert host.writes >= len(ACTIONS)
        # One fault passes: what it hit was written once more.
        assert {outcome.status for outcome in words} == {ActionStatus.GRANTED}
        changes.restore()
        assert not journal.entries
    assert content(tree) == before


@pytest.mark.parametrize("number", [errno.EIO, errno.EPERM, errno.EBUSY, errno.ENOSPC])
@pytest.mark.parametrize("place", range(len(ACTIONS)))
def test_lasting_fault_is_a_refusal(tree: Path, place: int, number: int) -> None:
    before = content(tree)

    def refuse(host: RecordedHost, path: str, text: str) -> str:
        raise OSError(number, os.strerror(number), path)

    host = RecordedHost(tree, {**EFFECTS, ACTIONS[place].path: refuse})
    with open_journal() as journal:
        changes = HostChanges(host, journal, "test")
        words = changes.hold(ACTIONS)
        assert words[place].status is ActionStatus.REFUSED
        assert os.strerror(number) in (words[place].reason or "")
        assert [w.status for n, w in enumerate(words) if n != place] == [ActionStatus.GRANTED] * 7
        if number == errno.EIO and ACTIONS[place].path == IRQ:
            assert "isolcpus=managed_irq" in (words[place].reason or "")
        changes.restore()
        assert not journal.entries
    assert content(tree) == before


@pytest.mark.parametrize("number", [errno.EIO, errno.EPERM, errno.EBUSY, errno.ENOSPC])
# Turbo (1) is reset by the governor's way back, dirty_bytes (6) by that of dirty_ratio.
@pytest.mark.parametrize("place", [0, 2, 3, 4, 5, 7])
def test_failed_restoration_stays_in_journal(tree: Path, place: int, number: int) -> None:
    before = content(tree)
    with open_journal() as journal:
        HostChanges(RecordedHost(tree, EFFECTS), journal, "test").hold(ACTIONS)
    path = ACTIONS[place].path

    def refuse(host: RecordedHost, path: str, text: str) -> str:
        raise OSError(number, os.strerror(number), path)

    with open_journal() as journal:
        found = undo(RecordedHost(tree, {**EFFECTS, path: refuse}), journal, journal.entries)
        failed = [word for word in found if word.fate == "failed"]
        assert path in [word.note.action.path for word in failed]
        assert os.strerror(number) in (failed[0].reason or "")
        assert path in [entry.note.action.path for entry in journal.entries]
    restored(RecordedHost(tree, EFFECTS))
    assert content(tree) == before


def test_partial_pool_is_degraded(tree: Path) -> None:
    before = content(tree)

    def little(host: RecordedHost, path: str, text: str) -> str:
        return str(min(int(text), 24))

    host = RecordedHost(tree, {POOL: little})
    with open_journal() as journal:
        changes = HostChanges(host, journal, "test")
        (outcome,) = changes.hold([ACTIONS[5]])
        assert (outcome.status, outcome.old, outcome.read) == (ActionStatus.DEGRADED, "0", "24")
        assert changes.read_targets([ACTIONS[5]]) == {POOL: "24"}
        changes.restore()
    assert content(tree) == before


def test_pool_growing_at_a_kill_is_restored(tree: Path) -> None:
    host = RecordedHost(tree)
    with open_journal() as journal:
        HostChanges(host, journal, "test").hold([ACTIONS[5]])
        number = journal.entries[0].note.id
    state = Path(os.environ[journals.STATE_VARIABLE]) / "journal" / "changes.jsonl"
    lines = state.read_text().splitlines()
    state.write_text("\n".join(line for line in lines if '"note"' in line) + "\n")
    host.put(POOL, "40")
    with open_journal() as journal:
        assert journal.entries[0].note.id == number
        assert [w.fate for w in undo(host, journal, journal.entries)] == ["undone"]
    assert host.read(POOL) == "0"


def test_drift_is_reported_and_left(tree: Path) -> None:
    host = RecordedHost(tree)
    with open_journal() as journal:
        changes = HostChanges(host, journal, APPLY_OWNER)
        changes.hold([NEVER, ACTIONS[4]])
        host.put(THP, "always")
        assert [w.fate for w in preview_undo(host, journal.entries)] == ["undone", "drifted"]
        found = undo(host, journal, journal.entries, keep_drifted=True)
        drift = next(word for word in found if word.fate == "drifted")
        assert (drift.note.action, drift.note.old, drift.found) == (NEVER, "madvise", "always")
        assert (host.read(THP), host.read(SWAPPINESS)) == ("[always] madvise never", "60")
        forced = undo(host, journal, journal.entries, force=True)
        assert [word.fate for word in forced] == ["undone"]
    assert host.read(THP) == "always [madvise] never"


def test_stacked_changes_return_to_the_first_value(tree: Path) -> None:
    before = content(tree)
    host = RecordedHost(tree)
    with open_journal() as journal:
        HostChanges(host, journal, APPLY_OWNER).hold([NEVER])
        study = HostChanges(host, journal, "study")
        study.hold([ALWAYS])
        study.restore()
        assert host.read(THP) == "always madvise [never]"
        study.hold([ALWAYS])
        # Whatever the order of owners, the newest goes first.
        assert [w.fate for w in undo(host, journal, journal.entries)] == ["undone"] * 2
    assert content(tree) == before


def test_changes_of_earlier_boot_are_gone(tree: Path) -> None:
    host = RecordedHost(tree)
    with open_journal() as journal:
        HostChanges(host, journal, APPLY_OWNER).hold([NEVER])
    host.put(BOOT, "66666666-7777-8888-9999-000000000000")
    assert restored(host) == ["gone"]
    assert host.read(THP) == "always madvise [never]"  # it is whatever this boot made it


def test_missing_file_fails_its_restoration(tree: Path) -> None:
    host = RecordedHost(tree)
    with open_journal() as journal:
        HostChanges(host, journal, APPLY_OWNER).hold([ACTIONS[7]])
        (tree / IRQ.lstrip("/")).unlink()
        (word,) = undo(host, journal, journal.entries)
        assert word.fate == "failed"
        assert journal.entries


@pytest.mark.parametrize("running", [True, False])
def test_interrupt_that_irqbalance_assigns_again_is_granted_and_undone(
    tree: Path, *, running: bool
) -> None:
    """Gives the interrupt one of the CPUs at each write, as the daemon's next round does."""
    if running:
        owner = {"/proc/700/comm": "irqbalance", "/proc/700/status": "Uid:\t0\t0\t0\t0"}
        plant(tree, owner)
    host = RecordedHost(tree, {IRQ: lambda *_: "2"})
    action = WriteFile(path=IRQ, value="2-3", form="cpulist")
    with open_journal() as journal:
        changes = HostChanges(host, journal, "test")
        (outcome,) = changes.hold([action])
        assert outcome.status == (ActionStatus.GRANTED if running else ActionStatus.DEGRADED)
        host.put(IRQ, "3")
        (foreseen,) = preview_undo(host, journal.entries)
        assert foreseen.fate == ("undone" if running else "drifted")
        (word,) = undo(host, journal, journal.entries, force=True)
        assert word.fate == ("undone" if running else "failed")


def test_managed_interrupt_is_refused_beside_irqbalance(tree: Path) -> None:
    plant(tree, {"/proc/700/comm": "irqbalance", "/proc/700/status": "Uid:\t0\t0\t0\t0"})

    def managed(host: RecordedHost, path: str, text: str) -> str:
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    host = RecordedHost(tree, {IRQ: managed})
    action = WriteFile(path=IRQ, value="0-2", form="cpulist")
    with open_journal() as journal:
        (outcome,) = HostChanges(host, journal, "test").hold([action])
        assert outcome.status == ActionStatus.REFUSED
        assert "managed_irq" in (outcome.reason or "")


def test_interrupt_outside_its_cpus_has_drifted_beside_irqbalance(tree: Path) -> None:
    plant(tree, {"/proc/700/comm": "irqbalance", "/proc/700/status": "Uid:\t0\t0\t0\t0"})
    host = RecordedHost(tree)
    with open_journal() as journal:
        HostChanges(host, journal, APPLY_OWNER).hold([ACTIONS[7]])
        host.put(IRQ, "1")
        (foreseen,) = preview_undo(host, journal.entries)
        assert foreseen.fate == "drifted"


def test_missing_target_is_refused(tree: Path) -> None:
    (tree / IRQ.lstrip("/")).unlink()
    with open_journal() as journal:
        (outcome,) = HostChanges(RecordedHost(tree), journal, "test").hold([ACTIONS[7]])
        assert (outcome.status, outcome.read) == (ActionStatus.REFUSED, None)
        assert not journal.entries


@pytest.mark.parametrize(
    "action",
    [
        WriteFile(path="/etc/passwd", value="x"),
        WriteFile(path="/proc/sys/kernel/core_pattern", value="x"),
        WriteFile(path=f"{THP}/../../../../etc/passwd", value="never", form="choice"),
        WriteFile(path="/proc/irq/../sys/smp_affinity_list", value="0", form="cpulist"),
        WriteFile(path=SWAPPINESS, value="10; reboot", form="number"),
        WriteFile(path=SWAPPINESS, value="10", form="text"),
        WriteFile(path=THP, value="never\nalways", form="choice"),
        WriteFile(path=RATIO, value="5", form="number", resets=("/etc/shadow",)),
        Swap(path="swap/../x", on=False),
        HoldFd(path="/dev/watchdog", value=0),
        HoldFd(path="/dev/../dev/cpu_dma_latency", value=0),
        HoldFd(path="/dev/cpu_dma_latency", value=-1),
        HoldFd(path="/dev/cpu_dma_latency", value=1 << 31),
    ],
)
def test_values_outside_the_table_are_refused(
    tree: Path, action: WriteFile | Swap | HoldFd
) -> None:
    before = content(tree)
    with open_journal() as journal:
        with pytest.raises(NotPossibleError, match="do not write this file or value"):
            HostChanges(RecordedHost(tree), journal, "test").hold([NEVER, action])
        assert not journal.entries
    assert content(tree) == before


def test_forged_entry_writes_nothing(tree: Path) -> None:
    host = RecordedHost(tree)
    with open_journal() as journal:
        HostChanges(host, journal, APPLY_OWNER).hold([NEVER])
    place = Path(os.environ[journals.STATE_VARIABLE]) / "journal" / "changes.jsonl"
    forged = place.read_text().replace(THP, "/etc/passwd")
    place.write_text(forged)
    plant_passwd = tree / "etc/passwd"
    plant_passwd.parent.mkdir()
    plant_passwd.write_text("never\n")
    with open_journal() as journal:
        (word,) = undo(host, journal, journal.entries)
        assert word.fate == "failed"
    assert plant_passwd.read_text() == "never\n"


def test_symbolic_links_are_not_followed(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("always [madvise] never\n")
    place = tree / THP.lstrip("/")
    place.unlink()
    place.symlink_to(outside)
    host = RecordedHost(tree)
    assert host.read(THP) is None
    with pytest.raises(OSError):
        host.write(THP, "never")
    folder = place.parent
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    with pytest.raises(OSError):
        host.write(DEFRAG_PATH, "never")
    assert outside.read_text() == "always [madvise] never\n"


DEFRAG_PATH = "/sys/kernel/mm/transparent_hugepage/defrag"


def test_device_is_kept_open_and_closed(tree: Path) -> None:
    (tree / "dev").mkdir()
    (tree / "dev/cpu_dma_latency").write_text("")
    host = RecordedHost(tree)
    wish = HoldFd(path="/dev/cpu_dma_latency", value=0)
    with open_journal() as journal:
        changes = HostChanges(host, journal, "test")
        assert [o.status for o in changes.hold([wish, NEVER])] == [ActionStatus.GRANTED] * 2
        assert changes.read_targets([wish]) == {"/dev/cpu_dma_latency": "0"}
        changes.hold([wish])
        assert host.devices == {"/dev/cpu_dma_latency": [0]}
        changes.restore()
        assert host.devices == {"/dev/cpu_dma_latency": []}


def test_swap_is_restored_with_its_priority(tree: Path) -> None:
    place = tree / SWAPS.lstrip("/")
    place.write_text("Filename\tType\tSize\tUsed\tPriority\n/swapfile\tfile\t1024\t0\t5\n")
    before = content(tree)
    host = RecordedHost(tree)
    with open_journal() as journal:
        changes = HostChanges(host, journal, "test")
        (outcome,) = changes.hold([Swap(path="/swapfile", on=False)])
        assert (outcome.status, outcome.old) == (ActionStatus.GRANTED, "on 5")
        assert "/swapfile" not in (host.read(SWAPS) or "")
        changes.restore()
    assert content(tree) == before


def test_full_disk_under_journal_changes_nothing(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(tree)
    fsync = os.fsync
    for left in range(1, 6):
        calls = 0

        def full(fd: int, left: int = left) -> None:
            nonlocal calls
            calls += 1
            if calls >= left:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            fsync(fd)

        with open_journal() as journal:
            monkeypatch.setattr(os, "fsync", full)
            try:
                changes = HostChanges(RecordedHost(tree, EFFECTS), journal, "test")
                changes.hold(ACTIONS)
                changes.restore()
            except NotPossibleError as error:
                assert "No space left" in error.cause
            monkeypatch.setattr(os, "fsync", fsync)
        assert content(tree) == before, left
        restored(RecordedHost(tree, EFFECTS))
        assert content(tree) == before, left


def test_irreversible_side_effect_is_refused(tree: Path) -> None:
    # Linux 6.18 was seen to refuse what this file holds itself.
    folder = "/sys/kernel/mm/mempolicy/weighted_interleave"
    plant(tree, {f"{folder}/node0": "1", f"{folder}/auto": "true"})
    before = content(tree)
    weight = WriteFile(
        path=f"{folder}/node0", value="3", form="number", resets=(f"{folder}/auto",), tries=True
    )

    def manual(host: RecordedHost, path: str, text: str) -> str:
        host.put(f"{folder}/auto", "false")
        return text

    def stuck(host: RecordedHost, path: str, text: str) -> str:
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    effects = {f"{folder}/node0": manual}
    with open_journal() as journal:
        host = RecordedHost(tree, {**effects, f"{folder}/auto": stuck})
        (outcome,) = HostChanges(host, journal, "test").hold([weight])
        assert outcome.status is ActionStatus.REFUSED
        assert "could not be restored: Input/output error" in (outcome.reason or "")
        assert content(tree) == before
        changes = HostChanges(RecordedHost(tree, effects), journal, "test")
        assert changes.hold([weight])[0].status is ActionStatus.GRANTED
        (word,) = undo(host, journal, journal.entries)
        assert (word.fate, "reads false" in (word.reason or "")) == ("failed", True)
        assert [word.fate for word in changes.restore()] == ["undone"]
    assert content(tree) == before


def test_locked_journal_is_refused(tree: Path) -> None:
    with open_journal(), pytest.raises(NotPossibleError, match=f"process {os.getpid()}"):
        open_journal()


def test_journal_is_released_when_its_process_ends() -> None:
    text = """
        import sys
        from assay.host.journal import open_journal
        with open_journal():
            print("held", flush=True)
            sys.stdin.read()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(journals.MachineBusyError, match=f"process {other.pid}"):
            open_journal()
        other.kill()
    open_journal().close()


@pytest.mark.parametrize("garbage", [b'{"line":"note","id"', b"\x00\xff nonsense\n", b"[]\n{}\n"])
def test_unreadable_lines_change_nothing(tree: Path, garbage: bytes) -> None:
    host = RecordedHost(tree)
    with open_journal() as journal:
        HostChanges(host, journal, APPLY_OWNER).hold([NEVER])
    place = Path(os.environ[journals.STATE_VARIABLE]) / "journal" / "changes.jsonl"
    with place.open("ab") as file:
        file.write(garbage)
    with open_journal() as journal:
        HostChanges(host, journal, APPLY_OWNER).hold([NEVER, ACTIONS[4]])
        assert journal.unreadable == garbage.count(b"\n")
    assert restored(host) == ["undone", "undone"]
    assert (host.read(THP), host.read(SWAPPINESS)) == ("always [madvise] never", "60")


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o755])
def test_folder_open_to_others_is_refused(state: Path, mode: int) -> None:
    open_journal().close()
    (state / "journal").chmod(mode)
    with pytest.raises(NotPossibleError, match="Other users may"):
        open_journal()


def test_link_instead_of_folder_is_refused(state: Path, tmp_path: Path) -> None:
    state.mkdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (state / "journal").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotPossibleError, match="cannot be opened"):
        open_journal()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_journal_is_readable_and_ends_empty(tree: Path, state: Path) -> None:
    host = RecordedHost(tree)
    place = state / "journal" / "changes.jsonl"
    with open_journal() as journal:
        changes = HostChanges(host, journal, "me")
        changes.hold([NEVER])
        note = msgspec.json.decode(place.read_bytes().splitlines()[0])
        assert note["owner"] == "me"
        assert note["action"] == {
            "kind": "write_file",
            "path": THP,
            "value": "never",
            "form": "choice",
        }
        assert (note["old"], note["boot_id"][:8]) == ("madvise", "11111111")
        assert oct(place.stat().st_mode & 0o777) == "0o600"
        changes.restore()
        assert place.read_bytes() == b""
