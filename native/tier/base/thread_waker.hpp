#pragma once

#include "common/fd.hpp"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace assay::tier {

/// Wakes the thread that made it, which waits with poll(2), from threads that share no descriptor with it.
///
/// A signal for that one thread, which has it blocked as all others (Quiet): so it is never delivered, is not
/// lost where the program ignores it, and reads as signalfd(2). That also takes what is meant for the whole
/// process, so it is SIGSTKFLT, which neither kernels nor programs use.
class ThreadWaker {
  public:
    /// The thread, to others: also when it has ended, and nothing is to be woken any more.
    struct Target {
        int process = 0, thread = 0;
        void wake() const { ::syscall(SYS_tgkill, process, thread, number); }
    };

    /// \throws std::system_error where no descriptor is left.
    ThreadWaker() : fd_(file()) {
        if (!fd_) throw std::system_error(errno, std::generic_category(), "signalfd");
    }
    [[nodiscard]] int fd() const { return fd_.get(); }
    [[nodiscard]] const Target& target() const { return sleeper_; }
    /// \returns whether it was woken.
    [[nodiscard]] bool clear() const {
        signalfd_siginfo found{};
        return ::read(fd_.get(), &found, sizeof found) > 0;
    }

  private:
    static constexpr int number = SIGSTKFLT;

    [[nodiscard]] static Fd file() {
        sigset_t one;
        ::sigemptyset(&one);
        ::sigaddset(&one, number);
        return Fd(::signalfd(-1, &one, SFD_CLOEXEC | SFD_NONBLOCK));
    }

    Target sleeper_{::getpid(), static_cast<int>(::syscall(SYS_gettid))};
    Fd fd_;
};

} // namespace assay::tier
