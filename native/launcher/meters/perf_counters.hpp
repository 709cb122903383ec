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

/// What one perf event counted over the tree.
struct Count {
    std::string name;
    double value = 0; // seconds where the name ends in "_s"
    Nanos enabled = 0;
    Nanos running = 0;
    bool user_only = false;
    bool scaled = false;
};

/// The performance monitoring unit of one kind of cores.
struct CorePmu {
    std::string name;
    std::int64_t type = 0;
};

struct OpenedEvent {
    Fd fd;
    int error = 0;
    bool user_only = false;
};

/// perf events over the tree (perf_event_open(2)). They are opened on the calling process, which never counts
/// itself: what it starts inherits them and counts from its exec on, its descendants with it.
class PerfCounters {
  public:
    /// `names` as in the plan. Best made before the program: the first event of a system that has none waits
    /// for an RCU grace period.
    PerfCounters(const std::vector<std::string>& names, const std::string& host_root);

    /// Names of what is counted (with ".PMU" where there are several), and whether in user mode alone.
    [[nodiscard]] std::vector<std::pair<std::string, bool>> opened() const;

    /// Adds up what ended and what still lives; for once the tree is gone. `own` is its processor time, and
    /// nothing where the program did not come to run.
    void read(const std::optional<Nanos>& own);

    [[nodiscard]] const std::vector<Count>& counts() const { return counts_; }
    /// APERF over MPERF while the tree ran.
    [[nodiscard]] const std::optional<double>& frequency_ratio() const { return frequency_ratio_; }
    [[nodiscard]] bool counts_frequency() const { return static_cast<bool>(aperf_); }
    [[nodiscard]] bool asks_frequency() const { return asks_frequency_; }
    /// The plan asks for the frequency, the processor has it, and no perf event can give it.
    [[nodiscard]] bool lacks_frequency() const { return lacks_frequency_; }
    /// Names (of the plan, with ".PMU" where there are several) and why they could not be counted.
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& absent() const { return absent_; }

    [[nodiscard]] static bool known(std::string_view name);
    static std::vector<std::string> all_names();

  private:
    struct Open {
        std::string name;
        std::string pmu; // where there are several
        Fd fd;
        bool user_only = false;

        [[nodiscard]] std::string full_name() const { return pmu.empty() ? name : name + '.' + pmu; }
    };

    void open_named(std::string_view name);
    void keep(std::string_view name, const std::string& pmu, OpenedEvent opened);
    void open_frequency();
    void read_group(const std::vector<const Open*>& group, Nanos own);

    std::string host_root_;
    std::optional<std::vector<CorePmu>> core_pmus_; // listed once, where there are any
    int no_hardware_ = 0;                           // errno that says so
    std::vector<Open> open_;
    Fd aperf_;
    Fd mperf_;
    std::vector<Count> counts_;
    std::vector<std::pair<std::string, std::string>> absent_;
    std::optional<double> frequency_ratio_;
    bool asks_frequency_ = false;
    bool lacks_frequency_ = false;
};

} // namespace assay
