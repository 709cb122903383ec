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

constexpr std::size_t longest_question = 4096;
constexpr std::size_t most_files = 4; // the environment, and what the words speak of
constexpr std::size_t longest_environment = 16U << 20;
constexpr int highest_place = 9;
constexpr int aside = highest_place + 1;

/// Answers, with the number of their question: a process id, or -errno.
struct Answer {
    std::int32_t number;
    std::int32_t result;
};

/// One message: a number, where the files beside the first are to lie ("3,4"), and the words of the launcher;
/// a NUL after each. The first file holds the environment.
struct Question {
    std::int32_t number = 0;
    std::vector<int> places;
    std::vector<std::string> words;
    std::vector<Fd> files;
};

std::optional<std::vector<int>> places_in(std::string_view text) {
    std::vector<int> places;
    while (!text.empty()) {
        int place = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), place);
        const bool sound = place == STDOUT_FILENO || (place > STDERR_FILENO && place <= highest_place);
        if (error != std::errc{} || !sound) return std::nullopt;
        places.push_back(place);
        text.remove_prefix(
            std::min<std::size_t>(static_cast<std::size_t>(stop - text.data()) + 1, text.size()));
    }
    return places;
}

/// Fills what it can; false where the message is none that may be carried out.
bool read_question(std::string_view text, Question& question) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const auto end = text.find('\0');
        if (end == std::string_view::npos) return false;
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    if (parts.size() < 3) return false;
    const auto number = parts[0];
    const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), question.number);
    if (error != std::errc{} || stop != number.data() + number.size()) return false;
    auto places = places_in(parts[1]);
    if (!places || places->size() + 1 != question.files.size()) return false;
    question.places = std::move(*places);
    question.words.assign(parts.begin() + 2, parts.end());
    return true;
}

/// Nothing where the caller is gone.
std::optional<std::string> receive(int socket, std::vector<Fd>& files) {
    std::array<char, longest_question> buffer{};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * most_files)] = {};
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

