#pragma once

#include "broker/partition.hpp"
#include "common/fd.hpp"

#include <string>
#include <vector>

namespace assay::broker {

/// What becomes of the processes that are still in a control group which is to go.
enum class Residents {
    leave_lower, ///< Its own go to the origin; those of groups below, which a launcher made, are left to it.
    move,        ///< All go to the origin.
    kill,        ///< All are ended.
};

/// The removal of a control group and of those below it: pass after pass, for its owner may have made more of
/// them than can be removed while others wait.
class Removal {
  public:
    /// Args:
    ///     hierarchy: outlives it.
    ///     folder: of the group.
    Removal(const Hierarchy& hierarchy, std::string folder)
        : hierarchy_(&hierarchy), folder_(std::move(folder)) {}

    /// Goes on, as far as that can be done without waiting, and not for long.
    ///
    /// Args:
    ///     origin: the group to move to, in the same hierarchy; who cannot be moved there is killed.
    ///     residents: all are killed where `origin` is empty.
    ///
    /// Returns:
    ///     whether the group is gone: otherwise something is left in it, and it has to be asked again.
    bool pass(const std::string& origin, Residents residents);

  private:
    void clear(int group, const std::string& origin, Residents residents) const;
    void remove_below(int top, const std::string& origin, Residents residents);

    const Hierarchy* hierarchy_;
    std::string folder_;
    Fd here_;                       // the group below that the last pass came to
    std::vector<std::string> path_; // to it
};

} // namespace assay::broker
