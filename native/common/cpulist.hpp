#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The kernel's list format, "0-3,8": of CPUs or NUMA nodes. Nothing where it is malformed, or names more
/// numbers than any machine has.
std::optional<std::vector<int>> parse_cpulist(std::string_view text);

std::string format_cpulist(const std::vector<int>& cpus);

/// At most `most` of the numbers, evenly spread over them.
std::vector<int> spread(const std::vector<int>& numbers, std::size_t most);

} // namespace assay
