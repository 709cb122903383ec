"""Programs on the machine: files, dependencies, runtimes and digests, read without running them."""
