#include "launcher/supervisor/prefork.hpp"

#include "common/raw.hpp"
#include "launcher/containment/cgroup.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace assay {

namespace {

/// Send a number and one descriptor. Return false if the other end is closed.
bool send_with_fd(int socket, std::int32_t number, int fd) {
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
    iovec part{&number, sizeof number};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof number);
}

/// Receive two descriptors, sent with one byte. Both are empty if the other end is closed.
std::array<Fd, 2> receive_two(int socket) {
    std::array<int, 2> fds{-1, -1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
    char byte = 0;
    iovec part{&byte, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t got = 0;
    do {
        got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    const cmsghdr* header = got == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof fds))
        std::memcpy(fds.data(), CMSG_DATA(header), sizeof fds);
    return {Fd{fds[0]}, Fd{fds[1]}};
}

/// Discard signals received while waiting: the caller received them too and requested the launch afterwards.
void discard_pending_signals() {
    sigset_t old;
    ::sigemptyset(&old);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1}) ::sigaddset(&old, signal);
    const timespec at_once{};
    while (::sigtimedwait(&old, nullptr, &at_once) > 0) {
    }
}

/// Wait until one of two sockets is readable. Return the first one that is.
int first_ready(int first, int second) {
    std::array<pollfd, 2> ends{pollfd{first, POLLIN, 0}, pollfd{second, POLLIN, 0}};
    while (::poll(ends.data(), ends.size(), -1) < 0) {
    }
    return ends[0].revents != 0 ? first : second;
}

/// In a preforked launcher, wait for a launch request. Return nothing if the caller ends first; it sends
/// nothing else on its socket. All signals are blocked.
std::optional<LaunchRequest> wait_for_request(const Fd& ours, Fd caller, const sigset_t& caller_signals) {
    LaunchRequest request;
    request.caller_signals = caller_signals;
    request.containment = choose_containment(Plan{}, ::getpid()).containment;
    auto [plan, record] =
        first_ready(ours.get(), caller.get()) == ours.get() ? receive_two(ours.get()) : std::array<Fd, 2>{};
    caller.reset();
    discard_pending_signals();
    if (!plan || !record) {
        if (request.containment) request.containment->remove();
        return std::nullopt;
    }
    request.plan = std::move(plan);
    request.record = std::move(record);
    return request;
}

/// Wait until a launcher has ended. Return false if the caller has ended by then.
bool wait_for_exit(pid_t launcher_pid, int caller) {
    const Fd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, launcher_pid, 0))};
    if (!pidfd) return false; // Linux before 5.3
    std::array<pollfd, 2> ends{pollfd{pidfd.get(), POLLIN, 0}, pollfd{caller, POLLIN, 0}};
    while (ends[0].revents == 0) {
        if (::poll(ends.data(), ends.size(), -1) < 0) continue;
        if (ends[1].revents != 0)
            ends[1].fd = -1; // the caller sends nothing here: it has ended, and the launcher will notice
    }
    return ends[1].fd >= 0;
}

} // namespace

std::optional<LaunchRequest> prefork_launchers(Fd socket) {
    sigset_t all;
    sigset_t caller_signals;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &caller_signals);
    // Leave the caller's process group: a signal that kills the group must not kill the process that cleans
    // up after the launcher.
    const pid_t group = ::getpgrp();
    ::setpgid(0, 0);
    std::string why;
    const auto hierarchies = Hierarchies::find(Plan{}.cgroup_root, why);
    for (;;) {
        std::array<int, 2> pair{};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) return std::nullopt;
        Fd ours{pair[0]};
        Fd callers{pair[1]};
        // CLONE_PARENT: the launcher is a child of our caller, which waits for it and observes it like a
        // process of its own.
        const long pid = raw::call(SYS_clone, CLONE_PARENT | SIGCHLD);
        if (raw::failed(pid)) return std::nullopt;
        if (pid == 0) {
            ::setpgid(0, group);
            callers.reset();
            return wait_for_request(ours, std::move(socket), caller_signals);
        }
        ours.reset();
        static_cast<void>(send_with_fd(socket.get(), static_cast<std::int32_t>(pid), callers.get()));
        callers.reset(); // if sending failed, this close ends the launcher
        const bool wanted = wait_for_exit(static_cast<pid_t>(pid), socket.get());
        if (hierarchies) remove_preforked_leaf(*hierarchies, static_cast<pid_t>(pid));
        if (!wanted) return std::nullopt;
    }
}

} // namespace assay
