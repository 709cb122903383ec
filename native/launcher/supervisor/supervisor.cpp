#include "launcher/supervisor/supervisor.hpp"

#include "common/affinity.hpp"
#include "common/raw.hpp"
#include "launcher/containment/oom_kills.hpp"
#include "launcher/documents/record.hpp"
#include "launcher/meters/memory_sampler.hpp"
#include "launcher/meters/meters.hpp"
#include "launcher/meters/sched_sampler.hpp"
#include "launcher/process/instance_group.hpp"
#include "launcher/process/process_tree.hpp"
#include "launcher/process/progress_channel.hpp"
#include "launcher/process/signals.hpp"
#include "launcher/process/spawn.hpp"
#include "launcher/process/stdio.hpp"
#include "launcher/process/terminal.hpp"
#include "launcher/supervisor/launcher.hpp"
#include "launcher/supervisor/stopped_time_sampler.hpp"
#include "launcher/supervisor/watch.hpp"

#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace assay {

namespace {

constexpr const char* process_group = "process_group";
constexpr const char* not_sampled = "not sampled: the plan does not request it";

/// Lets the launcher record the end of the program too, because the supervisor may be busy reading at that
/// moment. It is not used for short programs: waking one more process is expensive in comparison.
class ExitNotifier final : public PeriodicTask {
  public:
    ExitNotifier(int events, int pidfd, Nanos start)
        : events_(events), pidfd_(pidfd), due_(start + nanos_per_milli) {}

    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos) override {
        epoll_event event{};
        event.events = EPOLLIN | EPOLLONESHOT;
        event.data.u32 = program_ended;
        ::epoll_ctl(events_, EPOLL_CTL_ADD, pidfd_, &event);
        due_ = never;
    }

  private:
    int events_;
    int pidfd_;
    Nanos due_;
};

Result failed(Outcome outcome, std::string stage, int error, std::string message) {
    Result result;
    result.outcome = outcome;
    result.failure = Failure{std::move(stage), error, std::move(message)};
    return result;
}

/// Add the steps between clone and exec. For the leader of several instances, add those of the whole group
/// only.
void fill_steps(Steps& steps, const Launch& launch, const Stdio& stdio, const ProgressChannel& channel,
                bool in_cgroup) {
    steps.add_parent_death();
    if (launch.plan.own_process_group)
        steps.add_internal("own_process_group", SYS_setpgid, {0, 0});
    else if (launch.caller_group > 0)
        steps.add_internal(process_group, SYS_setpgid, {0, launch.caller_group});
    // Early, so that the memory that later steps allocate is charged to the right group.
    for (const int file : launch.containment->join_files(in_cgroup)) steps.add_join(file);
    if (!launch.plan.instances.empty()) return;
    stdio.add_to(steps, launch.plan);
    channel.add_to(steps);
    steps.add_plan(launch.plan);
    steps.add_caller_signals(launch.caller_ignores_children, launch.caller_signals);
}

/// Give the supervisor a higher real-time priority than the program, which could otherwise take every CPU and
/// escape its time limit. Without permission the share that the kernel keeps for other classes must suffice
/// (sched_rt_runtime_us). Children of the supervisor do not inherit the class.
void raise_priority_above(const Sched& sched) {
    if (!sched.real_time()) return;
    sched_param parameter{};
    constexpr int max_priority = 99;
    parameter.sched_priority = std::min(sched.priority + 1, max_priority);
    ::syscall(SYS_sched_setscheduler, 0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter);
}

/// Return whether clone3 is missing or forbidden; clone may still work.
bool clone3_refused(int error) {
    return error == ENOSYS || error == EPERM || error == EINVAL || error == E2BIG;
}

class Supervisor {
  public:
    explicit Supervisor(Launch& launch) : launch_(launch), plan_(launch.plan) {}

