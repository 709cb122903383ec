#include "broker/share_groups.hpp"

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
/// Time for launchers to end their process trees in nested groups, after their caller has ended.
constexpr auto launcher_end_time = std::chrono::milliseconds(500);
/// Time after which processes are killed instead of moved, because forks may be faster than moves.
constexpr auto max_moving_time = std::chrono::milliseconds(1000);
constexpr auto leftover_time = std::chrono::seconds(2);
constexpr auto leftover_pause = std::chrono::milliseconds(1);
/// Maximum number of groups that the owner of a share may create below it in v2, because each uses kernel
/// memory. v1 has no limit.
constexpr const char* max_groups = "1000";

std::string error_text(const std::string& path, int error) {
    return path + ": " + std::strerror(error);
}

/// Return the group at this path, or its nearest existing ancestor.
std::string nearest(std::string folder, const std::string& mount) {
    while (folder.size() > mount.size() && ::access(folder.c_str(), F_OK) != 0)
        folder.erase(folder.rfind('/'));
    return folder;
}

/// Let the owner of a share create groups below it, as launchers do, and move processes among them
/// (cgroup-v2.rst, "Model of Delegation"). Only root can change the limits of the share.
void delegate(const std::string& folder, const Owner& owner) {
    for (const char* file : {"", "/cgroup.procs", "/cgroup.threads", "/cgroup.subtree_control", "/tasks"}) {
        // Launchers work without files that the hierarchy lacks or does not delegate.
        if (::chown((folder + file).c_str(), owner.uid, owner.gid) != 0 && errno != ENOENT) return;
    }
}

void remove_leftover(const Hierarchy& hierarchy, std::string folder) {
    const auto end = std::chrono::steady_clock::now() + leftover_time;
    Removal removal{hierarchy, std::move(folder)};
    while (!removal.pass("", ProcessPolicy::kill) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(leftover_pause);
}

} // namespace

ShareGroups::ShareGroups(const Partition& partition, int lease, const Share& share, Owner owner)
    : partition_(partition), origins_(std::move(owner.origins)) {
    for (const auto& hierarchy : partition.hierarchies) {
        error_ = create(hierarchy, lease, share);
        // Launchers create no groups in the v1 cpuset hierarchy.
        if (error_.empty() && hierarchy.controller != "cpuset") delegate(folders_.back(), owner);
        if (!error_.empty()) {
            remove(); // they are still empty
            folders_.clear();
            return;
        }
    }
}

std::string ShareGroups::create(const Hierarchy& hierarchy, int lease, const Share& share) {
    const std::string folder = hierarchy.folder + '/' + std::string(lease_prefix) + std::to_string(lease);
    if (::mkdir(folder.c_str(), 0755) != 0) return error_text(folder, errno);
    folders_.push_back(folder);
    removals_.emplace_back(hierarchy, folder);
    const auto set = [&](const char* file, const std::string& text) -> std::string {
        const int error = write_file(AT_FDCWD, (folder + '/' + file).c_str(), text);
        return error == 0 ? "" : error_text(folder + '/' + file, error);
    };
    const bool v2 = hierarchy.controller.empty();
    if (v2 || hierarchy.controller == "cpuset") {
        // In v1 a new cpuset has no memory node and accepts no process before it has one.
        const char* nodes_file = v2 ? "/cpuset.mems.effective" : "/cpuset.mems";
        const auto nodes = read_file(AT_FDCWD, (hierarchy.folder + nodes_file).c_str());
        if (!v2 && nodes) {
            if (auto error = set("cpuset.mems", *nodes); !error.empty()) return error;
        }
        if (auto error = set("cpuset.cpus", format_cpulist(share.cpus)); !error.empty()) return error;
    }
    if (v2) {
        if (auto error = set("cgroup.max.descendants", max_groups); !error.empty()) return error;
    }
    if (share.memory_bytes > 0 && (v2 || hierarchy.controller == "memory")) {
        const char* limit = v2 ? "memory.max" : "memory.limit_in_bytes";
        if (auto error = set(limit, std::to_string(share.memory_bytes)); !error.empty()) return error;
        // A limit does not reserve memory; memory.min does.
        if (v2) return set("memory.min", std::to_string(share.memory_bytes));
    }
    return {};
}

int ShareGroups::move(const Process& process) const {
    for (std::size_t i = 0; i < folders_.size(); ++i) {
        if (const int error = move_to(partition_.hierarchies[i], folders_[i], process)) return error;
    }
    return 0;
}

bool ShareGroups::remove() {
    const auto now = std::chrono::steady_clock::now();
    if (!removing_since_) removing_since_ = now;
    const auto age = now - *removing_since_;
    const ProcessPolicy policy = age < launcher_end_time ? ProcessPolicy::keep_nested
                                 : age < max_moving_time ? ProcessPolicy::move
                                                         : ProcessPolicy::kill;
    bool gone = true;
    for (std::size_t i = 0; i < removals_.size(); ++i) {
        const std::string origin = i < origins_.size() ? origins_[i] : "";
        const std::string to = origin.empty() ? "" : nearest(origin, partition_.hierarchies[i].mount);
        gone = removals_[i].pass(to, policy) && gone;
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
