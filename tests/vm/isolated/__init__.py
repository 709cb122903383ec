"""One guest that was booted with isolated CPUs."""
