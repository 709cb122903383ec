"""Defaults of ``env.NAME``, in the launcher's document and in the script."""

from __future__ import annotations

from settings.hosts import machine

from assay.launch.document import launcher_document
from assay.launch.planner import plan
from assay.launch.script import shell_script
from assay.records import DEFAULT, Configuration, Launch, Plan, Stage, Value, Workload
from assay.settings.registry import builtin


def planned(given: dict[str, Value]) -> Plan:
    return plan(Configuration(given), machine(), builtin())


def test_defaults_of_the_environment_reach_document_and_script() -> None:
    workload = Workload(argv=("prog",), environment={"MODE": "a b"})
    launch = Launch(configuration=DEFAULT, arm="default", stage=Stage.SEARCH, block=0, position=0)
    document = launcher_document(planned({}), workload, launch, env={})
    assert document["env_set"] == {"MODE": "a b"}
    changed = launcher_document(planned({"env.MODE": "c"}), workload, launch, env={})
    assert changed["env_set"] == {"MODE": "c"}
    assert "MODE='a b'" in shell_script(planned({}), workload)
    script = shell_script(planned({"env.MODE": "c"}), workload)
    assert "MODE=c" in script and "a b" not in script
