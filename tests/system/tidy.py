"""A server that puts its files in order when it is asked to end."""

from __future__ import annotations

from pathlib import Path

TIDY = """
trap 'echo asked >> {log}; sleep {s}; echo tidy >> {log}; exit 0' TERM
trap '' INT
echo ready >> {log}
while :; do sleep 0.02; done
"""
"""It writes to ``log`` how far it is, and takes ``s`` seconds to end."""


def tidy(log: Path, s: float) -> list[str]:
    return ["sh", "-c", TIDY.format(log=log, s=s)]


def lines(log: Path) -> list[str]:
    return log.read_text().split() if log.exists() else []
