#pragma once

#include "launcher/containment/containment.hpp"
#include "launcher/supervisor/periodic_task.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// One line of the record's `applied`.
struct Applied {
    std::string what;
    int error = 0; // errno, 0: done
    std::string how;
};

/// Watches the limits of the whole tree. What the kernel holds is only asked whether it was hit.
class LimitMonitor final : public PeriodicTask {
  public:
    /// `outputs` are the open files of stdout and stderr; `cpus` is how many CPUs can be busy at once.
    LimitMonitor(Containment& containment, const Limits& limits, std::vector<int> outputs, int cpus);

    /// Sets the limits that the kernel holds, before the program starts. False where one was refused.
    bool set(std::vector<Applied>& applied);
    void start(Nanos now);

    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos now) override;

    /// The limit that was hit ("cpu", "memory", "processes", "output"), or null.
    [[nodiscard]] const char* hit() const { return hit_; }
    /// Whether that is a limit of time, which leaves some to end in.
    [[nodiscard]] bool of_time() const { return hit_ != nullptr && std::string_view(hit_) == "cpu"; }

  private:
    [[nodiscard]] bool over_memory();
    [[nodiscard]] bool over_processes();
    [[nodiscard]] bool over_output() const;
    /// Time until the CPU limit can be reached at the earliest; 0 where it was.
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
