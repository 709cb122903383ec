#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Where a process is in one hierarchy of control groups.
struct GroupLine {
    std::string controllers; // of v1, joined by commas
    std::string path;
};

/// The line of /proc/PID/cgroup about the v1 hierarchy that has a controller ("4:cpu,cpuacct:/some/folder"),
/// or about the v2 one ("0::/some/folder") where `controller` is empty.
std::optional<GroupLine> group_line(std::string_view text, std::string_view controller);

/// Adds the processes that a cgroup.procs names.
void add_pids(std::string_view text, std::vector<pid_t>& found);

} // namespace assay