    Result run() {
        Failure failure;
        Stdio stdio;
        const bool channel_open = channel_.open(plan_, failure);
        channel_.publish(launch_.plan); // before the plans of the instances are derived
        if (!plan_.instances.empty()) instances_.emplace(launch_);
        if (!channel_open || !(instances_ ? instances_->open(failure) : stdio.open(plan_, failure))) {
            if (launch_.containment) launch_.containment->remove();
            return failed(Outcome::setup_failed, failure.stage, failure.error, failure.message);
        }
        std::string why;
        if (!prepare_containment(why)) return failed(Outcome::setup_failed, "containment", 0, why);
        const auto cpus = used_cpus();
        const auto outputs = instances_ ? instances_->outputs() : stdio.outputs();
        LimitMonitor limits(*launch_.containment, plan_.limits, outputs, static_cast<int>(cpus.size()));
        Result result;
        const Terminal terminal(launch_.caller_group);
        if (limits.set(result.applied)) {
            result = launch_program(stdio, limits, cpus, std::move(result));
        } else {
            const auto& refused = result.applied.back();
            result.failure =
                Failure{refused.step, refused.error, explain(refused.step, refused.error, plan_)};
        }
        launch_.containment->remove();
        terminal.give_back();
        return result;
    }

  private:
    [[nodiscard]] std::vector<int> used_cpus() const {
        const auto instance_cpus = instances_ ? instances_->cpus() : std::vector<int>{};
        if (!instance_cpus.empty()) return instance_cpus;
        return plan_.affinity.empty() ? own_affinity() : plan_.affinity;
    }

    Result launch_program(const Stdio& stdio, LimitMonitor& limits, const std::vector<int>& cpus,
                          Result result) {
        const Program program(plan_, launch_.environment, launch_.caller_pid);
        Steps steps;
        if (instances_) instances_->prepare(channel_);
        Meters meters(plan_, cpus, launch_.launcher_pid);
        result.started_at = seconds(now_ns(CLOCK_REALTIME));
        const Nanos start = now_ns();
        Spawned child = start_child(steps, program, stdio);
        if (child.pid < 0) {
            result.failure = Failure{"clone", child.error, explain("clone", child.error, plan_)};
            return result;
        }
        result.pid = child.pid;
        meters.begin();
        ExitNotifier exit_notifier(launch_.events.get(), child.pidfd.get(), start);
        MemorySampler sampler(*launch_.containment, *launch_.shared, child.pid, start,
                              from_seconds(plan_.sample_interval_s), plan_.sampling_share);
        Readback readback(*launch_.containment, plan_, child.pid, start);
        SchedSampler sched(*launch_.containment, child.pid, start);
        OomKillDetector oom_kills(*launch_.containment, plan_, child.pid, start);
        StoppedTimeSampler stopped_time(*launch_.containment, start);
        limits.start(start);
        WatchTarget target;
        target.pidfd = child.pidfd.get();
        target.pid = child.pid;
        target.launcher_pid = launch_.launcher_pid;
        target.signals = signals_.get();
        target.caller_pidfd = launch_.caller_pidfd;
        target.leave_signals = plan_.leave_signals;
        target.multi_instance = instances_.has_value();
        target.created_ns = start;
        target.timeout = plan_.timeout_s ? from_seconds(*plan_.timeout_s) : never;
        target.shared = launch_.shared;
        std::vector<PeriodicTask*> tasks{&exit_notifier, &limits, &oom_kills, &readback, &meters.energy()};
        if (plan_.sampling.memory) tasks.push_back(&sampler);
        if (plan_.sampling.scheduling) {
            tasks.push_back(&sched);
            tasks.push_back(&stopped_time);
        }
        GracefulStop graceful_stop(launch_, child.pid);
        const WatchResult watched =
            watch(target, *launch_.containment, limits, oom_kills, graceful_stop, tasks);
        result.graceful_stop = graceful_stop.result();
        meters.end();
        if (plan_.sampling.scheduling) sched.read_ended();
        if (readback.result()) // while the name of the program can still be read
            result.observed = readback.result();
        else if (plan_.readback.any())
            result.absent.emplace_back("readback", "the program ended before it could be read");
        finish(result, watched, steps, child.pid, limits, oom_kills);
        report_stopped_time(result, watched, stopped_time.stopped_time());
        if (instances_) result.instances = instances_->reports();
        report_memory(result, sampler, watched.exit_ns);
        meters.report(result);
        report_sched(result, sched);
        return result;
    }

