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

/// State of one launch, shared by the launcher process and its supervisor.
struct Launch {
    Plan plan;
    std::optional<Fd> record;
    char** environment = nullptr;
    sigset_t caller_signals{};

    // Set by the launcher before it creates the supervisor.
    SharedState* shared = nullptr;
    pid_t launcher_pid = 0;
    pid_t caller_group = 0; // process group of the caller; 0: outside our PID namespace
    int caller_pidfd = -1;  // pidfd of the process that started the launcher, if it has one
    pid_t caller_pid = 0;
    Fd events; // epoll of the launcher: the supervisor adds the program's pidfd
    bool caller_ignores_children = false;

    // Created by a preforked launcher or by the supervisor, in memory that both share. If the supervisor is
    // killed, the launcher ends the process tree with it.
    std::unique_ptr<Containment> containment;
};

} // namespace assay
