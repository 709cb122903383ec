"""Settings of memory allocation: allocator, options of allocators, tunables of glibc."""
