// strike HOW [SIGNAL]: leaves a daemon, acts on those that launched it or on what it shares with them, goes
// on for $STRIKE_S seconds (30), and exits with 0. 77: not possible here.
//   keeper    sends SIGNAL to its parent
//   front     sends SIGNAL to the parent of that
//   both      sends SIGNAL to both, by one more daemon, and neither can end the other meanwhile
//   session   becomes the leader of a session
//   terminal  takes the terminal from the caller's process group
//   urgent    takes the highest priority there is, and spins on one processor
//   shut      gives up its right to be looked at, and all limits that it can
//   files     takes all permissions from its working folder and from that of its output
//   output    removes the folder of its output
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

void to_keeper(int number) {
    kill(getppid(), number);
}

void to_front(int number) {
    kill(parent_of(getppid()), number);
}

void to_both(int number) {
    const pid_t keeper = getppid();
    const pid_t front = parent_of(keeper);
    daemonise([=] { // which does not die with the keeper
        kill(front, SIGSTOP);
        kill(keeper, number);
        kill(front, number);
    });
}

/// The leader of a process group may not begin a session: its child goes on in its place.
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
    {"keeper", to_keeper},       {"front", to_front},   {"both", to_both}, {"session", lead_session},
    {"terminal", take_terminal}, {"urgent", be_urgent}, {"shut", shut},    {"files", spoil_files},
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
