#include "broker/groups.hpp"

#include "common/cpulist.hpp"
#include "common/dir.hpp"
#include "common/files.hpp"
#include "common/groups.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

namespace assay::broker {

namespace {

constexpr std::string_view lease_prefix = "lease-";
constexpr int removal_tries = 200;
constexpr int own_tries = 100;
constexpr auto removal_pause = std::chrono::milliseconds(5);

std::string failed(const std::string& path, int error) {
    return path + ": " + std::strerror(error);
}

std::vector<pid_t> pids_in(const std::string& folder) {
    std::vector<pid_t> pids;
    const auto text = read_file(AT_FDCWD, (folder + "/cgroup.procs").c_str());
    if (text) add_pids(*text, pids);
    return pids;
}

/// Linux 6.1 lets what comes into the first group of version 2 run on every CPU, those of partitions too.
/// Asked anew, the scheduler keeps it to what is left.
void keep_from_partitions(const std::string& folder, pid_t pid) {
    if (::access((folder + "/cgroup.type").c_str(), F_OK) == 0) return; // which the first one does not have
    const auto text = read_file(AT_FDCWD, (folder + "/cpuset.cpus.effective").c_str());
    const auto left = text ? parse_cpulist(text->substr(0, text->find('\n'))) : std::nullopt;
    if (!left) return;
    cpu_set_t allowed, everything, now;
    CPU_ZERO(&allowed);
    for (const int cpu : *left) {
        if (cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &allowed);
    }
    std::memset(&everything, 0xff, sizeof everything);
    const Dir threads{::opendir(("/proc/" + std::to_string(pid) + "/task").c_str())};
    if (!threads) return;
    while (const dirent* entry = ::readdir(threads.get())) {
        const std::string_view name = entry->d_name;
        pid_t thread = 0;
        std::from_chars(name.data(), name.data() + name.size(), thread);
        if (thread <= 0 || ::sched_getaffinity(thread, sizeof now, &now) != 0) continue;
        CPU_OR(&now, &now, &allowed);
        if (!CPU_EQUAL(&now, &allowed)) ::sched_setaffinity(thread, sizeof everything, &everything);
    }
}

int move_to(const std::string& folder, pid_t pid) {
    const int error = write_file(AT_FDCWD, (folder + "/cgroup.procs").c_str(), std::to_string(pid));
    if (error == 0) keep_from_partitions(folder, pid);
    return error;
}

/// The groups below one, the deepest first.
std::vector<std::string> groups_below(const std::string& folder) {
    std::vector<std::string> found;
    const Dir dir{::opendir(folder.c_str())};
    if (!dir) return found;
    while (const dirent* entry = ::readdir(dir.get())) {
        const std::string_view name = entry->d_name;
        if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
        const std::string inner = folder + '/' + std::string(name);
        const auto deeper = groups_below(inner);
        found.insert(found.end(), deeper.begin(), deeper.end());
        found.push_back(inner);
    }
    return found;
}

void clear(const std::string& folder, const std::string& origin) {
    for (const pid_t pid : pids_in(folder)) {
        const int error = origin.empty() ? ENOENT : move_to(origin, pid);
        if (error != 0 && error != ESRCH) ::kill(pid, SIGKILL);
    }
}

/// Ends and moves until the folder can be removed; a fork may be faster than one pass. What a launcher made
/// below is left to it for a while: it ends its tree there when its caller is gone.
void empty_out(const std::string& folder, const std::string& origin) {
    for (int i = 0; i < removal_tries; ++i) {
        clear(folder, origin);
        for (const auto& inner : groups_below(folder)) {
            if (i >= own_tries || origin.empty()) clear(inner, origin);
            ::rmdir(inner.c_str());
        }
        if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return;
        std::this_thread::sleep_for(removal_pause);
    }
}

/// Lets the owner of a share make groups below it, as launchers do, and move what is in it among them
/// (cgroup-v2.rst, "Model of Delegation"). The limits of the share itself stay root's.
void delegate(const std::string& folder, const Owner& owner) {
    for (const char* file : {"", "/cgroup.procs", "/cgroup.threads", "/cgroup.subtree_control", "/tasks"}) {
        // What a hierarchy does not have, or does not let go of, launchers do without.
        if (::chown((folder + file).c_str(), owner.uid, owner.gid) != 0 && errno != ENOENT) return;
    }
}

} // namespace

Groups::Groups(const Partition& partition, int lease, const Share& share, const Owner& owner)
    : partition_(partition) {
    for (const auto& hierarchy : partition.hierarchies) {
        error_ = make(hierarchy, lease, share);
        // Launchers make no group in the v1 cpuset hierarchy.
        if (error_.empty() && hierarchy.controller != "cpuset") delegate(folders_.back(), owner);
        if (!error_.empty()) {
            remove();
            folders_.clear();
            return;
        }
    }
}

Groups::~Groups() {
    remove();
}

std::string Groups::make(const Hierarchy& hierarchy, int lease, const Share& share) {
    const std::string folder = hierarchy.folder + '/' + std::string(lease_prefix) + std::to_string(lease);
    if (::mkdir(folder.c_str(), 0755) != 0) return failed(folder, errno);
    folders_.push_back(folder);
    const auto set = [&](const char* file, const std::string& text) -> std::string {
        const int error = write_file(AT_FDCWD, (folder + '/' + file).c_str(), text);
        return error == 0 ? "" : failed(folder + '/' + file, error);
    };
    const bool v2 = hierarchy.controller.empty();
    if (v2 || hierarchy.controller == "cpuset") {
        // Version 1 begins with no node, and takes no process before it has one.
        const char* nodes_file = v2 ? "/cpuset.mems.effective" : "/cpuset.mems";
        const auto nodes = read_file(AT_FDCWD, (hierarchy.folder + nodes_file).c_str());
        if (!v2 && nodes) {
            if (auto error = set("cpuset.mems", *nodes); !error.empty()) return error;
        }
        if (auto error = set("cpuset.cpus", format_cpulist(share.cpus)); !error.empty()) return error;
    }
    if (share.memory_bytes > 0 && (v2 || hierarchy.controller == "memory")) {
        const char* limit = v2 ? "memory.max" : "memory.limit_in_bytes";
        if (auto error = set(limit, std::to_string(share.memory_bytes)); !error.empty()) return error;
        // A limit alone reserves nothing: others could have taken the memory before.
        if (v2) return set("memory.min", std::to_string(share.memory_bytes));
    }
    return {};
}

void Groups::origins_of(pid_t pid) {
    origins_.assign(partition_.hierarchies.size(), "");
    const auto text = read_file(AT_FDCWD, ("/proc/" + std::to_string(pid) + "/cgroup").c_str());
    if (!text) return;
    for (std::size_t i = 0; i < origins_.size(); ++i) {
        const auto& hierarchy = partition_.hierarchies[i];
        if (const auto line = group_line(*text, hierarchy.controller))
            origins_[i] = hierarchy.mount + (line->path == "/" ? "" : line->path);
    }
}

int Groups::move(pid_t pid) const {
    for (const auto& folder : folders_) {
        if (const int error = move_to(folder, pid)) return error;
    }
    return 0;
}

void Groups::remove() const {
    for (std::size_t i = 0; i < folders_.size(); ++i) {
        empty_out(folders_[i], i < origins_.size() ? origins_[i] : "");
    }
}

void remove_leftovers(const Partition& partition) {
    for (const auto& hierarchy : partition.hierarchies) {
        const Dir dir{::opendir(hierarchy.folder.c_str())};
        if (!dir) continue;
        while (const dirent* entry = ::readdir(dir.get())) {
            if (std::string_view(entry->d_name).starts_with(lease_prefix))
                empty_out(hierarchy.folder + '/' + entry->d_name, "");
        }
    }
}

} // namespace assay::broker
