#pragma once

#include "common/fd.hpp"
#include "launcher/containment/containment.hpp"

#include <signal.h>

#include <memory>
#include <optional>

namespace assay {

/// A launch that a front made ahead was given.
struct LaunchRequest {
    Fd plan;
    Fd record;
    sigset_t caller_signals{};
    std::unique_ptr<Containment> containment; // as of a plan that says nothing about it; may be null
};

/// `assay-exec --ahead FD`: makes a front for each launch while its caller still works on the one before, so
/// that neither its start nor the making of its control groups is waited for. Returns in each front that was
/// given a launch, with that launch; in all other processes nothing, once the caller is gone.
std::optional<LaunchRequest> prefork_launchers(Fd socket);

} // namespace assay
