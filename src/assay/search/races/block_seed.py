"""Seed of the proposals of one block."""

from __future__ import annotations

import hashlib


def block_seed(text: str) -> int:
    """Return a seed of 31 bits that follows from a text, the same on every machine.

    Args:
        text: text that differs from block to block.
    """
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) // 2
