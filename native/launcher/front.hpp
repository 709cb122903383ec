#pragma once

#include "launcher/launch.hpp"

#include <cstdint>

namespace assay {

/// Runs one launch: makes the keeper, passes signals on to it, notes when the program ends, and ends the tree
/// should the keeper be killed. Returns what assay-exec exits with.
int run_launch(Launch& launch);

/// Event of the front's epoll that the keeper adds.
inline constexpr std::uint32_t program_ended = 3;

} // namespace assay
