// spawnwait SEED ROUNDS OUT --- COMMAND ARG... [--- COMMAND ARG...]...
//
// Starts each command once a round, in random order, by posix_spawn and waitpid from this small process, and
// writes a line "INDEX NANOSECONDS" to OUT for each launch: its wall time from before the spawn to after the
// wait. What a launcher costs is the difference to the bare command. The figures go to a file, so that the
// commands keep the standard output that spawnwait was given.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    long long wall_ns;
};

long long now_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<long long>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

long long run_once(char** argv) {
    pid_t pid = 0;
    int status = 0;
    const long long begin = now_ns();
    const int error = ::posix_spawnp(&pid, argv[0], nullptr, nullptr, argv, environ);
    if (error == 0) ::waitpid(pid, &status, 0);
    const long long took = now_ns() - begin;
    if (error != 0 || status != 0) {
        ::fprintf(stderr, "%s failed\n", argv[0]);
        ::exit(1);
    }
    return took;
}

std::vector<char**> commands_of(int argc, char** argv, int first) {
    std::vector<char**> commands;
    for (int i = first; i < argc; ++i) {
        // "---" separates, so that commands may hold a "--" of their own.
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
        for (const std::size_t which : order) launches.push_back({which, run_once(commands[which])});
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
    for (const Launch& launch : launches) ::fprintf(out, "%zu %lld\n", launch.command, launch.wall_ns);
    return ::fclose(out) == 0 ? 0 : 1;
}
