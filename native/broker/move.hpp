#pragma once

#include "broker/partition.hpp"
#include "broker/process.hpp"

#include <string>
#include <vector>

namespace assay::broker {

/// Move a process into a control group. If the process has ended and its number was reused, move the other
/// process back to the group of its parent.
///
/// Returns:
///     0, or the errno; ESRCH if the process has ended.
int move_to(const Hierarchy& hierarchy, const std::string& folder, const Process& process);

/// Restrict a process to these CPUs of its group. Return 0 or the errno.
int set_affinity(const Process& process, const std::vector<int>& cpus);

} // namespace assay::broker
