// firsts SEED ROUNDS OUT NOTE --- COMMAND ARG... [--- COMMAND ARG...]...
// firsts --note NOTE
//
// Starts each command once per round, in random order, by posix_spawn and wait4 from this small process. The
// commands finally start the second form, which appends the start time of its main to NOTE. For each launch
// it writes a line "INDEX FIRST WALL CPU" to OUT, in nanoseconds: time from before the spawn to the first
// moment in NOTE (-1 if the command did not start the second form), time to the return of the wait, and CPU
// time of all processes of that wait.
#include <fcntl.h>
#include <spawn.h>
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
    long long first_ns;
    long long wall_ns;
    long long cpu_ns;
};

long long now_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<long long>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

long long ns_of(const timeval& t) {
    return static_cast<long long>(t.tv_sec) * 1'000'000'000 + static_cast<long long>(t.tv_usec) * 1000;
}

int note(const char* path, long long moment_ns) {
    FILE* const file = ::fopen(path, "ae");
    if (file == nullptr) return 1;
    ::fprintf(file, "%lld\n", moment_ns);
    return ::fclose(file) == 0 ? 0 : 1;
}

long long noted_ns(const char* path) {
    FILE* const file = ::fopen(path, "re");
    if (file == nullptr) return -1;
    long long found = -1;
    if (::fscanf(file, "%lld", &found) != 1) found = -1;
    ::fclose(file);
    return found;
}

Launch run_once(std::size_t which, char** argv, const char* path) {
    pid_t pid = 0;
    int status = 0;
    rusage used{};
    ::unlink(path);
    const long long begin = now_ns();
    const int error = ::posix_spawnp(&pid, argv[0], nullptr, nullptr, argv, environ);
    if (error == 0) ::wait4(pid, &status, 0, &used);
    const long long end = now_ns();
    if (error != 0 || status != 0) {
        ::fprintf(stderr, "%s failed\n", argv[0]);
        ::exit(1);
    }
    const long long first = noted_ns(path);
    const long long cpu = ns_of(used.ru_utime) + ns_of(used.ru_stime);
    return {which, first < 0 ? -1 : first - begin, end - begin, cpu};
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

} // namespace

int main(int argc, char** argv) {
    const long long began_ns = now_ns();
    if (argc == 3 && ::strcmp(argv[1], "--note") == 0) return note(argv[2], began_ns);
    const std::vector<char**> commands = commands_of(argc, argv, 5);
    const int rounds = argc > 5 ? ::atoi(argv[2]) : 0;
    if (rounds < 1 || commands.empty()) {
        ::fprintf(stderr, "usage: firsts SEED ROUNDS OUT NOTE --- COMMAND ARG... [--- COMMAND ARG...]...\n");
        return 2;
    }
    FILE* const out = ::fopen(argv[3], "we");
    if (out == nullptr) {
        ::perror(argv[3]);
        return 1;
    }
    std::mt19937 random(static_cast<unsigned>(::atoi(argv[1])));
    std::vector<std::size_t> order(commands.size());
    std::iota(order.begin(), order.end(), 0);
    for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t which : order) {
            const Launch launch = run_once(which, commands[which], argv[4]);
            ::fprintf(out, "%zu %lld %lld %lld\n", launch.command, launch.first_ns, launch.wall_ns,
                      launch.cpu_ns);
        }
    }
    return ::fclose(out) == 0 ? 0 : 1;
}
