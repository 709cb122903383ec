#include "broker/groups.hpp"

#include "broker/move.hpp"
#include "common/cpulist.hpp"
#include "common/dir.hpp"
#include "common/files.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <thread>

namespace assay::broker {

namespace {

constexpr std::string_view lease_prefix = "lease-";
/// How long what a launcher made below is left to it: it ends its tree there when its caller is gone.
constexpr auto own_time = std::chrono::milliseconds(500);
/// When processes are no longer moved but ended: a fork may be faster than one pass.
constexpr auto moving_time = std::chrono::milliseconds(1000);
constexpr auto leftover_time = std::chrono::seconds(2);
constexpr auto leftover_pause = std::chrono::milliseconds(1);
/// Groups that the owner of a share may make below it, with version 2: each costs the kernel memory. Version
/// 1 has no limit.
constexpr const char* most_groups = "1000";

std::string told(const std::string& path, int error) {
    return path + ": " + std::strerror(error);
}

/// The group of this path, or the next above it that there is.
std::string nearest(std::string folder, const std::string& mount) {
    while (folder.size() > mount.size() && ::access(folder.c_str(), F_OK) != 0)
        folder.erase(folder.rfind('/'));
    return folder;
}

/// Lets the owner of a share make groups below it, as launchers do, and move what is in it among them
/// (cgroup-v2.rst, "Model of Delegation"). The limits of the share itself stay root's.
void delegate(const std::string& folder, const Owner& owner) {
    for (const char* file : {"", "/cgroup.procs", "/cgroup.threads", "/cgroup.subtree_control", "/tasks"}) {
        // What a hierarchy does not have, or does not let go of, launchers do without.
        if (::chown((folder + file).c_str(), owner.uid, owner.gid) != 0 && errno != ENOENT) return;
    }
}

void remove_leftover(const Hierarchy& hierarchy, std::string folder) {
    const auto end = std::chrono::steady_clock::now() + leftover_time;
    Removal removal{hierarchy, std::move(folder)};
    while (!removal.pass("", Residents::kill) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(leftover_pause);
}

} // namespace

Groups::Groups(const Partition& partition, int lease, const Share& share, Owner owner)
    : partition_(partition), origins_(std::move(owner.origins)) {
    for (const auto& hierarchy : partition.hierarchies) {
        error_ = make(hierarchy, lease, share);
        // Launchers make no group in the v1 cpuset hierarchy.
        if (error_.empty() && hierarchy.controller != "cpuset") delegate(folders_.back(), owner);
        if (!error_.empty()) {
            leave(); // nothing is in them yet
            folders_.clear();
            return;
        }
    }
}

std::string Groups::make(const Hierarchy& hierarchy, int lease, const Share& share) {
    const std::string folder = hierarchy.folder + '/' + std::string(lease_prefix) + std::to_string(lease);
    if (::mkdir(folder.c_str(), 0755) != 0) return told(folder, errno);
    folders_.push_back(folder);
    removals_.emplace_back(hierarchy, folder);
    const auto set = [&](const char* file, const std::string& text) -> std::string {
        const int error = write_file(AT_FDCWD, (folder + '/' + file).c_str(), text);
        return error == 0 ? "" : told(folder + '/' + file, error);
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
    if (v2) {
        if (auto error = set("cgroup.max.descendants", most_groups); !error.empty()) return error;
    }
    if (share.memory_bytes > 0 && (v2 || hierarchy.controller == "memory")) {
        const char* limit = v2 ? "memory.max" : "memory.limit_in_bytes";
        if (auto error = set(limit, std::to_string(share.memory_bytes)); !error.empty()) return error;
        // A limit alone reserves nothing: others could have taken the memory before.
        if (v2) return set("memory.min", std::to_string(share.memory_bytes));
    }
    return {};
}

int Groups::move(const Process& process) const {
    for (std::size_t i = 0; i < folders_.size(); ++i) {
        if (const int error = move_to(partition_.hierarchies[i], folders_[i], process)) return error;
    }
    return 0;
}

bool Groups::leave() {
    const auto now = std::chrono::steady_clock::now();
    if (!leaving_since_) leaving_since_ = now;
    const auto age = now - *leaving_since_;
    const Residents residents = age < own_time      ? Residents::leave_lower
                                : age < moving_time ? Residents::move
                                                    : Residents::kill;
    bool gone = true;
    for (std::size_t i = 0; i < removals_.size(); ++i) {
        const std::string origin = i < origins_.size() ? origins_[i] : "";
        const std::string to = origin.empty() ? "" : nearest(origin, partition_.hierarchies[i].mount);
        gone = removals_[i].pass(to, residents) && gone;
    }
    return gone;
}

void remove_leftovers(const Partition& partition) {
    for (const auto& hierarchy : partition.hierarchies) {
        const Dir dir{::opendir(hierarchy.folder.c_str())};
        if (!dir) continue;
        while (const dirent* entry = ::readdir(dir.get())) {
            if (std::string_view(entry->d_name).starts_with(lease_prefix))
                remove_leftover(hierarchy, hierarchy.folder + '/' + entry->d_name);
        }
    }
}

} // namespace assay::broker
