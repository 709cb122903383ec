"""Command of assay in this process, whose cost is written to a file when it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from assay.cli.main import entry

from .cost import own_cost


def main() -> None:
    """Run the command line of assay: ``COST_FILE WORD...``."""
    cost_file = Path(sys.argv[1])
    sys.argv = ["assay", *sys.argv[2:]]
    try:
        entry()
    finally:
        cost = own_cost()
        cost_file.write_text(json.dumps({"cpu_s": cost.cpu_s, "peak_mb": cost.peak_mb}))


if __name__ == "__main__":
    main()
