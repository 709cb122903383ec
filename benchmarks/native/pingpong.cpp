// pingpong ROUND_TRIPS: two processes pass a byte back and forth through two pipes; each waits for the other.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

bool pass(int from, int to) {
    char byte = 0;
    return ::read(from, &byte, 1) == 1 && ::write(to, &byte, 1) == 1;
}

} // namespace

int main(int argc, char** argv) {
    const long trips = argc > 1 ? ::atol(argv[1]) : 100'000;
    int there[2];
    int back[2];
    if (::pipe(there) != 0 || ::pipe(back) != 0) return 1;
    const pid_t other = ::fork();
    if (other < 0) return 1;
    if (other == 0) {
        for (long trip = 0; trip < trips; ++trip) {
            if (!pass(there[0], back[1])) ::_exit(1);
        }
        ::_exit(0);
    }
    char byte = 'x';
    if (::write(there[1], &byte, 1) != 1) return 1;
    for (long trip = 1; trip < trips; ++trip) {
        if (!pass(back[0], there[1])) return 1;
    }
    int status = 0;
    if (::read(back[0], &byte, 1) != 1 || ::waitpid(other, &status, 0) != other) return 1;
    return status == 0 ? 0 : 1;
}
