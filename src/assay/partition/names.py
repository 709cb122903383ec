"""Names under which the kernel, a program and a sample know partitions and shares."""

from __future__ import annotations

OTHERS_GROUP = "assay.others"
"""The group of version 1 that holds all programs beside the partitions: it keeps them off those,
and confines nobody who asks for a share. No partition can have this name."""
UTILITY_VARIABLE = "ASSAY_UTILITY_CPUS"
"""Variable that tells a program the CPUs for its helping threads, as a list such as ``6-7``; not
set where there are none."""
SHARE_KIND = "share"
"""Kind of the evidence that tells what a launch had for itself."""
PARTITION_KIND = "partition"
"""Kind of the evidence that tells that a partition did not hold while a launch ran."""
SHARE_MEMORY_KIND = "share_memory"
"""Kind of the evidence that tells how many processes were ended for want of a share's memory."""
