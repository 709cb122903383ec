"""Arguments of ``assay tier``, and the output of its doctor."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.cli.arguments.common import CommonOptions, demand_no_command
from assay.cli.arguments.run import run_request
from assay.cli.main import main
from assay.cli.parsing.parser import parse
from assay.cli.tier import bench, doctor, environment, predict, top
from assay.cli.tier.free_space import free_space_assignments
from assay.cli.verbs import run as launching
from assay.cli.verbs.tier import run
from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.cgroup import Cgroups
from assay.requests.run import RunRequest
from assay.tier.counts import Counts
from assay.tier.efficiency import Device
from assay.tier.meter import Mechanism, Meter, Region
from assay.tier.prediction import ActivitySnapshot
from assay.tier.probe import Probe
from assay.tier.swap import SwapUsage
from assay.workloads.kernels import Kernel, Variant, VariantTimes
from json_schemas import assert_valid

WHOLE = (
    '{"schema":2,"userfaultfd":{"in_kernel":true,"move":true,"poison":true},"io_uring":{},'
    '"advice":{"problem":"no swap is in use: make one"},"paths":'
    '[{"path":"/d","free_bytes":3221225472,"read_bytes_per_s":2147483648,'
    '"write_bytes_per_s":1073741824,"latency_s":0.00005}]}'
)
LACKING = (
    '{"schema":2,"userfaultfd":{"move":true,"poison":true},"io_uring":{"problem":"none"},'
    '"advice":{"problem":"no swap is in use: make one"},"paths":'
    '[{"path":"/d","problem":"the path /d can only be read: name another directory"}]}'
)
ADVISABLE = '{"schema":2,"userfaultfd":{"move":true},"io_uring":{},"advice":{},"paths":[]}'


@pytest.mark.parametrize(
    ("words", "needs"),
    [
        (["--path", "/d"], "`assay tier run` needs --dram."),
        (["--dram", "8G"], "`assay tier run` needs --path."),
        ([], "`assay tier run` needs --dram."),
    ],
)
def test_run_needs_both(words: list[str], needs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tier", "run", *words, "--", "true"]) == 125
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"assay: {needs}"
    assert second.startswith("  Write --")


def test_the_advisor_takes_no_path(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--how", "advisor", "--dram", "8G"]
    assert main(["tier", "run", *words, "--path", "/d", "--", "true"]) == 125
    assert "`assay tier run --how advisor` takes no --path." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["doctor", "--dram", "8G"], "`assay tier doctor` takes no --dram."),
        (["doctor", "--every", "1s"], "`assay tier doctor` takes no --every."),
        (["top", "--dram", "8G"], "`assay tier top` takes no --dram."),
        (["doctor", "--explain"], "`assay tier doctor` takes no --explain."),
        (["doctor", "--record", "f"], "`assay tier doctor` takes no --record."),
        (["doctor", "--reserve", "cpus=1"], "`assay tier doctor` takes no --reserve."),
        (["doctor", "--with", "nice=5"], "`assay tier doctor` takes no "),
        (["run", "--json", "--dram", "8G"], "`assay tier run` takes no --json."),
    ],
)
def test_options_of_the_other_action_are_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["tier", *words, *(["--", "true"] if words[0] == "run" else [])])
    assert status == (125 if words[0] == "run" else 2)
    assert f"assay: {told}" in capsys.readouterr().err


@pytest.mark.parametrize("path", [",", ",,"])
def test_doctor_of_no_directory_is_refused(capsys: pytest.CaptureFixture[str], path: str) -> None:
    assert main(["tier", "doctor", "--path", path]) == 2
    assert "--path names no directory." in capsys.readouterr().err


def test_doctor_launches_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tier", "doctor", "--", "true"]) == 2
    assert "`assay tier doctor` launches nothing" in capsys.readouterr().err
    demand_no_command(parse(["tier", "run", "--", "true"]))


@pytest.mark.parametrize(
    "words",
    [
        ["tier", "run", "--dram", "8G", "--path", "/d"],
        ["tier", "run", "--dram", "8G", "--path", "/d", "--"],
        ["tier", "run", "--no-such-option"],
        ["tier", "run", "--dram", "8G", "--path", "/d", "./app"],
        ["tier", "run", "--dram", "8G", "--path", "/d", "--how", "fast", "--", "./app"],
        ["tier", "run", "--dram", "8G", "--path", "/d", "--numa", "near", "--", "./app"],
    ],
)
def test_errors_of_run_have_the_status_of_run(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        assert main(words) == 125
    except SystemExit as end:  # what argparse does not take
        assert end.code == 125
    assert capsys.readouterr().out == ""


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """File with the answer of the probe."""
    program = tmp_path / "probe"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/answer\n")
    program.chmod(0o755)
    monkeypatch.setenv("ASSAY_TIER_PROBE", str(program))
    return tmp_path / "answer"


def launched(monkeypatch: pytest.MonkeyPatch, status: int = 0) -> list[RunRequest]:
    """Replace launches by a list of their requests."""
    requests: list[RunRequest] = []

    def take(request: RunRequest, options: CommonOptions) -> int:
        requests.append(request)
        return status

    monkeypatch.setattr(launching, "run_command", take)
    return requests


def test_run_is_the_verb_with_two_settings(answer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer.write_text(WHOLE)
    requests = launched(monkeypatch, status=7)
    words = ["--dram", "8G", "--path", "/d,/e", "--with", "nice=5", "--record", "-", "-q"]
    assert run(parse(["tier", "run", *words, "--", "app", "-x"])) == 7
    same = ["run", "--with", "mem.dram=8G", "mem.tier=/d,/e", "nice=5", "--record", "-", "-q"]
    assert requests == [run_request(parse([*same, "--", "app", "-x"]))]


@pytest.mark.parametrize("numa", ["follow", "local", "interleave"])
def test_run_takes_the_nodes_of_the_dram(
    answer: Path, monkeypatch: pytest.MonkeyPatch, numa: str
) -> None:
    answer.write_text(WHOLE)
    requests = launched(monkeypatch)
    words = ["tier", "run", "--dram", "8G", "--path", "/d", "--numa", numa, "--with", "nice=5"]
    assert main([*words, "--", "app"]) == 0
    assert requests[0].settings == ("mem.dram=8G", "mem.tier=/d", f"mem.numa={numa}", "nice=5")


def test_a_setting_given_twice_is_told(answer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer.write_text(WHOLE)
    words = ["tier", "run", "--dram", "8G", "--path", "/d", "--with", "mem.dram=9G"]
    assert main([*words, "--explain", "--", "true"]) == 125
    assert "mem.dram is given twice." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("how", "text", "tier", "told"),
    [
        (["--path", "/d"], WHOLE, "/d", False),
        (["--path", "/d", "--how", "auto"], ADVISABLE, "swap", True),
        (["--path", "/d", "--how", "auto", "-q"], ADVISABLE, "swap", False),
        (["--path", "/d", "--how", "pager"], LACKING, "/d", False),
        (["--how", "advisor"], ADVISABLE, "swap", False),
    ],
)
def test_the_best_that_can_be_had_is_taken_and_less_is_told(
    answer: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    how: list[str],
    text: str,
    tier: str,
    told: bool,
) -> None:
    answer.write_text(text)
    requests = launched(monkeypatch)
    assert main(["tier", "run", "--dram", "8G", *how, "--", "app"]) == 0
    assert requests[0].settings == ("mem.dram=8G", f"mem.tier={tier}")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == (2 if told else 0)
    if told:
        assert lines[0].startswith("assay: advising on swap instead of using /d: this")
        assert lines[1].startswith("assay: for the pager: Run as root")


@pytest.mark.parametrize("how", [["--path", "/d"], ["--how", "advisor"]])
def test_where_nothing_can_be_had_the_next_step_is_told(
    answer: Path, capsys: pytest.CaptureFixture[str], how: list[str]
) -> None:
    answer.write_text(LACKING)
    assert main(["tier", "run", "--dram", "8G", *how, "--", "true"]) == 125
    told = capsys.readouterr().err
    assert "no swap is in use" in told and "Make one." in told
    assert ("vm.unprivileged_userfaultfd=1" in told) is ("--path" in how)


def test_without_a_probe_the_setting_tells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_TIER_PROBE", str(tmp_path / "none"))
    requests = launched(monkeypatch)
    for how in (["--path", "/d"], ["--how", "advisor"]):
        assert main(["tier", "run", "--dram", "8G", *how, "--", "app"]) == 0
    assert [one.settings[1] for one in requests] == ["mem.tier=/d", "mem.tier=swap"]


@pytest.fixture
def swap(monkeypatch: pytest.MonkeyPatch) -> list[SwapUsage]:
    """This host's, none unless it is replaced here."""
    found = [SwapUsage()]
    monkeypatch.setattr(doctor, "read_swap", lambda: found[0])
    return found


