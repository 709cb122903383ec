"""Executor: the interface of all objects that carry out launches."""

from __future__ import annotations

from typing import Protocol

import msgspec

from assay.records import Launch, Plan, Sample


class Node(msgspec.Struct, frozen=True):
    """Host that accepts launches."""

    name: str
    slots: int = 1


class Ticket(msgspec.Struct, frozen=True):
    """Handle of a submitted launch."""

    number: int


class Executor(Protocol):
    """Interface of all executors: local now, guests and clusters later.

    The study loop sends all launches to the first node. ``open`` is called before launches whose
    settings are costly to change.
    """

    def nodes(self) -> list[Node]:
        """Return the hosts that accept launches."""
        ...

    def open(self, node: Node, plan: Plan) -> None:
        """Apply the settings outside the process that hold for the following launches.

        Called if a setting that is costly to change gets another value, or must be applied again
        (``Setting.switch_cost_s``, ``Launch.anew``).
        """
        ...

    def submit(self, launch: Launch, plan: Plan) -> Ticket:
        """Start one launch."""
        ...

    def poll(self, timeout_s: float | None) -> list[Sample]:
        """Return samples of finished launches; wait at most ``timeout_s`` for one."""
        ...

    def cancel(self, ticket: Ticket) -> None:
        """End a running launch without a sample."""
        ...

    def ask_to_end(self) -> float:
        """Ask running launches to end; return the longest remaining grace period, in seconds."""
        ...

    def close(self) -> None:
        """End running launches, and restore all changed settings."""
        ...