    Spawned start_child(Steps& steps, const Program& program, const Stdio& stdio) {
        auto& containment = launch_.containment;
        const int cgroup = containment->clone_into_fd();
        fill_steps(steps, launch_, stdio, channel_, cgroup >= 0);
        Spawned child = make(steps, program, cgroup, false);
        if (child.pid >= 0) return child;
        if (clone3_refused(child.error)) {
            steps.clear();
            fill_steps(steps, launch_, stdio, channel_, false);
            return make(steps, program, -1, true);
        }
        if (cgroup < 0 || plan_.containment == ContainmentMode::cgroup) return child;
        // The folder could be created but not entered: a common ancestor is not delegated to us.
        containment->remove();
        containment = std::make_unique<UngroupedTree>(cannot_join(child.error));
        publish_leaf();
        steps.clear();
        fill_steps(steps, launch_, stdio, channel_, false);
        return make(steps, program, -1, false);
    }

    Spawned make(const Steps& steps, const Program& program, int cgroup, bool legacy_clone) {
        auto& shared = *launch_.shared;
        return instances_ ? spawn_leader(steps, *instances_, shared, cgroup, legacy_clone)
                          : spawn(steps, program, shared, cgroup, legacy_clone);
    }

    /// Create or adopt the containment. Return false, with the reason, if the plan requires a control group
    /// and none can be created.
    bool prepare_containment(std::string& why) {
        if (launch_.containment && !matches_plan(plan_, *launch_.containment)) {
            launch_.containment->remove();
            launch_.containment.reset();
        }
        if (!launch_.containment) {
            auto choice = choose_containment(plan_, launch_.launcher_pid);
            why = choice.error;
            launch_.containment = std::move(choice.containment);
        }
        if (launch_.containment) publish_leaf();
        return launch_.containment != nullptr;
    }

    /// Return whether a group that was created in advance, for the default plan, suits this plan. Return
    /// false if its creation failed: the launch then tries again and reports its own reason.
    static bool matches_plan(const Plan& plan, const Containment& preforked) {
        return !preforked.name().empty() && plan.containment != ContainmentMode::none &&
               !plan.cgroup_parent && !plan.cgroup_name && !plan.limits.pids &&
               plan.cgroup_root == Plan{}.cgroup_root;
    }

    /// Publish the group for the launcher, which needs it if the supervisor is killed.
    void publish_leaf() const {
        const auto& name = launch_.containment->name();
        const auto length = std::min(name.size(), sizeof launch_.shared->leaf_name - 1);
        std::memcpy(launch_.shared->leaf_name, name.data(), length);
        launch_.shared->leaf.store(name.empty() ? no_leaf : leaf_made);
    }

    static std::string cannot_join(int error) {
        return std::string("cannot start a process in the new control group: ") + std::strerror(error) +
               "; start with: systemd-run --user --scope -p Delegate=yes";
    }

