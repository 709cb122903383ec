#pragma once

#include "launcher/documents/plan.hpp"
#include "launcher/documents/record.hpp"
#include "launcher/launch.hpp"
#include "launcher/process/spawn.hpp"
#include "launcher/process/stdio.hpp"
#include "launcher/process/steps.hpp"

#include <atomic>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace assay {

/// Several instances of a program, started at once. A process of our own, the leader, stands where a single
/// program would: it makes the instances, lets them go together once each is in place, and ends when the last
/// has, or as soon as one has failed. It uses the keeper's copied memory and never executes anything, so that
/// counters begin with the instances.
class InstanceGroup {
  public:
    /// Throws std::bad_alloc. `launch.plan` has instances.
    explicit InstanceGroup(const Launch& launch);
    ~InstanceGroup();
    InstanceGroup(const InstanceGroup&) = delete;
    InstanceGroup& operator=(const InstanceGroup&) = delete;

    /// False with the failure filled in where a file of an instance cannot be opened.
    bool open(Failure& failure);
    /// Everything between clone and exec of each; once the files are open.
    void prepare();
    [[nodiscard]] std::vector<int> outputs() const;
    /// That any of them may use; none where they are not told apart.
    [[nodiscard]] std::vector<int> cpus() const;

    /// In the leader. `whole` is told when they were let go.
    [[noreturn]] void run_leader(Progress& progress);

    /// For the keeper, once the leader is gone.
    [[nodiscard]] std::optional<int> first_failed() const;
    /// Why an instance did not come to run, if one did not.
    [[nodiscard]] std::optional<Failure> failure() const;
    [[nodiscard]] std::optional<int> status(std::size_t index) const;
    /// When the last one ended; nothing while one has not.
    [[nodiscard]] std::optional<Nanos> ended() const;
    /// The steps of the one that failed, else of the first.
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
    struct State; // of one instance, in memory that leader, instances and keeper share
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
