#pragma once

#include "common/raw.hpp"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <initializer_list>

namespace assay {

/// Set of signals in the kernel's representation. C libraries hide different real-time signals.
using SignalMask = std::uint64_t;

inline constexpr int last_signal = 64;
inline constexpr int first_real_time = 32;
inline constexpr long kernel_mask_bytes = sizeof(SignalMask);

constexpr SignalMask mask_of(std::initializer_list<int> signals) {
    SignalMask mask = 0;
    for (const int signal : signals) mask |= SignalMask{1} << (signal - 1);
    return mask;
}

/// Signals that a plan with "signals": "leave" leaves to the program: all that can be caught, except those
/// that report a process's own faults, children and files. 32 and 33 belong to C libraries.
inline constexpr SignalMask left_signals =
    ~mask_of({SIGKILL, SIGSTOP, SIGCHLD, SIGPIPE, SIGTTIN, SIGTTOU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT,
              SIGTRAP, SIGSYS, 32, 33});

/// The signals among them whose default action ends the process: `assay.signals.ENDING`.
inline constexpr SignalMask left_ending_signals =
    left_signals & ~mask_of({SIGCONT, SIGTSTP, SIGURG, SIGWINCH, SIGXFSZ});

/// Signals by which a user requests the end.
inline constexpr std::array ending_signals{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// Requests the end of the tree in either mode. No service manager or batch system sends this signal to the
/// processes of a job.
inline constexpr int end_request = SIGSYS;

/// Asks the launcher (sent by the caller) or the supervisor (sent by the launcher) to pass a signal to the
/// program. It is queued with the number of that signal in its value.
inline constexpr int pass_request = last_signal;
inline constexpr int pass_mark = 0x61737300;

/// Return the signal that a request of this sender names, or 0.
inline int requested(const signalfd_siginfo& info, pid_t sender) {
    if (static_cast<int>(info.ssi_signo) != pass_request || info.ssi_code != SI_QUEUE) return 0;
    if (static_cast<pid_t>(info.ssi_pid) != sender) return 0;
    const int signal = info.ssi_int - pass_mark;
    return signal > 0 && signal <= last_signal ? signal : 0;
}

/// Send a request with system calls only.
inline void request(pid_t receiver, pid_t self, int signal) {
    siginfo_t info{};
    info.si_signo = pass_request;
    info.si_code = SI_QUEUE;
    info.si_pid = self;
    info.si_uid = static_cast<uid_t>(raw::call(SYS_getuid));
    info.si_value.sival_int = pass_mark + signal;
    raw::call(SYS_rt_sigqueueinfo, receiver, pass_request, raw::as_long(&info));
}

inline long signal_file(SignalMask mask) {
    return raw::call(SYS_signalfd4, -1, raw::as_long(&mask), kernel_mask_bytes, SFD_CLOEXEC | SFD_NONBLOCK);
}

inline void block_only(SignalMask mask) {
    raw::call(SYS_rt_sigprocmask, SIG_SETMASK, raw::as_long(&mask), 0, kernel_mask_bytes);
}

/// Return whether a signal was ignored on entry, as by nohup or in the background of a shell. Such a signal
/// must not end the tree; if blocked it would still be received.
inline bool ignored(int signal) {
    struct sigaction inherited{};
    return ::sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN;
}

/// Return the signals that end the tree if none is left to the program.
inline SignalMask tree_ending_signals() {
    SignalMask mask = mask_of({end_request, SIGUSR1});
    for (const int signal : ending_signals) {
        if (!ignored(signal)) mask |= mask_of({signal});
    }
    return mask;
}

} // namespace assay
