"""Storage as memory: programs whose data exceed DRAM, at the speed of the disk behind it."""
