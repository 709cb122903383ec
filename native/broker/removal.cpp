#include "broker/removal.hpp"

#include "broker/move.hpp"
#include "common/dir.hpp"
#include "common/fd.hpp"
#include "common/files.hpp"
#include "common/groups.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string_view>
#include <vector>

namespace assay::broker {

namespace {

/// Steps down or up in one pass: groups may be made while it goes on.
constexpr int most_steps = 10'000;

Fd open_folder(int at, const char* path) {
    return Fd{::openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

void clear(int group, const std::string& origin, Residents residents) {
    const auto text = read_file(group, "cgroup.procs");
    std::vector<pid_t> pids;
    if (text) add_pids(*text, pids);
    for (const pid_t pid : pids) {
        const int error = residents == Residents::kill ? EPERM : move_to(origin, pid);
        if (error != 0 && error != ESRCH) ::kill(pid, SIGKILL);
    }
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

/// Each after those below it. They are opened from one another, for their owner may nest them deeper than a
/// path or a stack reaches; ".." leads back, for a group cannot be moved to another parent.
void remove_below(int top, const std::string& origin, Residents residents) {
    std::vector<std::string> path;
    Fd here = open_folder(top, ".");
    for (int step = 0; here && step < most_steps; ++step) {
        std::string name = one_below(here.get());
        if (!name.empty()) {
            here = open_folder(here.get(), name.c_str());
            path.push_back(std::move(name));
            continue;
        }
        if (path.empty()) return;
        if (residents != Residents::leave_lower) clear(here.get(), origin, residents);
        here = open_folder(here.get(), "..");
        if (!here || (::unlinkat(here.get(), path.back().c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT))
            return;
        path.pop_back();
    }
}

} // namespace

bool remove_group(const std::string& folder, const std::string& origin, Residents residents) {
    const Fd top = open_folder(AT_FDCWD, folder.c_str());
    if (!top) return errno == ENOENT;
    if (origin.empty()) residents = Residents::kill;
    // Who forks faster than processes are listed does not escape this (since Linux 5.14, version 2 only).
    if (residents == Residents::kill) static_cast<void>(write_file(top.get(), "cgroup.kill", "1"));
    clear(top.get(), origin, residents);
    remove_below(top.get(), origin, residents);
    return ::rmdir(folder.c_str()) == 0 || errno == ENOENT;
}

} // namespace assay::broker
