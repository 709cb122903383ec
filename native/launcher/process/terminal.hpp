#pragma once

#include "common/fd.hpp"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace assay {

/// Controlling terminal, if the caller is in its foreground. A program that takes it (tcsetpgrp) and then
/// ends would leave the caller unreachable by Ctrl-C.
class Terminal {
  public:
    explicit Terminal(pid_t caller) : caller_(caller) {
        if (caller_ <= 0) return;
        terminal_ = Fd{::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)};
        if (terminal_ && ::tcgetpgrp(terminal_.get()) != caller_) terminal_.reset();
    }

    /// SIGTTOU must be blocked, because this process is in the background.
    void give_back() const {
        if (terminal_ && ::tcgetpgrp(terminal_.get()) != caller_) ::tcsetpgrp(terminal_.get(), caller_);
    }

  private:
    pid_t caller_;
    Fd terminal_;
};

} // namespace assay
