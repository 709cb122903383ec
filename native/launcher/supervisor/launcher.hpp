#pragma once

#include "launcher/documents/record.hpp"
#include "launcher/launch.hpp"

#include <cstdint>

namespace assay {

/// Run one launch: create the supervisor, forward signals to it, record when the program ends, and end the
/// process tree if the supervisor is killed. Return the exit status of assay-exec.
int run_launch(Launch& launch);

/// Deliver the record of a launch that started no program. Remove any control group that was created in
/// advance.
int deliver_unstarted(const Result& result, Launch& launch);

/// Tag of the program's pidfd in the launcher's epoll; the supervisor adds it.
inline constexpr std::uint32_t program_ended = 3;

} // namespace assay
