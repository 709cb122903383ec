// spawnwait [--record-of N] ROUNDS --- COMMAND ARG... [--- COMMAND ARG...]...
//
// Starts each command once a round, interleaved, by posix_spawn and waitpid from this small process, and
// prints quantiles of the wall time of each in microseconds: what a launcher costs is the difference to the
// bare command. With
// --record-of N the N-th command (from 1) is an assay-exec that writes its record to /dev/shm/spawnwait.json,
// and the quantiles of its "wall_s" follow: they should be those of the bare command.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

double now_us() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

double run_once(char** argv) {
    pid_t pid = 0;
    int status = 0;
    const double begin = now_us();
    const int error = ::posix_spawnp(&pid, argv[0], nullptr, nullptr, argv, environ);
    if (error == 0) ::waitpid(pid, &status, 0);
    const double took = now_us() - begin;
    if (error != 0 || status != 0) {
        ::fprintf(stderr, "%s failed\n", argv[0]);
        ::exit(1);
    }
    return took;
}

double recorded_wall_us(const char* path) {
    char text[65536] = {};
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = ::read(fd, text, sizeof text - 1);
    ::close(fd);
    const char* at = n > 0 ? ::strstr(text, "\"wall_s\":") : nullptr;
    return at != nullptr ? ::strtod(at + 9, nullptr) * 1e6 : -1;
}

void print(const char* name, std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    const auto quantile = [&](double q) {
        return times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1))];
    };
    ::printf("%10.1f %10.1f %10.1f %10.1f  %s\n", quantile(0.1), quantile(0.25), quantile(0.5),
             quantile(0.75), name);
}

} // namespace

int main(int argc, char** argv) {
    int first = 1;
    std::size_t record_of = 0;
    if (argc > 3 && ::strcmp(argv[1], "--record-of") == 0) {
        record_of = static_cast<std::size_t>(::atoi(argv[2]));
        first = 3;
    }
    const int rounds = argc > first ? ::atoi(argv[first]) : 0;
    std::vector<char**> commands;
    for (int i = first + 1; i < argc; ++i) {
        // "---" separates, so that commands may hold a "--" of their own.
        if (::strcmp(argv[i], "---") != 0) continue;
        argv[i] = nullptr;
        if (i + 1 < argc) commands.push_back(argv + i + 1);
    }
    if (rounds < 1 || commands.empty()) {
        ::fprintf(stderr,
                  "usage: spawnwait [--record-of N] ROUNDS --- COMMAND ARG... [--- COMMAND ARG...]...\n");
        return 2;
    }
    std::vector<std::vector<double>> times(commands.size());
    std::vector<double> recorded;
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t c = 0; c < commands.size(); ++c) {
            // Begin each round elsewhere, so that no command always follows the same one.
            const std::size_t which = (c + static_cast<std::size_t>(round)) % commands.size();
            times[which].push_back(run_once(commands[which]));
            if (which + 1 == record_of) recorded.push_back(recorded_wall_us("/dev/shm/spawnwait.json"));
        }
    }
    ::printf("       10%%        25%%        50%%        75%%  microseconds, %d rounds\n", rounds);
    for (std::size_t c = 0; c < commands.size(); ++c) {
        std::string name;
        for (char** word = commands[c]; *word != nullptr; ++word) name += std::string(*word) + ' ';
        print(name.c_str(), times[c]);
    }
    if (!recorded.empty()) print("wall_s of the record", recorded);
}
