#pragma once

#include "common/fd.hpp"
#include "launcher/containment/containment.hpp"

#include <signal.h>

#include <memory>
#include <optional>

namespace assay {

/// Request for a launch, received by a preforked launcher.
struct LaunchRequest {
    Fd plan;
    Fd record;
    sigset_t caller_signals{};
    std::unique_ptr<Containment> containment; // control group of the default plan; may be null
};

/// Serve `assay-exec --ahead FD`: fork each launcher while its caller still works on the previous launch. The
/// caller then waits neither for the start of the launcher nor for the creation of its control groups. Return
/// the request in each launcher that received one. Return nothing in all other processes, once the caller has
/// ended.
std::optional<LaunchRequest> prefork_launchers(Fd socket);

} // namespace assay
