// hold anon|shared MEBIBYTES SECONDS: touches that amount of memory and keeps it for that time.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const int kind = strcmp(argv[1], "shared") == 0 ? MAP_SHARED : MAP_PRIVATE;
    const size_t size = strtoul(argv[2], nullptr, 10) << 20;
    const double seconds = strtod(argv[3], nullptr);
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    memset(memory, 1, size);
    const timespec nap{
        static_cast<time_t>(seconds),
        static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
    nanosleep(&nap, nullptr);
}
