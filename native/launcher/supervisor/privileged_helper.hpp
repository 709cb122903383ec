#pragma once

#include "common/fd.hpp"
#include "launcher/arguments.hpp"
#include "launcher/process/caller.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// What a child of the helper is to do.
struct HelperTask {
    Arguments arguments;
    std::string variables;      // "NAME=value" and a NUL for each
    std::vector<char*> environ; // into them; a null pointer at the end
};

/// What is started when somebody first says something at its socket, and is handed that socket as descriptor
/// 3: the part of assay that changes system settings.
struct SystemServer {
    Fd socket;
    std::vector<char*> argv; // a null pointer at the end
};

/// Is the root behind an assay that has become the user who called sudo: starts the launchers that it asks
/// for, as children of its own. Returns in each of them, and with nothing where the caller is gone.
std::optional<HelperTask> serve_caller(Fd socket, const Caller& caller, SystemServer part);

} // namespace assay
