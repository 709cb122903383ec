// moments ROUNDS OUT MILLISECONDS
//
// Spins for the given time in a child, by posix_spawn and waitpid. For each launch it writes a line
// "TO_MAIN AFTER": nanoseconds from before the spawn to the first instruction of main, and from the last
// reading of the clock in the child to the return of the wait. The time between is the requested one.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <vector>

namespace {

struct Moments {
    long long main_ns;
    long long last_ns;
};

constexpr char spinning[] = "--spinning"; // an argument, so that the environment does not change
constexpr int notes_fd = 9;               // beyond the descriptors of this program and its caller

long long now_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<long long>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

Moments* notes_of(int fd) {
    void* found = ::mmap(nullptr, sizeof(Moments), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return found == MAP_FAILED ? nullptr : static_cast<Moments*>(found);
}

int spin(double milliseconds) {
    const long long begin = now_ns();
    Moments* const notes = notes_of(notes_fd);
    if (notes == nullptr) return 1;
    notes->main_ns = begin;
    const long long end = begin + static_cast<long long>(milliseconds * 1e6);
    long long now = begin;
    while (now < end) now = now_ns();
    notes->last_ns = now;
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 3 && ::strcmp(argv[1], spinning) == 0) return spin(::atof(argv[2]));
    const int rounds = argc == 4 ? ::atoi(argv[1]) : 0;
    if (rounds < 1) {
        ::fprintf(stderr, "usage: moments ROUNDS OUT MILLISECONDS\n");
        return 2;
    }
    FILE* const out = ::fopen(argv[2], "we");
    const int made = ::memfd_create("moments", 0);
    if (out == nullptr || made < 0 || ::ftruncate(made, sizeof(Moments)) != 0) return 1;
    if (made != notes_fd && ::dup2(made, notes_fd) < 0) return 1;
    const Moments* const notes = notes_of(notes_fd);
    if (notes == nullptr) return 1;
    char flag[sizeof spinning];
    ::memcpy(flag, spinning, sizeof spinning);
    char* words[] = {argv[0], flag, argv[3], nullptr};
    for (int i = 0; i < rounds; ++i) {
        pid_t pid = 0;
        int status = 0;
        const long long begin = now_ns();
        if (::posix_spawn(&pid, argv[0], nullptr, nullptr, words, environ) != 0) return 1;
        ::waitpid(pid, &status, 0);
        const long long end = now_ns();
        if (status != 0) return 1;
        ::fprintf(out, "%lld %lld\n", notes->main_ns - begin, end - notes->last_ns);
    }
    return ::fclose(out) == 0 ? 0 : 1;
}
