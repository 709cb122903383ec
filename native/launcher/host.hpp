#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace assay {

/// Time of some CPUs since boot, in clock ticks of 10 ms.
struct HostTicks {
    std::int64_t busy = 0; // user, nice, system, interrupts; without steal
    std::int64_t steal = 0;
};

std::optional<HostTicks> read_host(const std::vector<int>& cpus);

/// CPUs that this process may use.
std::vector<int> own_affinity();

} // namespace assay
