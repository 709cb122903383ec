#pragma once

#include "common/raw.hpp"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <initializer_list>

namespace assay {

/// A set of signals as the kernel has it. C libraries differ in the real-time signals that they hide.
using SignalMask = std::uint64_t;

inline constexpr int last_signal = 64;
inline constexpr int first_real_time = 32;
inline constexpr long kernel_mask_bytes = sizeof(SignalMask);

constexpr SignalMask mask_of(std::initializer_list<int> signals) {
    SignalMask mask = 0;
    for (const int signal : signals) mask |= SignalMask{1} << (signal - 1);
    return mask;
}

/// Signals that a plan leaves to the program, with "signals": "leave": all that can be caught, but for those
/// that tell a process of its own faults, its own children and its own files. 32 and 33 belong to C
/// libraries.
inline constexpr SignalMask left_signals =
    ~mask_of({SIGKILL, SIGSTOP, SIGCHLD, SIGPIPE, SIGTTIN, SIGTTOU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT,
              SIGTRAP, SIGSYS, 32, 33});

/// Those of them that end a process which has made no arrangements: `assay.signals.ENDING`.
inline constexpr SignalMask left_ending_signals =
    left_signals & ~mask_of({SIGCONT, SIGTSTP, SIGURG, SIGWINCH, SIGXFSZ});

/// Signals by which a user asks for the end.
inline constexpr std::array ending_signals{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// Asks for the end of the tree, in whatever mode. No service manager or batch system sends this one to the
/// processes of a job.
inline constexpr int end_request = SIGSYS;

/// From the caller to the front, and from the front to the keeper: the program is to have a signal. It comes
/// queued, with the number of that signal in its value.
inline constexpr int pass_request = last_signal;
inline constexpr int pass_mark = 0x61737300;

/// Return the signal that a request of this sender is for, or 0.
inline int requested(const signalfd_siginfo& info, pid_t sender) {
    if (static_cast<int>(info.ssi_signo) != pass_request || info.ssi_code != SI_QUEUE) return 0;
    if (static_cast<pid_t>(info.ssi_pid) != sender) return 0;
    const int signal = info.ssi_int - pass_mark;
    return signal > 0 && signal <= last_signal ? signal : 0;
}

/// Send a request, by system calls only.
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

/// What nohup, or a shell's background, has ignored ends nothing; blocked it would come all the same.
inline bool ignored(int signal) {
    struct sigaction inherited{};
    return ::sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN;
}

/// Return the signals that end the tree where nothing is left to the program.
inline SignalMask tree_ending_signals() {
    SignalMask mask = mask_of({end_request, SIGUSR1});
    for (const int signal : ending_signals) {
        if (!ignored(signal)) mask |= mask_of({signal});
    }
    return mask;
}

} // namespace assay
