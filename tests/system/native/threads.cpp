// threads NUMBER SECONDS: starts NUMBER threads in addition to the first, pinned to the CPUs in turn.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <vector>

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    static double seconds = atof(argv[2]);
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    std::vector<pthread_t> threads(static_cast<size_t>(atoi(argv[1])));
    for (size_t i = 0; i < threads.size(); ++i) {
        pthread_create(
            &threads[i], nullptr,
            [](void*) -> void* {
                usleep(static_cast<useconds_t>(seconds * 1e6));
                return nullptr;
            },
            nullptr);
        cpu_set_t mask;
        CPU_ZERO(&mask);
        CPU_SET(i % static_cast<size_t>(cpus), &mask);
        pthread_setaffinity_np(threads[i], sizeof mask, &mask);
    }
    for (auto& thread : threads) pthread_join(thread, nullptr);
}
