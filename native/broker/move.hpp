#pragma once

#include "broker/partition.hpp"
#include "broker/process.hpp"

#include <string>
#include <vector>

namespace assay::broker {

/// Moves a process into a control group. Where it ended meanwhile and another got its number and was moved,
/// that one goes to where its parent is.
///
/// Returns:
///     0, or the errno; ESRCH where it has ended.
int move_to(const Hierarchy& hierarchy, const std::string& folder, const Process& process);

/// Lets a process run on these CPUs alone, of those that its group has; 0, or the errno.
int confine(const Process& process, const std::vector<int>& cpus);

} // namespace assay::broker
