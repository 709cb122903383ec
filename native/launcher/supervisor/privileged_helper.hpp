#pragma once

#include "common/fd.hpp"
#include "launcher/arguments.hpp"
#include "launcher/process/caller.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Task of a child of the helper.
struct HelperTask {
    Arguments arguments;
    std::string variables;      // "NAME=value" entries, each terminated by NUL
    std::vector<char*> environ; // pointers into `variables`, ending with a null pointer
};

/// Command line and socket of the server that changes system settings. The helper starts it at the first
/// message and passes the socket as descriptor 3.
struct SystemServer {
    Fd socket;
    std::vector<char*> argv; // ends with a null pointer
};

/// Serve a process of assay that gave up root for the user who called sudo: start the launchers that it
/// requests, as its own children. Return the task in each of them, and nothing in the helper once the caller
/// has ended.
std::optional<HelperTask> serve_caller(Fd socket, const Caller& caller, SystemServer server);

} // namespace assay
