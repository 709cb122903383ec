// strike HOW [SIGNAL]: leaves a daemon, attacks its launcher or resources shared with it, runs for $STRIKE_S
// seconds (30) and exits with 0. Exit status 77: not possible here.
//   supervisor  sends SIGNAL to the supervisor, its parent
//   launcher    sends SIGNAL to the launcher, the parent of the supervisor
//   both        sends SIGNAL to both from another daemon, after stopping the launcher
//   session     becomes the leader of a session
//   terminal    takes the terminal from the caller's process group
//   urgent      takes the highest priority and spins on one processor
//   shut        makes itself unreadable and lowers all limits to 0
//   files       removes all permissions of its working folder and of the folder of its output
//   output      removes the folder of its output
#include "hostile.hpp"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <filesystem>
#include <map>

namespace {

constexpr int impossible = 77;

void demand(bool done) {
    if (!done) _exit(impossible);
}

pid_t parent_of(pid_t pid) {
    FILE* file = fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "r");
    demand(file != nullptr);
    int parent = 0;
    demand(fscanf(file, "%*d (%*[^)]) %*c %d", &parent) == 1);
    fclose(file);
    return parent;
}

void to_supervisor(int number) {
    kill(getppid(), number);
}

void to_launcher(int number) {
    kill(parent_of(getppid()), number);
}

void to_both(int number) {
    const pid_t supervisor = getppid();
    const pid_t launcher = parent_of(supervisor);
    daemonise([=] { // survives the supervisor
        kill(launcher, SIGSTOP);
        kill(supervisor, number);
        kill(launcher, number);
    });
}

/// A process group leader cannot create a session: its child continues in its place.
void lead_session(int) {
    if (setsid() >= 0) return;
    const pid_t child = fork();
    demand(child >= 0);
    if (child > 0) {
        int status = 0;
        waitpid(child, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    demand(setsid() >= 0);
}

void take_terminal(int) {
    const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    demand(terminal >= 0 && setpgid(0, 0) == 0);
    signal(SIGTTOU, SIG_IGN);
    demand(tcsetpgrp(terminal, getpgrp()) == 0);
}

void be_urgent(int) {
    setpriority(PRIO_PROCESS, 0, -20);
    const sched_param highest{sched_get_priority_max(SCHED_FIFO)};
    sched_setscheduler(0, SCHED_FIFO, &highest);
    if (fork() == 0) {
        // With the same priority it would keep the only processor of a machine from its own program.
        const sched_param second{highest.sched_priority - 1};
        sched_setscheduler(0, SCHED_FIFO, &second);
        for (;;) asm volatile("");
    }
}

void shut(int) {
    prctl(PR_SET_DUMPABLE, 0);
    for (const auto resource : {RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_SIGPENDING}) {
        const rlimit none{0, 0};
        setrlimit(resource, &none);
    }
}

std::filesystem::path output_folder() {
    return std::filesystem::read_symlink("/proc/self/fd/1").parent_path();
}

void spoil_files(int) {
    chmod(output_folder().c_str(), 0);
    chmod(".", 0);
}

void remove_output(int) {
    std::filesystem::remove_all(output_folder());
}

const std::map<std::string, void (*)(int)> ways{
    {"supervisor", to_supervisor}, {"launcher", to_launcher}, {"both", to_both}, {"session", lead_session},
    {"terminal", take_terminal},   {"urgent", be_urgent},     {"shut", shut},    {"files", spoil_files},
    {"output", remove_output},
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const auto way = ways.find(argv[1]);
    if (way == ways.end()) return 2;
    daemonise();
    way->second(argc > 2 ? atoi(argv[2]) : 0);
    const char* seconds = getenv("STRIKE_S");
    sleep_s(seconds != nullptr ? atof(seconds) : 30);
}
