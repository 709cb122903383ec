// linger HOW [NUMBER]: tries to leave processes behind, then ends. With a dash before HOW (-leave) it keeps
// running and ignores all signals, so that only a time limit ends it. Exit status 77: not possible here.
//   daemon      a daemon without open files
//   pipe        a daemon that keeps standard output open
//   stopped     a process that has stopped itself, in its own session, and its stopped child
//   traced      a process stopped by its tracer, and the tracer
//   leaderless  a process whose first thread has ended while another one runs
//   reaper      a daemon that adopts orphans, and three orphans
//   vfork       a chain of NUMBER vforks and execs that ends in a daemon
//   stuck       a process that waits for its vfork child, which never calls exec
//   space       processes in their own PID and mount namespaces
//   leave       daemons in the root of every control group hierarchy
//   remove      the same; then their former control groups are removed
//   frozen      the same, frozen in the group $LINGER_FREEZER of the v1 freezer, which it creates
//   deep        daemons NUMBER control groups below ours
//   bomb        forks until there are NUMBER processes, a third of them in their own sessions
//   hop         a process that forks and ends, NUMBER times in a row
//   identity    executes $LINGER_SETID, a set-user-ID program of another user
#include "hostile.hpp"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <atomic>
#include <map>
#include <new>

namespace {

constexpr int impossible = 77;
const char* program = nullptr;

void demand(bool done) {
    if (!done) _exit(impossible);
}

void leave_daemon(int) {
    Ready ready;
    daemonise([&ready] {
        ready.say();
        close_range(0, ~0U, 0);
        stay();
    });
    ready.wait();
}

void leave_pipe(int) {
    daemonise();
}

void leave_stopped(int) {
    Ready ready;
    if (fork() == 0) {
        setsid();
        const pid_t child = fork();
        raise(child == 0 ? SIGSTOP : 0);
        if (child == 0) stay();
        waitpid(child, nullptr, WUNTRACED);
        ready.say();
        raise(SIGSTOP);
        stay();
    }
    ready.wait();
    sleep_s(0.01);
}

void leave_traced(int) {
    daemonise([] {
        const pid_t child = fork();
        if (child == 0) {
            ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
            raise(SIGSTOP);
            stay();
        }
        waitpid(child, nullptr, 0);
    });
}

void leave_leaderless(int) {
    static Ready ready;
    if (fork() == 0) {
        setsid();
        pthread_t thread;
        const auto go_on = [](void*) -> void* {
            ready.say();
            stay();
        };
        if (pthread_create(&thread, nullptr, go_on, nullptr) != 0) abort();
        syscall(SYS_exit, 0); // for this thread only
    }
    ready.wait();
    sleep_s(0.01);
}

void leave_reaper(int) {
    daemonise([] {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        for (int i = 0; i < 3; ++i) daemonise();
    });
}

void leave_vfork(int number) {
    if (number <= 0) return daemonise();
    const std::string next = std::to_string(number - 1);
    const pid_t pid = vfork();
    if (pid == 0) {
        execl(program, program, "vfork", next.c_str(), nullptr);
        _exit(127);
    }
    waitpid(pid, nullptr, 0);
}

void leave_stuck(int) {
    Ready ready;
    if (fork() == 0) {
        setsid();
        if (vfork() == 0) { // only SIGKILL ends the wait of the parent
            ready.say();
            for (;;) pause();
        }
        _exit(0);
    }
    ready.wait();
}

void leave_space(int) {
    constexpr int spaces = CLONE_NEWPID | CLONE_NEWNS;
    demand(unshare(spaces) == 0 || unshare(CLONE_NEWUSER | spaces) == 0);
    Ready ready;
    if (fork() == 0) { // first process of the namespace, whose end ends all others in it
        daemonise();
        ready.say();
        stay();
    }
    demand(ready.wait());
}

bool go_to_root() {
    const auto groups = own_groups();
    for (const auto& group : groups) put(group.mount + "/cgroup.procs", "0");
    return !groups.empty() && own_groups().empty();
}

void leave_groups(int) {
    demand(go_to_root());
    daemonise();
    daemonise();
}

void remove_groups(int) {
    const auto groups = own_groups();
    demand(go_to_root());
    daemonise();
    for (const auto& group : groups) demand(rmdir(group.folder().c_str()) == 0);
}

void leave_frozen(int) {
    const char* folder = getenv("LINGER_FREEZER");
    demand(folder != nullptr && mkdir(folder, 0755) == 0 && go_to_root());
    const std::string group{folder};
    daemonise([&group] { demand(put(group + "/cgroup.procs", "0")); });
    demand(put(group + "/freezer.state", "FROZEN"));
}

void leave_deep(int number) {
    const int home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const auto& group : own_groups()) {
        demand(chdir(group.folder().c_str()) == 0);
        for (int i = 0; i < number; ++i) demand(mkdir("below", 0755) == 0 && chdir("below") == 0);
        daemonise([] { demand(put("cgroup.procs", "0")); });
        demand(fchdir(home) == 0);
    }
}

void leave_bomb(int number) {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto& left = *new (page) std::atomic<int>(number - 1);
    if (fork() != 0) return;
    setsid();
    for (int mine = left.fetch_sub(1); mine > 0; mine = left.fetch_sub(1)) {
        if (fork() == 0 && mine % 3 == 0) setsid();
    }
    stay();
}

void leave_hopping(int number) {
    if (fork() != 0) return;
    for (int i = 0; i < number; ++i) {
        if (fork() > 0) _exit(0);
        setsid();
        sleep_s(0.0005);
    }
    stay();
}

void take_identity(int) {
    const char* other = getenv("LINGER_SETID");
    demand(other != nullptr);
    if (geteuid() == getuid()) {
        execl(other, other, "identity", nullptr);
        _exit(impossible);
    }
    demand(setresuid(geteuid(), geteuid(), geteuid()) == 0);
    daemonise();
}

const std::map<std::string, void (*)(int)> ways{
    {"daemon", leave_daemon},    {"pipe", leave_pipe},      {"stopped", leave_stopped},
    {"traced", leave_traced},    {"reaper", leave_reaper},  {"leaderless", leave_leaderless},
    {"vfork", leave_vfork},      {"stuck", leave_stuck},    {"space", leave_space},
    {"leave", leave_groups},     {"remove", remove_groups}, {"frozen", leave_frozen},
    {"deep", leave_deep},        {"bomb", leave_bomb},      {"hop", leave_hopping},
    {"identity", take_identity},
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    program = argv[0];
    const bool stays = argv[1][0] == '-';
    const auto way = ways.find(argv[1] + (stays ? 1 : 0));
    if (way == ways.end()) return 2;
    way->second(argc > 2 ? atoi(argv[2]) : 0);
    if (stays) stay();
}
