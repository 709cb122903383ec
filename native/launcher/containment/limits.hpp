#pragma once

#include "launcher/containment/containment.hpp"
#include "launcher/supervisor/periodic_task.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Entry of the record's `applied`.
struct Applied {
    std::string step;   // step of the set-up
    int error = 0;      // errno; 0: applied
    std::string method; // "kernel" or "polled" for a limit; else empty
};

/// Monitors the limits of the whole tree. For limits that the kernel enforces it only checks whether they
/// were reached.
class LimitMonitor final : public PeriodicTask {
  public:
    /// `outputs` are the open files of stdout and stderr; `cpus` is the number of CPUs that can be busy at
    /// once.
    LimitMonitor(Containment& containment, const Limits& limits, std::vector<int> outputs, int cpus);

    /// Set the limits that the kernel enforces, before the program starts. Return false if one was refused.
    bool set(std::vector<Applied>& applied);
    void start(Nanos now);

    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos now) override;

    /// Return the limit that was reached ("cpu", "memory", "processes", "output"), or null.
    [[nodiscard]] const char* hit() const { return hit_; }
    /// Return whether that is a time limit, after which the grace period applies.
    [[nodiscard]] bool is_time_limit() const { return hit_ != nullptr && std::string_view(hit_) == "cpu"; }

  private:
    [[nodiscard]] bool over_memory();
    [[nodiscard]] bool over_processes();
    [[nodiscard]] bool over_output() const;
    /// Return the shortest time in which the CPU limit can be reached; 0 if it was reached.
    [[nodiscard]] Nanos cpu_left();

    Containment& containment_;
    Limits limits_;
    std::vector<int> outputs_;
    int cpus_;
    LimitEnforcement memory_ = LimitEnforcement::polled;
    LimitEnforcement processes_ = LimitEnforcement::polled;
    Nanos interval_ = nanos_per_milli;
    Nanos due_ = never;
    Nanos max_cpu_seen_ = 0;
    const char* hit_ = nullptr;
};

} // namespace assay
