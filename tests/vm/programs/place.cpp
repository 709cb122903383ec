// place main|each|none MIB SECONDS [huge]: touch memory from one thread, or parts of it from threads on
// different CPUs (parallel initialisation), or not at all. Then print the number of its pages on each NUMA
// node, as reported by move_pages(2) and by /proc/self/numa_maps, and keep the memory for SECONDS. With
// `huge`, it is mapped in pages of 1 GiB and not touched, since that takes seconds.
#include <linux/mman.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

static const long page = sysconf(_SC_PAGESIZE);

static void touch(char* area, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += static_cast<std::size_t>(page)) area[at] = 1;
}

static std::vector<int> own_cpus() {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

static void touch_in_parallel(char* area, std::size_t bytes) {
    const auto cpus = own_cpus();
    const std::size_t part = bytes / cpus.size();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < cpus.size(); ++i)
        threads.emplace_back([=] {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(cpus[i], &set);
            pthread_setaffinity_np(pthread_self(), sizeof set, &set);
            touch(area + i * part, part);
        });
    for (auto& thread : threads) thread.join();
}

static std::map<int, long> by_move_pages(char* area, std::size_t bytes) {
    std::vector<void*> pages;
    for (std::size_t at = 0; at < bytes; at += static_cast<std::size_t>(page)) pages.push_back(area + at);
    std::vector<int> nodes(pages.size(), -1);
    std::map<int, long> found;
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0) == 0)
        for (const int node : nodes) ++found[node];
    return found;
}

static std::map<int, long> by_numa_maps(char* area) {
    std::ostringstream start;
    start << std::hex << reinterpret_cast<std::size_t>(area) << ' ';
    std::ifstream file("/proc/self/numa_maps");
    std::map<int, long> found;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(start.str())) continue;
        std::istringstream words(line);
        int node = 0;
        long count = 0;
        for (std::string word; words >> word;)
            if (std::sscanf(word.c_str(), "N%d=%ld", &node, &count) == 2) found[node] += count;
    }
    return found;
}

static std::string json(const std::map<int, long>& counts) {
    std::string text;
    for (const auto& [node, count] : counts)
        text += (text.empty() ? "\"" : ", \"") + std::to_string(node) + "\": " + std::to_string(count);
    return "{" + text + "}";
}

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    const std::size_t bytes = std::strtoul(argv[2], nullptr, 10) << 20;
    const bool huge = argc > 4;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (huge ? MAP_HUGETLB | MAP_HUGE_1GB : 0);
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (mapped == MAP_FAILED) return 3;
    if (!huge) madvise(mapped, bytes, MADV_NOHUGEPAGE);
    char* area = static_cast<char*>(mapped);
    const std::string how = argv[1];
    if (how == "each") touch_in_parallel(area, bytes);
    if (how == "main") touch(area, bytes);
    std::printf("{\"move_pages\": %s, \"numa_maps\": %s}\n", json(by_move_pages(area, bytes)).c_str(),
                json(by_numa_maps(area)).c_str());
    std::fflush(stdout);
    usleep(static_cast<useconds_t>(std::strtod(argv[3], nullptr) * 1e6));
}
