"""Names of partitions and shares in the kernel, in programs and in samples."""

from __future__ import annotations

OTHERS_GROUP = "assay.others"
"""Group of version 1 for all programs outside the partitions. It keeps them off partition CPUs, and
does not confine users who request a share. The name is invalid for a partition."""
UTILITY_VARIABLE = "ASSAY_UTILITY_CPUS"
"""Variable with the CPUs for helper threads, as a list such as ``6-7``; unset without such CPUs."""
SHARE_KIND = "share"
"""Kind of the evidence of the share of a launch."""
PARTITION_KIND = "partition"
"""Kind of the evidence of a violated partition during a launch."""
SHARE_MEMORY_KIND = "share_memory"
"""Kind of the evidence of processes that were killed for lack of memory in the share."""
