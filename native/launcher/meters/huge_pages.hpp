#pragma once

#include "common/fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace assay {

/// The kernel's pools of huge pages (hugetlb). Neither the resident set of a process nor the memory
/// controller counts them (Documentation/admin-guide/mm/hugetlbpage.rst), so they are looked for apart.
class HugePages {
  public:
    /// Return the bytes of all pools that processes of this machine hold.
    [[nodiscard]] std::int64_t in_use();

    /// Return the bytes of them that these processes hold (HugetlbPages of /proc/PID/status). Shared pages
    /// count for each process, but never more than are in use.
    [[nodiscard]] std::int64_t held_by(const std::vector<pid_t>& pids);

  private:
    struct Pool {
        std::int64_t page_bytes = 0;
        Fd pages;
        Fd free;
    };

    void open_pools();

    std::optional<std::vector<Pool>> pools_; // none until the first look
};

/// Return the most that a page fault can add that maps no huge page: more than a page where the kernel may
/// use folios of several (Linux 6.8, Documentation/admin-guide/mm/transhuge.rst).
std::int64_t max_fault_bytes();

/// Return whether page faults may add huge pages of shared memory, which the kernel counts for no control
/// group (shmem_enabled; a tmpfs can have them by its own mount option too).
bool shared_memory_may_be_huge();

} // namespace assay
