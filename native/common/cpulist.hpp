#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Parse the kernel's list format, such as "0-3,8", of CPUs or NUMA nodes. Return nothing if it is malformed
/// or contains more numbers than any machine has.
std::optional<std::vector<int>> parse_cpulist(std::string_view text);

std::string format_cpulist(const std::vector<int>& cpus);

/// Return at most `max_count` of the numbers, evenly spread.
std::vector<int> spread(const std::vector<int>& numbers, std::size_t max_count);

} // namespace assay
