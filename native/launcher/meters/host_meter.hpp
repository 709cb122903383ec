#pragma once

#include "common/clock.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// Time of a set of CPUs since boot, in clock ticks of 10 ms.
struct HostTicks {
    std::int64_t busy = 0; // user, nice, system and interrupts; without steal
    std::int64_t steal = 0;
};

/// Read the times. `root` is the folder that contains proc and sys; empty for this machine.
std::optional<HostTicks> read_host(const std::string& root, const std::vector<int>& cpus);

/// Pages swapped by the whole machine since boot.
struct SwapPages {
    bool possible = false; // a swap area exists; without one nothing is read and the counts stay zero
    std::int64_t in = 0;
    std::int64_t out = 0;
};

std::optional<SwapPages> read_swap(const std::string& root);

std::optional<std::string> clock_source(const std::string& root);

/// Activity of the host during a launch, on the CPUs available to it.
struct HostActivity {
    int cpus = 0;
    std::optional<double> steal_s;
    std::optional<double> busy_s;
    std::optional<double> tree_s;     // CPU time of the process tree
    std::optional<double> launcher_s; // CPU time of launcher and supervisor
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
    /// Return the activity. `tree_cpu` is the CPU time of the tree. Reasons for missing values are added to
    /// `absent`, with names such as "host.busy_s".
    HostActivity end(const std::optional<Nanos>& tree_cpu, Absent& absent) const;

  private:
    /// Return the CPU time of the launcher process and of this process, the supervisor.
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
