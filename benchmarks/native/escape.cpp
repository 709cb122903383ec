// escape MODE FIFO: a process tree that is hard to end and shows the end of its last process.
//
//   sleep    one process that sleeps
//   busy     four processes that compute
//   daemon   ignores SIGTERM, as does a daemon that it starts by a double fork and setsid
//   bomb     processes that fork until there are 200, every second one in a new session
//
// FIFO is a named pipe with a reader. The reader receives the start (CLOCK_MONOTONIC, nanoseconds, eight
// bytes), and a hang-up at the end of the last process, since all processes hold the other end. Each process
// ends after ten seconds at the latest, so that none remains.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <string>

namespace {

constexpr unsigned life_s = 10;
constexpr int bomb_processes = 200;
constexpr int busy_processes = 4;

[[noreturn]] void fail(const char* what) {
    ::perror(what);
    ::_exit(1);
}

pid_t forked() {
    const pid_t pid = ::fork();
    if (pid < 0) fail("fork");
    if (pid == 0) ::alarm(life_s); // a child does not inherit the alarm
    return pid;
}

[[noreturn]] void sleep_on() {
    for (;;) ::pause();
}

[[noreturn]] void compute() {
    // The loop has an effect, so that the compiler does not remove it.
    for (;;) asm volatile("");
}

[[noreturn]] void busy() {
    for (int more = 1; more < busy_processes; ++more) {
        if (forked() == 0) compute();
    }
    compute();
}

[[noreturn]] void daemonise() {
    ::signal(SIGTERM, SIG_IGN);
    if (forked() == 0) {
        ::setsid();
        if (forked() > 0) ::_exit(0);
    }
    sleep_on();
}

[[noreturn]] void bomb() {
    void* shared =
        ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) fail("mmap");
    auto* processes = new (shared) std::atomic<int>(1);
    int number = 0;
    while ((number = processes->fetch_add(1)) < bomb_processes) {
        if (forked() == 0 && number % 2 == 0) ::setsid();
    }
    sleep_on();
}

void announce(const char* fifo) {
    const int fd = ::open(fifo, O_WRONLY); // remains open, see above
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    const std::int64_t now_ns = static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
    if (fd < 0 || ::write(fd, &now_ns, sizeof now_ns) != sizeof now_ns) fail(fifo);
}

} // namespace

int main(int argc, char** argv) {
    const std::string mode = argc == 3 ? argv[1] : "";
    if (mode != "sleep" && mode != "busy" && mode != "daemon" && mode != "bomb") {
        ::fprintf(stderr, "usage: escape sleep|busy|daemon|bomb FIFO\n");
        return 2;
    }
    ::alarm(life_s);
    announce(argv[2]);
    if (mode == "busy") busy();
    if (mode == "daemon") daemonise();
    if (mode == "bomb") bomb();
    sleep_on();
}
