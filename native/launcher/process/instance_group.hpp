#pragma once

#include "launcher/documents/plan.hpp"
#include "launcher/documents/record.hpp"
#include "launcher/launch.hpp"
#include "launcher/process/progress_channel.hpp"
#include "launcher/process/spawn.hpp"
#include "launcher/process/stdio.hpp"
#include "launcher/process/steps.hpp"

#include <atomic>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace assay {

/// Several instances of a program, started at the same time. A process of our own, the leader, takes the
/// place of a single program. It creates the instances, releases them together once all are ready, and ends
/// after the last one or as soon as one has failed. It runs in a copy of the supervisor's memory and never
/// calls exec, so that counters begin with the instances.
class InstanceGroup {
  public:
    /// Throws std::bad_alloc. `launch.plan` must have instances.
    explicit InstanceGroup(const Launch& launch);
    ~InstanceGroup();
    InstanceGroup(const InstanceGroup&) = delete;
    InstanceGroup& operator=(const InstanceGroup&) = delete;

    /// Open the files of all instances. On failure return false and fill in `failure`.
    bool open(Failure& failure);
    /// Prepare the steps between clone and exec of each instance. Call this after `open`.
    void prepare(const ProgressChannel& channel);
    [[nodiscard]] std::vector<int> outputs() const;
    /// Return the CPUs that any instance may use; empty if one has no CPUs of its own.
    [[nodiscard]] std::vector<int> cpus() const;

    /// Run the leader. `progress` records the time of the release.
    [[noreturn]] void run_leader(Progress& progress);

    /// The following are for the supervisor, after the leader has ended.
    [[nodiscard]] std::optional<int> first_failed() const;
    /// Return the reason why an instance did not start, if one did not.
    [[nodiscard]] std::optional<Failure> failure() const;
    [[nodiscard]] std::optional<int> status(std::size_t index) const;
    /// Return the time at which the last instance ended; nothing while one is running.
    [[nodiscard]] std::optional<Nanos> ended() const;
    /// Return the steps of the instance that failed, or else of the first.
    [[nodiscard]] std::vector<Applied> applied() const;
    [[nodiscard]] std::vector<InstanceReport> reports() const;

  private:
    struct Member {
        explicit Member(Plan own) : plan(std::move(own)) {}
        Plan plan;
        Stdio stdio;
        Steps steps;
        std::optional<Program> program;
    };
    struct State; // state of one instance, in memory shared by leader, instances and supervisor
    struct Table;
    class Leader;

    [[nodiscard]] State& state(std::size_t index) const;

    const Launch& launch_;
    std::deque<Member> members_;
    Table* table_ = nullptr;
    State* states_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace assay
