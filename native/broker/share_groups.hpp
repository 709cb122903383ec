#pragma once

#include "broker/allocator.hpp"
#include "broker/partition.hpp"
#include "broker/process.hpp"
#include "broker/removal.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace assay::broker {

/// Owner of a share.
struct Owner {
    uid_t uid;
    gid_t gid;
    /// Groups of the owner before the reservation, in the order of the partition's hierarchies. Remaining
    /// processes of the share return to them. Empty if they are unknown.
    std::vector<std::string> origins;
};

/// Control groups of one share: a folder in each hierarchy of the partition.
///
/// Interfaces: Documentation/admin-guide/cgroup-v2.rst, "Cpuset" and "Memory";
/// cgroup-v1/{cpusets,memory}.rst.
class ShareGroups {
  public:
    /// Create the groups so that their owner can create groups below. On failure remove them again and set
    /// `error()`.
    ShareGroups(const Partition& partition, int lease, const Share& share, Owner owner);
    ShareGroups(const ShareGroups&) = delete;
    ShareGroups& operator=(const ShareGroups&) = delete;
    ShareGroups(ShareGroups&&) = delete;
    ShareGroups& operator=(ShareGroups&&) = delete;

    ~ShareGroups() = default;

    [[nodiscard]] const std::string& error() const { return error_; }
    [[nodiscard]] const std::vector<std::string>& folders() const { return folders_; }

    /// Move a process into the groups. Return 0 or the errno.
    int move(const Process& process) const;

    /// Remove the groups and move their processes to the owner's groups. Kill processes that cannot be moved,
    /// and after one second all others. Return false if a group remains; then call it again.
    bool remove();

  private:
    std::string create(const Hierarchy& hierarchy, int lease, const Share& share);

    const Partition& partition_;
    std::vector<std::string> folders_; // in the order of the partition's hierarchies
    std::vector<std::string> origins_; // in the same order; empty if unknown
    std::vector<Removal> removals_;    // of the folders
    std::optional<std::chrono::steady_clock::time_point> removing_since_;
    std::string error_;
};

/// Remove the groups of leases that a killed broker left, and kill the processes in them, whose owner is
/// unknown.
void remove_leftovers(const Partition& partition);

} // namespace assay::broker
