#include "launcher/host.hpp"

#include "common/fd.hpp"
#include "common/files.hpp"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace assay {

namespace {

std::int64_t take_field(const char*& at, const char* end) {
    while (at < end && *at == ' ') ++at;
    std::int64_t value = 0;
    at = std::from_chars(at, end, value).ptr;
    return value;
}

} // namespace

std::optional<HostTicks> read_host(const std::vector<int>& cpus) {
    const Fd fd{::open("/proc/stat", O_RDONLY | O_CLOEXEC)};
    if (!fd) return std::nullopt;
    // The lines of the CPUs stand at the front; the long one of the interrupts behind them is not wanted.
    std::string text(128 + 160 * (static_cast<std::size_t>(cpus.empty() ? 0 : cpus.back()) + 1), '\0');
    const ssize_t n = ::read(fd.get(), text.data(), text.size());
    if (n <= 0) return std::nullopt;
    HostTicks total;
    const char* at = text.data();
    const char* const end = at + n;
    while (at < end) {
        const char* line_end = std::find(at, end, '\n');
        if (end - at < 4 || std::string_view{at, 3} != "cpu") break;
        at += 3;
        if (*at != ' ') {
            int cpu = 0;
            at = std::from_chars(at, line_end, cpu).ptr;
            if (std::binary_search(cpus.begin(), cpus.end(), cpu)) {
                const auto user = take_field(at, line_end);
                const auto nice = take_field(at, line_end);
                const auto system = take_field(at, line_end);
                take_field(at, line_end); // idle
                take_field(at, line_end); // iowait
                const auto irq = take_field(at, line_end);
                const auto softirq = take_field(at, line_end);
                total.steal += take_field(at, line_end);
                total.busy += user + nice + system + irq + softirq; // guest time is within user
            }
        }
        at = line_end + 1;
    }
    return total;
}

std::vector<int> own_affinity() {
    std::vector<int> cpus;
    alignas(cpu_set_t) unsigned char mask[1024] = {};
    if (::sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask)) != 0) return cpus;
    for (int cpu = 0; cpu < 8192; ++cpu) {
        if ((mask[cpu / 8] >> (cpu % 8) & 1) != 0) cpus.push_back(cpu);
    }
    return cpus;
}

} // namespace assay
