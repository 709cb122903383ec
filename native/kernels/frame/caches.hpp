#pragma once

#include <cstdint>
#include <string>

namespace assay::kernels {

/// Caches that this process may use, and the memory behind them; 0 where the kernel does not tell.
struct Caches {
    std::int64_t first = 0;  ///< Level 1, data, of one CPU.
    std::int64_t second = 0; ///< Level 2, of all cores that are used together.
    std::int64_t last = 0;   ///< The last level, of all that are used together.
    std::int64_t memory = 0; ///< That is available now.
};

/// Sources: Documentation/ABI/testing/sysfs-devices-system-cpu (cache/index*), MemAvailable of proc(5).
///
/// \param threads of the work: so many CPUs of those that this process may use are counted.
Caches find_caches(int threads);

/// Bytes of data for a size by name: "tiny" (half of a first-level cache), "L2" (half of what the threads
/// have), "LLC" (half of the last level), "DRAM" (four times the last level).
///
/// \throws BadWords where there is no such name, the kernel does not tell the caches, or memory is too small.
std::int64_t bytes_of(const std::string& size, const Caches& caches);

} // namespace assay::kernels
