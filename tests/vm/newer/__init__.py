"""One guest of a kernel that has weighted interleaving and tells which CPUs are isolated."""
