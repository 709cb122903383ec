#pragma once

#include "broker/partition.hpp"
#include "common/fd.hpp"

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>
#include <string>

namespace assay::broker {

/// Process identified by a pidfd, so that a reused process id is detected.
///
/// Its properties are read by number while it lives. The kernel accepts only numbers for moves and affinity,
/// and a pidfd does not prevent the reuse of a number. Callers therefore check afterwards whether the process
/// still lives.
///
/// Interfaces: pidfd_open(2), pidfd_send_signal(2) (Linux 5.3).
class Process {
  public:
    /// Identify the process that has this number now.
    explicit Process(pid_t pid);

    /// Identify the process that made a connection. Before Linux 6.5 the number may have been reused by
    /// another process of the same user.
    ///
    /// Args:
    ///     socket: this end of the connection.
    ///     peer: credentials of the other end, by SO_PEERCRED.
    static Process of_peer(int socket, const ucred& peer);

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] bool is_alive() const;

    /// Return the real user, which for a launcher with root privileges is its caller. Nothing if the process
    /// has ended.
    [[nodiscard]] std::optional<uid_t> user() const;
    /// Return the parent, original or adoptive. Nothing if the process has ended.
    [[nodiscard]] std::optional<pid_t> parent() const;
    /// Return the folder of its control group. Empty if the process has ended.
    [[nodiscard]] std::string group(const Hierarchy& hierarchy) const;

    void kill() const;

  private:
    Process(pid_t pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

    [[nodiscard]] std::optional<std::string> read_proc_file(const char* file) const;

    pid_t pid_;
    Fd pidfd_;
};

} // namespace assay::broker
