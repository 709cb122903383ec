// spawnwait SEED ROUNDS OUT --- COMMAND ARG... [--- COMMAND ARG...]...
//
// Starts each command once per round, in random order, and waits for it. This process is small. For each
// launch it writes a line "INDEX SPAWN_NS EXEC_NS CPU_US" to OUT: wall time from before the spawn to after
// the wait, the part of it from just before exec, and CPU time of the child and of the processes that it
// waited for. The cost of a launcher is the difference to the bare command. The figures go to a file, so that
// the commands keep the standard output of spawnwait.
//
// It uses vfork and exec, as posix_spawn does, since only its own child can read the clock just before exec.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace {

struct Launch {
    std::size_t command;
    long long spawn_ns;
    long long exec_ns;
    long long cpu_us;
};

long long now_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<long long>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

long long micros(const timeval& time) {
    return time.tv_sec * 1'000'000LL + time.tv_usec;
}

Launch run_once(std::size_t command, char** argv) {
    static volatile long long exec_at; // the child writes it, since it shares the memory until exec
    int status = 0;
    rusage usage{};
    const long long begin = now_ns();
    const pid_t pid = ::vfork();
    if (pid == 0) {
        exec_at = now_ns();
        ::execvp(argv[0], argv);
        ::_exit(127);
    }
    if (pid > 0) ::wait4(pid, &status, 0, &usage);
    const long long end = now_ns();
    if (pid < 0 || status != 0) {
        ::fprintf(stderr, "%s failed\n", argv[0]);
        ::exit(1);
    }
    return {command, end - begin, end - exec_at, micros(usage.ru_utime) + micros(usage.ru_stime)};
}

std::vector<char**> commands_of(int argc, char** argv, int first) {
    std::vector<char**> commands;
    for (int i = first; i < argc; ++i) {
        // The separator is "---", so that commands may contain "--".
        if (::strcmp(argv[i], "---") != 0) continue;
        argv[i] = nullptr;
        if (i + 1 < argc) commands.push_back(argv + i + 1);
    }
    return commands;
}

std::vector<Launch> interleaved(const std::vector<char**>& commands, int rounds, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::size_t> order(commands.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<Launch> launches;
    for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t which : order) launches.push_back(run_once(which, commands[which]));
    }
    return launches;
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<char**> commands = commands_of(argc, argv, 4);
    const int rounds = argc > 4 ? ::atoi(argv[2]) : 0;
    if (rounds < 1 || commands.empty()) {
        ::fprintf(stderr, "usage: spawnwait SEED ROUNDS OUT --- COMMAND ARG... [--- COMMAND ARG...]...\n");
        return 2;
    }
    const auto launches = interleaved(commands, rounds, static_cast<unsigned>(::atoi(argv[1])));
    FILE* out = ::fopen(argv[3], "we");
    if (out == nullptr) {
        ::perror(argv[3]);
        return 1;
    }
    for (const Launch& launch : launches) {
        ::fprintf(out, "%zu %lld %lld %lld\n", launch.command, launch.spawn_ns, launch.exec_ns,
                  launch.cpu_us);
    }
    return ::fclose(out) == 0 ? 0 : 1;
}
