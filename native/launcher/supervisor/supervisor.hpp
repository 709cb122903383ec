#pragma once

#include "launcher/launch.hpp"

namespace assay {

/// The keeper is the parent of the program: it contains, starts, watches, ends and records. It outlives the
/// front, so that the tree is ended even where the front is killed. Returns what assay-exec exits with.
int supervise(Launch& launch);

} // namespace assay
