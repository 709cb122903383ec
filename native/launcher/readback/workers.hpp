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

/// State of one process that settings are judged by. A field that could not be read is absent.
struct ProcessState {
    std::string name;
    std::optional<std::vector<int>> cpus;
    std::optional<int> policy;
    int priority = 0; // of the real-time classes
    std::optional<int> nice;
    std::optional<bool> thp_enabled;
    std::optional<std::int64_t> call_filters;
    std::optional<std::map<std::string, std::string>> environ;
    std::optional<std::set<std::string>> maps; // files that the plan names

    bool operator==(const ProcessState&) const = default;
};

/// Processes of one state, and the work that they did in it.
struct Worker {
    ProcessState state;
    std::int64_t ticks = 0;          // CPU time, as far as it was seen
    std::int64_t resident_pages = 0; // sum of the highest readings of each process
    int processes = 0;
    std::size_t last = 0; // number of the reading that saw it last
};

/// Attributes the work of a process tree to the states that its processes had. An exec in one process begins
/// a new state, so that a wrapper does not stand for the program that it becomes.
class Workers {
  public:
    /// Takes in a reading of one process. `image` tells its executable and its place in memory apart from
    /// those before an exec; it may be empty. An exec into an equal state does not begin another one.
    void add(const ProcStat& stat, std::string image, ProcessState state);
    /// Ends a reading: processes that were in none for some time have ended.
    void next();
    /// Takes in the last reading of a process that has ended. A new name tells that it was replaced since it
    /// was read.
    void ended(const ProcStat& stat);

    /// The states, most CPU time first; of equal ones the latest first.
    [[nodiscard]] std::vector<Worker> report() const;

  private:
    struct StateInterval {
        std::string image;
        ProcessState state;
        std::int64_t first_ticks = 0; // used before it began
        std::int64_t ticks = 0;
        std::int64_t resident_pages = 0;
        std::size_t last = 0;
    };
    using Key = std::pair<pid_t, std::uint64_t>; // process id and start time

    static void fold(const StateInterval& interval, std::vector<Worker>& into);

    std::map<Key, StateInterval> living_;
    std::vector<Worker> gone_;
    std::size_t reading_ = 0;
};

} // namespace assay
