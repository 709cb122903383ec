#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>

namespace assay::tier {

/// Locates threads of this process on CPUs.
///
/// The kernel writes the CPU of a thread into its memory (rseq(2), registered by glibc 2.35 and newer), at a
/// fixed distance from the thread's list of robust locks (get_robust_list(2)). Reading it opens no file,
/// unlike /proc/self/task/TID/stat: programs expect low descriptors to be free at any moment.
class ThreadLocator {
  public:
    ThreadLocator();

    /// Return the CPU that a thread last ran on, if the C library registers it.
    [[nodiscard]] std::optional<int> last_cpu(pid_t thread) const;

  private:
    std::optional<std::ptrdiff_t> cpu_offset_; ///< Distance from the robust list to the CPU number, in bytes.
};

} // namespace assay::tier
