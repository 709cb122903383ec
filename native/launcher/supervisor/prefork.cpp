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

/// Sends a number and one descriptor. False where nobody is there to take them.
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

/// Two descriptors, which come with one byte. Both are empty where the other end was closed.
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

/// What came while it stood by came to its caller as well, which has asked for the launch all the same.
void discard_pending_signals() {
    sigset_t old;
    ::sigemptyset(&old);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1}) ::sigaddset(&old, signal);
    const timespec at_once{};
    while (::sigtimedwait(&old, nullptr, &at_once) > 0) {
    }
}

/// Until there is something to be read from one of two sockets: the first that has.
int first_ready(int first, int second) {
    std::array<pollfd, 2> ends{pollfd{first, POLLIN, 0}, pollfd{second, POLLIN, 0}};
    while (::poll(ends.data(), ends.size(), -1) < 0) {
    }
    return ends[0].revents != 0 ? first : second;
}

/// The front, until it is given a launch, or the caller, who says nothing else to the maker, is gone. All
/// signals are blocked.
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

/// Waits until a front has ended. False where the caller is gone by then.
bool wait_for_exit(pid_t launcher_pid, int caller) {
    const Fd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, launcher_pid, 0))};
    if (!pidfd) return false; // Linux before 5.3
    std::array<pollfd, 2> ends{pollfd{pidfd.get(), POLLIN, 0}, pollfd{caller, POLLIN, 0}};
    while (ends[0].revents == 0) {
        if (::poll(ends.data(), ends.size(), -1) < 0) continue;
        if (ends[1].revents != 0) ends[1].fd = -1; // it says nothing: it is gone, and the front will notice
    }
    return ends[1].fd >= 0;
}

} // namespace

std::optional<LaunchRequest> prefork_launchers(Fd socket) {
    sigset_t all;
    sigset_t caller_signals;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &caller_signals);
    // Who kills the caller's process group is to leave somebody who clears up after the front.
    const pid_t group = ::getpgrp();
    ::setpgid(0, 0);
    std::string why;
    const auto hierarchies = Hierarchies::find(Plan{}.cgroup_root, why);
    for (;;) {
        std::array<int, 2> pair{};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) return std::nullopt;
        Fd ours{pair[0]};
        Fd callers{pair[1]};
        // A child of our caller, which waits for it and which it watches as if the caller had started it.
        const long pid = raw::call(SYS_clone, CLONE_PARENT | SIGCHLD);
        if (raw::failed(pid)) return std::nullopt;
        if (pid == 0) {
            ::setpgid(0, group);
            callers.reset();
            return wait_for_request(ours, std::move(socket), caller_signals);
        }
        ours.reset();
        static_cast<void>(send_with_fd(socket.get(), static_cast<std::int32_t>(pid), callers.get()));
        callers.reset(); // where it could not be sent, the front ends now
        const bool wanted = wait_for_exit(static_cast<pid_t>(pid), socket.get());
        if (hierarchies) remove_preforked_leaf(*hierarchies, static_cast<pid_t>(pid));
        if (!wanted) return std::nullopt;
    }
}

} // namespace assay
