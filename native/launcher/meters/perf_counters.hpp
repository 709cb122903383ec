#pragma once

#include "common/clock.hpp"
#include "common/fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// Count of one perf event over the tree.
struct Count {
    std::string name;
    double value = 0; // in seconds if the name ends in "_s"
    Nanos enabled = 0;
    Nanos running = 0;
    bool user_only = false;
    bool scaled = false;
};

/// Performance monitoring unit of one kind of cores.
struct CorePmu {
    std::string name;
    std::int64_t type = 0;
};

struct OpenedEvent {
    Fd fd;
    int error = 0;
    bool user_only = false;
};

/// perf events over the tree (perf_event_open(2)). They are opened on the calling process, which is not
/// counted itself. Its children inherit them and count from their exec on, together with their descendants.
class PerfCounters {
  public:
    /// Open the events named in the plan. Call it before the program starts: the first event on an idle
    /// system waits for an RCU grace period.
    PerfCounters(const std::vector<std::string>& names, const std::string& host_root);

    /// Return the names of the open events (with ".PMU" if there are several) and whether they count user
    /// mode only.
    [[nodiscard]] std::vector<std::pair<std::string, bool>> opened() const;

    /// Sum the counts of all processes, after the tree has ended. `own` is its CPU time; absent if the
    /// program did not run.
    void read(const std::optional<Nanos>& own);

    [[nodiscard]] const std::vector<Count>& counts() const { return counts_; }
    /// Return APERF over MPERF while the tree ran.
    [[nodiscard]] const std::optional<double>& frequency_ratio() const { return frequency_ratio_; }
    [[nodiscard]] bool counts_frequency() const { return static_cast<bool>(aperf_); }
    [[nodiscard]] bool asks_frequency() const { return asks_frequency_; }
    /// Return whether the plan asks for the frequency and the processor has it, but no perf event provides
    /// it.
    [[nodiscard]] bool lacks_frequency() const { return lacks_frequency_; }
    /// Return the names of events that could not be counted (with ".PMU" if there are several) and the
    /// reasons.
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& absent() const { return absent_; }

    [[nodiscard]] static bool known(std::string_view name);
    static std::vector<std::string> all_names();

  private:
    struct OpenEvent {
        std::string name;
        std::string pmu; // if there are several
        Fd fd;
        bool user_only = false;

        [[nodiscard]] std::string full_name() const { return pmu.empty() ? name : name + '.' + pmu; }
    };

    void open_named(std::string_view name);
    void add_event(std::string_view name, const std::string& pmu, OpenedEvent opened);
    void open_frequency();
    void read_group(const std::vector<const OpenEvent*>& group, Nanos own);

    std::string host_root_;
    std::optional<std::vector<CorePmu>> core_pmus_; // listed once, when needed
    int no_hardware_ = 0;                           // errno if the machine has no hardware counters
    std::vector<OpenEvent> open_;
    Fd aperf_;
    Fd mperf_;
    std::vector<Count> counts_;
    std::vector<std::pair<std::string, std::string>> absent_;
    std::optional<double> frequency_ratio_;
    bool asks_frequency_ = false;
    bool lacks_frequency_ = false;
};

} // namespace assay
