#include "launcher/probe.hpp"

#include "common/affinity.hpp"
#include "common/cpulist.hpp"
#include "common/files.hpp"
#include "common/json_writer.hpp"
#include "common/raw.hpp"
#include "common/schema.hpp"
#include "launcher/containment/cgroup.hpp"
#include "launcher/meters/energy.hpp"
#include "launcher/meters/host_meter.hpp"
#include "launcher/meters/perf_counters.hpp"
#include "launcher/process/affinity_calls.hpp"
#include "launcher/process/cpu_view.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace assay {

namespace {

/// Run an attempt in a child process, so that this process is unchanged. Return 0 or the errno.
template <typename Attempt>
int in_child(Attempt attempt) {
    const pid_t pid = ::fork();
    if (pid < 0) return errno;
    if (pid == 0) ::_exit(attempt() == 0 ? 0 : errno);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

void write_attempt(JsonWriter& json, const char* name, int error) {
    json.key(name).begin_object().member("ok", error == 0);
    if (error != 0) json.member("errno", error).member("reason", std::strerror(error));
    json.end_object();
}

void probe_cgroup(JsonWriter& json) {
    json.key("cgroup").begin_object();
    Plan plan;
    plan.limits.pids = 1 << 20; // so that the controller is tried too
    std::string why;
    const auto hierarchies = Hierarchies::find(plan.cgroup_root, why);
    const auto leaf = make_leaf(plan, ::getpid(), why);
    json.member("mode", leaf ? leaf->mode() : "none");
    json.member("guarantee", leaf && leaf->complete() ? "complete" : "best_effort");
    if (!why.empty()) json.member("reason", why);
    if (leaf) {
        json.member("memory", leaf->usage().peak_bytes.has_value());
        int error = 0;
        json.member("pids", leaf->limit_processes(1 << 20, error) == LimitEnforcement::kernel);
        if (leaf->clone_into_fd() >= 0) {
            clone_args args{};
            args.flags = CLONE_INTO_CGROUP;
            args.exit_signal = SIGCHLD;
            args.cgroup = static_cast<unsigned long long>(leaf->clone_into_fd());
            const auto leave = [](void*) { raw::exit(0); };
            const long pid =
                raw::clone_call(SYS_clone3, raw::as_long(&args), sizeof args, 0, 0, 0, leave, nullptr);
            if (!raw::failed(pid)) ::waitpid(static_cast<pid_t>(pid), nullptr, 0);
            write_attempt(json, "clone_into", raw::failed(pid) ? static_cast<int>(-pid) : 0);
            json.member("kill", ::faccessat(leaf->clone_into_fd(), "cgroup.kill", W_OK, AT_EACCESS) == 0);
        }
        const bool removed = end_tree(*leaf, nanos_per_second) == 0 && leaf->remove();
        json.member("removed", removed);
    }
    if (hierarchies) {
        json.key("hierarchies").begin_object();
        const auto home = [&](const char* name, const char* controller) {
            const auto path = hierarchies->home(controller, std::nullopt);
            json.key(name).begin_object().member("home", '/' + path);
            const int flags = AT_EACCESS;
            const char* place = path.empty() ? "." : path.c_str();
            json.member("writable", ::faccessat(hierarchies->root(), place, W_OK, flags) == 0).end_object();
        };
        if (hierarchies->has_unified()) home("unified", "");
        for (const char* controller : {"memory", "pids", "freezer", "cpuacct", "cpuset", "cpu"}) {
            if (hierarchies->has_v1(controller)) home(controller, controller);
        }
        json.end_object();
    }
    json.end_object();
}

void probe_memory_policies(JsonWriter& json) {
    const auto set = [](int mode, bool nodes) {
        return in_child([=] {
            const unsigned long first_node = 1;
            const long maxnode = nodes ? 65 : 0;
            return ::syscall(SYS_set_mempolicy, mode, nodes ? &first_node : nullptr, maxnode);
        });
    };
    json.key("mempolicy").begin_object();
    write_attempt(json, "default", set(MPOL_DEFAULT, false));
    write_attempt(json, "local", set(MPOL_LOCAL, false));
    write_attempt(json, "bind", set(MPOL_BIND, true));
    write_attempt(json, "preferred", set(MPOL_PREFERRED, true));
    write_attempt(json, "preferred_many", set(MPOL_PREFERRED_MANY, true));
    write_attempt(json, "interleave", set(MPOL_INTERLEAVE, true));
    write_attempt(json, "weighted", set(6 /* MPOL_WEIGHTED_INTERLEAVE, Linux 6.9 */, true));
    write_attempt(json, "bind_numa_balancing", set(MPOL_BIND | MPOL_F_NUMA_BALANCING, true));
    json.end_object();
}

void probe_scheduling(JsonWriter& json) {
    const auto set = [](int policy, int priority) {
        return in_child([=] {
            sched_param parameter{};
            parameter.sched_priority = priority;
            return ::sched_setscheduler(0, policy, &parameter);
        });
    };
    json.key("sched").begin_object();
    write_attempt(json, "batch", set(SCHED_BATCH, 0));
    write_attempt(json, "idle", set(SCHED_IDLE, 0));
    write_attempt(json, "fifo", set(SCHED_FIFO, 1));
    write_attempt(json, "rr", set(SCHED_RR, 1));
    json.end_object();
    int lowest = ::getpriority(PRIO_PROCESS, 0);
    while (lowest > -20 && in_child([&] { return ::setpriority(PRIO_PROCESS, 0, lowest - 1); }) == 0)
        --lowest;
    json.key("nice").begin_array().value(lowest).value(19).end_array();
}

void probe_thp(JsonWriter& json) {
    constexpr unsigned long except_advised = 1UL << 1U; // PR_THP_DISABLE_EXCEPT_ADVISED, Linux 6.18
    const auto set = [](unsigned long flags) {
        return in_child([=] { return ::prctl(PR_SET_THP_DISABLE, 1UL, flags, 0UL, 0UL); });
    };
    json.key("thp_disable").begin_object();
    write_attempt(json, "all", set(0));
    write_attempt(json, "except_advised", set(except_advised));
    json.end_object();
}

void probe_calls(JsonWriter& json) {
    const Fd self{static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))};
    write_attempt(json, "pidfd", self ? 0 : errno);
    clone_args none{};
    none.exit_signal = SIGCHLD;
    const auto leave = [](void*) { raw::exit(0); };
    const long pid = raw::clone_call(SYS_clone3, raw::as_long(&none), sizeof none, 0, 0, 0, leave, nullptr);
    if (!raw::failed(pid)) ::waitpid(static_cast<pid_t>(pid), nullptr, 0);
    write_attempt(json, "clone3", raw::failed(pid) ? static_cast<int>(-pid) : 0);
    write_attempt(json, "user_namespace", in_child([] { return ::unshare(CLONE_NEWUSER); }));
    write_attempt(json, "aslr_off", in_child([] {
                      const long result = ::syscall(SYS_personality, 0x0040000 /* ADDR_NO_RANDOMIZE */);
                      return result < 0 ? -1 : 0;
                  }));
    write_attempt(json, "affinity", in_child([] {
                      cpu_set_t mask;
                      const int got = ::sched_getaffinity(0, sizeof mask, &mask);
                      return got != 0 ? got : ::sched_setaffinity(0, sizeof mask, &mask);
                  }));
}

