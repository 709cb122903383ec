// spin MILLISECONDS: keeps one CPU busy for a known time.
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
    const double milliseconds = argc > 1 ? ::atof(argv[1]) : 20;
    const auto now = [] {
        timespec t{};
        ::clock_gettime(CLOCK_MONOTONIC, &t);
        return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
    };
    const double end = now() + milliseconds;
    while (now() < end) {
    }
}
