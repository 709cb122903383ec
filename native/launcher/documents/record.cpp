#include "launcher/documents/record.hpp"

#include "common/cpulist.hpp"
#include "common/files.hpp"
#include "common/json_writer.hpp"
#include "common/schema.hpp"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace assay {

namespace {

const char* name_of(Outcome outcome) {
    switch (outcome) {
    case Outcome::exited:
        return "exited";
    case Outcome::signaled:
        return "signaled";
    case Outcome::timed_out:
        return "timed_out";
    case Outcome::limit:
        return "limit";
    case Outcome::oom_killed:
        return "killed_for_memory";
    case Outcome::interrupted:
        return "interrupted";
    case Outcome::exec_failed:
        return "exec_failed";
    case Outcome::setup_failed:
        return "setup_failed";
    case Outcome::bad_plan:
        return "bad_plan";
    }
    return "setup_failed";
}

std::string policy_name(int policy) {
    constexpr int ext = 7; // SCHED_EXT, Linux 6.12
    switch (policy) {
    case SCHED_OTHER:
        return "other";
    case SCHED_FIFO:
        return "fifo";
    case SCHED_RR:
        return "rr";
    case SCHED_BATCH:
        return "batch";
    case SCHED_IDLE:
        return "idle";
    case SCHED_DEADLINE:
        return "deadline";
    case ext:
        return "ext";
    default:
        return std::to_string(policy);
    }
}

void write_numbers(JsonWriter& json, const std::vector<int>& numbers) {
    json.begin_array();
    for (const int n : numbers) json.value(n);
    json.end_array();
}

void write_graceful_stop(JsonWriter& json, const GracefulStopResult& graceful_stop) {
    json.key("graceful_stop").begin_object();
    json.member("method", graceful_stop.by_command ? "command" : "SIGTERM");
    json.member("duration_s", seconds(graceful_stop.ended_ns - graceful_stop.requested_ns))
        .member("killed", graceful_stop.killed);
    if (graceful_stop.status) {
        if (WIFEXITED(*graceful_stop.status)) json.member("exit_status", WEXITSTATUS(*graceful_stop.status));
        if (WIFSIGNALED(*graceful_stop.status)) json.member("signal", WTERMSIG(*graceful_stop.status));
    }
    json.end_object();
}

void write_ending(JsonWriter& json, const Result& result) {
    json.member("outcome", name_of(result.outcome));
    if (result.exit_status) json.member("exit_status", *result.exit_status);
    if (result.signal) json.member("signal", *result.signal).member("core_dumped", result.core_dumped);
    if (!result.limit.empty()) json.member("limit", result.limit);
    if (result.interrupted_by != 0) json.member("interrupted_by", result.interrupted_by);
    if (result.failure) {
        json.member("stage", result.failure->stage);
        if (result.failure->error != 0) json.member("errno", result.failure->error);
        json.member("message", result.failure->message);
    }
    if (result.pid != 0) json.member("pid", result.pid).member("started_at", result.started_at);
    if (result.graceful_stop) write_graceful_stop(json, *result.graceful_stop);
}

void write_usage(JsonWriter& json, const Result& result) {
    if (result.wall_s) json.member("wall_s", *result.wall_s);
    if (result.stopped_s) json.member("stopped_s", *result.stopped_s);
    if (result.cpu) {
        json.member("user_s", seconds(result.cpu->user)).member("sys_s", seconds(result.cpu->system));
        json.member("cpu_scope", result.cpu_of_cgroup ? "cgroup" : "waited");
    }
    if (result.tree_usage && result.tree_usage->peak_bytes)
        json.member("peak_bytes", *result.tree_usage->peak_bytes);
    if (result.anon) {
        const auto& peak = result.anon->peak;
        json.member("peak_anon_bytes", peak.bytes).member("anon_interval_s", result.anon->interval_s);
        json.member("anon_samples", result.anon->samples);
        if (peak.source == PeakSource::charge) json.member("peak_anon_source", "charge");
        if (peak.source == PeakSource::resident) json.member("peak_anon_source", "resident");
        if (peak.at_most) json.member("peak_anon_upper_bound_bytes", *peak.at_most);
    }
    if (const auto& waited = result.waited) {
        json.member("waited_cpu_s", seconds(waited->user + waited->system));
        json.member("minor_faults", waited->minor_faults).member("major_faults", waited->major_faults);
        json.member("voluntary_switches", waited->voluntary_switches);
        json.member("involuntary_switches", waited->involuntary_switches);
        json.member("read_bytes", waited->read_bytes).member("written_bytes", waited->written_bytes);
    }
    if (const auto& tree_usage = result.tree_usage) {
        if (!tree_usage->pressure.empty()) {
            json.key("pressure").begin_object();
            for (const auto& [name, value] : tree_usage->pressure) json.member(name, value);
            json.end_object();
        }
        if (tree_usage->throttled_s) json.member("throttled_s", *tree_usage->throttled_s);
        if (tree_usage->oom_kills) json.member("oom_kills", *tree_usage->oom_kills);
    }
    if (result.migrations) json.member("migrations", *result.migrations);
    if (result.run_queue_wait_s) json.member("run_queue_wait_s", *result.run_queue_wait_s);
    if (result.energy_j) json.member("energy_j", *result.energy_j).member("energy_scope", "package");
}

void write_counts(JsonWriter& json, const std::vector<Count>& counts) {
    if (counts.empty()) return;
    json.key("counters").begin_object();
    for (const auto& count : counts) {
        json.key(count.name).begin_object().member("value", count.value);
        json.member("enabled_s", seconds(count.enabled)).member("running_s", seconds(count.running));
        json.member("scope", count.user_only ? "user" : "all");
        if (count.scaled) json.member("scaled", true);
        json.end_object();
    }
    json.end_object();
}

void write_host(JsonWriter& json, const HostActivity& host) {
    json.key("host").begin_object().member("cpus", host.cpus);
    if (host.steal_s) json.member("steal_s", *host.steal_s);
    if (host.busy_s) json.member("busy_s", *host.busy_s);
    if (host.tree_s) json.member("process_tree_cpu_s", *host.tree_s);
    if (host.launcher_s) json.member("launcher_cpu_s", *host.launcher_s);
    if (host.swap) json.member("swap_in_pages", host.swap->in).member("swap_out_pages", host.swap->out);
    if (host.throttle_events) json.member("throttle_events", *host.throttle_events);
    if (host.frequency_ratio) json.member("frequency_ratio", *host.frequency_ratio);
    if (host.clock_source) json.member("clock_source", *host.clock_source);
    json.end_object();
}

void write_containment(JsonWriter& json, const ContainmentReport& report) {
    json.key("containment").begin_object();
    json.member("mode", report.mode).member("guarantee", report.complete ? "complete" : "best_effort");
    if (!report.reason.empty()) json.member("reason", report.reason);
    json.member("remaining_processes", report.remaining);
    if (!report.names.empty()) {
        json.key("remaining_process_names").begin_array();
        for (const auto& name : report.names) json.value(name);
        json.end_array();
    }
    if (report.survivors > 0) json.member("surviving_processes", report.survivors);
    json.end_object();
}

void write_paths(JsonWriter& json, const std::set<std::string>& paths) {
    json.key("maps").begin_array();
    for (const auto& path : paths) json.value(path);
    json.end_array();
}

void write_state(JsonWriter& json, const ProcessState& state) {
    if (state.cpus) {
        json.key("cpus");
        write_numbers(json, *state.cpus);
    }
    if (state.policy) json.member("policy", policy_name(*state.policy));
    if (state.priority > 0) json.member("priority", state.priority);
    if (state.nice) json.member("nice", *state.nice);
    if (state.thp_enabled) json.member("thp_enabled", *state.thp_enabled);
    if (state.call_filters) json.member("call_filters", *state.call_filters);
    if (state.environ) {
        json.key("environ").begin_object();
        for (const auto& [name, value] : *state.environ) json.key(name).bytes(value);
        json.end_object();
    }
}

void write_workers(JsonWriter& json, const std::vector<Worker>& workers) {
    constexpr std::size_t max_workers = 16;
    static const std::int64_t page = ::sysconf(_SC_PAGESIZE);
    json.key("workers").begin_array();
    for (std::size_t i = 0; i < std::min(workers.size(), max_workers); ++i) {
        const Worker& worker = workers[i];
        json.begin_object().member("comm", worker.state.name).member("processes", worker.processes);
        json.member("cpu_s", seconds(ticks_to_ns(worker.ticks)));
        json.member("resident_bytes", worker.resident_pages * page);
        write_state(json, worker.state);
        if (worker.state.maps) write_paths(json, *worker.state.maps);
        json.end_object();
    }
    json.end_array();
}

void write_observed(JsonWriter& json, const ReadbackResult& observed) {
    json.key("readback").begin_object();
    json.member("at_s", observed.at_s).member("pid", observed.pid).member("comm", observed.state.name);
    json.member("processes_peak", observed.processes_peak).member("threads_peak", observed.threads_peak);
    write_state(json, observed.state);
    if (observed.cpus_shown) {
        json.key("visible_cpus");
        write_numbers(json, *observed.cpus_shown);
    }
    if (!observed.workers.empty()) write_workers(json, observed.workers);
    if (observed.maps) write_paths(json, *observed.maps);
    if (!observed.thread_cpus.empty()) {
        json.key("thread_cpus").begin_array();
        for (const auto& [list, threads] : observed.thread_cpus) {
            write_numbers(json, parse_cpulist(list).value_or(std::vector<int>{}));
        }
        json.end_array().key("thread_counts").begin_array();
        for (const auto& [list, threads] : observed.thread_cpus) json.value(threads);
        json.end_array();
    }
    if (observed.anon_huge_bytes) json.member("anon_huge_bytes", *observed.anon_huge_bytes);
    if (!observed.page_bytes.empty()) {
        json.key("page_bytes").begin_object();
        for (const auto& [size, bytes] : observed.page_bytes) json.member(std::to_string(size), bytes);
        json.end_object();
    }
    if (!observed.node_pages.empty()) {
        json.key("numa_pages").begin_object();
        for (const auto& [node, pages] : observed.node_pages) json.member(std::to_string(node), pages);
        json.end_object();
    }
    if (!observed.mempolicy.empty()) json.member("mempolicy", observed.mempolicy);
    json.end_object();
}

void write_instance(JsonWriter& json, const InstanceReport& report) {
    json.begin_object();
    if (report.pid != 0) json.member("pid", report.pid);
    if (report.status) {
        if (WIFEXITED(*report.status)) json.member("exit_status", WEXITSTATUS(*report.status));
        if (WIFSIGNALED(*report.status)) json.member("signal", WTERMSIG(*report.status));
    }
    if (report.killed_after_failure) json.member("killed_after_failure", true);
    if (report.wall_s) json.member("wall_s", *report.wall_s);
    if (report.cpu)
        json.member("user_s", seconds(report.cpu->user)).member("sys_s", seconds(report.cpu->system));
    if (report.cpus) {
        json.key("cpus");
        write_numbers(json, *report.cpus);
    }
    json.end_object();
}

void write_instances(JsonWriter& json, const Result& result) {
    if (result.instances.empty()) return;
    if (result.failed_instance) json.member("first_failed_instance", *result.failed_instance);
    json.key("instances").begin_array();
    for (const auto& report : result.instances) write_instance(json, report);
    json.end_array();
}

void write_absent(JsonWriter& json, const Result& result) {
    auto absent = result.absent;
    if (result.tree_usage) {
        const auto& tree_usage = *result.tree_usage;
        absent.insert(absent.end(), tree_usage.absent.begin(), tree_usage.absent.end());
        const bool grouped = result.containment && result.containment->mode != "none";
        const char* no_group = "the launch has no control group";
        if (tree_usage.pressure.empty()) {
            absent.emplace_back(
                "pressure", grouped ? "the kernel does not report it for this control group (requires v2 and "
                                      "pressure stall information)"
                                    : no_group);
        }
        if (!tree_usage.throttled_s) {
            absent.emplace_back("throttled_s",
                                grouped ? "the control group has no v2 cpu controller" : no_group);
        }
        if (!tree_usage.oom_kills) {
            absent.emplace_back("oom_kills",
                                grouped ? "the control group has no memory controller" : no_group);
        }
    }
    if (result.containment && !result.wall_s) {
        absent.emplace_back("wall_s", "the program did not run, or survived SIGKILL");
    }
    if (absent.empty()) return;
    json.key("unavailable").begin_object();
    for (const auto& [name, why] : absent) json.member(name, why);
    json.end_object();
}

} // namespace

