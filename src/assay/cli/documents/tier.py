"""Types of the documents of ``assay tier``."""

from __future__ import annotations

from assay.records.codec import SCHEMA, Record
from assay.tier.doctor import Finding
from assay.tier.efficiency import Device
from assay.tier.meter import Meter
from assay.tier.prediction import Prediction
from assay.tier.probe import Probe
from assay.tier.swap import SwapUsage


class TierDoctorAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay tier doctor``.

    Attributes:
        usable: true if the pager is available.
        advisable: true if the advisor is available, which needs swap space that accepts pages.
        probe: results of the native probe.
        swap: swap space of the host.
        findings: problems, the most serious first.
    """

    usable: bool
    advisable: bool
    probe: Probe
    swap: SwapUsage
    findings: tuple[Finding, ...]


class TierTopAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay tier top``.

    Attributes:
        processes: processes with a tier, by process id.
    """

    processes: tuple[Meter, ...]


class BenchmarkCell(Record, frozen=True, kw_only=True):
    """Results of a workload with one data size and one number of threads.

    Attributes:
        work: name of the workload.
        threads: number of threads.
        dram_ratio: data size relative to DRAM.
        intensity: operations per byte of the data.
        memory_s: times of a pass in memory alone, in seconds.
        tier_s: times of a pass with a backing store, in seconds, each from the same round.
        balance_ratio: intensity relative to the one with equal computation and transfer times;
            absent if the data fit into DRAM.
        efficiency: median speed over the rounds, relative to memory alone.
        model: efficiency with a perfect overlap of computation and transfers.
    """

    work: str
    threads: int
    dram_ratio: float
    intensity: float
    memory_s: tuple[float, ...]
    tier_s: tuple[float, ...]
    balance_ratio: float | None = None
    efficiency: float
    model: float


class TierBenchAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay tier bench``.

    Attributes:
        dram_bytes: DRAM of the programs, in bytes.
        device: transfer rates of the storage.
        cells: one entry for each workload, data size and number of threads.
    """

    dram_bytes: int
    device: Device
    cells: tuple[BenchmarkCell, ...]


class TierPredictAnswer(Prediction, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay tier predict``.

    Attributes:
        dram_bytes: DRAM of the program, in bytes.
        reasons: reasons for the prediction, in sentences.
    """

    dram_bytes: int
    reasons: tuple[str, ...]
