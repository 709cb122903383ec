"""Many launches in one boot: plans go in, records come out."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from .guest import CgroupMode, Guest, Result

LAUNCH = "assay-exec --plan /plans/{}.json --record /out/record.json"


@dataclass(frozen=True)
class Batch:
    """Results of one guest: those of each launch and script by its name."""

    cgroup: CgroupMode
    results: Mapping[str, Result] = field(repr=False)

    def record(self, name: str) -> dict[str, Any]:
        """Return the record of a launch; fails with the launcher's outputs where there is none."""
        record = json.loads(self.text(name, "/out/record.json"))
        assert isinstance(record, dict)
        print(f"{name} ({self.cgroup}): {json.dumps(record, indent=1)}")  # seen if the test fails
        return record

    def text(self, name: str, file: str) -> str:
        """Return a file that a launch or script left."""
        result = self.results[name]
        assert file in result.files, str(result)
        return result.files[file].decode()

    @property
    def counts_memory(self) -> bool:
        """Return whether groups count memory; kernels since 6.12 may lack this in the v1 layout."""
        groups = self.text("survey", "/out/groups").splitlines()
        return self.cgroup == "v2" or "/sys/fs/cgroup/memory" in groups

    def survivors(self, name: str) -> list[str]:
        """Return the lines of the script's `ps` about programs of `programs/`."""
        lines = self.text(name, "/out/processes").splitlines()
        ours = {path.stem for path in (Path(__file__).parent / "programs").glob("*.cpp")}
        return [line for line in lines if line.split()[-1] in ours]


def in_turns(group: str, modes: Collection[CgroupMode]) -> list[Any]:
    """Return parameters for guests that take turns; tests of the same guest have the same turn."""
    return [pytest.param(mode, marks=pytest.mark.rotating(group, together=mode)) for mode in modes]


def run_batch(
    guest: Guest,
    files: Mapping[str, Path | bytes],
    plans: Mapping[str, Mapping[str, Any]],
    scripts: Mapping[str, str],
    left_out: Collection[str] = (),
) -> Batch:
    """Boot once; launch every selected plan, then run the scripts.

    All plans are in the guest, as /plans/NAME.json, so that scripts can launch those left out.
    """
    documents = {f"/plans/{name}.json": json.dumps(plan).encode() for name, plan in plans.items()}
    commands = {name: LAUNCH.format(name).split() for name in plans if name not in left_out}
    commands |= {name: ["sh", "-c", script] for name, script in scripts.items()}
    results = guest.run({**files, **documents}, list(commands.values()), timeout_s=400)
    return Batch(guest.cgroup, dict(zip(commands, results, strict=True)))