std::string to_json(const Result& result) {
    JsonWriter json;
    json.begin_object();
    json.member("schema", schema_version).member("launcher_version", ASSAY_VERSION);
    write_ending(json, result);
    write_usage(json, result);
    write_counts(json, result.counts);
    if (result.host) write_host(json, *result.host);
    if (result.containment) write_containment(json, *result.containment);
    if (!result.applied.empty()) {
        json.key("applied").begin_array();
        for (const auto& applied : result.applied) {
            json.begin_object().member("step", applied.step).member("ok", applied.error == 0);
            if (applied.error != 0) json.member("errno", applied.error);
            if (!applied.method.empty()) json.member("method", applied.method);
            json.end_object();
        }
        json.end_array();
    }
    write_instances(json, result);
    if (result.observed) write_observed(json, *result.observed);
    write_absent(json, result);
    json.end_object();
    return std::move(json.text()) + '\n';
}

int exit_status_of(const Result& result) {
    constexpr int by_signal = 128;
    switch (result.outcome) {
    case Outcome::exited:
        return *result.exit_status;
    case Outcome::signaled:
        return by_signal + *result.signal;
    case Outcome::timed_out:
        return 124; // as timeout(1)
    case Outcome::limit:
        return by_signal + SIGKILL;
    case Outcome::oom_killed:
        return by_signal + SIGKILL;
    case Outcome::interrupted:
        return by_signal + (result.interrupted_by != 0 ? result.interrupted_by : SIGTERM);
    case Outcome::exec_failed:
        return result.failure->error == ENOENT ? 127 : 126; // as env(1)
    case Outcome::setup_failed:
    case Outcome::bad_plan:
        return 125;
    }
    return 125;
}

