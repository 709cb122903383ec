#pragma once

#include "common/fd.hpp"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace assay::tier {

/// Wakes the thread that created it out of poll(2), from threads without a common descriptor table.
///
/// It sends a signal to that thread. All threads block the signal (ScopedSignalBlock), so it is never
/// delivered, is not lost if the program ignores it, and is read by signalfd(2). Signals for the whole
/// process would be read as well: SIGSTKFLT is used by neither the kernel nor programs.
class ThreadWaker {
  public:
    /// Identity of the sleeping thread. Waking it is harmless after it has exited.
    struct Target {
        int process = 0, thread = 0;
        void wake() const { ::syscall(SYS_tgkill, process, thread, number); }
    };

    /// \throws std::system_error if no descriptor is left.
    ThreadWaker() : fd_(file()) {
        if (!fd_) throw std::system_error(errno, std::generic_category(), "signalfd");
    }
    [[nodiscard]] int fd() const { return fd_.get(); }
    [[nodiscard]] const Target& target() const { return sleeper_; }
    /// Reset the waker. \returns true if it was woken.
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
