"""One guest of two sockets, four NUMA nodes and a fifth without CPUs."""
