// escape MODE FIFO: a tree that is hard to end, and shows when its last process has ended.
//
//   sleep    one process that sleeps
//   busy     four processes that compute
//   daemon   ignores SIGTERM, and so does a daemon that it leaves by a double fork and setsid
//   bomb     processes that fork until there are 200, every second one in a session of its own
//
// FIFO is a named pipe with a reader: it receives the start (CLOCK_MONOTONIC, nanoseconds, eight bytes),
// and hangs up when the last process of the tree has ended, since all of them hold its other end. Each ends
// by itself after ten seconds, so that nothing stays behind for good.
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
    if (pid == 0) ::alarm(life_s); // a child does not inherit its parent's
    return pid;
}

[[noreturn]] void sleep_on() {
    for (;;) ::pause();
}

[[noreturn]] void compute() {
    // A loop with an effect: one without may be left out by the compiler.
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
    const int fd = ::open(fifo, O_WRONLY); // stays open: see above
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
