// hop COUNT: processes that end before they can be killed by their number: each forks a child in a new
// session, and ends.
#include <unistd.h>

#include <cstdlib>

int main(int argc, char** argv) {
    for (int left = argc == 2 ? std::atoi(argv[1]) : 1; left > 1; --left)
        if (fork() == 0) break;
    for (;;) {
        if (fork() > 0) _exit(0);
        setsid();
        usleep(2000);
    }
}
