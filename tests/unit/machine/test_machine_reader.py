"""The running host, compared with the output of other programs."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import msgspec
import pytest

from assay.machine.document import Machine
from assay.machine.reader import fingerprint, read_machine
from assay.records import decode, encode


def lscpu():
    if shutil.which("lscpu") is None:
        pytest.skip("needs lscpu")
    command = ["lscpu", "-p=CPU,CORE,SOCKET,NODE"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split(",") for line in text.splitlines() if not line.startswith("#")]
    return {int(row[0]): tuple(row[1:]) for row in rows}


def groups(keys):
    found = {}
    for cpu, key in keys.items():
        found.setdefault(key, set()).add(cpu)
    return sorted(map(sorted, found.values()))


def test_cpus_cores_packages_and_nodes_match_lscpu():
    machine, rows = read_machine(), lscpu()
    assert [cpu.id for cpu in machine.cpus] == sorted(rows)
    for place, name in enumerate(("core", "package", "node")):
        mine = {cpu.id: getattr(cpu, name) for cpu in machine.cpus}
        assert groups(mine) == groups({cpu: row[place] for cpu, row in rows.items()})


def test_allowed_cpus_match_nproc():
    machine = read_machine()
    env = {"PATH": os.environ["PATH"]}  # nproc respects OMP_NUM_THREADS
    count = int(subprocess.check_output(["nproc"], env=env))
    # From coreutils 9.8 on, nproc also respects the control group's limit on CPU time.
    assert count == len(machine.allowed_cpus) or machine.cpu_limit is not None
    assert set(machine.allowed_cpus) == os.sched_getaffinity(0)


def test_memory_and_kernel():
    machine = read_machine()
    assert machine.memory_bytes == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert machine.kernel == os.uname().release and machine.arch == os.uname().machine
    assert machine.kernel.split(".")[:2] == [str(number) for number in machine.kernel_version]


def test_found_libraries_exist_and_are_not_links():
    for path in read_machine().libraries.values():
        assert Path(path).resolve(strict=True) == Path(path)


def test_machine_round_trips_json():
    machine = read_machine()
    assert decode(encode(machine), Machine) == machine


def test_reading_is_quick():
    times_s = []
    for _ in range(10):
        start_s = time.perf_counter()
        read_machine()
        times_s.append(time.perf_counter() - start_s)
    assert min(times_s) < 0.05


def test_memory_limit_is_recorded_only_if_lower(tree):
    def machine(limit):
        files = {
            "/proc/meminfo": "MemTotal:       1000 kB",
            "/proc/self/mounts": "cgroup2 /cg cgroup2 rw 0 0",
            "/proc/self/cgroup": "0::/",
            "/cg/memory.max": limit,
        }
        return read_machine(tree(files))

    assert machine("1023999").memory_limit_bytes == 1023999
    assert machine("1024000").memory_limit_bytes is None


def test_time_limit_is_recorded_only_if_lower(tree):
    def machine(limit):
        files = {
            "/sys/devices/system/cpu/online": "0-3",
            "/proc/self/mounts": "cgroup2 /cg cgroup2 rw 0 0",
            "/proc/self/cgroup": "0::/",
            "/cg/cpu.max": f"{limit} 100000",
        }
        return read_machine(tree(files), affinity=(0, 1))

    assert machine(150000).cpu_limit == 1.5
    assert machine(200000).cpu_limit is None


def test_fingerprint_identifies_kind_of_host(recorded):
    machine = read_machine(recorded("32amd64-4s2n4c-cgroup2"))
    same = msgspec.structs.replace(
        machine,
        kernel="9.9.9-other",
        allowed_cpus=machine.allowed_cpus[:1],
        memory_bytes=machine.memory_bytes + 2**20,
        default_state={"vm.swappiness": "1"},
    )
    assert fingerprint(same) == fingerprint(machine)
    for change in (
        {"model": "other"},
        {"cpus": machine.cpus[:-1]},
        {"memory_bytes": machine.memory_bytes * 2},
        {"kernel_version": (machine.kernel_version[0] + 1, 0)},
        {"arch": "riscv64"},
    ):
        assert fingerprint(msgspec.structs.replace(machine, **change)) != fingerprint(machine)
