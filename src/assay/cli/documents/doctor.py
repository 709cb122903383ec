"""Type of the document of ``assay doctor``."""

from __future__ import annotations

from typing import Any

from assay.machine.document import Machine
from assay.records.codec import SCHEMA, Record
from assay.records.overhead import Overhead


class SettingAvailability(Record, frozen=True, kw_only=True):
    """Values of one setting on this machine.

    Attributes:
        domain: values that exist on this machine, in words.
        granted: values that assay can grant.
        degraded: reasons by value that has a part of its effect.
        refused: reasons by value that assay refuses.
    """

    domain: str
    granted: tuple[str, ...]
    degraded: dict[str, str | None]
    refused: dict[str, str | None]


class Separation(Record, frozen=True, kw_only=True):
    """Separation of the programs from root under sudo.

    Attributes:
        user: calling user, as whom the programs run.
        exposed: first path that other users can write and root loads programs or modules from; null
            if there is none.
    """

    user: str
    exposed: str | None


class DoctorAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay doctor``.

    Attributes:
        machine: description that a study keeps of its host.
        launcher: capabilities that the native launcher found, such as ``cgroup``, ``counters`` and
            ``sched``.
        settings: values of each setting, by its name; without settings of the system.
        store: URL of the store, or the reason why there is none.
        store_bytes: size of the store, in bytes; absent without a store.
        overhead: newest calibrations of this machine: with the built-in loads, and with each
            command.
        separation: separation of the programs from root; absent without sudo.
    """

    machine: Machine
    launcher: dict[str, Any]
    settings: dict[str, SettingAvailability]
    store: str
    overhead: tuple[Overhead, ...]
    separation: Separation | None = None
    store_bytes: int | None = None
