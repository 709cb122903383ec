"""Settings of OpenMP: binding of threads, runtime, schedule of loops, waiting."""
