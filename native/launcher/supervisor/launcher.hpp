#pragma once

#include "launcher/documents/record.hpp"
#include "launcher/launch.hpp"

#include <cstdint>

namespace assay {

/// Runs one launch: makes the keeper, passes signals on to it, notes when the program ends, and ends the tree
/// should the keeper be killed. Returns what assay-exec exits with.
int run_launch(Launch& launch);

/// Delivers the record of a launch of which nothing was started, and removes what was made ahead for it.
int deliver_unstarted(const Result& result, Launch& launch);

/// Event of the front's epoll that the keeper adds.
inline constexpr std::uint32_t program_ended = 3;

} // namespace assay
