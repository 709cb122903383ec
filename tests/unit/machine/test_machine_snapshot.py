"""Snapshots: equal readings, no data of the owner, and safe unpacking."""

import io
import os
import re
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InvalidInputError
from assay.machine.differences import SUBJECTS, ComparedMachine, differences
from assay.machine.document import Boot, Machine
from assay.machine.inventory.document import Inventory
from assay.machine.inventory.reader import read_inventory
from assay.machine.reader import read_machine
from assay.machine.root import Root
from assay.machine.snapshot.archive import open_snapshot
from assay.machine.snapshot.recording import Recording, matching, record
from assay.machine.snapshot.scrub import scrub_text
from assay.machine.snapshot.writer import record_snapshot, write_archive
from assay.records.codec import encode
from cases import cases

Tree = Callable[[Mapping[str, str]], Root]
RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "hwloc"
COUNTED = re.compile(rb'"(?:free|mhz)":[\d.]+')


def documents(root: Root) -> tuple[Machine, Inventory]:
    machine = read_machine(root, env={})
    return machine, read_inventory(machine, root, names=())


def archive_of(root: Root, path: Path, env: Mapping[str, str] = os.environ) -> bytes:
    machine = read_machine(root, env={})
    with path.open("wb") as file:
        write_archive(record_snapshot(root, machine, env), file)
    return path.read_bytes()


def plain(machine: Machine, inventory: Inventory) -> tuple[Machine, bytes]:
    """Return documents without counters and boot, and with ids as in a snapshot.

    It holds neither the id of a boot nor values of arguments that are not shown.
    """
    machine = msgspec.structs.replace(machine, boot=Boot())
    return machine, COUNTED.sub(b"", scrub_text(encode(inventory).decode()).encode())


def test_snapshot_of_this_host_reads_like_the_host(tmp_path: Path) -> None:
    archive_of(Root(), tmp_path / "m.tar.gz")
    with open_snapshot(tmp_path / "m.tar.gz") as root:
        assert not root.live
        recorded = plain(*documents(root))
    assert recorded == plain(*documents(Root()))


@pytest.mark.rotating
@pytest.mark.parametrize(
    "name",
    cases(["nvidiagpunumanodes"], ["32em64t-2n8c+dax+nvme+mic+dimms", "32amd64-4s2n4c-cgroup2"]),
)
def test_snapshot_of_recorded_machine_reads_like_it(name: str, tmp_path: Path) -> None:
    with open_snapshot(RECORDED / f"{name}.tar.bz2") as root:
        first = archive_of(root, tmp_path / "a.tar.gz")
        before = documents(root)
    with open_snapshot(tmp_path / "a.tar.gz") as root:
        after = documents(root)
        second = archive_of(root, tmp_path / "b.tar.gz")
    assert plain(*after) == plain(*before)
    assert second == first


SECRETS = {
    "host": "nightingale",
    "uuid": "4c4c4544-0042-3510-8051-b7c04f4b4d32",
    "mac": "52:54:00:ab:cd:ef",
    "container": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "serial": "SN0817A55",
    "wwn": "5000c500a1b2c3d4",
    "address": "192.0.2.77",
}


