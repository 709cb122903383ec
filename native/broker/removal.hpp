#pragma once

#include "broker/partition.hpp"
#include "common/fd.hpp"

#include <string>
#include <vector>

namespace assay::broker {

/// Treatment of the processes in a control group that is being removed.
enum class ProcessPolicy {
    /// Move processes of the group itself to the origin. Leave processes in nested groups to the launchers
    /// that created these groups.
    keep_nested,
    move, ///< Move all to the origin.
    kill, ///< Kill all.
};

/// Removes a control group and the groups below it in several passes: their number is not limited, and other
/// clients must not wait.
class Removal {
  public:
    /// Args:
    ///     hierarchy: must outlive this object.
    ///     folder: folder of the group.
    Removal(const Hierarchy& hierarchy, std::string folder)
        : hierarchy_(&hierarchy), folder_(std::move(folder)) {}

    /// Continue the removal for a short time without waiting.
    ///
    /// Args:
    ///     origin: group to move processes to, in the same hierarchy. Processes that cannot be moved are
    ///         killed.
    ///     policy: kill is used if `origin` is empty.
    ///
    /// Returns:
    ///     true if the group is gone, false if another pass is needed.
    bool pass(const std::string& origin, ProcessPolicy policy);

  private:
    void clear(int group, const std::string& origin, ProcessPolicy policy) const;
    void remove_below(int top, const std::string& origin, ProcessPolicy policy);

    const Hierarchy* hierarchy_;
    std::string folder_;
    Fd current_;                    // nested group that the last pass reached
    std::vector<std::string> path_; // names from the top group to `current_`
};

} // namespace assay::broker
