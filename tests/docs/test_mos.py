"""Every option of yod and lwkctl has a row that works in docs/reference/mos-equivalents.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.api.studies.sweep_specification import read_sweep
from assay.errors import InvalidInputError
from assay.machine.reader import read_machine
from assay.partition.share_request import ALGORITHMS, KEYS, LAYOUTS, parse_share_request
from assay.records import Scope
from assay.requests.sweep import SweepRequest
from assay.settings.registry import builtin

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGE = (REFERENCE / "mos-equivalents.md").read_text()
JOB = {"MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "4"}

YOD = (
    *("-R", "--resources", "-c", "--cpus", "-C", "--cores", "-M", "--mem", "-G", "--gpus"),
    *("--gpu-tiles", "-u", "--util_threads", "--resource_algorithm", "--mem_algorithm", "--layout"),
    *("--rank-layout", "-p", "--memory-preference", "--maxpage", "--pagefault", "--mempolicy"),
    *("--memtype-ratio", "--brk-clear-length", "--aligned-mmap", "--mosview", "--dry-run"),
    *("-v", "--verbose", "YOD_VERBOSE", "-h", "--help", "-o"),
)
"""yod.1.man, and the options that its source knows beside."""
KERNEL = (
    *("lwkmem-pma", "lwkmem-report", "lwkmem-vmr-disable", "lwkmem-brk-clear-len"),
    *("lwkmem-pma-cache", "lwksched-enable-rr", "lwksched-disable-setaffinity", "lwksched-stats"),
    *("util-threshold", "overcommit-behavior", "one-cpu-per-util", "idle-control"),
    *("cmci-control", "enable-balancer"),
)
"""Options of ``yod -o``."""
LWKCTL = (
    *("-c", "--create", "lwkcpus", "lwkcpu_profile", "lwkmem", "auto:max", "-d", "--delete"),
    *("-s", "--show", "-r", "--raw", "-p", "--precise", "-t", "--timeout", "-f", "--force"),
    *("-v", "--verbose", "-h", "--help"),
)
COMPARED = (
    *("selinux=0", "nmi_watchdog=0", "nohz_full=", "kernelcore=", "intel_pstate="),
    *(
        "scaling_governor",
        "LibC malloc",
        "TCMalloc",
        "tbbmalloc",
        "KMP_AFFINITY",
        "KMP_BLOCKTIME=0",
    ),
    *("-interleave=all", "-physcpubind", "-localalloc", "Linux HPC tuning", "inter-op"),
)
"""Settings of the configurations in the published comparisons."""
AMOUNTS = {
    "-R": ("1/2", "0.5", "all", "MPI", "map:"),
    "-c": ("list=2-3,6", "0x4c", "cpus=all"),
    "-C": ("cores=2", "cores=1/2", "cores=all", "cores=MPI"),
    "-M": ("mem=4G", "mem=1/4", "mem=all", "mem=MPI"),
    "-G": ("gpus=1", "gpus=1/2", "gpus=all", "gpus=MPI"),
}
"""Values of each option, in assay's terms."""


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    part = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (text,) = [one for one in part if one.startswith(heading + "\n")]
    lines = [line for line in text.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def words(cell: str) -> set[str]:
    return {word for span in re.findall(r"`([^`]+)`", cell) for word in span.split()}


@pytest.mark.parametrize(
    ("heading", "options"), [("yod", (*YOD, *KERNEL)), ("lwkctl", LWKCTL)], ids=["yod", "lwkctl"]
)
def test_every_option_has_a_row(heading: str, options: tuple[str, ...]) -> None:
    named = {word for cell, *_ in rows(heading) for word in words(cell)}
    named |= {part for word in named for part in word.split("=")}
    assert set(options) <= named, sorted(set(options) - named)


def test_missing_option_gives_reason() -> None:
    for heading in ("yod", "lwkctl"):
        for option, counterpart, *why in rows(heading):
            assert counterpart, option
            if counterpart == "not supported":
                assert why and why[0], option


def test_every_amount_has_a_counterpart() -> None:
    for option, wanted in AMOUNTS.items():
        cells = " ".join(row[1] for row in rows("yod") if option in words(row[0]))
        assert all(amount in cells for amount in wanted), option


def test_every_reservation_on_page_parses() -> None:
    ours, _ = PAGE.split("## The configurations that mOS was compared with")
    spans = set(re.findall(r"`([a-z]+=[^`]+)`", ours))
    wishes = [span for span in spans if span.partition("=")[0] in KEYS]
    assert len(wishes) > 20
    for span in wishes:
        value = span.partition("=")[2]
        if value in ("N", "SIZE", "PART", "scatter:N"):
            continue
        beside = "cores=1," if span.startswith(("layout=", "utility=")) else ""
        parse_share_request(beside + span, JOB)


def test_every_keyword_of_reservation_is_explained() -> None:
    table = " ".join(row[0] for row in rows("A share of a partition"))
    assert all(f"`{key}=" in table for key in KEYS)
    assert all(f"`algorithm={one}`" in PAGE for one in ALGORITHMS)
    assert all(one.replace("STRIDE", "N") in table for one in LAYOUTS)


def test_every_setting_on_page_exists() -> None:
    registry = builtin()
    for heading in ("yod", "The configurations that mOS was compared with"):
        for row in rows(heading):
            for name in re.findall(r"`([a-z]+\.[a-zA-Z_0-9.]+)(?:=[^`]*)?`", row[1]):
                try:
                    registry.get(name)
                except InvalidInputError:
                    pytest.fail(f"{name} is no setting")


def test_published_comparison_has_a_row() -> None:
    table = " ".join(row[0] for row in rows("The configurations that mOS was compared with"))
    assert all(one in table for one in COMPARED), [one for one in COMPARED if one not in table]


def test_published_configurations_form_a_sweep_file(tmp_path: Path) -> None:
    fence = re.search(r"^```toml file=talk.toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert fence is not None
    file = tmp_path / "talk.toml"
    file.write_text(fence[1])
    (tmp_path / "train.py").touch()
    request = SweepRequest(file=str(file))
    spec = read_sweep(str(file)).specification(request, builtin(), read_machine(), lambda _: True)
    assert [arm.name for arm in spec.arms] == ["D", "A", "J", "mOS"]
    shown = PAGE.split("```output\n4 cells:\n")[1].split("\n…")[0].splitlines()
    assert [line.split()[0] for line in shown] == [arm.name for arm in spec.arms]
    scopes = {builtin().get(name).scope for arm in spec.arms for name in arm.configuration}
    assert scopes == {Scope.BOOT, Scope.PROCESS}
