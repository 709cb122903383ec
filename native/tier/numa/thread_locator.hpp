#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>

namespace assay::tier {

/// On which CPUs threads of this process run.
///
/// The kernel writes the CPU of a thread into its memory (rseq(2), registered by glibc from 2.35 on), equally
/// far from each thread's list of robust locks, which get_robust_list(2) tells. So no file has to be opened,
/// as /proc/self/task/TID/stat would: programs count on low descriptors to be free, at any moment.
class ThreadLocator {
  public:
    ThreadLocator();

    /// The CPU on which a thread ran last, where the C library lets the kernel tell.
    [[nodiscard]] std::optional<int> last_cpu(pid_t thread) const;

  private:
    std::optional<std::ptrdiff_t> cpu_offset_; ///< Bytes from the list to the CPU's number.
};

} // namespace assay::tier
