// spread [bind:NODE] MIB PASSES each|turns: run one thread for each node with CPUs, on a CPU of that node.
// Each thread writes and verifies MIB of its own memory, alternately forwards and backwards, concurrently
// with the others or one after another. Then print the resident pages of each thread by node, as reported by
// move_pages(2), and the memory of the process on each node in MiB, from /proc/self/numa_maps. `bind`
// executes the program again with its memory bound to a node.
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

static constexpr std::size_t page = 4096;

struct Part {
    int cpu;
    char* from;
    std::size_t pages, wrong = 0;
    std::map<int, long> places{};

    void run(unsigned passes) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0) std::abort();
        for (std::size_t i = 0; i < pages; ++i) word(i) = i + 1;
        for (unsigned pass = 1; pass < passes; ++pass)
            for (std::size_t i = 0; i < pages; ++i) {
                const std::size_t at = pass % 2 == 0 ? i : pages - 1 - i;
                wrong += word(at) != at + pass;
                ++word(at);
            }
        look();
    }
    std::uint64_t& word(std::size_t i) const { return *reinterpret_cast<std::uint64_t*>(from + i * page); }

    void look() {
        for (std::size_t i = 0; i < pages; ++i) {
            void* at = from + i * page;
            int node = -1;
            if (syscall(SYS_move_pages, 0, 1UL, &at, nullptr, &node, 0) == 0 && node >= 0) ++places[node];
        }
    }
};

static std::string json(const std::map<int, long>& counts) {
    std::string text;
    for (const auto& [node, count] : counts)
        text += (text.empty() ? "\"" : ", \"") + std::to_string(node) + "\": " + std::to_string(count);
    return "{" + text + "}";
}

static std::map<int, long> all_mib() {
    std::map<int, long> found;
    std::ifstream file("/proc/self/numa_maps");
    for (std::string word; file >> word;) {
        int node = 0;
        long count = 0;
        if (std::sscanf(word.c_str(), "N%d=%ld", &node, &count) == 2) found[node] += count;
    }
    for (auto& [node, count] : found) count /= 256;
    return found;
}

/// Return the first CPU of each node that has CPUs.
static std::vector<int> cpus() {
    std::vector<int> found;
    for (int node = 0; node < 8; ++node) {
        std::ifstream file("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
        if (int cpu = 0; file >> cpu) found.push_back(cpu);
    }
    return found;
}

int main(int argc, char** argv) {
    if (argc > 1 && std::strncmp(argv[1], "bind:", 5) == 0) {
        const unsigned long nodes = 1UL << std::strtoul(argv[1] + 5, nullptr, 10);
        if (syscall(SYS_set_mempolicy, MPOL_BIND, &nodes, 64UL) != 0) return 3;
        argv[1] = argv[0];
        execvp(argv[1], argv + 1);
        return 4;
    }
    if (argc != 4) return 2;
    const std::size_t bytes = std::strtoul(argv[1], nullptr, 10) << 20;
    const auto passes = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
    const bool turns = std::strcmp(argv[3], "turns") == 0;
    std::vector<Part> parts;
    for (const int cpu : cpus()) parts.push_back({cpu, static_cast<char*>(std::malloc(bytes)), bytes / page});
    std::vector<std::thread> threads;
    for (Part& part : parts) {
        threads.emplace_back([&part, passes] { part.run(passes); });
        if (turns) threads.back().join();
    }
    for (std::thread& thread : threads)
        if (thread.joinable()) thread.join();
    std::size_t wrong = 0;
    std::string text;
    for (const Part& part : parts) {
        wrong += part.wrong;
        text += (text.empty() ? "" : ", ") + json(part.places);
    }
    std::printf("{\"wrong\": %zu, \"parts\": [%s], \"all_mib\": %s}\n", wrong, text.c_str(),
                json(all_mib()).c_str());
    return wrong == 0 ? 0 : 1;
}
