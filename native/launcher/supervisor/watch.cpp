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

constexpr Nanos kill_again = 5 * nanos_per_milli;
constexpr Nanos kill_patience = 30 * nanos_per_second;
constexpr Nanos same_request = nanos_per_second * 4 / 5; // a caller waits a little longer (assay.signals)
constexpr Nanos look_again = 10 * nanos_per_milli;       // whether a tree has ended of which no child is ours

/// Whether a child is stopped; nothing where that has not changed.
std::optional<bool> take_stop(pid_t pid) {
    std::optional<bool> stopped;
    for (;;) {
        siginfo_t info{};
        const int flags = WSTOPPED | WCONTINUED | WNOHANG;
        if (::waitid(P_PID, static_cast<id_t>(pid), &info, flags) != 0 || info.si_pid == 0) return stopped;
        stopped = info.si_code != CLD_CONTINUED;
    }
}

/// Of several instances the leader tells.
std::optional<bool> stop_of(const WatchTarget& target) {
    const auto own = take_stop(target.pid);
    if (own || !target.team) return own;
    return target.shared->team_stopped.load();
}

/// Has the front stop with the program, which the caller sees as a shell sees it of its own child. Where no
/// shell watches the process group the kernel ignores this signal.
void tell_front(const WatchTarget& target, bool stopped) {
    if (target.leave_signals && ::getppid() == target.front)
        ::kill(target.front, stopped ? SIGTTIN : SIGCONT);
}

/// The requests to end that came by signals.
class Requests {
  public:
    void add(int signal, Nanos now) {
        if (first_ == 0) first_ = signal == end_request || signal == SIGUSR1 ? SIGTERM : signal;
        Nanos& before = at_.at(static_cast<std::size_t>(signal));
        if (before == 0) before = now;
        if (now - before > same_request) again_ = true;
    }

    /// The signal that asked for the end, or 0.
    [[nodiscard]] int first() const { return first_; }
    /// Whether the user does not want to wait. One event can come as several signals, from a terminal and
    /// from the caller, or to each process of a job: one of the same number later is another event.
    [[nodiscard]] bool again() const { return again_; }

  private:
    int first_ = 0;
    bool again_ = false;
    std::array<Nanos, last_signal + 1> at_{}; // by signal; nothing ever comes at 0
};

