"""Exported settings, seen by real launches."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]
SAYS = ("--", "sh", "-c", 'echo "${OMP_PROC_BIND-none}"; sleep 0.05')


@pytest.mark.rotating
def test_unset_inherited_variable_is_absent_in_run_and_study(
    assay_exec: Path, tmp_path: Path
) -> None:
    assay = CommandLine(assay_exec, tmp_path, more={"OMP_PROC_BIND": "true"})
    assert assay("run", *SAYS).out == "true\n"
    assert assay("run", "--with", "inherited.OMP_PROC_BIND=unset", *SAYS).out == "none\n"
    listed = assay("settings", "list", "--json").document
    assert listed["inherited"]["OMP_PROC_BIND"] == "true"
    words = ("--arm", "inherited.OMP_PROC_BIND=unset", "--arm", "default")
    done = assay("compare", "--json", "--runs", "16", *words, *SAYS)
    assert any("OMP_PROC_BIND=true" in note for note in done.document["notes"]), done.err
    samples = [s for s in assay.documents() if s["launch"]["configuration"]]
    grants = [json.dumps(s["settings"]["inherited.OMP_PROC_BIND"]) for s in samples]
    assert grants and all('"granted"' in one for one in grants), grants