def test_doctor_of_a_machine_that_can_be_advised(
    answer: Path, swap: list[SwapUsage], capsys: pytest.CaptureFixture[str]
) -> None:
    answer.write_text(ADVISABLE)
    swap[0] = SwapUsage(size_bytes=2 << 30, used_bytes=1 << 20, page_cluster=3)
    assert main(["tier", "doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "2.00 GiB, 1.00 MiB used, accepting pages, 8 pages" in lines[3]
    assert lines[-1].startswith("advisor: assay tier run --how advisor --dram SIZE")
    assert main(["tier", "doctor", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert_valid("tier-doctor", document)
    assert (document["usable"], document["advisable"]) == (False, True)
    assert document["swap"] == {"size_bytes": 2 << 30, "used_bytes": 1 << 20, "page_cluster": 3}


def test_doctor_of_a_machine_that_has_all(
    answer: Path, swap: list[SwapUsage], capsys: pytest.CaptureFixture[str]
) -> None:
    answer.write_text(WHOLE)
    assert main(["tier", "doctor", "--path", "/d"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "page faults  userfaultfd, also within system calls"
    assert lines[3].startswith("path         /d: reads 2.00 GiB/s, writes 1.00 GiB/s")
    assert lines[3].endswith("4 KiB in 50.0 us, 3.00 GiB free")
    assert lines[4] == "swap         none"
    assert lines[-1] == "usable: assay tier run --dram SIZE --path /d -- PROGRAM"


def test_doctor_of_a_machine_that_lacks_something(
    answer: Path, swap: list[SwapUsage], capsys: pytest.CaptureFixture[str]
) -> None:
    answer.write_text(LACKING)
    assert main(["tier", "doctor", "--path", "/d"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "page faults  userfaultfd, not within system calls"
    assert lines[3] == "path         /d"
    heads = [line.partition(":")[0] for line in lines[5:] if not line.startswith(" ")]
    assert heads == ["not available", "not available", "slower", "advisor not available either"]
    assert "  Name another directory." in lines
    assert lines[-1] == "  Make one."
    assert not any(line.startswith("usable") for line in lines)


@pytest.mark.parametrize(("text", "can"), [(WHOLE, True), (LACKING, False)])
def test_doctor_as_a_document(
    answer: Path, text: str, can: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    answer.write_text(text)
    assert main(["tier", "doctor", "--json"]) == (0 if can else 1)
    document = json.loads(capsys.readouterr().out)
    assert_valid("tier-doctor", document)
    assert document["usable"] is can
    assert document["advisable"] is False
    assert document["probe"]["paths"][0]["path"] == "/d"
    told = document["findings"]
    assert len(told) == (0 if can else 3)
    assert [one.get("fatal", True) for one in told] == ([] if can else [True, True, False])


def test_verb_needs_an_action(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["tier"])
    assert "doctor, run" in capsys.readouterr().err


def test_missing_options_are_errors_of_input() -> None:
    with pytest.raises(InvalidInputError):
        run(parse(["tier", "run", "--", "true"]))


def region(base: int, **more: float) -> Region:
    values: dict[str, Any] = dict.fromkeys(Region.__struct_fields__, 0)
    values |= {"address": base, "size_bytes": 4 << 30, "resident_bytes": 1 << 30, "stall_s": 0.0}
    return Region(**(values | more))


def shown(*regions: Region, how: Mechanism = "pager") -> list[Meter]:
    return [
        Meter(
            pid=7,
            command="app\x1b[2J",
            dram_bytes=2 << 30,
            chunk_bytes=2 << 20,
            mechanism=how,
            regions=regions,
            counts=Counts(**dict.fromkeys(Counts.__struct_fields__, 0)),
        )
    ]


def test_top_shows_what_changed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looks = [
        shown(region(0xABC000, demand_faults=10, read_bytes=5 << 20, stall_s=1.0)),
        shown(
            region(
                0xABC000,
                demand_faults=13,
                in_flight_faults=1,
                prefetch_hits=8,
                read_bytes=6 << 20,
                stall_s=1.005,
            ),
            region(0xDEF000, unused_prefetches=2),
        ),
    ]
    monkeypatch.setattr(top, "read_meters", lambda: looks.pop(0))
    assert main(["tier", "top", "--every", "10ms"]) == 0
    process, heads, first, second = capsys.readouterr().out.splitlines()
    assert process == "7  2.00 GiB of 2.00 GiB DRAM  app\\x1b[2J"
    assert heads.split("  ")[-1] == "writes"
    assert first.split() == [
        *("abc000", "4.00", "GiB", "25", "%", "4", "50", "%", "8", "0"),
        *("100", "MiB/s", "0", "B/s"),
    ]
    assert second.split()[:2] == ["def000", "4.00"]
    assert second.split()[8:10] == ["0", "2"]


@pytest.mark.parametrize("width", [80, 100])
def test_top_of_usual_figures_fits_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    most = region(
        0x7F2200000000, demand_faults=1234, prefetch_hits=12345, stall_s=0.99, read_bytes=886 << 20
    )
    monkeypatch.setattr(top, "read_meters", lambda: shown(most))
    monkeypatch.setattr(top, "width_of", lambda _: width)
    assert main(["tier", "top", "--every", "10ms"]) == 0
    _, heads, row = capsys.readouterr().out.splitlines()
    assert heads.endswith(" writes") and row.endswith(" B/s")
    assert len(heads) == len(row) <= width


def test_top_of_advice_knows_nothing_of_waits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = shown(region(0xABC000, prefetch_hits=8, read_bytes=6 << 20), how="advisor")
    monkeypatch.setattr(top, "read_meters", lambda: now)
    assert main(["tier", "top", "--every", "10ms"]) == 0
    process, _, first = capsys.readouterr().out.splitlines()
    assert process == "7  1.00 GiB of 2.00 GiB DRAM  advised  app\\x1b[2J"
    assert first.split()[5:9] == ["-", "-", "0", "0"]


def test_top_as_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(top, "read_meters", lambda: shown(region(4096)))
    assert main(["tier", "top", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert_valid("tier-top", document)
    (process,) = document["processes"]
    assert process["regions"][0]["resident_bytes"] == 1 << 30


def test_top_of_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(top, "read_meters", list)
    assert main(["tier", "top"]) == 3
    assert "You have no running program with a tier" in capsys.readouterr().err
    assert main(["tier", "top", "--every", "never"]) == 2


def test_a_program_under_the_tier_is_told_by_its_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASSAY_EXEC", "/opt/assay/assay-exec")
    monkeypatch.setenv("LD_PRELOAD", "/x.so")
    env = environment.tier_env("/d,/e", 64 << 20, "local")
    assert env["LD_PRELOAD"] == "/opt/assay/libassay-tier.so:/x.so"
    assert {name: env[name] for name in env if name.startswith("ASSAY_TIER_")} == {
        "ASSAY_TIER_HOW": "pager",
        "ASSAY_TIER_PATH": "/d,/e",
        "ASSAY_TIER_DRAM": str(64 << 20),
        "ASSAY_TIER_NUMA": "local",
    }
    assert "ASSAY_TIER_NUMA" not in environment.tier_env("/d", 64 << 20)


def test_invalid_environment_of_a_program_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInputError, match=r"--dram 15\.0 MiB is too little"):
        environment.tier_env("/d", 15 << 20)
    with pytest.raises(InvalidInputError, match=r"more than the .* of memory on this machine"):
        environment.tier_env("/d", 1 << 60)
    limited = Cgroups(mode="v2", memory_limit_bytes=32 << 20)
    with monkeypatch.context() as patch:
        patch.setattr(environment, "read_cgroups", lambda _: limited)
        with pytest.raises(
            InvalidInputError, match=r"more than the 32\.0 MiB of memory on this machine"
        ):
            environment.tier_env("/d", 33 << 20)
    monkeypatch.setenv("ASSAY_EXEC", "/opt/my assay/assay-exec")
    with pytest.raises(NotPossibleError, match="its path contains a space or a colon"):
        environment.tier_env("/d", 16 << 20)


def bench_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: str = "ok"
) -> tuple[list[tuple[str, ...]], list[Mapping[str, str]]]:
    """A bench on two CPUs whose launches take no time: half as fast under the tier.

    Args:
        monkeypatch: that puts it in place.
        tmp_path: unused by launches that run nothing.
        status: of each launch.
    """
    launches: list[tuple[str, ...]] = []
    envs: list[Mapping[str, str]] = []

    def timed(
        program: Path, words: Sequence[str], env: Mapping[str, str]
    ) -> tuple[VariantTimes, ...]:
        launches.append((program.name, *words))
        envs.append(env)
        under = "LD_PRELOAD" in env
        return (
            VariantTimes(
                variant=words[1],
                status=status,
                reason="it is wrong" if status != "ok" else "",
                median_s=0.2 if under else 0.1,
                bytes=float(words[3]),
                flops=1e9,
            ),
        )

    def described(program: Path) -> Kernel:
        names = {"horner": "horner", "bandwidth": "threads", "lu": "tasks-avx2"}
        name = program.name.removeprefix("assay-kernel-")
        every = (names.get(name, name), "threads-avx2", "forward", "backward", "threads")
        others = ("curve", "indices", "once", "left", "left-avx2", "gates", "records")
        able = [
            Variant(variant=one, parent="", isa="any", description="", incorrect=False)
            for one in (*every, *others, "tiles", "rows", "pages")
        ]
        return Kernel(
            kernel=name,
            title="",
            source="",
            bound="",
            options=(),
            bytes=1.0,
            variants=tuple(able),
            parameters={},
        )

    monkeypatch.setattr(bench, "run_variants", timed)
    monkeypatch.setattr(bench, "describe", described)
    monkeypatch.setattr(bench, "find_kernel", lambda name, env: Path(f"assay-kernel-{name}"))
    found = msgspec.json.decode(WHOLE, type=Probe)
    monkeypatch.setattr(environment, "probe", lambda env, paths: found)
    monkeypatch.setattr(bench.os, "sched_getaffinity", lambda pid: {0, 1})
    return launches, envs


def test_bench_shows_every_cell_with_its_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launches, envs = bench_of(monkeypatch, tmp_path)
    picture = tmp_path / "heat.svg"
    words = ["tier", "bench", "--dram", "16M", "--path", "/d", "--budget", "300ms"]
    assert main([*words, "--threads", "3", "-o", str(picture), "-q"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "polynomial, read (rows: data size / DRAM; columns: operations per byte)" in out
    assert "polynomial, read and written" in out
    assert re.search(r"STREAM triad +50 \(100\) +50 \(100\) +50 \(100\)", out)
    assert "missing" not in out
    assert "<svg" in picture.read_text()
    sizes = {words[words.index("--size") + 1] for words in launches}
    # LU allocates as much again as it touches.
    ratios = {0.5, 1, 1.5, 2, 4, 8} | {2 * ratio for ratio in (0.5, 1, 1.5, 2)}
    assert sizes == {str(int(ratio * (16 << 20))) for ratio in ratios}
    assert all(words[-2:] == ("--threads", "3") for words in launches)
    assert {env["ASSAY_TIER_DRAM"] for env in envs if "LD_PRELOAD" in env} == {str(16 << 20)}


def test_bench_says_what_the_time_was_too_short_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench_of(monkeypatch, tmp_path)
    words = ["tier", "bench", "--dram", "16M", "--path", "/d", "--budget", "1ns"]
    assert main([*words, "-q"]) == 0
    assert re.search(
        r"\d+ larger cells are missing: --budget \d+m or more measures all$",
        capsys.readouterr().out.strip(),
    )


def test_bench_with_several_numbers_of_threads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launches, _ = bench_of(monkeypatch, tmp_path)
    picture = tmp_path / "heat.svg"
    words = ["tier", "bench", "--dram", "16M", "--path", "/d", "--budget", "300ms", "-q"]
    assert main([*words, "--threads", "1,4,1", "-o", str(picture)]) == 0
    tables = capsys.readouterr().out.split("\n\n")
    assert [one for one in tables if re.fullmatch(r"\d threads?", one)] == ["1 thread", "4 threads"]
    assert sum(one.startswith("polynomial, read (") for one in tables) == 2
    assert {words[-1] for words in launches} == {"1", "4"}
    drawn = picture.read_text()
    assert "other programs, 1 thread<" in drawn and "other programs, 4 threads<" in drawn
    assert main([*words, "--threads", "1,4", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert_valid("tier-bench", document)
    assert document["device"] == {"read": 2147483648, "write": 1073741824}
    assert {one["threads"] for one in document["cells"]} == {1, 4}
    # Where data fit into DRAM, there is no balance.
    assert {"balance_ratio" in one for one in document["cells"] if one["dram_ratio"] <= 1} == {
        False
    }
    assert {"balance_ratio" in one for one in document["cells"] if one["dram_ratio"] > 1} == {True}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--path", "/d"], "`assay tier bench` needs --dram."),
        (["--dram", "16M"], "`assay tier bench` needs --path."),
        (["--dram", "900T", "--path", "/d"], "--dram 900 TiB needs data of"),
        (["--dram", "much", "--path", "/d"], "'much'"),
        (["--dram", "16M", "--path", "/d", "-o", "x.txt"], "unknown suffix"),
        (
            ["--dram", "16M", "--path", "/d", "--budget", "soon"],
            "--budget: 'soon' is not a duration",
        ),
        (["--dram", "16M", "--path", "/d", "--threads", "1,5"], "from 1 to 4, two for each CPU"),
        (["--dram", "16M", "--path", "/d", "--threads", "1,"], "--threads: invalid list '1,'"),
        (["--dram", "16M", "--path", "/d", "--threads", "0"], "--threads: invalid list '0'"),
        (["--dram", "16M", "--path", "/d", "--data", "2,x"], "--data: invalid list '2,x'"),
        (["--dram", "16M", "--path", "/d", "--data", "0"], "--data: invalid list '0'"),
        (["--dram", "16M", "--path", "/d", "--data", "nan"], "--data: invalid list 'nan'"),
        (["--dram", "16M", "--path", "/d", "--data", "9e9"], "Data of 9e+09 times 16.0 MiB exceed"),
        (["--dram", "16M", "--path", "/d", "--work", "nix"], "contains 'nix'"),
        (
            ["--dram", "16M", "--path", "/d", "--work", "lu by", "--data", "8"],
            "run with data of at most 2 times DRAM",
        ),
    ],
)
def test_bench_refuses_invalid_options(
    words: list[str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bench_of(monkeypatch, tmp_path)
    assert main(["tier", "bench", *words]) == 2
    assert told in capsys.readouterr().err


def test_bench_of_some_programs_and_sizes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench_of(monkeypatch, tmp_path)
    words = ["tier", "bench", "--dram", "16M", "--path", "/d", "--budget", "300ms", "-q", "--json"]
    chosen = ["--work", "lu by tiles", "--work", "triad", "--data", "2,0.75,2"]
    picture = tmp_path / "heat.svg"
    assert main([*words, *chosen, "--threads", "1", "-o", str(picture)]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [(one["work"], one["dram_ratio"]) for one in cells] == [
        (work, size) for size in (2, 0.75) for work in ("STREAM triad", "LU by tiles")
    ]
    # A short time has many rounds of them.
    assert min(len(one["tier_s"]) for one in cells) > 1
    assert "LU by tiles" in picture.read_text()


def test_sizes_that_do_not_fit_into_memory_are_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launches, _ = bench_of(monkeypatch, tmp_path)
    monkeypatch.setattr(bench, "read_free_bytes", lambda: 50 << 20)
    words = ["tier", "bench", "--dram", "16M", "--path", "/d", "--budget", "300ms", "--json"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "left out data of 4 and 8 times DRAM, which exceed the 50.0 MiB" in err
    first = err.splitlines()[1]
    assert first.startswith("assay: round 1: polynomial, read, 0.5 times DRAM, 2 threads: 1 of ")
    assert re.search(r" cells, \d+ ms left$", first)
    assert {one["dram_ratio"] for one in json.loads(out)["cells"]} == {0.5, 1, 1.5, 2}
    # Of twice the DRAM, and as much for the room that LU does not touch.
    assert max(int(words[words.index("--size") + 1]) for words in launches) == 64 << 20
    monkeypatch.setattr(bench, "read_free_bytes", lambda: 31 << 20)
    assert main(words) == 2
    assert "--dram 16.0 MiB needs data of 32.0 MiB" in capsys.readouterr().err


def test_a_wrong_result_ends_the_bench(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench_of(monkeypatch, tmp_path, status="rejected")
    assert main(["tier", "bench", "--dram", "16M", "--path", "/d", "-q"]) == 3
    assert "Incorrect result of" in capsys.readouterr().err


@pytest.mark.parametrize("read_bytes", [0, 1 << 30])
def test_predict_json_matches_its_schema(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], read_bytes: int
) -> None:
    counts: dict[str, Any] = dict.fromkeys(ActivitySnapshot.__struct_fields__, 0)
    before = ActivitySnapshot(**{**counts, "thread_s": {}})
    later = {"at_s": 2.0, "cpu_s": 1.0, "thread_s": {1: 1.0}, "read_bytes": read_bytes}
    after = ActivitySnapshot(**{**counts, **later, "demand_faults": read_bytes >> 20})
    monkeypatch.setattr(predict, "sample_session", lambda *_: iter((before, after)))
    monkeypatch.setattr(predict, "device_of", lambda path: Device(read=2e9, write=1e9))
    monkeypatch.setattr(predict, "tier_env", lambda *_: {"PATH": os.environ["PATH"]})
    monkeypatch.setattr(predict, "terminate_in_order", lambda: None)
    words = ["tier", "predict", "--dram", "8M", "--path", "/d", "--json"]
    assert main([*words, "--", "sleep", "9"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert_valid("tier-predict", document)
    assert (document["dram_bytes"], document["wall_s"]) == (8 << 20, 2.0)
    assert ("transfer_s_per_gib" in document) is bool(read_bytes)


def test_room_that_stays_free_is_an_assignment() -> None:
    assert free_space_assignments(None, "/d") == []
    assert free_space_assignments("50M", "/d") == [f"env.ASSAY_TIER_KEEP_FREE={50 << 20}"]
    assert free_space_assignments("0", "/d") == ["env.ASSAY_TIER_KEEP_FREE=0"]
    with pytest.raises(InvalidInputError, match="is not a size"):
        free_space_assignments("much", "/d")
    with pytest.raises(InvalidInputError, match="this run advises on swap"):
        free_space_assignments("1G", "swap")
