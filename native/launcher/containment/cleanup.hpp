#pragma once

#include "launcher/containment/cgroup.hpp"

#include <string>

namespace assay {

/// Ends and removes what launchers left that were killed together with their keepers: control groups of this
/// user and of the default name whose launcher is no more. Returns how many.
int remove_abandoned_groups(const Hierarchies& hierarchies);

/// The process id in the default name of a control group (assay-PID-N), or 0.
pid_t launcher_of(std::string_view group);

} // namespace assay