int deliver(const Result& result, const std::optional<Fd>& record) {
    const auto print_error = [](const std::string& text) {
        static_cast<void>(write_all(STDERR_FILENO, "assay-exec: " + text + '\n'));
    };
    if (!record || result.outcome == Outcome::bad_plan) {
        if (result.failure) print_error(result.failure->stage + ": " + result.failure->message);
    }
    if (!record) return exit_status_of(result);
    if (const int error = write_all(record->get(), to_json(result))) {
        print_error(std::string("cannot write the record: ") + std::strerror(error));
        return 125;
    }
    return result.outcome == Outcome::bad_plan ? 125 : 0;
}

std::string explain(const std::string& stage, int error, const Plan& plan) {
    std::string text = error != 0 ? std::strerror(error) : "failed";
    const auto quoted = [](const std::optional<std::string>& s) { return '"' + s.value_or("") + '"'; };
    if (stage == "exec") {
        text = "cannot run \"" + plan.argv.front() + "\": " + text;
        if (error == ENOENT) text += "; it is not in PATH, or its interpreter is missing";
        if (error == EACCES) text += "; check that it is executable and its folders are searchable";
        if (error == E2BIG) text += "; arguments and environment together are too long";
    } else if (stage == "stdin") {
        text = "cannot open " + quoted(plan.stdin_path) + ": " + text;
    } else if (stage == "stdout") {
        text = "cannot write " + quoted(plan.stdout_path) + ": " + text;
    } else if (stage == "stderr") {
        text = "cannot write " + quoted(plan.stderr_path) + ": " + text;
    } else if (stage == "progress") {
        text = "cannot open " + quoted(plan.progress_path) + ": " + text;
        if (error == ENXIO) text += "; a process must have opened the FIFO for reading";
    } else if (stage == "cwd") {
        text = "cannot enter " + quoted(plan.cwd) + ": " + text;
    } else if (stage == "affinity" && error == EINVAL) {
        text = "some of the CPUs are not in the cpuset of this control group; request CPUs that are";
    } else if (stage == "view" && error == ENOENT) {
        text = "requires /proc and /sys to be mounted";
    } else if (stage == "view") {
        text = "cannot create a mount namespace: " + text +
               "; it requires root (CAP_SYS_ADMIN) or unprivileged user namespaces, which "
               "user.max_user_namespaces, kernel.unprivileged_userns_clone, "
               "kernel.apparmor_restrict_unprivileged_userns or a container may forbid";
    } else if (stage == "affinity_calls" && (error == EINVAL || error == ENOSYS)) {
        text = "this kernel does not support system call filters (CONFIG_SECCOMP_FILTER)";
    } else if (stage == "sched.policy" && plan.sched.runtime_ns > 0 && error == EPERM) {
        text = "the kernel refuses the deadline class: it requires CAP_SYS_NICE and all CPUs of the machine; "
               "set "
               "neither an affinity nor a cpuset that excludes some (sched(7))";
    } else if (stage == "sched.policy" && error == EBUSY) {
        text = "the kernel cannot guarantee that much CPU time: programs of the deadline class may use "
               "sched_rt_runtime_us of each sched_rt_period_us in total; request less";
    } else if (error == EPERM || error == EACCES) {
        text += "; it requires more privileges (root, a higher limit, or CAP_SYS_NICE / CAP_SYS_RESOURCE)";
    }
    return text;
}

} // namespace assay
