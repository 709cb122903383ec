#pragma once

#include "common/clock.hpp"

#include <atomic>

namespace assay {

inline constexpr int leaf_unknown = 0; // the supervisor may be about to create it
inline constexpr int leaf_made = 1;
inline constexpr int no_leaf = 2;

/// Progress of a child on its way to exec, in memory shared with its parent.
struct Progress {
    std::atomic<Nanos> started_ns{0}; // just before execve
    std::atomic<int> failed_step{-1}; // index of the step; the number of steps for exec itself
    std::atomic<int> failed_errno{0};
};

/// State that the launcher, the supervisor and the program's process before exec share. It lies in a
/// MAP_SHARED page and so does not depend on a shared address space.
struct SharedState : Progress {
    std::atomic<Nanos> exit_seen_ns{0};             // launcher: the program's pidfd became readable
    std::atomic<bool> supervisor_done{false};       // supervisor: the launch is complete and recorded
    std::atomic<int> leaf{leaf_unknown};            // supervisor: whether it has created a control group
    char leaf_name[256]{};                          // supervisor: name of the group, written before `leaf`
    std::atomic<bool> all_instances_stopped{false}; // leader: every running instance is stopped
    std::atomic<bool> end_requested{false};         // supervisor: instances that end now do so on request
    std::atomic<int> exit_status{125};              // supervisor: exit status of assay-exec
};

} // namespace assay
