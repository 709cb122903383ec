"""Memory tier: programs with data larger than DRAM, at the speed of their backing store."""
