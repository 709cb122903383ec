#pragma once

#include "common/fd.hpp"
#include "launcher/containment/containment.hpp"
#include "launcher/containment/limits.hpp"
#include "launcher/meters/host_meter.hpp"
#include "launcher/meters/memory_sampler.hpp"
#include "launcher/meters/perf_counters.hpp"
#include "launcher/readback/readback.hpp"
#include "launcher/supervisor/graceful_stop.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay {

enum class Outcome {
    exited,
    signaled,
    timed_out,
    limit,
    oom_killed,
    interrupted,
    exec_failed,
    setup_failed,
    bad_plan
};

struct Failure {
    std::string stage;
    int error = 0; // errno, or 0
    std::string message;
};

struct WaitedUsage {
    Nanos user = 0;
    Nanos system = 0;
    std::int64_t minor_faults = 0;
    std::int64_t major_faults = 0;
    std::int64_t voluntary_switches = 0;
    std::int64_t involuntary_switches = 0;
    std::int64_t read_bytes = 0;
    std::int64_t written_bytes = 0;
    std::int64_t resident_peak = 0; // of the largest process
    bool single = false;            // the program was the only process
};

struct SampledMemory {
    MemoryPeak peak;
    double interval_s = 0;
    int samples = 0;
};

struct ContainmentReport {
    std::string mode;
    bool complete = false;
    std::string reason;               // why the guarantee is not complete, or no control group is used
    std::int64_t remaining = 0;       // processes that remained when the program had ended
    std::vector<std::string> names{}; // names of some of them, without processes that were already ending
    std::int64_t survivors = 0;       // processes that survived SIGKILL
};

/// Result of one of several instances.
struct InstanceReport {
    pid_t pid = 0;
    std::optional<int> status; // status from wait(2); absent if it did not run or was ended with the tree
    std::optional<double> wall_s;
    std::optional<CpuTime> cpu;
    std::optional<std::vector<int>> cpus; // affinity mask just after exec
    bool killed_after_failure = false;    // ended because another instance had failed
};

/// Result of one launch. Absent values could not be measured.
struct Result {
    Outcome outcome = Outcome::setup_failed;
    std::optional<int> exit_status;
    std::optional<int> signal;
    bool core_dumped = false;
    std::string limit;
    int interrupted_by = 0;
    std::optional<Failure> failure;

    pid_t pid = 0;
    double started_at = 0;
    std::optional<GracefulStopResult> graceful_stop; // outcome of the request to end
    std::optional<double> wall_s;
    std::optional<double> stopped_s; // part of wall_s; absent if no stop was observed
    std::optional<CpuTime> cpu;
    bool cpu_of_cgroup = false;
    std::optional<WaitedUsage> waited;
    std::optional<TreeUsage> tree_usage;
    std::optional<SampledMemory> anon;
    std::optional<double> run_queue_wait_s;
    std::vector<Count> counts;
    std::optional<std::int64_t> migrations;
    std::optional<double> energy_j;
    std::optional<HostActivity> host;
    std::optional<ContainmentReport> containment;
    std::vector<Applied> applied;
    std::vector<InstanceReport> instances;
    std::optional<int> failed_instance;
    std::optional<ReadbackResult> observed;
    std::vector<std::pair<std::string, std::string>> absent;
};

/// Return one JSON object and a newline.
std::string to_json(const Result& result);

/// Return the exit status of assay-exec for a launch without a record.
int exit_status_of(const Result& result);

/// Write the result to the record, or else to standard error. Return the exit status.
int deliver(const Result& result, const std::optional<Fd>& record);

/// Explain why a step of the set-up failed, with the next step for the user.
std::string explain(const std::string& stage, int error, const Plan& plan);

} // namespace assay