def secret_tree(tree: Tree) -> Root:
    s = SECRETS
    block = "/sys/devices/pci0000:00/0000:00:02.0/block/sda"
    return tree(
        {
            "/proc/cpuinfo": f"processor : 0\nmodel name : X\nSerial : {s['serial']}\n",
            "/proc/cmdline": f"root=UUID={s['uuid']} ip={s['address']} quiet netname={s['host']}",
            "/proc/sys/kernel/hostname": s["host"],
            "/proc/sys/kernel/domainname": s["host"],
            "/proc/sys/kernel/core_pattern": f"|/usr/bin/{s['host']} %p",
            "/proc/sys/kernel/osrelease": "6.1.0",
            "/proc/sys/kernel/randomize_va_space": "2",
            "/proc/sys/vm/swappiness": "60",
            "/proc/swaps": f"/dev/disk/by-uuid/{s['uuid']} partition 1 0 -2\n",
            "/proc/self/status": f"Name:\t{s['host']}\nUid:\t1000\t1000\t1000\t1000\n",
            "/proc/self/cgroup": f"0::/docker/{s['container']}\n",
            "/proc/self/mountinfo": f"1 0 0:1 / /net rw - nfs {s['address']}:/home rw\n"
            "2 0 0:2 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            f"/sys/fs/cgroup/docker/{s['container']}/memory.max": "1073741824",
            "/sys/class/dmi/id/product_serial": s["serial"],
            "/sys/class/dmi/id/product_uuid": s["uuid"],
            "/sys/class/dmi/id/product_name": "Box",
            "/sys/class/net/enx525400abcdef": "->../../devices/usb1/net/enx525400abcdef",
            "/sys/devices/usb1/net/enx525400abcdef/address": s["mac"],
            "/sys/devices/usb1/net/enx525400abcdef/speed": "1000",
            "/sys/class/block/sda": f"->../..{block[4:]}",
            f"{block}/size": "8",
            f"{block}/serial": s["serial"],
            f"{block}/wwid": f"naa.{s['wwn']}",
            f"{block}/device/model": "Disk",
            "/proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t GPU\n"
            f"GPU UUID: \t GPU-{s['uuid']}\nSerial Number: {s['serial']}\n",
            "/sys/devices/system/cpu/online": "0",
        }
    )


def test_snapshot_contains_no_data_of_the_owner(tree: Tree, tmp_path: Path) -> None:
    root = secret_tree(tree)
    archive_of(root, tmp_path / "m.tar.gz", {"PATH": ""})
    with tarfile.open(tmp_path / "m.tar.gz") as archive:
        names = "\n".join(f"{one.name} {one.linkname}" for one in archive)
        contents = b"\n".join(
            archive.extractfile(one).read()
            for one in archive
            if one.isfile()  # type: ignore[union-attr]
        ).decode("latin-1")
    for name, secret in SECRETS.items():
        assert secret not in names, name
        assert secret not in contents, name
    assert "525400abcdef" not in names
    with open_snapshot(tmp_path / "m.tar.gz") as again:
        machine = read_machine(again)
        assert machine.memory_limit_bytes is None  # the host's memory is unknown here
        assert machine.kernel == "6.1.0"
        assert machine.default_state["vm.swappiness"] == "60"
        found = read_inventory(machine, again, env={"PATH": ""}, names=())
    assert found.limits.memory_bytes == 2**30
    assert found.firmware.product == "Box"
    assert [device.name for device in found.devices] == ["gpu0", "sda", "enx000000000000"]


@given(st.text(alphabet="0123456789abcdefABCDEF:-_. enx\n", max_size=120))
def test_scrubbing_twice_has_no_effect(text: str) -> None:
    once = scrub_text(text)
    assert scrub_text(once) == once


@pytest.mark.parametrize(
    "text", ["00000000,0000ffff", "0000:41:00.0", "4.18.0-553.el8", "hugepages-2048kB", "6.1.0-13"]
)
def test_text_without_identifiers_is_kept(text: str) -> None:
    assert scrub_text(text) == text


def test_patterns_match_parts_of_one_name(tree: Tree) -> None:
    root = tree({"/a/b1/c": "", "/a/b2/c": "", "/a/x/c": "", "/a/b1/d/c": ""})
    assert list(matching(root, "/a/b*/c")) == ["/a/b1/c", "/a/b2/c"]
    assert list(matching(root, "/a/b*/")) == ["/a/b1/", "/a/b2/"]


def test_recording_past_deadline_names_omitted_groups(tree: Tree) -> None:
    root = tree({"/sys/devices/system/cpu/online": "0"})
    assert record(root, deadline_s=-1).cut
    assert not record(root).cut


def test_cyclic_link_is_omitted(tree: Tree) -> None:
    root = tree({"/sys/class/net/a": "->b", "/sys/class/net/b": "->a", "/proc/stat": "cpu"})
    assert set(record(root).files) == {"/proc/stat"}


# Archives


