// escape HOW NUMBER TOKEN SECONDS: tries to leave processes behind and ends after SECONDS (0: at once). The
// processes ignore every signal that can be ignored, keep standard output open and live for a minute. TOKEN
// only identifies them.
//   orphans   NUMBER children that are never waited for
//   daemons   NUMBER processes, each in its own session, forked twice
//   bomb      NUMBER processes, each forking the next ones
//   chmod     one daemon, and no permissions on the control groups
//   freeze    one daemon that freezes itself, in the v2 group and in a v1 group of its own
//   nested    one daemon in a control group of its own, below ours
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

namespace {

[[noreturn]] void stay() {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    const timespec minute{60, 0};
    nanosleep(&minute, nullptr);
    _exit(0);
}

template <typename Then>
void daemonise(Then then) {
    int ready[2];
    if (pipe(ready) != 0) abort();
    if (fork() == 0) {
        setsid();
        if (fork() != 0) _exit(0);
        then();
        if (write(ready[1], "x", 1) != 1) abort();
        stay();
    }
    char byte;
    if (read(ready[0], &byte, 1) != 1) abort();
    wait(nullptr);
}

/// Return the folders of our own control groups that the launcher created.
std::vector<std::string> own_groups() {
    std::vector<std::string> found;
    FILE* file = fopen("/proc/self/cgroup", "r");
    char line[4096];
    while (fgets(line, sizeof line, file) != nullptr) {
        std::string text{line};
        text.pop_back();
        const auto first = text.find(':');
        const auto second = text.find(':', first + 1);
        const auto names = text.substr(first + 1, second - first - 1);
        const auto path = text.substr(second + 1);
        if (path.find("assay") == std::string::npos) continue;
        const std::string root = "/sys/fs/cgroup/";
        struct stat status{};
        const bool hybrid = stat("/sys/fs/cgroup/unified", &status) == 0;
        found.push_back(root + (!names.empty() ? names : hybrid ? "unified" : "") + path);
    }
    fclose(file);
    return found;
}

void put(const std::string& path, const char* text) {
    const int fd = open(path.c_str(), O_WRONLY);
    if (fd < 0) return;
    if (write(fd, text, strlen(text)) < 0) perror(path.c_str());
    close(fd);
}

void bomb(int left) {
    while (left > 1) {
        const int half = left / 2;
        if (fork() == 0) {
            setsid();
            bomb(half);
            stay();
        }
        left -= half;
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    const std::string how = argv[1];
    const int number = atoi(argv[2]);
    if (how == "orphans") {
        for (int i = 0; i < number; ++i) {
            if (fork() == 0) stay();
        }
    } else if (how == "daemons") {
        for (int i = 0; i < number; ++i) daemonise([] {});
    } else if (how == "bomb") {
        if (fork() == 0) {
            bomb(number);
            stay();
        }
    } else if (how == "chmod") {
        daemonise([] {});
        for (const auto& group : own_groups()) {
            for (const char* file :
                 {"cgroup.procs", "cgroup.kill", "cgroup.events", "tasks", "freezer.state"}) {
                chmod((group + '/' + file).c_str(), 0);
            }
            chmod(group.c_str(), 0);
        }
    } else if (how == "freeze") {
        daemonise([] {});
        for (const auto& group : own_groups()) {
            const bool v1 = group.find("/freezer/") != std::string::npos;
            put(group + (v1 ? "/freezer.state" : "/cgroup.freeze"), v1 ? "FROZEN" : "1");
        }
        pause(); // not reached if the group is frozen: the time limit of the launcher must end it
    } else if (how == "nested") {
        for (const auto& group : own_groups()) {
            mkdir((group + "/below").c_str(), 0755);
            mkdir((group + "/below/deeper").c_str(), 0755);
        }
        daemonise([] {
            for (const auto& group : own_groups()) put(group + "/below/deeper/cgroup.procs", "0");
        });
    }
    const timespec nap{atoi(argv[4]), 0};
    nanosleep(&nap, nullptr);
}
