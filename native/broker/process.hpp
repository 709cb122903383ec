#pragma once

#include "broker/partition.hpp"
#include "common/fd.hpp"

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>
#include <string>

namespace assay::broker {

/// A process, held open so that it is not taken for another which gets its number when it has ended.
///
/// What is told of it was read by that number while it lived. The kernel takes only numbers where it moves or
/// confines a process, and holding one open does not keep its number from others: whoever does that looks
/// afterwards whether it still lives.
///
/// Interfaces: pidfd_open(2), pidfd_send_signal(2) (Linux 5.3).
class Process {
  public:
    /// Whoever has the number now.
    explicit Process(pid_t pid);

    /// Who made a connection. Before Linux 6.5 another may have the number by now, of the same user.
    ///
    /// Args:
    ///     socket: this end of it.
    ///     who: is at the other one, by SO_PEERCRED.
    static Process of_peer(int socket, const ucred& who);

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] bool lives() const;

    /// The real user: a launcher that is root for its caller is the caller's. Nothing where it has ended.
    [[nodiscard]] std::optional<uid_t> user() const;
    /// The process that made it, or adopted it. Nothing where it has ended.
    [[nodiscard]] std::optional<pid_t> parent() const;
    /// The folder of its control group. Empty where it has ended.
    [[nodiscard]] std::string group(const Hierarchy& hierarchy) const;

    void kill() const;

  private:
    Process(pid_t pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

    [[nodiscard]] std::optional<std::string> told(const char* file) const;

    pid_t pid_;
    Fd pidfd_;
};

} // namespace assay::broker
