#pragma once

#include "common/fd.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace assay::tier {

/// Event that a thread waits for with poll(2), based on eventfd(2).
class Event {
  public:
    /// \throws std::system_error if no descriptor is left.
    Event() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!fd_) throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    [[nodiscard]] int fd() const { return fd_.get(); }
    void signal() const {
        const std::uint64_t one = 1;
        // The write fails only if 2^64 signals are pending; then the event is set already.
        if (::write(fd_.get(), &one, sizeof one) < 0) return;
    }
    /// Reset the event. \returns true if it was set.
    [[nodiscard]] bool clear() const {
        std::uint64_t count = 0;
        return ::read(fd_.get(), &count, sizeof count) > 0;
    }

  private:
    Fd fd_;
};

} // namespace assay::tier
