"""A first launch that fails."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from assay.errors import WorkloadFailedError
from assay.executors.evidence.output import kept_output
from assay.records import Budget, Configuration, Outcome, Plan, Sample, Workload
from assay.study import survey as module
from assay.study.laboratory import Laboratory


class Failing:
    """Executor whose program writes output and fails."""

    last_facts = None

    def __init__(self, folder: Path) -> None:
        self.output, self.errors = folder / "stdout", folder / "stderr"
        self._launches: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def submit(self, launch: Any, plan: Plan) -> None:
        self._launches.append(launch)

    def poll(self, timeout_s: float | None) -> list[Sample]:
        written = [path for path in (self.output, self.errors) if path.exists()]
        return [
            Sample(
                launch=self._launches.pop(),
                outcome=Outcome.FAILED,
                message="exit status 1",
                outputs=tuple(
                    found for path in written if (found := kept_output(path)) is not None
                ),
            )
        ]


class Here(Laboratory):
    def plan(self, configuration: Configuration) -> Plan:
        return Plan(configuration=configuration)


def failure_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(module, "LocalExecutor", lambda *_, **__: Failing(folder))
    laboratory = Here(None, None, None)  # type: ignore[arg-type]
    with pytest.raises(WorkloadFailedError) as found:
        module.survey(laboratory, Workload(argv=("false",)), Budget())
    return found.value.cause


def test_last_output_is_shown_without_control_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last lines are from standard error, or from standard output if that is empty."""
    (tmp_path / "stdout").write_bytes(b"\x1b]0;title\x07 out\n")
    assert failure_of(tmp_path, monkeypatch).endswith("\n    \\x1b]0;title\\x07 out")
    (tmp_path / "stderr").write_bytes(b" \n")
    assert failure_of(tmp_path, monkeypatch).endswith("\n    \\x1b]0;title\\x07 out")
    (tmp_path / "stderr").write_bytes(b"".join(b"line %d\n" % n for n in range(900)) + b"\xff\n")
    cause = failure_of(tmp_path, monkeypatch)
    assert cause.splitlines()[1:] == [*(f"    line {n}" for n in range(896, 900)), "    \ufffd"]
