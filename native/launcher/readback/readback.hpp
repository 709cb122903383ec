#pragma once

#include "launcher/containment/containment.hpp"
#include "launcher/documents/plan.hpp"
#include "launcher/process/process_tree.hpp"
#include "launcher/readback/workers.hpp"
#include "launcher/supervisor/periodic_task.hpp"

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// Settings and state read back from the running tree.
struct ReadbackResult {
    // Of the subject: the process with most CPU time.
    double at_s = 0;
    pid_t pid = 0;
    ProcessState state;                         // without maps
    std::optional<std::vector<int>> cpus_shown; // as its own /sys shows them
    std::optional<std::int64_t> anon_huge_bytes;
    std::map<std::int64_t, std::int64_t> page_bytes; // page size in bytes -> resident memory in such pages
    std::map<int, std::int64_t> node_pages;          // in pages of the base size
    std::string mempolicy;

    // Of the tree, over all readings.
    std::optional<std::set<std::string>> maps; // absent: not readable; empty: no wanted file is mapped
    int processes_peak = 0;
    int threads_peak = 0;
    std::map<std::string, int> thread_cpus; // CPU list -> number of threads, at the reading with most threads
    std::vector<Worker> workers;            // empty if all processes had the same state
};

/// Reads /proc/PID of the tree, soon after the start and then at growing intervals. It never stops the
/// program (no ptrace).
class Readback final : public PeriodicTask {
  public:
    Readback(Containment& containment, const Plan& plan, pid_t program, Nanos start);

    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos now) override;

    /// Return the combined readings. Call it after the program has ended and before it is waited for.
    [[nodiscard]] const std::optional<ReadbackResult>& result();

  private:
    void read_tree(Nanos now);
    /// State of a process; `image` identifies the executable that it runs.
    struct Reading {
        std::string image;
        ProcessState process;
    };
    /// Return nothing for a process that is starting or ending.
    std::optional<Reading> read_state(const ProcStat& stat, double at_s);
    bool read_status(const ProcStat& stat, ProcessState& state) const;
    bool read_environment(const ProcStat& stat, ProcessState& state) const;
    bool read_subject(const ProcStat& subject, ReadbackResult& observed) const;
    void read_pages(const std::string& rollup, pid_t subject, ReadbackResult& observed) const;
    void read_numa(const std::string& text, ReadbackResult& observed) const;
    [[nodiscard]] std::set<std::string> wanted_maps(const std::string& text) const;
    void count_threads(const std::vector<ProcStat>& tree, Nanos now);

    Containment& containment_;
    const Plan& plan_;
    pid_t program_;
    Nanos start_;
    Nanos due_;
    std::size_t readings_ = 0;
    std::int64_t subject_ticks_ = -1;
    std::optional<ReadbackResult> result_;
    std::optional<std::set<std::string>> maps_;
    Workers workers_;
    std::map<std::string, int> thread_cpus_;
    int threads_peak_ = 0;
    bool seen_launcher_ = false; // the current result describes a process that only starts the program
    int processes_peak_ = 0;
    std::optional<std::int64_t>
        launcher_filters_; // number of system call filters of the launcher, if the plan adds one
};

} // namespace assay
