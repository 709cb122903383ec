#pragma once

#include "launcher/containment/cgroup.hpp"

#include <string>

namespace assay {

/// End and remove the process trees of launchers that were killed together with their supervisors: control
/// groups of this user, with a default name, whose launcher no longer exists. Return their number.
int remove_abandoned_groups(const Hierarchies& hierarchies);

/// Return the process id in the default name of a control group (assay-PID-N), or 0.
pid_t launcher_of(std::string_view group);

} // namespace assay
