// Common parts of the hostile test programs. Processes left behind end by themselves after a minute.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <vector>

inline void sleep_s(double seconds) {
    const auto whole = static_cast<time_t>(seconds);
    timespec nap{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
    while (nanosleep(&nap, &nap) != 0) {
    }
}

inline void be_deaf() {
    for (int number = 1; number < NSIG; ++number) signal(number, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
}

/// Ignore or block every signal that can be.
[[noreturn]] inline void stay() {
    be_deaf();
    sleep_s(60);
    _exit(0);
}

/// Notification from one process to another that it has reached a point.
class Ready {
  public:
    Ready() {
        if (pipe2(ends_, O_CLOEXEC) != 0) abort();
    }

    void say() const {
        if (write(ends_[1], "x", 1) != 1) abort();
    }

    /// Wait for the notification. Return false if no process is left to send it.
    bool wait() {
        close(ends_[1]);
        char byte;
        const bool said = read(ends_[0], &byte, 1) == 1;
        close(ends_[0]);
        return said;
    }

  private:
    int ends_[2];
};

/// Create a process in a session of its own, forked twice. Return after it has run `then`.
template <typename Then>
void daemonise(Then then) {
    Ready ready;
    const pid_t middle = fork();
    if (middle == 0) {
        setsid();
        if (fork() != 0) _exit(0);
        then();
        ready.say();
        stay();
    }
    waitpid(middle, nullptr, 0);
    ready.wait();
}

inline void daemonise() {
    daemonise([] {});
}

inline bool put(const std::string& path, const std::string& text) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    close(fd);
    return written;
}

/// Control group of this process: mount of its hierarchy and path in it.
struct Group {
    std::string mount;
    std::string path;

    [[nodiscard]] std::string folder() const { return mount + path; }
    [[nodiscard]] bool is_freezer() const { return mount.find("/freezer") != std::string::npos; }
};

inline std::vector<Group> all_groups() {
    std::vector<Group> found;
    FILE* file = fopen("/proc/self/cgroup", "r");
    if (file == nullptr) return found;
    struct stat status{};
    const bool pure = stat("/sys/fs/cgroup/cgroup.procs", &status) == 0;
    char line[4096];
    while (fgets(line, sizeof line, file) != nullptr) {
        std::string text{line};
        text.pop_back();
        const auto first = text.find(':');
        const auto second = text.find(':', first + 1);
        auto names = text.substr(first + 1, second - first - 1);
        if (names.starts_with("name=")) names.erase(0, strlen("name="));
        const std::string mount = names.empty() && !pure ? "unified" : names;
        found.push_back({"/sys/fs/cgroup" + (mount.empty() ? "" : '/' + mount), text.substr(second + 1)});
    }
    fclose(file);
    return found;
}

/// Return the control groups that the launcher created for this process.
inline std::vector<Group> own_groups() {
    std::vector<Group> found;
    for (const auto& group : all_groups()) {
        if (group.path.find("assay") != std::string::npos) found.push_back(group);
    }
    return found;
}
