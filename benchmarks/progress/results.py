"""Results by key, in a file that is written after each part, so that a stopped run continues."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.overhead.surroundings import machine


class Results:
    """Results of one part of the benchmark.

    Args:
        path: file of the results; the first result creates it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        document = json.loads(path.read_text()) if path.exists() else {}
        self.parts: dict[str, Any] = document.get("parts", {})
        self.about: dict[str, Any] = document.get("about", {})

    def part(self, key: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the stored result of a key; compute and store it if there is none."""
        if key not in self.parts:
            self.add({key: compute()})
        found: dict[str, Any] = self.parts[key]
        return found

    def add(self, found: dict[str, Any]) -> None:
        """Store results, with the date and the machine of the newest ones."""
        self.parts.update(found)
        self.about = about()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps({"about": self.about, "parts": self.parts}, indent=1))
        fresh.replace(self.path)


def about() -> dict[str, Any]:
    """Return date and machine."""
    return {"date": time.strftime("%Y-%m-%d"), "machine": machine()}
