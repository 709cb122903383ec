#include "launcher/meters/throttle.hpp"

#include "common/cpulist.hpp"
#include "common/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <set>

namespace assay {

namespace {

constexpr std::size_t max_cores = 16;

} // namespace

ThrottleMeter::ThrottleMeter(const std::string& root, const std::vector<int>& cpus) {
    const auto folder = [&](int cpu) { return root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu); };
    // All CPUs of a machine have the same files.
    if (cpus.empty() || ::access((folder(cpus.front()) + "/thermal_throttle").c_str(), F_OK) != 0) return;
    for (const int cpu : spread(cpus, max_cores))
        files_.push_back(folder(cpu) + "/thermal_throttle/core_throttle_count");
    std::set<int> covered;
    for (const int cpu : cpus) {
        if (!covered.insert(cpu).second) continue;
        files_.push_back(folder(cpu) + "/thermal_throttle/package_throttle_count");
        const auto list = read_file(AT_FDCWD, (folder(cpu) + "/topology/core_siblings_list").c_str());
        const auto package = list ? parse_cpulist(*list) : std::nullopt;
        if (package) covered.insert(package->begin(), package->end());
    }
}

std::optional<std::int64_t> ThrottleMeter::total() const {
    std::optional<std::int64_t> sum;
    for (const auto& file : files_) {
        if (const auto count = read_number(file)) sum = sum.value_or(0) + *count;
    }
    return sum;
}

std::optional<std::int64_t> ThrottleMeter::end() const {
    const auto after = total();
    if (!before_ || !after) return std::nullopt;
    return *after - *before_;
}

} // namespace assay
