"""Native programs built apart from the package, most with sanitizers.

They are built below ``.checks/``, where a later test, and the next run, find what has not changed;
below ``build/`` other tests would take them for the programs that are installed.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def native_build(targets: Sequence[str], sanitizers: str = "", *words: str) -> Path:
    """The folder of a build with these targets.

    Args:
        sanitizers: as ASSAY_SANITIZE has them; none by default.
        words: more for CMake; with them the folder is another.
    """
    name = sanitizers.replace(",", "-") or "plain"
    build = ROOT / ".checks" / (f"{name}-other" if words else name)
    build.mkdir(parents=True, exist_ok=True)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    configure = ["cmake", "-S", ROOT / "native", "-B", build, f"-DASSAY_SANITIZE={sanitizers}"]
    # Workers of one run of the tests build one after the other.
    with (build / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in (
            [*configure, *generator, *words],
            ["cmake", "--build", build, "--parallel", "2", "--target", *targets],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return build
