#pragma once

#include <string>

namespace assay::broker {

/// What becomes of the processes that are still in a control group which is to go.
enum class Residents {
    leave_lower, ///< Its own go to the origin; those of groups below, which a launcher made, are left to it.
    move,        ///< All go to the origin.
    kill,        ///< All are ended.
};

/// Removes a group and those below it, as far as that can be done without waiting.
///
/// Args:
///     folder: of the group.
///     origin: the group to move to, in the same hierarchy; who cannot be moved there is killed.
///     residents: all are killed where `origin` is empty.
///
/// Returns:
///     whether it is gone: otherwise something runs in it, and it has to be asked again.
bool remove_group(const std::string& folder, const std::string& origin, Residents residents);

} // namespace assay::broker