def archive(path: Path, members: list[tuple[str, str | bytes, bytes]]) -> Path:
    with tarfile.open(path, "w:gz") as out:
        for name, what, kind in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if kind == tarfile.REGTYPE:
                assert isinstance(what, bytes)
                member.size = len(what)
                out.addfile(member, io.BytesIO(what))
            else:
                member.linkname = str(what)
                out.addfile(member)
    return path


def test_no_file_outside_is_written_or_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    path = archive(
        tmp_path / "evil.tar.gz",
        [
            ("m/proc/stat", b"cpu", tarfile.REGTYPE),
            ("m/../../escaped", b"x", tarfile.REGTYPE),
            ("/absolute", b"x", tarfile.REGTYPE),
            ("m/sys", str(outside), tarfile.SYMTYPE),
            ("m/sys/written", b"x", tarfile.REGTYPE),
            ("m/up", "../../../../../../etc/passwd", tarfile.SYMTYPE),
            ("m/proc/abs", str(outside / "secret"), tarfile.SYMTYPE),
            ("m/proc/hard", str(outside / "secret"), tarfile.LNKTYPE),
            ("m/proc/pipe", "", tarfile.FIFOTYPE),
            ("m/proc/inside", "/proc/stat", tarfile.SYMTYPE),
        ],
    )
    with open_snapshot(path) as root:
        base = Path(os.path.realpath(root.path))
        for place in base.rglob("*"):
            assert Path(os.path.realpath(place)).is_relative_to(base)
        assert not (base / "up").is_symlink()
        assert not (base / "proc/pipe").exists()
        assert root.read_text("/proc/abs") is None
        assert root.read_text("/proc/hard") is None
        assert root.read_text("/proc/inside") == "cpu"
    assert [place.name for place in outside.iterdir()] == ["secret"]
    assert not base.exists()


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08broken", b"BZh9broken"])
def test_other_files_are_rejected(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError), open_snapshot(path):
        pass


def test_damaged_archive_is_rejected(tmp_path: Path) -> None:
    whole = archive_of(Root(), tmp_path / "m.tar.gz")
    (tmp_path / "half.tar.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidInputError), open_snapshot(tmp_path / "half.tar.gz"):
        pass


def test_directory_without_machine_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(InvalidInputError), open_snapshot(tmp_path):
        pass
    with pytest.raises(InvalidInputError), open_snapshot(tmp_path / "none"):
        pass


def test_blocks_of_memory_are_not_unpacked(tmp_path: Path) -> None:
    node = "m/sys/devices/system/node/node0"
    with tarfile.open(tmp_path / "m.tar", "w") as archive:
        for name in (f"{node}/memory12", f"{node}/meminfo", f"{node}/memory_side_cache/x"):
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    with open_snapshot(tmp_path / "m.tar") as root:
        assert root.listdir("/sys/devices/system/node/node0") == ("meminfo", "memory_side_cache")


# Differences


def side(root: Root) -> ComparedMachine:
    machine, inventory = documents(root)
    found: Recording = record(root)
    return ComparedMachine(machine, inventory, found.configuration)


@pytest.mark.rotating
def test_machine_equals_its_snapshot(tmp_path: Path) -> None:
    with open_snapshot(RECORDED / "20em64t-hybrid-1p6c2t+2ca4co1t.tar.bz2") as root:
        before = side(root)
        archive_of(root, tmp_path / "m.tar.gz")
    with open_snapshot(tmp_path / "m.tar.gz") as root:
        assert differences(before, side(root)) == ()


def machine_tree(base: Path, governor: Mapping[int, str], swappiness: str, free: str) -> Root:
    files = {
        "proc/sys/vm/swappiness": swappiness,
        "proc/meminfo": f"MemTotal: 1000000 kB\nMemFree: {free} kB\n",
        "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "4",
        "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": free,
        "sys/devices/system/cpu/online": f"0-{len(governor) - 1}",
    }
    for cpu, name in governor.items():
        folder = f"sys/devices/system/cpu/cpufreq/policy{cpu}"
        files |= {f"{folder}/scaling_governor": name, f"{folder}/affected_cpus": str(cpu)}
    for name, text in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)
    return Root(base)


