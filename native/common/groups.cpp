#include "common/groups.hpp"

#include <algorithm>
#include <charconv>

namespace assay {

std::optional<GroupLine> group_line(std::string_view text, std::string_view controller) {
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos) continue;
        const std::string names{line.substr(first + 1, second - first - 1)};
        if ((',' + names + ',').find(',' + std::string(controller) + ',') == std::string::npos) continue;
        return GroupLine{names, std::string(line.substr(second + 1))};
    }
    return std::nullopt;
}

void add_pids(std::string_view text, std::vector<pid_t>& found) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        pid_t pid = 0;
        const auto [stop, error] = std::from_chars(at, end, pid);
        if (error != std::errc{}) break;
        // 0 stands for a process outside this PID namespace; as a target it would mean ourselves.
        if (pid > 0) found.push_back(pid);
        at = stop + 1;
    }
}

} // namespace assay
