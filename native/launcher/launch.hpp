#pragma once

#include "common/fd.hpp"
#include "launcher/containment/containment.hpp"
#include "launcher/documents/plan.hpp"
#include "launcher/supervisor/shared_state.hpp"

#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <optional>

namespace assay {

/// One launch, as front and keeper know it.
struct Launch {
    Plan plan;
    std::optional<Fd> record;
    char** environment = nullptr;
    sigset_t caller_signals{};

    // Filled by the front before it makes the keeper.
    SharedState* shared = nullptr;
    pid_t launcher_pid = 0;
    pid_t group = 0; // the caller's process group; 0: outside our PID namespace
    int caller = -1; // pidfd of who started the front, where there is one
    pid_t caller_pid = 0;
    Fd events; // epoll of the front: the keeper adds the program's pidfd
    bool caller_ignores_children = false;

    // Made ahead, or by the keeper, in memory that both share: the front ends the tree with it should the
    // keeper be killed.
    std::unique_ptr<Containment> containment;
};

} // namespace assay
