#pragma once

#include "common/clock.hpp"
#include "launcher/containment/containment.hpp"
#include "launcher/launch.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// The outcome of asking a tree to end before it is killed.
struct GracefulStopResult {
    Nanos requested_ns = 0;
    Nanos ended_ns = never;    // when it was seen to have ended, or was killed
    bool by_command = false;   // else by SIGTERM
    bool killed = false;       // it had not ended in time
    std::optional<int> status; // of the command, as of wait(2); none where it had not ended
};

/// Asks the tree of a launch to end, and sees whether it does: with the command that the plan has for that,
/// else with SIGTERM for every process. So that a server can put its files in order.
class GracefulStop {
  public:
    GracefulStop(const Launch& launch, pid_t program) : launch_(launch), program_(program) {}

    /// Whether the plan gives the tree time to end.
    [[nodiscard]] bool given() const { return launch_.plan.grace_s > 0; }
    /// The outcome; nothing before the tree was asked.
    [[nodiscard]] const std::optional<GracefulStopResult>& result() const { return result_; }

    /// Ask for the end. Returns when the time is over.
    Nanos ask(Nanos now);
    /// Wait for the children that have ended, but for the program. A command that fails is replaced by
    /// SIGTERM.
    void reap();
    /// Whether nothing is left of the tree beside the program.
    [[nodiscard]] bool others_ended();
    /// Note that the tree is gone, or that it has to be killed. The command is then killed too.
    void close(Nanos now, bool killed);

  private:
    [[nodiscard]] bool start_command();
    void check_command();
    [[nodiscard]] std::vector<pid_t> others();
    [[nodiscard]] std::string instances();
    void signal_all(int signal);

    const Launch& launch_;
    pid_t program_;
    pid_t command_ = 0;
    std::optional<GracefulStopResult> result_;
};

} // namespace assay
