// counted PROCESSES MOVES PAGES NAPS: creates PROCESSES children, and as many grandchildren that are never
// waited for. Each changes its CPU MOVES times, touches PAGES fresh pages and sleeps NAPS times.
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void move_to(int cpu) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(cpu, &mask);
    sched_setaffinity(0, sizeof mask, &mask);
}

void work(int moves, long pages, int naps) {
    cpu_set_t usable;
    sched_getaffinity(0, sizeof usable, &usable);
    int cpus[2] = {-1, -1};
    for (int cpu = 0, found = 0; cpu < CPU_SETSIZE && found < 2; ++cpu) {
        if (CPU_ISSET(cpu, &usable)) cpus[found++] = cpu;
    }
    move_to(cpus[0]);
    for (int i = 1; i <= moves && cpus[1] >= 0; ++i) move_to(cpus[i % 2]);
    const long page = sysconf(_SC_PAGESIZE);
    const size_t size = static_cast<size_t>(pages * page);
    if (size > 0) {
        void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(memory, size, MADV_NOHUGEPAGE);
        for (long i = 0; i < pages; ++i) static_cast<char*>(memory)[i * page] = 1;
    }
    for (int i = 0; i < naps; ++i) usleep(500);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    const int processes = atoi(argv[1]);
    const int moves = atoi(argv[2]);
    const long pages = atol(argv[3]);
    const int naps = atoi(argv[4]);
    int ends[2];
    if (pipe(ends) != 0) return 1;
    for (int i = 0; i < processes; ++i) {
        if (fork() != 0) continue;
        if (fork() == 0) setsid(); // outlives its parent
        work(moves, pages, naps);
        _exit(0);
    }
    if (processes == 0) work(moves, pages, naps);
    while (wait(nullptr) > 0) {
    }
    close(ends[1]); // the grandchildren keep the other ends open: this waits for the last of them
    char byte;
    return read(ends[0], &byte, 1) == 0 ? 0 : 1;
}