void take_signals(const WatchTarget& target, Stops& stops, Grace& grace, Requests& requests) {
    signalfd_siginfo info{};
    while (::read(target.signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const int signal = static_cast<int>(info.ssi_signo);
        if (signal == SIGCHLD) {
            grace.reap(); // also orphans of the tree, adopted by us
            const auto stopped = stop_of(target);
            if (stopped && stops.note(*stopped, now_ns())) tell_front(target, *stopped);
        } else if (signal == pass_request) {
            const int meant = requested(info, target.front);
            if (meant != 0) ::syscall(SYS_pidfd_send_signal, target.pidfd, meant, nullptr, 0);
        } else {
            requests.add(signal, now_ns());
        }
    }
}

/// The wait for one program.
class Watch {
  public:
    Watch(const WatchTarget& target, Containment& containment, LimitWatch& limits, MemoryKills& kills,
          Grace& grace)
        : target_(target), containment_(containment), limits_(limits), kills_(kills), grace_(grace),
          caller_(target.caller) {}

    Watched run(const std::vector<Job*>& jobs) {
        for (;;) {
            const Nanos now = work(jobs, now_ns());
            if (exited_ && (now >= kill_at_ || grace_.others_ended())) {
                grace_.close(now, !grace_.others_ended());
                return result_; // the caller kills the rest
            }
            if (now >= kill_at_) kill(now);
            if (now >= give_up_at_) {
                result_.gone = false;
                result_.exit_ns = now;
                return result_;
            }
            if (wait(next(jobs, now), now)) return result_;
        }
    }

  private:
    /// Do what is due. While the tree has its time to end its limits hold still.
    Nanos work(const std::vector<Job*>& jobs, Nanos now) {
        const bool ending = result_.ending != Ending::by_itself;
        if (ending && (!grace_.asked() || grace_.asked()->killed)) return now;
        for (Job* job : jobs) {
            if (ending && job != &limits_ && job != &kills_) continue;
            if (job->due() > now) continue;
            job->run(now);
            now = now_ns();
        }
        if (limits_.hit() != nullptr) end(Ending::limit, now, limits_.of_time());
        if (kills_.found()) end(Ending::killed_for_memory, now, false);
        if (!ending && now >= target_.cap_at(result_.stops)) end(Ending::timed_out, now, true);
        return now;
    }

    /// The first reason stands.
    void end(Ending ending, Nanos now, bool graceful) {
        if (result_.ending == Ending::by_itself) {
            result_.ending = ending;
            kill_at_ = graceful && grace_.given() ? grace_.ask(now) : now;
        } else if (!graceful) {
            kill_at_ = std::min(kill_at_, now);
        }
    }

    void kill(Nanos now) {
        grace_.close(now, true);
        if (give_up_at_ == never) give_up_at_ = now + kill_patience;
        result_.outside = std::max(result_.outside, kill_tree(containment_));
        kill_at_ = now + kill_again;
    }

    [[nodiscard]] Nanos next(const std::vector<Job*>& jobs, Nanos now) const {
        Nanos next = std::min(kill_at_, give_up_at_);
        if (exited_) next = std::min(next, now + look_again);
        if (result_.ending != Ending::by_itself) {
            const bool waiting = grace_.asked() && !grace_.asked()->killed;
            return waiting ? std::min({next, limits_.due(), kills_.due()}) : next;
        }
        next = std::min(next, target_.cap_at(result_.stops));
        for (const Job* job : jobs) next = std::min(next, job->due());
        return next;
    }

    /// Wait for the end of the program, for signals and for the end of the caller. True where all is over.
    bool wait(Nanos until, Nanos now) {
        pollfd ready[3] = {
            {exited_ ? -1 : target_.pidfd, POLLIN, 0}, {target_.signals, POLLIN, 0}, {caller_, POLLIN, 0}};
        const timespec left = to_timespec(std::max<Nanos>(until - now, 0));
        const int n = ::ppoll(ready, 3, until == never ? nullptr : &left, nullptr);
        if (n <= 0) return false;
        if (ready[0].revents != 0) {
            result_.exit_ns = now_ns();
            if (!grace_.asked() || grace_.asked()->killed) return true;
            exited_ = true;
        }
        if (ready[1].revents != 0) take_requests();
        if (ready[2].revents != 0) {
            caller_ = -1; // it would be readable for ever
            if (result_.signal == 0) result_.signal = SIGTERM;
            end(Ending::interrupted, now_ns(), false); // the process that waited for it has ended
        }
        return false;
    }

    void take_requests() {
        take_signals(target_, result_.stops, grace_, requests_);
        if (requests_.first() == 0) return;
        if (result_.signal == 0) result_.signal = requests_.first();
        // What is left to the program has asked it already; and the end of the front is known by a signal
        // too.
        const bool graceful = !target_.leave_signals && ::getppid() == target_.front;
        end(Ending::interrupted, now_ns(), graceful && !requests_.again());
    }

    const WatchTarget& target_;
    Containment& containment_;
    LimitWatch& limits_;
    MemoryKills& kills_;
    Grace& grace_;
    Requests requests_;
    Watched result_;
    Nanos kill_at_ = never;
    Nanos give_up_at_ = never;
    int caller_;
    bool exited_ = false; // the program, of whose tree others may be ending
};

} // namespace

Watched watch(const WatchTarget& target, Containment& containment, LimitWatch& limits, MemoryKills& kills,
              Grace& grace, const std::vector<Job*>& jobs) {
    return Watch(target, containment, limits, kills, grace).run(jobs);
}

} // namespace assay