/// Test the restrictions that a launch can put on a program's view of the machine.
void probe_restrictions(JsonWriter& json) {
    write_attempt(json, "affinity_calls", in_child([] {
                      auto filter = affinity_filter(AffinityCalls::refused);
                      const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
                      ::prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL);
                      return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, filter_flags(), &program);
                  }));
    write_attempt(json, "view", in_child([] {
                      const long result = enter_view(prepare_view(own_affinity()));
                      if (raw::failed(result)) errno = static_cast<int>(-result);
                      return result;
                  }));
}

void probe_meters(JsonWriter& json) {
    const PerfCounters counters(PerfCounters::all_names(), "");
    json.key("counters").begin_object();
    for (const auto& [name, user_only] : counters.opened()) {
        json.key(name).begin_object().member("ok", true).member("scope", user_only ? "user" : "all");
        json.end_object();
    }
    for (const auto& [name, why] : counters.absent()) {
        json.key(name).begin_object().member("ok", false).member("reason", why).end_object();
    }
    if (!counters.counts_frequency()) {
        json.key("frequency").begin_object().member("ok", false);
        json.member("reason", "no perf event provides APERF and MPERF").end_object();
    }
    json.end_object();
    const EnergyMeter energy("");
    json.key("energy").begin_object().member("ok", energy.joules().has_value());
    if (!energy.joules()) json.member("reason", energy.why_absent());
    json.end_object();
}

} // namespace

std::string probe_host() {
    JsonWriter json;
    utsname names{};
    ::uname(&names);
    json.begin_object().member("schema", schema_version).member("version", ASSAY_VERSION);
    json.member("kernel", names.release).member("architecture", names.machine);
    json.member("root", ::geteuid() == 0);
    json.key("cpus_allowed").begin_array();
    for (const int cpu : own_affinity()) json.value(cpu);
    json.end_array();
    probe_cgroup(json);
    probe_calls(json);
    probe_memory_policies(json);
    probe_scheduling(json);
    probe_thp(json);
    probe_restrictions(json);
    probe_meters(json);
    json.end_object();
    return std::move(json.text()) + '\n';
}

} // namespace assay
