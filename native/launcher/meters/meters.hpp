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

/// Meters of the machine and of the process tree during a launch.
class Meters {
  public:
    /// Do the slow part of the preparation. Construct it before the program starts, which inherits the
    /// counters.
    Meters(const Plan& plan, const std::vector<int>& cpus, pid_t launcher_pid);

    /// Read values that do not change before the program runs. Call it after the program was created.
    void begin() { host_.begin(); }
    /// Read values that change even without the program, such as energy. Call it as soon as the program has
    /// ended.
    void end() { energy_.end(); }
    /// Fill in the result, after the tree has ended and its CPU time is known.
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