    void finish(Result& result, const WatchResult& watched, const Steps& steps, pid_t pid,
                LimitMonitor& limits, OomKillDetector& oom_kills) const {
        auto& containment = *launch_.containment;
        int status = 0;
        const auto last_seen = proc_stat(pid); // before waitpid
        const bool waited = watched.has_ended && ::waitpid(pid, &status, 0) == pid;
        if (waited && instances_) status = status_of_instances(result, status);
        if (waited && WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
        if (waited && WIFSIGNALED(status)) {
            result.signal = WTERMSIG(status);
            result.core_dumped = WCOREDUMP(status);
        }
        ContainmentReport report{containment.mode(), containment.complete(), containment.why()};
        TreeCount remaining{0, watched.outside};
        if (watched.end_reason == EndReason::by_itself && watched.has_ended) {
            remaining = count_remaining(containment);
            report.remaining = static_cast<std::int64_t>(remaining.all);
            if (remaining.all > 0) report.names = remaining_names(containment);
        }
        if (remaining.outside > 0 && report.complete) {
            report.complete = false;
            report.reason = "processes had left the control group, whose measurements do not include them";
        }
        // Check the limits once more: the tree may have ended because of a limit before the check was due.
        if (watched.end_reason == EndReason::by_itself && limits.due() != never) limits.run(now_ns());
        if (watched.end_reason == EndReason::by_itself) oom_kills.end(now_ns(), result.signal == SIGKILL);
        report.survivors = static_cast<std::int64_t>(end_tree(containment));
        result.containment = report;
        result.tree_usage = containment.usage();
        report_wall(result, watched);
        report_cpu(result);
        // Page faults of children would be among those of the waited children.
        if (result.waited && last_seen && !instances_)
            result.waited->single =
                last_seen->own_faults == result.waited->minor_faults + result.waited->major_faults;
        report_steps(result, steps);
        set_outcome(result, watched, limits, oom_kills, steps);
    }

    /// Return the status of the first instance that failed, if the leader has ended by itself.
    int status_of_instances(Result& result, int leader) const {
        result.failed_instance = instances_->first_failed();
        if (!result.failed_instance || !WIFEXITED(leader)) return leader;
        return instances_->status(static_cast<std::size_t>(*result.failed_instance)).value_or(leader);
    }

    static TreeCount count_remaining(Containment& containment) {
        if (!reap_children(0) && containment.empty()) return {};
        return count_tree(containment);
    }

    /// Report the wall time. If the program was requested to end, count the time until the request only.
    void report_wall(Result& result, const WatchResult& watched) const {
        const Nanos started = launch_.shared->started_ns.load();
        if (started == 0 || !watched.has_ended || (instances_ && instances_->failure())) return;
        // The supervisor may have been busy reading; the launcher does nothing but wait.
        const Nanos seen_by_launcher = launch_.shared->exit_seen_ns.load();
        Nanos ended = seen_by_launcher != 0 ? std::min(seen_by_launcher, watched.exit_ns) : watched.exit_ns;
        if (const auto last = instances_ ? instances_->ended() : std::nullopt) ended = *last;
        if (result.graceful_stop) ended = std::min(ended, result.graceful_stop->requested_ns);
        const Nanos excluded = plan_.leave_signals ? watched.stopped_time.total(ended) : 0;
        result.wall_s = seconds(ended - started - excluded);
    }

    /// Report the stopped time that `wall_s` contains.
    void report_stopped_time(Result& result, const WatchResult& watched, const StoppedTime& sampled) const {
        if (watched.stopped_time.count() == 0 && sampled.count() == 0) return;
        if (watched.stopped_time.count() > 0 && plan_.leave_signals) return;
        const Nanos end = watched.exit_ns;
        result.stopped_s = seconds(std::max(watched.stopped_time.total(end), sampled.total(end)));
    }

    /// Children of the supervisor are the program, adopted processes of its tree, and the stop command.
    static void report_cpu(Result& result) {
        rusage usage{};
        if (::getrusage(RUSAGE_CHILDREN, &usage) != 0) return;
        constexpr std::int64_t block = 512; // ru_inblock counts sectors of 512 bytes, whatever the device
        result.waited =
            WaitedUsage{to_nanos(usage.ru_utime), to_nanos(usage.ru_stime), usage.ru_minflt,
                        usage.ru_majflt,          usage.ru_nvcsw,           usage.ru_nivcsw,
                        usage.ru_inblock * block, usage.ru_oublock * block, usage.ru_maxrss * 1024};
        result.cpu_of_cgroup = result.tree_usage->cpu.has_value();
        result.cpu = result.cpu_of_cgroup ? result.tree_usage->cpu
                                          : CpuTime{result.waited->user, result.waited->system};
    }

    void report_steps(Result& result, const Steps& steps) const {
        if (instances_) {
            const auto own = instances_->applied();
            result.applied.insert(result.applied.end(), own.begin(), own.end());
            return;
        }
        const int failed_step = launch_.shared->failed_step.load();
        const bool started = launch_.shared->started_ns.load() != 0;
        if (!started && failed_step < 0) return; // ended before exec: its progress is unknown
        for (std::size_t i = 0; i < steps.all().size(); ++i) {
            const Step& step = steps.all()[i];
            const bool broke = static_cast<int>(i) == failed_step;
            if (step.from_plan)
                result.applied.push_back({step.name, broke ? launch_.shared->failed_errno.load() : 0, {}});
            if (broke) break;
        }
    }

    void set_outcome(Result& result, const WatchResult& watched, const LimitMonitor& limits,
                     const OomKillDetector& oom_kills, const Steps& steps) const {
        const int failed_step = launch_.shared->failed_step.load();
        const int error = launch_.shared->failed_errno.load();
        // The caller's process group exists for as long as the launcher does.
        const bool launcher_killed = failed_step >= 0 &&
                                     static_cast<std::size_t>(failed_step) < steps.all().size() &&
                                     steps.all()[static_cast<std::size_t>(failed_step)].name == process_group;
        if (watched.end_reason == EndReason::interrupted || launcher_killed) {
            result.outcome = Outcome::interrupted;
            result.interrupted_by = launcher_killed ? SIGTERM : watched.signal;
        } else if (failed_step >= 0) {
            const auto index = static_cast<std::size_t>(failed_step);
            const bool exec = index == steps.all().size();
            const std::string stage = exec ? "exec" : steps.all()[index].name;
            result.outcome = exec ? Outcome::exec_failed : Outcome::setup_failed;
            result.failure = Failure{stage, error, explain(stage, error, plan_)};
            result.exit_status.reset(); // status of our own child, not of the program
        } else if (const auto failure = instances_ ? instances_->failure() : std::nullopt) {
            result.outcome = failure->stage == "exec" ? Outcome::exec_failed : Outcome::setup_failed;
            result.failure = failure;
            result.exit_status.reset();
        } else if (watched.end_reason == EndReason::timed_out) {
            result.outcome = Outcome::timed_out;
        } else if (limits.hit() != nullptr) {
            result.outcome = Outcome::limit;
            result.limit = limits.hit();
        } else if (oom_kills.found()) {
            result.outcome = Outcome::oom_killed;
            result.failure = Failure{"memory", 0, *oom_kills.found()};
        } else {
            result.outcome = result.exit_status ? Outcome::exited : Outcome::signaled;
        }
    }

    void report_memory(Result& result, MemorySampler& sampler, Nanos ended) const {
        if (!plan_.sampling.memory) {
            result.absent.emplace_back("peak_anon_bytes", not_sampled);
            return;
        }
        FinalMemory end{result.tree_usage->peak_bytes, {}, result.waited && result.waited->single};
        if (result.waited) end.resident = result.waited->resident_peak;
        const auto peak = sampler.peak(end);
        if (result.tree_usage->peak_bytes) *result.tree_usage->peak_bytes += sampler.uncharged_huge();
        if (peak.bytes > 0) {
            result.anon = SampledMemory{peak, seconds(sampler.max_gap(ended)), sampler.samples()};
        } else {
            result.absent.emplace_back("peak_anon_bytes", "the program ended before its memory was sampled");
        }
    }

    void report_sched(Result& result, const SchedSampler& sched) const {
        result.run_queue_wait_s = sched.waited_s();
        if (!result.migrations) result.migrations = sched.migrations();
        const bool sampled = plan_.sampling.scheduling;
        if (!result.run_queue_wait_s)
            result.absent.emplace_back("run_queue_wait_s", sampled ? sched.why_no_wait() : not_sampled);
        if (!result.migrations)
            result.absent.emplace_back("migrations",
                                       sampled ? "/proc/PID/sched cannot be read" : not_sampled);
    }

    Launch& launch_;
    const Plan& plan_;
    std::optional<InstanceGroup> instances_; // if the plan has several instances
    ProgressChannel channel_;
    Fd signals_ = awaited_signals(plan_);

    /// A batch system signals every process of a job: signals that the plan leaves to the program are not for
    /// the supervisor.
    static Fd awaited_signals(const Plan& plan) {
        const SignalMask requests = plan.leave_signals ? mask_of({pass_request}) : tree_ending_signals();
        return Fd{static_cast<int>(signal_file(mask_of({SIGCHLD, end_request}) | requests))};
    }
};

} // namespace

int supervise(Launch& launch) {
    block_only(~SignalMask{0});
    // Use a separate process group, so that a signal to the caller's group does not reach the supervisor. The
    // program returns to that group. A new session would not allow this return.
    if (launch.caller_group > 0) ::setpgid(0, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_PDEATHSIG, end_request);
    if (::getppid() != launch.launcher_pid)
        return 125; // killed before the parent-death signal was set; no program is started yet
    raise_priority_above(launch.plan.sched);
    Result result;
    try {
        result = Supervisor(launch).run();
    } catch (const std::exception& error) { // out of memory
        if (launch.containment) {
            end_tree(*launch.containment);
            launch.containment->remove();
        }
        result = failed(Outcome::setup_failed, "supervisor", 0, error.what());
    }
    return deliver(result, launch.record);
}

} // namespace assay
