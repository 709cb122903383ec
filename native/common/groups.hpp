#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Control group of a process in one hierarchy.
struct GroupLine {
    std::string controllers; // of a v1 hierarchy, separated by commas
    std::string path;
};

/// Return the line of /proc/PID/cgroup for the v1 hierarchy with a controller ("4:cpu,cpuacct:/some/folder").
/// An empty `controller` selects the v2 hierarchy ("0::/some/folder").
std::optional<GroupLine> group_line(std::string_view text, std::string_view controller);

/// Add the process ids in the text of a cgroup.procs file.
void add_pids(std::string_view text, std::vector<pid_t>& found);

} // namespace assay
