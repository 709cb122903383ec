#include "launcher/supervisor/watch.hpp"

#include "launcher/process/signals.hpp"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace assay {

namespace {

constexpr Nanos kill_interval = 5 * nanos_per_milli;
constexpr Nanos kill_timeout = 30 * nanos_per_second;
/// Signals of one number within this time are one request; a caller waits slightly longer (assay.signals).
constexpr Nanos same_request_window = nanos_per_second * 4 / 5;
/// Poll for the end of processes that are not our children.
constexpr Nanos orphan_poll_interval = 10 * nanos_per_milli;

/// Return whether a child is stopped; nothing if its state has not changed.
std::optional<bool> poll_stopped_state(pid_t pid) {
    std::optional<bool> stopped;
    for (;;) {
        siginfo_t info{};
        const int flags = WSTOPPED | WCONTINUED | WNOHANG;
        if (::waitid(P_PID, static_cast<id_t>(pid), &info, flags) != 0 || info.si_pid == 0) return stopped;
        stopped = info.si_code != CLD_CONTINUED;
    }
}

/// Return whether the program is stopped; nothing without news. With several instances, return the state that
/// the leader publishes.
std::optional<bool> stopped_state(const WatchTarget& target) {
    const auto own = poll_stopped_state(target.pid);
    if (own || !target.multi_instance) return own;
    return target.shared->all_instances_stopped.load();
}

/// Stop and continue the launcher with the program. The caller sees this as a shell sees it for its own
/// child. The kernel ignores this signal if no shell watches the process group.
void forward_stop_state(const WatchTarget& target, bool stopped) {
    if (target.leave_signals && ::getppid() == target.launcher_pid)
        ::kill(target.launcher_pid, stopped ? SIGTTIN : SIGCONT);
}

/// Requests to end that arrived as signals.
class EndRequests {
  public:
    void add(int signal, Nanos now) {
        if (first_ == 0) first_ = signal == end_request || signal == SIGUSR1 ? SIGTERM : signal;
        Nanos& before = at_.at(static_cast<std::size_t>(signal));
        if (before == 0) before = now;
        if (now - before > same_request_window) again_ = true;
    }

    /// Return the signal of the first request, or 0.
    [[nodiscard]] int first() const { return first_; }
    /// Return whether the user insists. One event can arrive as several signals: from a terminal and from the
    /// caller, or for each process of a job. A later signal of the same number is another event.
    [[nodiscard]] bool again() const { return again_; }

