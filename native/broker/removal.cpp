#include "broker/removal.hpp"

#include "broker/move.hpp"
#include "broker/process.hpp"
#include "common/dir.hpp"
#include "common/fd.hpp"
#include "common/files.hpp"
#include "common/groups.hpp"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace assay::broker {

namespace {

/// Maximum number of steps up or down per pass. In v1 the owner of a share can create any number of groups,
/// even during the removal.
constexpr int max_steps = 500;
/// Maximum number of pidfds that are open at a time.
constexpr std::size_t max_open_processes = 256;

Fd open_folder(int at, const char* path) {
    return Fd{::openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

/// Return the process ids in ascending order.
std::vector<pid_t> processes_of(int group) {
    const auto text = read_file(group, "cgroup.procs");
    std::vector<pid_t> pids;
    if (text) add_pids(*text, pids);
    std::ranges::sort(pids);
    return pids;
}

/// Return the name of a group directly below; empty if there is none.
std::string first_subgroup(int group) {
    Fd fd = open_folder(group, ".");
    const Dir dir{fd ? ::fdopendir(fd.get()) : nullptr};
    if (!dir) return {};
    static_cast<void>(fd.release());
    while (const dirent* entry = ::readdir(dir.get())) {
        const std::string_view name = entry->d_name;
        if (entry->d_type == DT_DIR && name != "." && name != "..") return std::string(name);
    }
    return {};
}

} // namespace

bool Removal::pass(const std::string& origin, ProcessPolicy policy) {
    const Fd top = open_folder(AT_FDCWD, folder_.c_str());
    if (!top) return errno == ENOENT;
    if (origin.empty()) policy = ProcessPolicy::kill;
    // Also catches processes that fork faster than they can be listed (Linux 5.14, v2 only).
    if (policy == ProcessPolicy::kill) static_cast<void>(write_file(top.get(), "cgroup.kill", "1"));
    clear(top.get(), origin, policy);
    remove_below(top.get(), origin, policy);
    return ::rmdir(folder_.c_str()) == 0 || errno == ENOENT;
}

void Removal::clear(int group, const std::string& origin, ProcessPolicy policy) const {
    const auto listed = processes_of(group);
    for (std::size_t first = 0; first < listed.size(); first += max_open_processes) {
        std::vector<Process> batch;
        for (std::size_t i = first; i < std::min(first + max_open_processes, listed.size()); ++i)
            batch.emplace_back(listed[i]);
        // A number may have been reused before its pidfd was opened.
        const auto remaining = processes_of(group);
        for (const Process& process : batch) {
            if (!std::ranges::binary_search(remaining, process.pid())) continue;
            const int error = policy == ProcessPolicy::kill ? EPERM : move_to(*hierarchy_, origin, process);
            if (error != 0 && error != ESRCH) process.kill();
        }
    }
}

/// Remove groups bottom-up. Each is opened from its parent, because the owner may nest groups deeper than a
/// path, the stack or one pass allows. ".." leads back, as groups cannot be moved to another parent.
void Removal::remove_below(int top, const std::string& origin, ProcessPolicy policy) {
    if (!current_) {
        current_ = open_folder(top, ".");
        path_.clear();
    }
    for (int step = 0; current_ && step < max_steps; ++step) {
        std::string name = first_subgroup(current_.get());
        if (!name.empty()) {
            current_ = open_folder(current_.get(), name.c_str());
            path_.push_back(std::move(name));
            continue;
        }
        if (path_.empty()) break;
        if (policy != ProcessPolicy::keep_nested) clear(current_.get(), origin, policy);
        const std::string finished = std::move(path_.back());
        path_.pop_back();
        current_ = open_folder(current_.get(), "..");
        if (!current_ || (::unlinkat(current_.get(), finished.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT))
            return;
    }
}

} // namespace assay::broker
