#pragma once

#include "common/fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace assay {

/// Huge page pools of the kernel (hugetlb). Neither the resident set of a process nor the memory controller
/// includes them (Documentation/admin-guide/mm/hugetlbpage.rst), so they are read separately.
class HugePages {
  public:
    /// Return the bytes in use, of all pools, by processes of this machine.
    [[nodiscard]] std::int64_t in_use();

    /// Return the bytes in use by these processes (HugetlbPages of /proc/PID/status). Shared pages count for
    /// each process, but the result never exceeds the total in use.
    [[nodiscard]] std::int64_t held_by(const std::vector<pid_t>& pids);

  private:
    struct Pool {
        std::int64_t page_bytes = 0;
        Fd pages;
        Fd free;
    };

    void open_pools();

    std::optional<std::vector<Pool>> pools_; // empty until the first call
};

/// Return the largest amount of memory that a page fault without a huge page can add. It exceeds one page if
/// the kernel may use larger folios (Linux 6.8, Documentation/admin-guide/mm/transhuge.rst).
std::int64_t max_fault_bytes();

/// Return whether page faults may add huge pages of shared memory, which the kernel counts for no control
/// group (shmem_enabled; a tmpfs may enable them by its own mount option too).
bool shared_memory_may_be_huge();

} // namespace assay
