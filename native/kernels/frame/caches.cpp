#include "kernels/frame/caches.hpp"

#include "common/affinity.hpp"
#include "common/files.hpp"
#include "kernels/frame/parameters.hpp"

#include <fcntl.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace assay::kernels {

namespace {

struct Cache {
    int level = 0;
    std::int64_t bytes = 0;
    std::string shared; ///< CPUs that share it.
};

std::string word_in(const std::string& path) {
    auto text = read_file(AT_FDCWD, path.c_str(), 4096).value_or("");
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

std::vector<Cache> caches_of(int cpu) {
    std::vector<Cache> found;
    constexpr int max_indices = 16;
    for (int index = 0; index < max_indices; ++index) {
        const std::string place = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" +
                                  std::to_string(index) + "/";
        const auto level = read_number(place + "level");
        if (!level) break;
        const std::string size = word_in(place + "size");
        if (word_in(place + "type") == "Instruction" || size.empty()) continue;
        found.push_back(
            {static_cast<int>(*level), parse_number("cache", size), word_in(place + "shared_cpu_list")});
    }
    return found;
}

} // namespace

Caches find_caches(int threads) {
    Caches found;
    std::set<std::pair<int, std::string>> counted;
    auto cpus = own_affinity();
    cpus.resize(std::min(cpus.size(), static_cast<std::size_t>(std::max(threads, 1))));
    for (const int cpu : cpus) {
        const auto caches = caches_of(cpu);
        int deepest = 0;
        for (const Cache& cache : caches) deepest = std::max(deepest, cache.level);
        for (const Cache& cache : caches) {
            if (cache.level == 1) found.first = cache.bytes;
            if (!counted.emplace(cache.level, cache.shared).second) continue;
            if (cache.level == 2) found.second += cache.bytes;
            if (cache.level == deepest) found.last += cache.bytes;
        }
    }
    const auto text = read_file(AT_FDCWD, "/proc/meminfo", 1 << 16).value_or("");
    found.memory = number_after(text, "MemAvailable:").value_or(0) << 10;
    return found;
}

std::int64_t bytes_of(const std::string& size, const Caches& caches) {
    const bool tiny = size == "tiny", second = size == "L2", last = size == "LLC";
    if (!tiny && !second && !last && size != "DRAM")
        throw UsageError("unknown size '" + size + "' (values: tiny, L2, LLC, DRAM, or bytes as in 64M)");
    const std::int64_t of = tiny ? caches.first : second ? caches.second : caches.last;
    if (of <= 0)
        throw UsageError(
            "this machine does not report its caches: state the size in bytes, as in --size 64M");
    if (tiny || second || last) return of / 2;
    const std::int64_t bytes = 4 * of;
    // Half of the memory, since references are as large as outputs.
    if (bytes > caches.memory / 2) {
        throw UsageError(
            "data of four times the last-level cache (" + std::to_string(bytes >> 20) +
            " MiB) do not fit into the available memory: state the size in bytes, as in --size 64M");
    }
    return bytes;
}

} // namespace assay::kernels
