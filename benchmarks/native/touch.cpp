// touch MODE ...: uses a known amount of memory.
//
//   touch hold MIB KEPT_MS             touches MIB, keeps them KEPT_MS, ends
//   touch tree COUNT MIB KEPT_MS       COUNT children touch MIB each, and all keep them KEPT_MS together
//   touch free MIB KEPT_MS AFTER_MS    touches MIB, keeps them KEPT_MS, frees them, lives AFTER_MS more
//   touch file PATH                    maps a file and reads every page of it
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <new>
#include <string>
#include <vector>

namespace {

constexpr std::size_t page_bytes = 4096;

[[noreturn]] void fail(const char* what) {
    ::perror(what);
    ::_exit(1);
}

void wait_ms(const char* milliseconds) {
    const long ms = ::atol(milliseconds);
    const timespec span{ms / 1000, ms % 1000 * 1'000'000};
    ::nanosleep(&span, nullptr);
}

std::size_t mebibytes(const char* text) {
    return static_cast<std::size_t>(::atol(text)) << 20;
}

char* touched(std::size_t bytes) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("mmap");
    char* first = static_cast<char*>(memory);
    for (std::size_t at = 0; at < bytes; at += page_bytes) first[at] = 1;
    return first;
}

void tree(int count, std::size_t bytes, const char* kept_ms) {
    // The children start to wait after the last of them has touched its part.
    void* shared = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) fail("mmap");
    auto* ready = new (shared) std::atomic<int>(0);
    for (int child = 0; child < count; ++child) {
        const pid_t pid = ::fork();
        if (pid < 0) fail("fork");
        if (pid > 0) continue;
        touched(bytes);
        ready->fetch_add(1);
        while (ready->load() < count) wait_ms("1");
        wait_ms(kept_ms);
        ::_exit(0);
    }
    while (::wait(nullptr) > 0) {
    }
}

int read_mapped(const char* path) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat found{};
    if (fd < 0 || ::fstat(fd, &found) != 0) fail(path);
    const auto bytes = static_cast<std::size_t>(found.st_size);
    void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) fail("mmap");
    const volatile char* first = static_cast<const char*>(memory);
    unsigned sum = 0;
    for (std::size_t at = 0; at < bytes; at += page_bytes) sum += static_cast<unsigned char>(first[at]);
    return sum == 1 ? 1 : 0; // the file contains zeros
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv, argv + argc);
    if (argc == 4 && words[1] == "hold") {
        touched(mebibytes(argv[2]));
        wait_ms(argv[3]);
    } else if (argc == 5 && words[1] == "tree") {
        tree(::atoi(argv[2]), mebibytes(argv[3]), argv[4]);
    } else if (argc == 5 && words[1] == "free") {
        const std::size_t bytes = mebibytes(argv[2]);
        char* memory = touched(bytes);
        wait_ms(argv[3]);
        ::munmap(memory, bytes);
        wait_ms(argv[4]);
    } else if (argc == 3 && words[1] == "file") {
        return read_mapped(argv[2]);
    } else {
        ::fprintf(stderr,
                  "usage: touch hold MIB KEPT_MS | tree COUNT MIB KEPT_MS | free MIB KEPT_MS AFTER_MS | "
                  "file PATH\n");
        return 2;
    }
}
