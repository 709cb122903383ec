#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace assay::broker {

/// Moves a process into the control group of a folder; 0, or the errno.
int move_to(const std::string& folder, pid_t pid);

/// Lets a process run on these CPUs alone, of those that its group has; 0, or the errno.
int confine(pid_t pid, const std::vector<int>& cpus);

} // namespace assay::broker