  private:
    int first_ = 0;
    bool again_ = false;
    std::array<Nanos, last_signal + 1> at_{}; // by signal; 0: never received
};

void read_signals(const WatchTarget& target, StoppedTime& stopped_time, GracefulStop& graceful_stop,
                  EndRequests& requests) {
    signalfd_siginfo info{};
    while (::read(target.signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const int signal = static_cast<int>(info.ssi_signo);
        if (signal == SIGCHLD) {
            graceful_stop.reap(); // including adopted orphans of the tree
            const auto stopped = stopped_state(target);
            if (stopped && stopped_time.note(*stopped, now_ns())) forward_stop_state(target, *stopped);
        } else if (signal == pass_request) {
            const int forwarded = requested(info, target.launcher_pid);
            if (forwarded != 0) ::syscall(SYS_pidfd_send_signal, target.pidfd, forwarded, nullptr, 0);
        } else {
            requests.add(signal, now_ns());
        }
    }
}

/// Waits for one program.
class Watch {
  public:
    Watch(const WatchTarget& target, Containment& containment, LimitMonitor& limits,
          OomKillDetector& oom_kills, GracefulStop& graceful_stop)
        : target_(target), containment_(containment), limits_(limits), oom_kills_(oom_kills),
          graceful_stop_(graceful_stop), caller_pidfd_(target.caller_pidfd) {}

    WatchResult run(const std::vector<PeriodicTask*>& tasks) {
        for (;;) {
            const Nanos now = work(tasks, now_ns());
            if (exited_ && (now >= kill_at_ || graceful_stop_.only_program_left())) {
                graceful_stop_.finish(now, !graceful_stop_.only_program_left());
                return result_; // the caller of `watch` kills the remaining processes
            }
            if (now >= kill_at_) kill(now);
            if (now >= give_up_at_) {
                result_.has_ended = false;
                result_.exit_ns = now;
                return result_;
            }
            if (wait(next_due(tasks, now), now)) return result_;
        }
    }

  private:
    /// Run the tasks that are due. During the grace period the limits remain in force.
    Nanos work(const std::vector<PeriodicTask*>& tasks, Nanos now) {
        const bool ending = result_.end_reason != EndReason::by_itself;
        if (ending && (!graceful_stop_.result() || graceful_stop_.result()->killed)) return now;
        for (PeriodicTask* task : tasks) {
            if (ending && task != &limits_ && task != &oom_kills_) continue;
            if (task->due() > now) continue;
            task->run(now);
            now = now_ns();
        }
        if (limits_.hit() != nullptr) end(EndReason::limit, now, limits_.is_time_limit());
        if (oom_kills_.found()) end(EndReason::oom_killed, now, false);
        if (!ending && now >= target_.deadline(result_.stopped_time)) end(EndReason::timed_out, now, true);
        return now;
    }

    /// Record why the tree must end. The first reason is kept.
    void end(EndReason end_reason, Nanos now, bool graceful) {
        if (result_.end_reason == EndReason::by_itself) {
            result_.end_reason = end_reason;
            kill_at_ = graceful && graceful_stop_.has_grace_period() ? graceful_stop_.request_end(now) : now;
        } else if (!graceful) {
            kill_at_ = std::min(kill_at_, now);
        }
    }

    void kill(Nanos now) {
        graceful_stop_.finish(now, true);
        if (give_up_at_ == never) give_up_at_ = now + kill_timeout;
        result_.outside = std::max(result_.outside, kill_tree(containment_));
        kill_at_ = now + kill_interval;
    }

    [[nodiscard]] Nanos next_due(const std::vector<PeriodicTask*>& tasks, Nanos now) const {
        Nanos next_due = std::min(kill_at_, give_up_at_);
        if (exited_) next_due = std::min(next_due, now + orphan_poll_interval);
        if (result_.end_reason != EndReason::by_itself) {
            const bool waiting = graceful_stop_.result() && !graceful_stop_.result()->killed;
            return waiting ? std::min({next_due, limits_.due(), oom_kills_.due()}) : next_due;
        }
        next_due = std::min(next_due, target_.deadline(result_.stopped_time));
        for (const PeriodicTask* task : tasks) next_due = std::min(next_due, task->due());
        return next_due;
    }

    /// Wait for the end of the program, for signals and for the end of the caller. Return true when the wait
    /// is over.
    bool wait(Nanos until, Nanos now) {
        pollfd ready[3] = {{exited_ ? -1 : target_.pidfd, POLLIN, 0},
                           {target_.signals, POLLIN, 0},
                           {caller_pidfd_, POLLIN, 0}};
        const timespec left = to_timespec(std::max<Nanos>(until - now, 0));
        const int n = ::ppoll(ready, 3, until == never ? nullptr : &left, nullptr);
        if (n <= 0) return false;
        if (ready[0].revents != 0) {
            result_.exit_ns = now_ns();
            if (!graceful_stop_.result() || graceful_stop_.result()->killed) return true;
            exited_ = true;
        }
        if (ready[1].revents != 0) handle_requests();
        if (ready[2].revents != 0) {
            caller_pidfd_ = -1; // it would stay readable
            if (result_.signal == 0) result_.signal = SIGTERM;
            end(EndReason::interrupted, now_ns(), false); // the caller has ended
        }
        return false;
    }

    void handle_requests() {
        read_signals(target_, result_.stopped_time, graceful_stop_, requests_);
        if (requests_.first() == 0) return;
        if (result_.signal == 0) result_.signal = requests_.first();
        // Signals that the plan leaves to the program have reached it already. The end of the launcher
        // arrives as a signal too.
        const bool graceful = !target_.leave_signals && ::getppid() == target_.launcher_pid;
        end(EndReason::interrupted, now_ns(), graceful && !requests_.again());
    }

    const WatchTarget& target_;
    Containment& containment_;
    LimitMonitor& limits_;
    OomKillDetector& oom_kills_;
    GracefulStop& graceful_stop_;
    EndRequests requests_;
    WatchResult result_;
    Nanos kill_at_ = never;
    Nanos give_up_at_ = never;
    int caller_pidfd_;
    bool exited_ = false; // the program has ended; other processes of its tree may still be ending
};

} // namespace

WatchResult watch(const WatchTarget& target, Containment& containment, LimitMonitor& limits,
                  OomKillDetector& oom_kills, GracefulStop& graceful_stop,
                  const std::vector<PeriodicTask*>& tasks) {
    return Watch(target, containment, limits, oom_kills, graceful_stop).run(tasks);
}

} // namespace assay
