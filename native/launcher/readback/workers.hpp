#pragma once

#include "common/clock.hpp"
#include "launcher/process/process_tree.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// State of one process in terms of settings. Fields that could not be read are absent.
struct ProcessState {
    std::string name;
    std::optional<std::vector<int>> cpus;
    std::optional<int> policy;
    int priority = 0; // of the real-time classes only
    std::optional<int> nice;
    std::optional<bool> thp_enabled;
    std::optional<std::int64_t> call_filters;
    std::optional<std::map<std::string, std::string>> environ;
    std::optional<std::set<std::string>> maps; // files named in the plan

    bool operator==(const ProcessState&) const = default;
};

/// Processes with the same state, and the work that they did in it.
struct Worker {
    ProcessState state;
    std::int64_t ticks = 0;          // observed CPU time, in clock ticks
    std::int64_t resident_pages = 0; // sum over the processes of their largest reading
    int processes = 0;
    std::size_t last = 0; // number of the last reading that included it
};

/// Attributes the work of a process tree to the states of its processes. An exec begins a new state, so that
/// a wrapper is distinguished from the program that it executes.
class Workers {
  public:
    /// Add a reading of one process. `image` identifies its executable and mapping, so that an exec is
    /// detected; it may be empty. An exec without a change of state does not begin another one.
    void add(const ProcStat& stat, std::string image, ProcessState state);
    /// Complete a reading: drop processes that have been missing for several readings.
    void next();
    /// Add the last reading of a process that has ended. A new name shows an exec since the last reading.
    void ended(const ProcStat& stat);

    /// Return the states by descending CPU time; the latest first among equals.
    [[nodiscard]] std::vector<Worker> report() const;

  private:
    struct StateInterval {
        std::string image;
        ProcessState state;
        std::int64_t first_ticks = 0; // CPU time before the state began
        std::int64_t ticks = 0;
        std::int64_t resident_pages = 0;
        std::size_t last = 0;
    };
    using Key = std::pair<pid_t, std::uint64_t>; // process id and start time

    static void fold(const StateInterval& interval, std::vector<Worker>& into);

    std::map<Key, StateInterval> living_;
    std::vector<Worker> finished_; // of processes that have ended, and of states before an exec
    std::size_t reading_ = 0;
};

} // namespace assay
