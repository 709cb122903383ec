#include "broker/process.hpp"

#include "common/files.hpp"
#include "common/groups.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 // Linux 6.5, <asm-generic/socket.h>
#endif

namespace assay::broker {

namespace {

Fd open_pidfd(pid_t pid) {
    return Fd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
}

} // namespace

Process::Process(pid_t pid) : Process(pid, open_pidfd(pid)) {}

Process Process::of_peer(int socket, const ucred& peer) {
    int exact = -1;
    socklen_t size = sizeof exact;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &exact, &size) == 0) return {peer.pid, Fd{exact}};
    if (errno != ENOPROTOOPT) return {peer.pid, Fd{}}; // it has ended
    Process found{peer.pid};
    return found.user() == peer.uid ? std::move(found) : Process{peer.pid, Fd{}};
}

bool Process::is_alive() const {
    pollfd one{pidfd_.get(), POLLIN, 0};
    return pidfd_ && ::poll(&one, 1, 0) == 0;
}

std::optional<uid_t> Process::user() const {
    const auto status = read_proc_file("status");
    const auto uid = status ? number_after(*status, "Uid") : std::nullopt;
    return uid ? std::optional{static_cast<uid_t>(*uid)} : std::nullopt;
}

std::optional<pid_t> Process::parent() const {
    const auto status = read_proc_file("status");
    const auto pid = status ? number_after(*status, "PPid") : std::nullopt;
    return pid ? std::optional{static_cast<pid_t>(*pid)} : std::nullopt;
}

std::string Process::group(const Hierarchy& hierarchy) const {
    const auto text = read_proc_file("cgroup");
    const auto line = text ? group_line(*text, hierarchy.controller) : std::nullopt;
    if (!line) return {};
    return hierarchy.mount + (line->path == "/" ? "" : line->path);
}

void Process::kill() const {
    static_cast<void>(::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0));
}

std::optional<std::string> Process::read_proc_file(const char* file) const {
    auto text = read_file(AT_FDCWD, ("/proc/" + std::to_string(pid_) + '/' + file).c_str());
    return text && is_alive() ? std::move(text) : std::nullopt;
}

} // namespace assay::broker
