#pragma once

#include "common/fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::noise {

/// What interrupted one CPU: the lines of /proc/interrupts and /proc/softirqs whose count has grown.
///
/// Sources: Documentation/filesystems/proc.rst, "/proc/interrupts" and "/proc/softirqs": a header with the
/// CPUs that are online, then a line for each source with a count for each of them.
class Interrupts {
  public:
    using Grown = std::vector<std::pair<std::string, std::int64_t>>;

    explicit Interrupts(int cpu);

    /// By how much each has grown since the last call, those that have not left out; of the first call
    /// nothing. Takes tens of microseconds, more on hosts with many CPUs.
    Grown look();

  private:
    struct Table {
        Fd file;
        std::string prefix; // tells a source of this table from those of the other
        std::vector<std::pair<std::string, std::int64_t>> counts;
    };

    std::optional<std::string_view> whole(int file);
    void look_at(Table& table, Grown& grown);

    int cpu_;
    std::vector<char> buffer_;
    Table hard_;
    Table soft_;
    bool first_ = true;
};

} // namespace assay::noise
