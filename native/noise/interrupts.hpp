#pragma once

#include "common/fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::noise {

/// Interrupts of one CPU: the lines of /proc/interrupts and /proc/softirqs whose count has increased.
///
/// Sources: Documentation/filesystems/proc.rst, "/proc/interrupts" and "/proc/softirqs": a header with the
/// online CPUs, then one line per source with a count for each of them.
class Interrupts {
  public:
    using Increments = std::vector<std::pair<std::string, std::int64_t>>;

    explicit Interrupts(int cpu);

    /// Return the increments since the last call, without zeros; the first call returns none. Takes tens of
    /// microseconds, more on hosts with many CPUs.
    Increments read();

  private:
    struct Table {
        Fd file;
        std::string prefix; // distinguishes the sources of this table from those of the other
        std::vector<std::pair<std::string, std::int64_t>> counts;
    };

    std::optional<std::string_view> read_file_at(int file);
    void read_table(Table& table, Increments& increments);

    int cpu_;
    std::vector<char> buffer_;
    Table hard_;
    Table soft_;
    bool first_read_ = true;
};

} // namespace assay::noise
