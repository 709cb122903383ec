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

/// What was read back from the running tree.
struct ReadbackResult {
    // Of the subject: the process that has used most CPU time.
    double at_s = 0;
    pid_t pid = 0;
    ProcessState state;                         // but for its maps
    std::optional<std::vector<int>> cpus_shown; // by its own /sys
    std::optional<std::int64_t> anon_huge_bytes;
    std::map<std::int64_t, std::int64_t> page_bytes; // page size in bytes -> resident memory in such pages
    std::map<int, std::int64_t> node_pages;          // of the base size
    std::string mempolicy;

    // Of the tree, over all readings.
    std::optional<std::set<std::string>> maps; // absent: could not be read; empty: none of the wanted
    int processes_peak = 0;
    int threads_peak = 0;
    std::map<std::string, int> thread_cpus; // CPU list -> threads, at the reading with most threads
    std::vector<Worker> workers;            // none where all processes had one state
};

/// Reads /proc/PID of the tree, soon after the start and ever less often. It never stops the program (no
/// ptrace).
class Readback final : public PeriodicTask {
  public:
    Readback(Containment& containment, const Plan& plan, pid_t program, Nanos start);

    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos now) override;

    /// Returns all readings. Call it once the program has ended, and before it is waited for.
    [[nodiscard]] const std::optional<ReadbackResult>& result();

  private:
    void read_tree(Nanos now);
    /// State of a process; `image` identifies the executable that it runs.
    struct Reading {
        std::string image;
        ProcessState process;
    };
    /// Nothing for a process that is about to begin or to end.
    std::optional<Reading> read_state(const ProcStat& stat, double at_s);
    bool read_status(const ProcStat& stat, ProcessState& state) const;
    bool read_environment(const ProcStat& stat, ProcessState& state) const;
    bool read_subject(const ProcStat& subject, ReadbackResult& seen) const;
    void read_pages(const std::string& rollup, pid_t subject, ReadbackResult& seen) const;
    void read_numa(const std::string& text, ReadbackResult& seen) const;
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
    bool seen_launcher_ = false; // what was seen last is no program, but starts one
    int processes_peak_ = 0;
    std::optional<std::int64_t> launcher_filters_; // of system calls, where some were asked for
};

} // namespace assay
