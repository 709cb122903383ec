#pragma once

#include "launcher/launch.hpp"

namespace assay {

/// Run the supervisor, the parent of the program. It contains, starts, watches, ends and records the launch.
/// It outlives the launcher, so that the process tree is ended even if the launcher is killed. Return the
/// exit status of assay-exec.
int supervise(Launch& launch);

} // namespace assay
