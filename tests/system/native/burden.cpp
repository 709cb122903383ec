// burden HOW [NUMBER]: crashes, fills, floods or exhausts resources, alone or with many processes.
//   crash NUMBER    ends by that signal in the usual way: SIGSEGV, SIGABRT, SIGBUS, SIGKILL
//   binary          prints every byte, and invalid UTF-8, to both outputs
//   flood NUMBER    prints NUMBER MiB; exits with the errno of the first failed write
//   forks NUMBER    creates up to NUMBER children at the same time; prints their number and ends with them
//   memory NUMBER   creates NUMBER children with 8 MiB each
//   families NUMBER creates three generations, with NUMBER children per process
//   spin NUMBER     creates NUMBER children in turn; each spins for 20 ms and is waited for
//   orphans NUMBER  the same with grandchildren that are never waited for
//   chatter NUMBER  creates NUMBER children that print to both outputs without end
//   threads NUMBER  creates NUMBER threads in turn while the first one sleeps
#include "hostile.hpp"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <map>

namespace {

constexpr size_t mib = 1 << 20;
constexpr double nap_s = 30;

int crash(int number) {
    switch (number) {
    case SIGSEGV: {
        volatile int* nowhere = nullptr;
        return *nowhere;
    }
    case SIGBUS: {
        const int file = memfd_create("empty", 0);
        return *static_cast<volatile char*>(mmap(nullptr, 1, PROT_READ, MAP_SHARED, file, 0));
    }
    case SIGABRT:
        abort();
    default:
        kill(getpid(), number);
        return 2;
    }
}

int print_binary(int) {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    bytes += "\xc3\x28 \xed\xa0\x80 \xf8\x88\x80\x80\x80 \x1b[2J\x1b]0;title\x07\n";
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
        if (write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return 1;
    }
    return 0;
}

int flood(int number) {
    const std::string text(mib, 'x');
    for (int i = 0; i < number; ++i) {
        const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
        if (written != static_cast<ssize_t>(mib)) return written < 0 ? errno : ENOSPC;
    }
    return 0;
}

int fork_on(int number) {
    int children = 0;
    for (; children < number; ++children) {
        const pid_t pid = fork();
        if (pid < 0) break;
        if (pid == 0) stay();
    }
    printf("%d\n", children);
    return 0;
}

int hold_memory(int number) {
    for (int i = 0; i < number; ++i) {
        if (fork() != 0) continue;
        memset(mmap(nullptr, 8 * mib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1,
               8 * mib);
        sleep_s(nap_s);
        _exit(0);
    }
    sleep_s(nap_s);
    return 0;
}

int found_families(int number) {
    for (int i = 0; i < number; ++i) {
        if (fork() != 0) continue;
        if (fork() == 0) fork();
        sleep_s(nap_s);
        _exit(0);
    }
    sleep_s(nap_s);
    return 0;
}

[[noreturn]] void spin() {
    rusage used{};
    while (used.ru_utime.tv_sec == 0 && used.ru_utime.tv_usec < 20'000) {
        for (volatile int i = 0; i < 10'000;) i = i + 1;
        getrusage(RUSAGE_SELF, &used);
    }
    _exit(0);
}

int spin_in_turn(int number) {
    for (int i = 0; i < number; ++i) {
        const pid_t pid = fork();
        if (pid == 0) spin();
        waitpid(pid, nullptr, 0);
    }
    return 0;
}

int spin_as_orphans(int number) {
    for (int i = 0; i < number; ++i) {
        Ready ready; // closed without a write when the grandchild ends
        const pid_t pid = fork();
        if (pid == 0) {
            if (fork() == 0) spin();
            _exit(0);
        }
        waitpid(pid, nullptr, 0);
        ready.wait();
    }
    return 0;
}

int chatter(int number) {
    for (int i = 0; i < number; ++i) {
        if (fork() != 0) continue;
        const std::string text(4096, 'x');
        for (;;) {
            for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
                if (write(fd, text.data(), text.size()) < 0) _exit(1);
            }
            sleep_s(0.001);
        }
    }
    sleep_s(nap_s);
    return 0;
}

int thread_on(int number) {
    const auto nothing = [](void*) -> void* { return nullptr; };
    for (int i = 0; i < number; ++i) {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, nothing, nullptr) != 0) return 1;
        pthread_detach(thread);
    }
    sleep_s(0.1);
    return 0;
}

const std::map<std::string, int (*)(int)> ways{
    {"crash", crash},
    {"binary", print_binary},
    {"flood", flood},
    {"forks", fork_on},
    {"memory", hold_memory},
    {"spin", spin_in_turn},
    {"families", found_families},
    {"chatter", chatter},
    {"threads", thread_on},
    {"orphans", spin_as_orphans},
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const auto way = ways.find(argv[1]);
    return way == ways.end() ? 2 : way->second(argc > 2 ? atoi(argv[2]) : 0);
}
