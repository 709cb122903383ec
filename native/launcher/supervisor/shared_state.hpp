#pragma once

#include "common/clock.hpp"

#include <atomic>

namespace assay {

inline constexpr int leaf_unknown = 0; // it may be about to
inline constexpr int leaf_made = 1;
inline constexpr int no_leaf = 2;

/// What a process-to-be tells of its way to exec. In memory that is shared with whoever started it.
struct Progress {
    std::atomic<Nanos> started_ns{0}; // just before execve
    std::atomic<int> failed_step{-1}; // index of the step, their number for exec itself
    std::atomic<int> failed_errno{0};
};

/// What the front, the keeper and the program-to-be tell one another. It lies in a MAP_SHARED page, so it
/// does not matter whether they share the rest of their memory too.
struct SharedState : Progress {
    std::atomic<Nanos> exit_seen_ns{0};             // front: the program's pidfd became readable
    std::atomic<bool> supervisor_done{false};       // keeper: everything is ended, removed and recorded
    std::atomic<int> leaf{leaf_unknown};            // keeper: whether it has made a control group
    char leaf_name[256]{};                          // keeper: its name, written before that
    std::atomic<bool> all_instances_stopped{false}; // leader: every instance that runs is stopped
    std::atomic<bool> end_asked{false}; // keeper: instances that end now do so since they were asked to
    std::atomic<int> exit_status{125};  // keeper: what assay-exec is to exit with
};

} // namespace assay
