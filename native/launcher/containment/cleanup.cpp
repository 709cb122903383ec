#include "launcher/containment/cleanup.hpp"

#include "common/dir.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace assay {

namespace {

constexpr Nanos end_timeout = 5 * nanos_per_second;
constexpr int max_depth = 16;

/// Return whether the launcher that a control group is named after no longer exists.
bool is_abandoned(std::string_view group) {
    const pid_t launcher = launcher_of(group);
    return launcher > 0 && ::kill(launcher, 0) != 0 && errno == ESRCH;
}

/// Find abandoned groups below `root`. The group of a launcher lies below the group in which it was started,
/// which need not be ours.
void find_candidates(int root, const std::string& folder, int depth, std::vector<std::string>& found) {
    // A hierarchy itself may be a link ("cpuacct" for "cpu,cpuacct").
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth > 0 ? O_NOFOLLOW : 0);
    Fd fd{::openat(root, folder.empty() ? "." : folder.c_str(), flags)};
    if (!fd) return;
    std::vector<std::string> below;
    const Dir dir{::fdopendir(fd.release())};
    while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
        const std::string_view name = entry->d_name;
        if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
        auto path = folder.empty() ? std::string(name) : folder + '/' + std::string(name);
        if (is_abandoned(name))
            found.push_back(std::move(path));
        else if (depth < max_depth)
            below.push_back(std::move(path));
    }
    for (const auto& path : below) find_candidates(root, path, depth + 1, found);
}

void kill_once(const CgroupFolder& group, const Hierarchies& hierarchies) {
    if (group.write("cgroup.kill", "1") == 0) return;
    const auto still_ours = [&](pid_t pid) {
        const auto now = group.processes();
        return std::find(now.begin(), now.end(), pid) != now.end();
    };
    static_cast<void>(group.write("freezer.state", "FROZEN")); // prevents forks during the loop
    for (const pid_t pid : group.processes()) {
        kill_checked(pid, still_ours);
        hierarchies.thaw(pid);
    }
    static_cast<void>(group.write("freezer.state", "THAWED"));
}

bool end_group(CgroupFolder& group, const Hierarchies& hierarchies) {
    const Nanos deadline = now_ns() + end_timeout;
    while (!group.processes().empty() && now_ns() < deadline) {
        kill_once(group, hierarchies);
        const timespec nap = to_timespec(nanos_per_milli);
        ::nanosleep(&nap, nullptr);
    }
    return group.remove();
}

} // namespace

pid_t launcher_of(std::string_view group) {
    constexpr std::string_view prefix = "assay-";
    if (!group.starts_with(prefix)) return 0;
    group.remove_prefix(prefix.size());
    pid_t pid = 0;
    unsigned count = 0;
    const char* const end = group.data() + group.size();
    const auto [dash, no_pid] = std::from_chars(group.data(), end, pid);
    if (no_pid != std::errc{} || dash == end || *dash != '-') return 0;
    const auto [rest, no_count] = std::from_chars(dash + 1, end, count);
    return no_count == std::errc{} && rest == end && pid > 0 ? pid : 0;
}

int remove_abandoned_groups(const Hierarchies& hierarchies) {
    std::vector<std::string> found;
    for (const char* controller : {"", "freezer", "memory", "cpuacct", "pids"}) {
        const bool there = *controller == '\0' ? hierarchies.has_unified() : hierarchies.has_v1(controller);
        if (there) find_candidates(hierarchies.root(), hierarchies.mount(controller), 0, found);
    }
    return static_cast<int>(std::count_if(found.begin(), found.end(), [&](const std::string& path) {
        auto group = CgroupFolder::adopt_abandoned(hierarchies.root(), path);
        return group && end_group(*group, hierarchies);
    }));
}

} // namespace assay
