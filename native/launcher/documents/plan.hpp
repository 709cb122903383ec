#pragma once

#include "launcher/process/affinity_calls.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

struct MemPolicy {
    int mode = 0; // MPOL_*
    std::vector<int> nodes;
};

struct Sched {
    std::optional<int> policy; // SCHED_*
    std::optional<int> nice;
    int priority = 0;
    std::int64_t runtime_ns = 0; // per period; SCHED_DEADLINE only
    std::int64_t period_ns = 0;

    /// Return whether the program may keep other processes from running.
    [[nodiscard]] bool real_time() const;
};

struct IoPriority {
    int level_class = 0; // IOPRIO_CLASS_*
    int level = 0;
};

struct PrctlCall {
    int option = 0;
    std::vector<std::uint64_t> args;
};

struct RlimitCall {
    std::string name;
    int resource = 0;
    std::uint64_t soft = 0;
    std::uint64_t hard = 0;
};

struct Limits {
    std::optional<std::int64_t> memory_bytes;
    std::optional<std::int64_t> pids;
    std::optional<double> cpu_s;
    std::optional<std::int64_t> output_bytes;

    [[nodiscard]] bool any() const { return memory_bytes || pids || cpu_s || output_bytes; }
};

/// One of several instances of a program, with its own settings.
struct Instance {
    std::vector<std::string> argv; // empty: argv of the plan
    std::vector<std::pair<std::string, std::string>> env_set;
    std::vector<int> affinity;
    std::optional<std::string> stdout_path;
    std::optional<std::string> stderr_path;
};

enum class ContainmentMode { automatic, cgroup, none };

struct ReadbackSources {
    bool status = false;
    bool environ = false;
    bool maps = false;
    bool numa_maps = false;
    bool smaps = false;
    bool threads = false;

    [[nodiscard]] bool any() const { return status || environ || maps || numa_maps || smaps || threads; }
};

/// Quantities to sample while the tree runs.
struct Sampling {
    bool memory = true;
    bool scheduling = true;
};

/// Request for one launch. See docs/reference/assay-exec.md.
struct Plan {
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> env_set;
    std::vector<std::string> env_unset;
    std::optional<std::string> cwd;
    std::optional<std::string> stdin_path;
    std::optional<std::string> stdout_path;
    std::optional<std::string> stderr_path;
    std::optional<std::string> progress_path; // FIFO for the progress of the program
    std::vector<int> affinity;
    std::optional<MemPolicy> mempolicy;
    Sched sched;
    std::optional<IoPriority> io_priority;
    std::vector<PrctlCall> prctls;
    std::optional<bool> aslr;
    bool own_view = false; // own view of the CPUs in /proc and /sys
    AffinityCalls affinity_calls = AffinityCalls::allowed;
    std::vector<RlimitCall> rlimits;
    std::optional<double> timeout_s;
    double grace_s = 0;            // time between the request to end and the kill; 0: kill at once
    std::vector<std::string> stop; // command that requests the end, in place of SIGTERM
    Limits limits;
    ContainmentMode containment = ContainmentMode::automatic;
    std::string cgroup_root = "/sys/fs/cgroup";
    std::string host_root;             // folder that contains proc, sys and dev; empty: "/"
    std::vector<std::string> counters; // empty: no perf event is opened
    std::optional<std::string> cgroup_parent;
    std::optional<std::string> cgroup_name;
    std::optional<int> parent_pid;
    bool own_process_group = false;
    bool leave_signals = false; // let the program handle signals instead of ending the tree
    bool no_core_files = false;
    bool end_on_memory_kill = false; // end when the kernel kills any process of the tree for memory
    double sample_interval_s = 0.05;
    double sampling_share = 0.005; // maximum share of the time for sampling memory
    Sampling sampling;
    ReadbackSources readback;
    std::vector<std::string> environ_names;
    std::optional<std::vector<std::string>> map_names;
    std::vector<Instance> instances;

    /// Return the plan of one instance.
    [[nodiscard]] Plan of(const Instance& instance) const;
    /// Return whether any output goes to a file.
    [[nodiscard]] bool keeps_output() const;
};

/// Invalid plan. The message begins with the invalid key.
class PlanError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

inline constexpr std::size_t max_plan_bytes = 8U << 20;
inline constexpr double max_grace_s = 24.0 * 60 * 60;

/// Parse a plan. Throws PlanError.
Plan parse_plan(std::string_view json);

/// Throws PlanError if a plan contains keys that a launcher with root privileges must not accept from another
/// user: paths at which root would create folders or read files.
void refuse_privileged_keys(const Plan& plan);

std::optional<ContainmentMode> parse_containment_mode(std::string_view name);

} // namespace assay
