// daemonise COUNT SPIN_SECONDS: start COUNT daemons in the classic way (fork, setsid, fork), which ignore all
// signals that can be ignored. Each uses SPIN_SECONDS of CPU time. After that, this program ends, and the
// daemons continue.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

static void become_daemon(int ready, double spin) {
    setsid();
    if (fork() != 0) _exit(0);
    for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_IGN);
    if (chdir("/") != 0) _exit(1);
    const int null = open("/dev/null", O_RDWR);
    for (int descriptor = 0; descriptor < 3; ++descriptor) dup2(null, descriptor);
    for (rusage used{}; used.ru_utime.tv_sec + used.ru_utime.tv_usec * 1e-6 < spin;) {
        for (volatile int i = 0; i < 1'000'000;) i = i + 1;
        getrusage(RUSAGE_SELF, &used);
    }
    if (write(ready, "x", 1) != 1) _exit(1);
    close(ready);
    for (;;) pause();
}

int main(int argc, char** argv) {
    int ready[2];
    if (argc != 3 || pipe(ready) != 0) return 2;
    const int count = std::atoi(argv[1]);
    for (int i = 0; i < count; ++i) {
        if (const pid_t child = fork(); child == 0)
            become_daemon(ready[1], std::strtod(argv[2], nullptr));
        else
            waitpid(child, nullptr, 0);
    }
    char byte;
    for (int i = 0; i < count; ++i)
        if (read(ready[0], &byte, 1) != 1) return 3;
}
