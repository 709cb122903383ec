#pragma once

#include "common/clock.hpp"
#include "launcher/containment/containment.hpp"
#include "launcher/launch.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Outcome of a graceful stop: the request to end before the tree is killed.
struct GracefulStopResult {
    Nanos requested_ns = 0;
    Nanos ended_ns = never;    // end of the tree, or time of the kill
    bool by_command = false;   // by the stop command; otherwise by SIGTERM
    bool killed = false;       // the tree did not end in time
    std::optional<int> status; // status of the command from wait(2); absent while it runs
};

/// Asks the process tree to end and observes whether it does, so that servers can shut down in order. Uses
/// the stop command of the plan, or else SIGTERM for every process.
class GracefulStop {
  public:
    GracefulStop(const Launch& launch, pid_t program) : launch_(launch), program_(program) {}

    /// Return whether the plan allows a grace period.
    [[nodiscard]] bool has_grace_period() const { return launch_.plan.grace_s > 0; }
    /// Return the outcome; empty before the request.
    [[nodiscard]] const std::optional<GracefulStopResult>& result() const { return result_; }

    /// Request the end. Return the time at which the grace period is over.
    Nanos request_end(Nanos now);
    /// Reap children that have ended, except the program. If the stop command fails, send SIGTERM instead.
    void reap();
    /// Return whether the program is the last living process of the tree.
    [[nodiscard]] bool only_program_left();
    /// Record that the tree has ended or must be killed. In both cases kill the stop command.
    void finish(Nanos now, bool killed);

  private:
    [[nodiscard]] bool start_command();
    void check_command();
    [[nodiscard]] std::vector<pid_t> other_processes();
    [[nodiscard]] std::string program_pids();
    void signal_all(int signal);

    const Launch& launch_;
    pid_t program_;
    pid_t command_ = 0;
    std::optional<GracefulStopResult> result_;
};

} // namespace assay
