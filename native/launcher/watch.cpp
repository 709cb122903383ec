#include "launcher/watch.hpp"

#include "launcher/signals.hpp"

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
constexpr Nanos look_again = 10 * nanos_per_milli; // whether a tree has ended of which no child is ours

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

/// What signals have asked for.
struct Asking {
    int first = 0;               // signal that asks for the end, or 0
    std::array<int, 65> times{}; // by signal

    /// One event can come as several signals, from a terminal and from the caller; the same one twice is
    /// somebody who does not want to wait.
    [[nodiscard]] bool impatient() const {
        return std::any_of(times.begin(), times.end(), [](int count) { return count > 1; });
    }
};

void take_signals(const WatchTarget& target, Stops& stops, Grace& grace, Asking& asking) {
    signalfd_siginfo info{};
    while (::read(target.signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const int signal = static_cast<int>(info.ssi_signo);
        if (signal == SIGCHLD) {
            grace.look();
            reap_children(target.pid); // orphans of the tree, adopted by us
            const auto stopped = stop_of(target);
            if (stopped && stops.note(*stopped, now_ns())) tell_front(target, *stopped);
        } else if (signal == pass_request) {
            const int meant = requested(info, target.front);
            if (meant != 0) ::syscall(SYS_pidfd_send_signal, target.pidfd, meant, nullptr, 0);
        } else {
            asking.times.at(info.ssi_signo) += 1;
            if (asking.first == 0)
                asking.first = signal == end_request || signal == SIGUSR1 ? SIGTERM : signal;
        }
    }
}

} // namespace

Watched watch(const WatchTarget& target, Containment& containment, LimitWatch& limits,
              const MemoryKills& kills, Grace& grace, const std::vector<Job*>& jobs) {
    Watched result;
    Asking asking;
    Nanos kill_at = never;
    Nanos give_up_at = never;
    const auto end_now = [&](Ending ending, Nanos now, bool graceful) {
        if (result.ending != Ending::by_itself) return; // the first reason stands
        result.ending = ending;
        kill_at = graceful && grace.given() ? grace.ask(now) : now;
    };
    int caller = target.caller;
    bool exited = false; // the program, of whose tree others may be ending
    for (;;) {
        Nanos now = now_ns();
        if (result.ending == Ending::by_itself) {
            for (Job* job : jobs) {
                if (job->due() <= now) {
                    job->run(now);
                    now = now_ns();
                }
            }
            if (limits.hit() != nullptr) end_now(Ending::limit, now, limits.of_time());
            if (kills.found()) end_now(Ending::killed_for_memory, now, false);
            if (now >= target.cap_at(result.stops)) end_now(Ending::timed_out, now, true);
        }
        if (exited && (now >= kill_at || grace.over())) {
            grace.close(now, !grace.over());
            return result; // what is left is killed by whoever looks at what is left
        }
        if (now >= kill_at) {
            grace.close(now, true);
            if (give_up_at == never) give_up_at = now + kill_patience;
            result.outside = std::max(result.outside, kill_tree(containment));
            kill_at = now + kill_again;
        }
        if (now >= give_up_at) {
            result.gone = false;
            result.exit_ns = now;
            return result;
        }
        Nanos next = std::min(kill_at, give_up_at);
        if (exited) next = std::min(next, now + look_again);
        if (result.ending == Ending::by_itself) {
            next = target.cap_at(result.stops);
            for (const Job* job : jobs) next = std::min(next, job->due());
        }
        pollfd ready[3] = {
            {exited ? -1 : target.pidfd, POLLIN, 0}, {target.signals, POLLIN, 0}, {caller, POLLIN, 0}};
        const timespec left = to_timespec(std::max<Nanos>(next - now, 0));
        const int n = ::ppoll(ready, 3, next == never ? nullptr : &left, nullptr);
        if (n <= 0) continue;
        if (ready[0].revents != 0) {
            result.exit_ns = now_ns();
            if (!grace.asked() || grace.asked()->killed) return result;
            exited = true;
        }
        if (ready[1].revents != 0) {
            take_signals(target, result.stops, grace, asking);
            if (asking.first != 0) {
                // What is left to the program has asked it already.
                if (result.signal == 0) result.signal = asking.first;
                end_now(Ending::interrupted, now_ns(), !target.leave_signals);
            }
            if (asking.impatient()) kill_at = std::min(kill_at, now_ns());
        }
        if (ready[2].revents != 0) {
            caller = -1; // it would be readable for ever
            if (result.signal == 0) result.signal = SIGTERM;
            end_now(Ending::interrupted, now_ns(), false);
            kill_at = std::min(kill_at, now_ns()); // nobody waits for it any more
        }
    }
}

} // namespace assay
