// spill FILE MEBIBYTES CHILDREN TOUCHED: writes MEBIBYTES to a file. Then it touches TOUCHED MiB of memory,
// in CHILDREN processes at the same time if CHILDREN is not 0, and frees them at once. `spill FILE map
// MEBIBYTES` reads a file through a mapping instead.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

static void touch(size_t size) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) _exit(1);
    madvise(memory, size, MADV_NOHUGEPAGE);
    memset(memory, 1, size);
    munmap(memory, size);
}

static int read_mapped(int file, size_t size) {
    const auto* bytes = static_cast<const char*>(mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0));
    if (bytes == MAP_FAILED) return 1;
    long sum = 0;
    for (size_t at = 0; at < size; at += 4096) sum += bytes[at];
    munmap(const_cast<char*>(bytes), size);
    return sum == 0 ? 1 : 0;
}

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    if (strcmp(argv[2], "map") == 0)
        return read_mapped(open(argv[1], O_RDONLY), strtoul(argv[3], nullptr, 10) << 20);
    const int file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const std::vector<char> piece(1 << 20, 'x');
    for (size_t i = strtoul(argv[2], nullptr, 10); i > 0; --i) {
        if (write(file, piece.data(), piece.size()) < 0) return 1;
    }
    close(file);
    const size_t size = strtoul(argv[4], nullptr, 10) << 20;
    const int children = atoi(argv[3]);
    if (children == 0) touch(size);
    for (int i = 0; i < children; ++i) {
        if (fork() == 0) {
            touch(size);
            _exit(0);
        }
    }
    while (wait(nullptr) > 0) {
    }
    unlink(argv[1]);
}
