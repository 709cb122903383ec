#pragma once

#include "launcher/containment/containment.hpp"
#include "launcher/supervisor/periodic_task.hpp"
#include "launcher/supervisor/stopped_time.hpp"

#include <cstdint>

namespace assay {

/// Detects by sampling that the tree is stopped (SIGSTOP) if no signal reports it: a process below the
/// program is stopped, its parent is another process, and no process of the tree runs. An interval between
/// two samples counts if the tree used no CPU time in it.
class StoppedTimeSampler final : public PeriodicTask {
  public:
    StoppedTimeSampler(Containment& containment, Nanos start);

    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos now) override;
    [[nodiscard]] const StoppedTime& stopped_time() const { return stopped_time_; }

  private:
    Containment& containment_;
    StoppedTime stopped_time_;
    Nanos last_sample_ = 0;
    bool stopped_ = false;
    std::int64_t ticks_ = 0; // of the tree and of children that it has waited for
    Nanos due_;
};

} // namespace assay
