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

/// Steps down or up in one pass: with control groups of version 1 nothing limits how many groups the owner of
/// a share makes, and he may make them while it goes on.
constexpr int most_steps = 500;
/// Each is a descriptor.
constexpr std::size_t held_at_once = 256;

Fd open_folder(int at, const char* path) {
    return Fd{::openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

/// Ascending.
std::vector<pid_t> processes_of(int group) {
    const auto text = read_file(group, "cgroup.procs");
    std::vector<pid_t> pids;
    if (text) add_pids(*text, pids);
    std::ranges::sort(pids);
    return pids;
}

/// The name of a group right below one; empty where there is none.
std::string one_below(int group) {
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

bool Removal::pass(const std::string& origin, Residents residents) {
    const Fd top = open_folder(AT_FDCWD, folder_.c_str());
    if (!top) return errno == ENOENT;
    if (origin.empty()) residents = Residents::kill;
    // Who forks faster than processes are listed does not escape this (since Linux 5.14, version 2 only).
    if (residents == Residents::kill) static_cast<void>(write_file(top.get(), "cgroup.kill", "1"));
    clear(top.get(), origin, residents);
    remove_below(top.get(), origin, residents);
    return ::rmdir(folder_.c_str()) == 0 || errno == ENOENT;
}

void Removal::clear(int group, const std::string& origin, Residents residents) const {
    const auto listed = processes_of(group);
    for (std::size_t first = 0; first < listed.size(); first += held_at_once) {
        std::vector<Process> held;
        for (std::size_t i = first; i < std::min(first + held_at_once, listed.size()); ++i)
            held.emplace_back(listed[i]);
        // A number may have become a stranger's before it was held.
        const auto still_here = processes_of(group);
        for (const Process& process : held) {
            if (!std::ranges::binary_search(still_here, process.pid())) continue;
            const int error = residents == Residents::kill ? EPERM : move_to(*hierarchy_, origin, process);
            if (error != 0 && error != ESRCH) process.kill();
        }
    }
}

/// Each after those below it. They are opened from one another, for their owner may nest them deeper than a
/// path or a stack reaches, or than one pass; ".." leads back, for a group cannot be moved to another parent.
void Removal::remove_below(int top, const std::string& origin, Residents residents) {
    if (!here_) {
        here_ = open_folder(top, ".");
        path_.clear();
    }
    for (int step = 0; here_ && step < most_steps; ++step) {
        std::string name = one_below(here_.get());
        if (!name.empty()) {
            here_ = open_folder(here_.get(), name.c_str());
            path_.push_back(std::move(name));
            continue;
        }
        if (path_.empty()) break;
        if (residents != Residents::leave_lower) clear(here_.get(), origin, residents);
        const std::string done = std::move(path_.back());
        path_.pop_back();
        here_ = open_folder(here_.get(), "..");
        if (!here_ || (::unlinkat(here_.get(), done.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)) return;
    }
}

} // namespace assay::broker
