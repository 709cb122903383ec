// state: prints the settings of this process that the launcher applied, in lines "name value".
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

void print_signals() {
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, nullptr, &blocked);
    for (int signal = 1; signal < NSIG; ++signal) {
        if (sigismember(&blocked, signal) == 1) printf("blocked %d\n", signal);
        struct sigaction action{};
        if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
            printf("ignored %d\n", signal);
    }
}

void print_limits() {
    const struct {
        const char* name;
        int resource;
    } all[] = {{"as", RLIMIT_AS},           {"core", RLIMIT_CORE},         {"cpu", RLIMIT_CPU},
               {"data", RLIMIT_DATA},       {"fsize", RLIMIT_FSIZE},       {"locks", RLIMIT_LOCKS},
               {"memlock", RLIMIT_MEMLOCK}, {"msgqueue", RLIMIT_MSGQUEUE}, {"nice", RLIMIT_NICE},
               {"nofile", RLIMIT_NOFILE},   {"nproc", RLIMIT_NPROC},       {"rss", RLIMIT_RSS},
               {"rtprio", RLIMIT_RTPRIO},   {"rttime", RLIMIT_RTTIME},     {"sigpending", RLIMIT_SIGPENDING},
               {"stack", RLIMIT_STACK}};
    for (const auto& [name, resource] : all) {
        rlimit limit{};
        getrlimit(static_cast<__rlimit_resource>(resource), &limit);
        printf("rlimit.%s %lld %lld\n", name, static_cast<long long>(limit.rlim_cur),
               static_cast<long long>(limit.rlim_max));
    }
}

} // namespace

int main() {
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &cpus)) printf("cpu %d\n", cpu);
    }
    int mode = 0;
    unsigned long nodes[16] = {};
    syscall(SYS_get_mempolicy, &mode, nodes, sizeof nodes * 8UL, nullptr, 0UL);
    printf("mempolicy %d %lx\n", mode, nodes[0]);
    sched_param parameter{};
    sched_getparam(0, &parameter);
    printf("policy %d\npriority %d\nnice %d\n", sched_getscheduler(0), parameter.sched_priority,
           getpriority(PRIO_PROCESS, 0));
    const long io = syscall(SYS_ioprio_get, 1 /* IOPRIO_WHO_PROCESS */, 0);
    printf("io_priority %ld %ld\n", io >> 13, io & 0x1fff);
    struct { // sched_attr of Linux 3.14
        unsigned size, policy;
        unsigned long long flags;
        int nice;
        unsigned priority;
        unsigned long long runtime_ns, deadline_ns, period_ns;
    } attributes{};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0U) == 0 && attributes.policy == 6)
        printf("deadline %llu %llu %llu %llu\n", attributes.runtime_ns, attributes.deadline_ns,
               attributes.period_ns, attributes.flags);
    printf("thp_disable %d\n", prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
    printf("aslr %d\n", (personality(0xffffffffUL) & ADDR_NO_RANDOMIZE) == 0);
    char* folder = getcwd(nullptr, 0);
    printf("cwd %s\n", folder);
    free(folder);
    printf("session %d\ngroup %d\n", getsid(0), getpgrp());
    print_limits();
    print_signals();
    for (int fd = 0; fd < 64; ++fd) {
        if (fcntl(fd, F_GETFD) >= 0) printf("fd %d\n", fd);
    }
}
