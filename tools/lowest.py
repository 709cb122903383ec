"""Print constraints that pin every dependency to its lowest version.

python3 tools/lowest.py KIND

KIND is `run` for the dependencies of running, testing and the examples, `build` for those of
building the package. A dependency without a lower bound is an error.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def declared(kind: str) -> list[str]:
    """Return the requirements as written."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if kind == "build":
        return project["build-system"]["requires"]
    lines = (ROOT / "examples" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [
        *project["project"]["dependencies"],
        *project["dependency-groups"]["test"],
        *(line for line in lines if line and not line.startswith("#")),
    ]


def lowest(requirement: str) -> str:
    """`name>=1.2,<3` is `name==1.2`."""
    found = re.match(r"([\w.-]+)\s*(?:\[[^]]*\])?\s*[>=]=\s*([\w.]+)", requirement)
    if not found:
        sys.exit(f"tools/lowest.py: {requirement!r} has no lower bound")
    return f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    if sys.argv[1:] not in (["run"], ["build"]):
        sys.exit(__doc__)
    print("\n".join(lowest(word) for word in declared(sys.argv[1])))
