#include "launcher/supervisor/privileged_helper.hpp"

#include "common/files.hpp"
#include "common/raw.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace assay {

namespace {

constexpr std::size_t max_message_bytes = 4096;
constexpr std::size_t max_files = 4; // the environment, and the files that the arguments name
constexpr std::size_t max_environment_bytes = 16U << 20;
constexpr int max_target_fd = 9;
constexpr int scratch_fd = max_target_fd + 1;

/// Answer on the helper's socket: number of the message, then process id or -errno.
struct Answer {
    std::int32_t number;
    std::int32_t result;
};

/// Message on the helper's socket: a number, the target descriptors of the files after the first ("3,4"), and
/// the arguments of the launcher, each terminated by NUL. The first file holds the environment.
struct HelperMessage {
    std::int32_t number = 0;
    std::vector<int> target_fds;
    std::vector<std::string> words;
    std::vector<Fd> files;
};

std::optional<std::vector<int>> parse_target_fds(std::string_view text) {
    std::vector<int> target_fds;
    while (!text.empty()) {
        int fd = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), fd);
        const bool valid = fd == STDOUT_FILENO || (fd > STDERR_FILENO && fd <= max_target_fd);
        if (error != std::errc{} || !valid) return std::nullopt;
        target_fds.push_back(fd);
        text.remove_prefix(
            std::min<std::size_t>(static_cast<std::size_t>(stop - text.data()) + 1, text.size()));
    }
    return target_fds;
}

/// Parse a message into `message`, as far as possible. Return false if it is invalid.
bool parse_message(std::string_view text, HelperMessage& message) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const auto end = text.find('\0');
        if (end == std::string_view::npos) return false;
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    if (parts.size() < 3) return false;
    const auto number = parts[0];
    const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), message.number);
    if (error != std::errc{} || stop != number.data() + number.size()) return false;
    auto target_fds = parse_target_fds(parts[1]);
    if (!target_fds || target_fds->size() + 1 != message.files.size()) return false;
    message.target_fds = std::move(*target_fds);
    message.words.assign(parts.begin() + 2, parts.end());
    return true;
}

/// Receive one message. Return nothing if the caller has ended.
std::optional<std::string> receive(int socket, std::vector<Fd>& files) {
    std::array<char, max_message_bytes> buffer{};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * max_files)] = {};
    iovec part{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t got = 0;
    do {
        got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return std::nullopt;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
            files.emplace_back(fd);
        }
    }
    if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return std::string{};
    return std::string(buffer.data(), static_cast<std::size_t>(got));
}

/// Return whether the arguments may be used with the privileges of root: they must not name files by path.
bool is_allowed(const Arguments& arguments) {
    const auto by_number = [](const std::optional<FileArgument>& file) { return file && file->path.empty(); };
    if (!arguments.error.empty() || !arguments.command.empty() || arguments.cgroup_root ||
        arguments.cgroup_parent || arguments.cgroup_name ||
        arguments.containment != ContainmentMode::automatic)
        return false;
    switch (arguments.verb) {
    case Verb::run:
        return by_number(arguments.plan) && by_number(arguments.record);
    case Verb::prefork:
        return by_number(arguments.socket);
    case Verb::probe:
    case Verb::clean_up:
        return true;
    default:
        return false;
    }
}

Arguments arguments_of(std::vector<std::string>& words) {
    std::vector<char*> pointers{const_cast<char*>("assay-exec")};
    for (auto& word : words) pointers.push_back(word.data());
    return parse_arguments(static_cast<int>(pointers.size()), pointers.data());
}

/// Move files to their target descriptors, and close the files that were open there.
bool install_files(std::vector<Fd>& files, const std::vector<int>& target_fds) {
    std::vector<Fd> copies; // a file may occupy the target descriptor of another
    for (std::size_t i = 0; i < target_fds.size(); ++i) {
        copies.emplace_back(::fcntl(files[i + 1].get(), F_DUPFD_CLOEXEC, scratch_fd));
        if (!copies.back()) return false;
    }
    files.clear();
    for (std::size_t i = 0; i < target_fds.size(); ++i) {
        if (::dup2(copies[i].get(), target_fds[i]) < 0) return false;
    }
    return true;
}

std::vector<char*> pointers_into(std::string& variables) {
    std::vector<char*> found;
    for (std::size_t at = 0; at < variables.size(); at = variables.find('\0', at) + 1) {
        found.push_back(variables.data() + at);
        if (variables.find('\0', at) == std::string::npos) break;
    }
    found.push_back(nullptr);
    return found;
}

/// Create a pipe whose writing end occupies no target descriptor.
int make_pipe(Fd& reading, Fd& writing) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
    reading = Fd{ends[0]};
    const Fd low{ends[1]};
    writing = Fd{::fcntl(low.get(), F_DUPFD_CLOEXEC, scratch_fd)};
    return writing ? 0 : errno;
}