def test_differences_are_reported_once_without_counters(tmp_path: Path) -> None:
    a = machine_tree(tmp_path / "a", dict.fromkeys(range(4), "powersave"), "60", "3")
    b = machine_tree(
        tmp_path / "b", {0: "powersave", **dict.fromkeys((1, 2, 3), "performance")}, "10", "1"
    )
    found = differences(side(a), side(b))
    assert [(one.subject, one.path, one.a, one.b, one.numbers) for one in found] == [
        (
            "clock",
            "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
            "powersave",
            "performance",
            (1, 2, 3),
        ),
        ("system controls", "/proc/sys/vm/swappiness", "60", "10", ()),
    ]
    assert differences(side(a), side(a)) == ()


def control_group_tree(base: Path, usage_us: int, cpu_max: str) -> Root:
    files = {
        "proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        "proc/self/cgroup": "0::/jobs\n",
        "sys/fs/cgroup/jobs/cpu.max": cpu_max,
        "sys/fs/cgroup/jobs/cpu.stat": f"usage_usec {usage_us}\nnr_periods {usage_us}\n",
        "sys/devices/system/cpu/online": "0",
    }
    for name, text in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)
    return Root(base)


def test_differences_leave_out_counters_of_control_groups(tmp_path: Path) -> None:
    before = side(control_group_tree(tmp_path / "a", 100, "max 100000"))
    later = side(control_group_tree(tmp_path / "b", 900, "max 100000"))
    limited = side(control_group_tree(tmp_path / "c", 900, "50000 100000"))
    assert differences(before, later) == ()
    assert ("control groups", "/sys/fs/cgroup/jobs/cpu.max") in {
        (one.subject, one.path) for one in differences(before, limited)
    }


def test_snapshot_contains_counters_of_control_groups(tmp_path: Path) -> None:
    found = record(control_group_tree(tmp_path, 100, "max 100000"))
    assert b"usage_usec 100" in found.files["/sys/fs/cgroup/jobs/cpu.stat"]
    assert "/sys/fs/cgroup/jobs/cpu.stat" not in found.configuration["control groups"]


def test_subjects_of_differences_name_fields_of_the_documents() -> None:
    fields = {"machine": Machine.__struct_fields__, "inventory": Inventory.__struct_fields__}
    for place in SUBJECTS:
        document, field = place.split("/")
        assert field in fields[document], place


def test_machines_of_studies_are_compared_by_kernel_options(tmp_path: Path) -> None:
    machine, _ = documents(machine_tree(tmp_path, {0: "powersave"}, "60", "3"))

    def kept(**options: str) -> ComparedMachine:
        boot = msgspec.structs.replace(machine.boot, config=options)
        return ComparedMachine(msgspec.structs.replace(machine, boot=boot))

    found = differences(kept(HZ="250", PSI="y", KSM="n"), kept(HZ="1000", PSI="y", NUMA="n"))
    assert [(one.subject, one.path, one.a, one.b) for one in found] == [
        ("kernel", "boot/config/HZ", "250", "1000")
    ]
    assert differences(kept(HZ="250"), ComparedMachine(machine)) == ()


def test_two_machines_differ_in_hardware() -> None:
    with (
        open_snapshot(RECORDED / "2arm-2c.tar.bz2") as one,
        open_snapshot(RECORDED / "20em64t-hybrid-1p6c2t+2ca4co1t.tar.bz2") as other,
    ):
        a, b = side(one), side(other)
    found = {(d.subject, d.path): d for d in differences(a, b)}
    more = found["CPUs", "cpus/*"]
    assert (more.a, more.b, more.numbers) == (None, "present", tuple(range(2, 20)))
    assert ("CPUs", "model") in found
    # A study stores only the Machine: data that it lacks are not a difference.
    alone = differences(ComparedMachine(a.machine), b)
    assert all(not one.path.startswith("/") for one in alone)
    assert not any(one.path.startswith("caches") for one in alone)