/// The words that are carried out with the rights of root: those that name no file.
bool may_be_asked(const Arguments& arguments) {
    const auto by_number = [](const std::optional<FileArgument>& file) { return file && file->path.empty(); };
    if (!arguments.error.empty() || !arguments.command.empty() || arguments.cgroup_root ||
        arguments.cgroup_parent || arguments.cgroup_name ||
        arguments.containment != ContainmentWish::automatic)
        return false;
    switch (arguments.verb) {
    case Verb::run:
        return by_number(arguments.plan) && by_number(arguments.record);
    case Verb::ahead:
        return by_number(arguments.socket);
    case Verb::probe:
    case Verb::sweep:
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

/// Moves files to their places; what lies there is closed.
bool put_in_place(std::vector<Fd>& files, const std::vector<int>& places) {
    std::vector<Fd> copies; // no file may lie on the place of another
    for (std::size_t i = 0; i < places.size(); ++i) {
        copies.emplace_back(::fcntl(files[i + 1].get(), F_DUPFD_CLOEXEC, aside));
        if (!copies.back()) return false;
    }
    files.clear();
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (::dup2(copies[i].get(), places[i]) < 0) return false;
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

/// A pipe whose writing end lies on no place of a file.
int make_pipe(Fd& reading, Fd& writing) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
    reading = Fd{ends[0]};
    const Fd low{ends[1]};
    writing = Fd{::fcntl(low.get(), F_DUPFD_CLOEXEC, aside)};
    return writing ? 0 : errno;
}

/// Until nobody has the other end of a pipe any more.
void await_end(int reading) {
    char byte = 0;
    while (::read(reading, &byte, 1) < 0 && errno == EINTR) {
    }
}

/// What a process inherits of one that starts it itself, and which may change.
void inherit_from(pid_t parent) {
    alignas(cpu_set_t) unsigned char mask[1024] = {};
    const long got = ::syscall(SYS_sched_getaffinity, parent, sizeof mask, mask);
    if (got > 0) ::syscall(SYS_sched_setaffinity, 0, got, mask);
}

class Helper {
  public:
    Helper(Fd socket, const Caller& caller, SystemPart part)
        : socket_(std::move(socket)), caller_(caller), part_(std::move(part)), parent_(::getppid()) {
        sigset_t all;
        ::sigfillset(&all);
        // What is meant for the caller's process group is not meant for us: we end with the caller.
        ::sigprocmask(SIG_SETMASK, &all, &signals_);
    }

    std::optional<Errand> run() {
        for (;;) {
            std::array<pollfd, 2> ends{pollfd{socket_.get(), POLLIN, 0},
                                       pollfd{part_.socket.get(), POLLIN, 0}};
            if (::poll(ends.data(), ends.size(), -1) < 0) continue;
            if (ends[1].revents != 0) start_system_part();
            if (ends[0].revents == 0) continue;
            std::vector<Fd> files;
            const auto text = receive(socket_.get(), files);
            if (!text) return std::nullopt;
            if (auto errand = take(*text, std::move(files))) return errand;
        }
    }

  private:
    /// The errand, in the child that is to do it.
    std::optional<Errand> take(const std::string& text, std::vector<Fd> files) {
        Question question;
        question.files = std::move(files);
        if (!read_question(text, question)) return answer(question.number, -EINVAL);
        Errand errand;
        errand.arguments = arguments_of(question.words);
        if (!may_be_asked(errand.arguments)) return answer(question.number, -EPERM);
        auto variables = read_to_end(question.files.front().get(), longest_environment);
        if (!variables) return answer(question.number, -errno);
        Fd ready, made_ready;
        if (const int error = make_pipe(ready, made_ready)) return answer(question.number, -error);
        // A child of our caller, which waits for it and which it watches as if the caller had started it.
        const long pid = raw::call(SYS_clone, CLONE_PARENT | SIGCHLD);
        if (pid != 0) {
            made_ready.reset();
            if (!raw::failed(pid)) await_end(ready.get());
            return answer(question.number, static_cast<std::int32_t>(pid));
        }
        ready.reset();
        errand.variables = std::move(*variables);
        errand.environ = pointers_into(errand.variables);
        socket_.reset();
        part_.socket.reset();
        inherit_from(parent_);
        if (work_for(caller_) != 0 || !put_in_place(question.files, question.places)) ::_exit(125);
        made_ready.reset(); // only now it is the caller's own, to be moved and to be signalled
        ::sigprocmask(SIG_SETMASK, &signals_, nullptr);
        return errand;
    }

    std::nullopt_t answer(std::int32_t number, std::int32_t result) const {
        const Answer answer{number, result};
        static_cast<void>(::send(socket_.get(), &answer, sizeof answer, MSG_NOSIGNAL));
        return std::nullopt;
    }

    void start_system_part() {
        char byte = 0;
        if (::recv(part_.socket.get(), &byte, 1, MSG_PEEK) <= 0) { // nothing is asked of it any more
            part_.socket.reset();
            return;
        }
        const long pid = part_.argv.size() > 1 ? raw::call(SYS_clone, SIGCHLD) : -EPERM;
        if (pid == 0) {
            ::setpgid(0, 0); // who kills the caller's process group leaves it to put things back
            // All else is closed with the exec. Signals stay blocked: it ends with the caller, as we do.
            if (::dup2(part_.socket.get(), aside) == aside && ::dup2(aside, 3) == 3 && ::chdir("/") == 0) {
                ::close(aside);
                ::execve(part_.argv.front(), part_.argv.data(), environ);
            }
            ::_exit(127);
        }
        part_.socket.reset();
    }

    Fd socket_;
    Caller caller_;
    SystemPart part_;
    pid_t parent_;
    sigset_t signals_{};
};

} // namespace

std::optional<Errand> help(Fd socket, const Caller& caller, SystemPart part) {
    return Helper(std::move(socket), caller, std::move(part)).run();
}

} // namespace assay