/// Wait until every writing end of the pipe is closed.
void wait_for_eof(int reading) {
    char byte = 0;
    while (::read(reading, &byte, 1) < 0 && errno == EINTR) {
    }
}

/// Copy the present affinity of the caller, as a child of the caller would inherit it.
void copy_affinity(pid_t parent) {
    alignas(cpu_set_t) unsigned char mask[1024] = {};
    const long got = ::syscall(SYS_sched_getaffinity, parent, sizeof mask, mask);
    if (got > 0) ::syscall(SYS_sched_setaffinity, 0, got, mask);
}

class Helper {
  public:
    Helper(Fd socket, const Caller& caller, SystemServer server)
        : socket_(std::move(socket)), caller_(caller), system_server_(std::move(server)),
          parent_(::getppid()) {
        sigset_t all;
        ::sigfillset(&all);
        // Signals for the caller's process group do not end the helper: it ends with the caller.
        ::sigprocmask(SIG_SETMASK, &all, &signals_);
    }

    std::optional<HelperTask> run() {
        for (;;) {
            std::array<pollfd, 2> ends{pollfd{socket_.get(), POLLIN, 0},
                                       pollfd{system_server_.socket.get(), POLLIN, 0}};
            if (::poll(ends.data(), ends.size(), -1) < 0) continue;
            if (ends[1].revents != 0) start_system_server();
            if (ends[0].revents == 0) continue;
            std::vector<Fd> files;
            const auto text = receive(socket_.get(), files);
            if (!text) return std::nullopt;
            if (auto task = handle_message(*text, std::move(files))) return task;
        }
    }

  private:
    /// Start the requested task. Return it in the child that runs it.
    std::optional<HelperTask> handle_message(const std::string& text, std::vector<Fd> files) {
        HelperMessage message;
        message.files = std::move(files);
        if (!parse_message(text, message)) return send_answer(message.number, -EINVAL);
        HelperTask task;
        task.arguments = arguments_of(message.words);
        if (!is_allowed(task.arguments)) return send_answer(message.number, -EPERM);
        auto variables = read_to_end(message.files.front().get(), max_environment_bytes);
        if (!variables) return send_answer(message.number, -errno);
        Fd ready, ready_write;
        if (const int error = make_pipe(ready, ready_write)) return send_answer(message.number, -error);
        // CLONE_PARENT: the child belongs to our caller, which waits for it and observes it like a process of
        // its own.
        const long pid = raw::call(SYS_clone, CLONE_PARENT | SIGCHLD);
        if (pid != 0) {
            ready_write.reset();
            if (!raw::failed(pid)) wait_for_eof(ready.get());
            return send_answer(message.number, static_cast<std::int32_t>(pid));
        }
        ready.reset();
        task.variables = std::move(*variables);
        task.environ = pointers_into(task.variables);
        socket_.reset();
        system_server_.socket.reset();
        copy_affinity(parent_);
        if (act_for(caller_) != 0 || !install_files(message.files, message.target_fds)) ::_exit(125);
        ready_write.reset(); // the caller waits for this before it moves or signals the child
        ::sigprocmask(SIG_SETMASK, &signals_, nullptr);
        return task;
    }

    std::nullopt_t send_answer(std::int32_t number, std::int32_t result) const {
        const Answer answer{number, result};
        static_cast<void>(::send(socket_.get(), &answer, sizeof answer, MSG_NOSIGNAL));
        return std::nullopt;
    }

    void start_system_server() {
        char byte = 0;
        if (::recv(system_server_.socket.get(), &byte, 1, MSG_PEEK) <= 0) { // the caller has closed its end
            system_server_.socket.reset();
            return;
        }
        const long pid = system_server_.argv.size() > 1 ? raw::call(SYS_clone, SIGCHLD) : -EPERM;
        if (pid == 0) {
            // Leave the caller's process group: a signal that kills the group must leave a server that undoes
            // its changes.
            ::setpgid(0, 0);
            // Exec closes all other files. Signals stay blocked: the server ends with the caller, like the
            // helper.
            if (::dup2(system_server_.socket.get(), scratch_fd) == scratch_fd && ::dup2(scratch_fd, 3) == 3 &&
                ::chdir("/") == 0) {
                ::close(scratch_fd);
                ::execve(system_server_.argv.front(), system_server_.argv.data(), environ);
            }
            ::_exit(127);
        }
        system_server_.socket.reset();
    }

    Fd socket_;
    Caller caller_;
    SystemServer system_server_;
    pid_t parent_;
    sigset_t signals_{};
};

} // namespace

std::optional<HelperTask> serve_caller(Fd socket, const Caller& caller, SystemServer server) {
    return Helper(std::move(socket), caller, std::move(server)).run();
}

} // namespace assay
