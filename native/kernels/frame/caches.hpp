#pragma once

#include <cstdint>
#include <string>

namespace assay::kernels {

/// Caches of the CPUs in use, and the available memory; 0 if the kernel does not report them.
struct Caches {
    std::int64_t first = 0;  ///< Level 1, data, of one CPU.
    std::int64_t second = 0; ///< Level 2, total of all cores in use.
    std::int64_t last = 0;   ///< The last level, total of all cores in use.
    std::int64_t memory = 0; ///< Available memory.
};

/// Return sizes from sysfs and /proc. Sources: Documentation/ABI/testing/sysfs-devices-system-cpu
/// (cache/index*), MemAvailable of proc(5).
///
/// \param threads number of threads: only this many CPUs of those that the process may use are counted.
Caches find_caches(int threads);

/// Return the bytes of data for a named size: "tiny" (half of a first-level cache), "L2" (half of the second
/// level of all threads), "LLC" (half of the last level), "DRAM" (four times the last level).
///
/// \throws UsageError for an unknown name, without information on caches, or without enough memory.
std::int64_t bytes_of(const std::string& size, const Caches& caches);

} // namespace assay::kernels
