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

} // namespace assay
