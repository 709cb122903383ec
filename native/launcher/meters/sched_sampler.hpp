#pragma once

#include "common/fd.hpp"
#include "launcher/containment/containment.hpp"
#include "launcher/supervisor/periodic_task.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace assay {

/// Scheduling of the threads of the tree: time spent runnable while waiting for a CPU (second field of
/// /proc/PID/task/TID/schedstat, Documentation/scheduler/sched-stats.rst), and number of migrations
/// (se.nr_migrations of .../sched). The kernel discards both with the thread, so they are sampled: the
/// results are lower bounds, and exact for the first thread of the program. Unlike perf events this costs the
/// program no time at switches and forks.
class SchedSampler final : public PeriodicTask {
  public:
    SchedSampler(Containment& containment, pid_t program, Nanos start);

    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos now) override;

    /// Read the program's first thread once more, after its end and before it is waited for.
    void read_ended();

    [[nodiscard]] std::optional<double> waited_s() const;
    [[nodiscard]] std::optional<std::int64_t> migrations() const;
    [[nodiscard]] const std::string& why_no_wait() const { return why_no_wait_; }

  private:
    struct ThreadReading {
        std::int64_t waited = 0;
        std::int64_t migrations = 0;
        int round = 0;
    };

    void note(pid_t thread, std::optional<Nanos> waited, std::optional<std::int64_t> migrations);
    void forget_ended();
    void add_to_ended(const ThreadReading& reading);

    Containment& containment_;
    pid_t program_;
    Fd schedstat_; // of the program's first thread; readable until the program is waited for
    Fd sched_;
    Nanos start_;
    Nanos interval_;
    Nanos due_;
    std::unordered_map<pid_t, ThreadReading> threads_;
    ThreadReading ended_; // sums
    int round_ = 0;
    bool knows_wait_ = false;
    bool knows_migrations_ = false;
    std::string why_no_wait_ = "/proc/PID/schedstat cannot be read";
};

} // namespace assay
