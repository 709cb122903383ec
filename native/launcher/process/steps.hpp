#pragma once

#include "launcher/documents/plan.hpp"
#include "launcher/process/cpu_view.hpp"

#include <signal.h>

#include <array>
#include <deque>
#include <string>
#include <vector>

namespace assay {

/// One system call between clone and exec. It is prepared before the clone, because allocation is forbidden
/// between the two.
struct Step {
    std::string name; // key of the plan, or part of the set-up
    long number = 0;
    std::array<long, 5> args{};
    const CpuView* view = nullptr; // if set, entering this view replaces the call
    bool from_plan = true;         // requested by a key of the plan, and therefore listed in the record

    // The kernel may grant less than requested without an error. A second call must then fill `actual` with
    // the bytes of `expected`.
    long check_number = 0;
    std::array<long, 5> check_args{};
    const unsigned char* expected = nullptr;
    const unsigned char* actual = nullptr;
    std::size_t check_length = 0;
};

/// Steps and the memory that their arguments point to.
class Steps {
  public:
    Steps() = default;
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;

    void add_internal(std::string name, long number, std::array<long, 5> args);
    /// Write "0" to an open `tasks` or `cgroup.procs` file, which moves the calling process.
    void add_join(int fd);
    /// End the process when its parent ends.
    void add_parent_death();
    void add_stdio(const char* name, int fd, int target);
    void add_plan(const Plan& plan);
    /// Restore the signal state of the caller. Last, because a signal may end the process from here on.
    void add_caller_signals(bool ignores_children, const sigset_t& blocked);

    void clear() {
        steps_.clear();
        memory_.clear();
        views_.clear();
    }

    /// Return whether a process that shares memory with its parent can carry out the steps.
    [[nodiscard]] bool shareable() const;

    [[nodiscard]] const std::vector<Step>& all() const { return steps_; }

  private:
    void add(std::string name, long number, std::array<long, 5> args);
    void add_caller();
    void add_affinity(const std::vector<int>& cpus);
    void add_mempolicy(const MemPolicy& policy);
    void add_sched(const Sched& sched);
    void add_deadline(const Sched& sched);
    void add_io_priority(const IoPriority& priority);
    void add_rlimit(const RlimitCall& call);
    void add_no_core();
    void add_view(const std::vector<int>& cpus);
    void add_affinity_calls(AffinityCalls answer);
    unsigned char* allocate_bytes(std::size_t size);

    std::vector<Step> steps_;
    std::deque<std::vector<unsigned long>> memory_; // a deque, because its elements never move
    std::deque<CpuView> views_;
};

} // namespace assay
