#pragma once

#include <signal.h>

#include <algorithm>
#include <array>

namespace assay {

/// What a plan may leave to the program, with "signals": "leave".
inline constexpr std::array left_signals{SIGHUP, SIGINT, SIGTERM};

/// From the caller: the tree is to end, whatever else is left to the program. A service manager and a batch
/// system send the others to every process of a job, to the keeper as well.
inline constexpr int end_request = SIGUSR1;

/// From the caller: it had this signal, and the program is to have it too. Counted from the last signal,
/// since C libraries differ in the first one that they leave to programs.
constexpr int pass_request(int signal) {
    constexpr int last = 64;
    return last - signal;
}

/// The signal that a request is for, or 0.
constexpr int requested(int request) {
    const auto found = std::find_if(left_signals.begin(), left_signals.end(),
                                    [request](int signal) { return pass_request(signal) == request; });
    return found == left_signals.end() ? 0 : *found;
}

/// What nohup, or a shell's background, has ignored ends nothing; blocked it would come all the same.
inline bool ignored(int signal) {
    struct sigaction inherited{};
    return ::sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN;
}

constexpr bool is_left(int signal) {
    return std::find(left_signals.begin(), left_signals.end(), signal) != left_signals.end();
}

} // namespace assay
