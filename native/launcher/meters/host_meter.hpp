#pragma once

#include "common/clock.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// Time of some CPUs since boot, in clock ticks of 10 ms.
struct HostTicks {
    std::int64_t busy = 0; // user, nice, system, interrupts; without steal
    std::int64_t steal = 0;
};

/// `root` is the folder in which proc and sys lie; empty for those of this machine.
std::optional<HostTicks> read_host(const std::string& root, const std::vector<int>& cpus);

/// Pages that the whole machine has swapped since boot.
struct SwapPages {
    bool possible = false; // there is a swap area; without one nothing is read, and the counts stay zero
    std::int64_t in = 0;
    std::int64_t out = 0;
};

std::optional<SwapPages> read_swap(const std::string& root);

std::optional<std::string> clock_source(const std::string& root);

/// What went on around a launch, on the CPUs that it may use.
struct HostActivity {
    int cpus = 0;
    std::optional<double> steal_s;
    std::optional<double> busy_s;
    std::optional<double> own_s;
    std::optional<double> launcher_s;
    std::optional<SwapPages> swap;
    std::optional<std::int64_t> throttle_events;
    std::optional<double> frequency_ratio;
    std::optional<std::string> clock_source;
};

using Absent = std::vector<std::pair<std::string, std::string>>;

/// Reads the machine at both ends of a launch.
class HostMeter {
  public:
    HostMeter(const std::string& root, const std::vector<int>& cpus, pid_t launcher_pid)
        : root_(root), cpus_(cpus), launcher_pid_(launcher_pid) {}

    void begin();
    /// `own` is the processor time of the tree. Reasons go to `absent`, with names as "host.busy_s".
    HostActivity end(const std::optional<Nanos>& own, Absent& absent) const;

  private:
    /// Processor time of the front and of this process, the keeper.
    [[nodiscard]] std::optional<Nanos> launcher_time() const;

    const std::string& root_;
    const std::vector<int>& cpus_;
    pid_t launcher_pid_;
    std::optional<HostTicks> ticks_;
    std::optional<SwapPages> swap_;
    std::optional<Nanos> launcher_;
    std::optional<std::string> clock_source_;
};

} // namespace assay
