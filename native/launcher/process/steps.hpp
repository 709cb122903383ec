#pragma once

#include "launcher/documents/plan.hpp"
#include "launcher/process/cpu_view.hpp"

#include <signal.h>

#include <array>
#include <deque>
#include <string>
#include <vector>

namespace assay {

/// One system call between clone and exec, prepared before the clone: there, nothing may allocate.
struct Step {
    std::string what; // the key of the plan, or the part of the set-up
    long number = 0;
    std::array<long, 5> args{};
    const CpuView* view = nullptr; // several calls in place of that one
    bool from_plan = true;         // a key of the plan asked for it, so the record lists it

    // Where the kernel may grant less than asked without saying so: a second call that must fill `actual`
    // with the same bytes as `expected`.
    long check_number = 0;
    std::array<long, 5> check_args{};
    const unsigned char* expected = nullptr;
    const unsigned char* actual = nullptr;
    std::size_t check_length = 0;
};

/// The steps and the memory that their arguments point into.
class Steps {
  public:
    Steps() = default;
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;

    void add_internal(std::string what, long number, std::array<long, 5> args);
    /// Writes "0" to an open `tasks` (or `cgroup.procs`) file: the caller moves itself.
    void add_join(int fd);
    /// The death of whoever made it ends it.
    void add_parent_death();
    void add_stdio(const char* what, int fd, int target);
    void add_plan(const Plan& plan);
    /// What the caller had of signals; last, for from here on they may end the process.
    void add_caller_signals(bool ignores_children, const sigset_t& blocked);

    void clear() {
        steps_.clear();
        memory_.clear();
        views_.clear();
    }

    /// Whether a process can carry them out that shares its maker's memory.
    [[nodiscard]] bool shareable() const;

    [[nodiscard]] const std::vector<Step>& all() const { return steps_; }

  private:
    void add(std::string what, long number, std::array<long, 5> args);
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
    std::deque<std::vector<unsigned long>> memory_; // a deque: what it holds never moves
    std::deque<CpuView> views_;
};

} // namespace assay
