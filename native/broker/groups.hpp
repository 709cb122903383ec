#pragma once

#include "broker/ledger.hpp"
#include "broker/partition.hpp"
#include "broker/process.hpp"
#include "broker/removal.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace assay::broker {

/// Whose share it is.
struct Owner {
    uid_t uid;
    gid_t gid;
    /// Where processes go that are left over in it: the groups that the owner came from, in the order of the
    /// partition's hierarchies; none where they are not known.
    std::vector<std::string> origins;
};

/// The control groups of one share, a folder in each hierarchy of the partition.
///
/// Interfaces: Documentation/admin-guide/cgroup-v2.rst, "Cpuset" and "Memory";
/// cgroup-v1/{cpusets,memory}.rst.
class Groups {
  public:
    /// Makes them, so that their owner can make groups below. `error()` says what could not be done; then
    /// nothing is left of them.
    Groups(const Partition& partition, int lease, const Share& share, Owner owner);
    Groups(const Groups&) = delete;
    Groups& operator=(const Groups&) = delete;
    Groups(Groups&&) = delete;
    Groups& operator=(Groups&&) = delete;

    ~Groups() = default;

    [[nodiscard]] const std::string& error() const { return error_; }
    [[nodiscard]] const std::vector<std::string>& folders() const { return folders_; }

    /// 0, or the errno.
    int move(const Process& process) const;

    /// Removes them, and moves what is still in them to where their owner came from; what cannot be moved, or
    /// will not go within a second, is killed. False where something is left: it has to be asked again.
    bool leave();

  private:
    std::string make(const Hierarchy& hierarchy, int lease, const Share& share);

    const Partition& partition_;
    std::vector<std::string> folders_; // in the order of the partition's hierarchies
    std::vector<std::string> origins_; // the same, or none
    std::vector<Removal> removals_;    // of the folders
    std::optional<std::chrono::steady_clock::time_point> leaving_since_;
    std::string error_;
};

/// Removes the groups of leases that a broker left that was killed. What is in them is killed: nobody knows
/// any more whose it was.
void remove_leftovers(const Partition& partition);

} // namespace assay::broker
