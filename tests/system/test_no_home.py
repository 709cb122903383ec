"""A user without a name and a home, who names a store."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from command_line import CommandLine
from marks import end_marked

USER = 424242
"""No account has this number."""
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
    pytest.mark.skipif(os.geteuid() != 0, reason="root only"),
]
DROP = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
READ_ALL = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")


@pytest.mark.rotating
def test_verbs_with_named_store_need_no_home(assay_exec: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chown(folder, USER, USER)
        launcher = folder / "assay-exec"
        shutil.copy(assay_exec, launcher)
        launcher.chmod(0o755)
        unset = [f"-u{one}" for one in ("HOME", "USER", "LOGNAME", "XDG_STATE_HOME", "ASSAY_DB")]
        line = CommandLine(launcher, folder, prefix=(*DROP, *READ_ALL, "env", *unset))
        if subprocess.run(
            [*line.prefix, sys.executable, "-c", "import assay.cli.main"], env=line.env
        ).returncode:
            pytest.skip("assay cannot be run as another user here")
        try:
            db = ("--db", str(line.store))
            for words in (
                ("measure", *db, "--runs", "3", "--", "true"),
                ("tune", *db, "--runs", "6", "nice=0,5", "--", "true"),
                ("study", "list", *db),
                ("study", "show", *db, "last"),
                ("report", *db, "-o", folder / "report.html", "last"),
                ("doctor",),
            ):
                done = line(*words)
                assert done.status == 0 and "home" not in done.err, (words, done)
            assert "Specify a file with --db" in line("study", "list").err
        finally:
            end_marked(line.mark)
