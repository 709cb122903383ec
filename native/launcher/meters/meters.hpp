#pragma once

#include "launcher/documents/record.hpp"
#include "launcher/meters/energy.hpp"
#include "launcher/meters/frequency.hpp"
#include "launcher/meters/host_meter.hpp"
#include "launcher/meters/perf_counters.hpp"
#include "launcher/meters/throttle.hpp"

#include <sys/types.h>

#include <vector>

namespace assay {

/// What is read of the machine around a launch, and counted of its tree.
class Meters {
  public:
    /// Reads and opens what takes long. To be made before the program, which inherits the counters.
    Meters(const Plan& plan, const std::vector<int>& cpus, pid_t launcher_pid);

    /// Reads what stands still until the program runs; once it was made.
    void begin() { host_.begin(); }
    /// Reads what goes on whatever runs; as soon as the program has ended.
    void end() { energy_.end(); }
    /// Once the tree is gone and its processor time known.
    void report(Result& result);

    [[nodiscard]] EnergyMeter& energy() { return energy_; }

  private:
    PerfCounters counters_;
    ThrottleMeter throttle_;
    FrequencyMeter frequency_;
    EnergyMeter energy_;
    HostMeter host_;
};

} // namespace assay
