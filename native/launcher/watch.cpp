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

namespace assay {

namespace {

constexpr Nanos kill_again = 5 * nanos_per_milli;
constexpr Nanos kill_patience = 30 * nanos_per_second;

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

/// The signal that asks for the end, or 0.
int take_signals(const WatchTarget& target, Stops& stops) {
    signalfd_siginfo info{};
    int asked = 0;
    while (::read(target.signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const int signal = static_cast<int>(info.ssi_signo);
        if (signal == SIGCHLD) {
            reap_children(target.pid); // orphans of the tree, adopted by us
            const auto stopped = stop_of(target);
            if (stopped && stops.note(*stopped, now_ns())) tell_front(target, *stopped);
        } else if (signal == pass_request) {
            const int meant = requested(info, target.front);
            if (meant != 0) ::syscall(SYS_pidfd_send_signal, target.pidfd, meant, nullptr, 0);
        } else {
            asked = signal == end_request || signal == SIGUSR1 ? SIGTERM : signal;
        }
    }
    return asked;
}

} // namespace

Watched watch(const WatchTarget& target, Containment& containment, LimitWatch& limits,
              const MemoryKills& kills, const std::vector<Job*>& jobs) {
    Watched result;
    Nanos kill_at = never;
    Nanos give_up_at = never;
    const auto end_now = [&](Ending ending, Nanos now) {
        if (result.ending != Ending::by_itself) return; // the first reason stands
        result.ending = ending;
        kill_at = now;
        give_up_at = now + kill_patience;
    };
    int caller = target.caller;
    for (;;) {
        Nanos now = now_ns();
        if (result.ending == Ending::by_itself) {
            for (Job* job : jobs) {
                if (job->due() <= now) {
                    job->run(now);
                    now = now_ns();
                }
            }
            if (limits.hit() != nullptr) end_now(Ending::limit, now);
            if (kills.found()) end_now(Ending::killed_for_memory, now);
            if (now >= target.cap_at(result.stops)) end_now(Ending::timed_out, now);
        }
        if (now >= kill_at) {
            result.outside = std::max(result.outside, kill_tree(containment));
            kill_at = now + kill_again;
        }
        if (now >= give_up_at) {
            result.gone = false;
            result.exit_ns = now;
            return result;
        }
        Nanos next = std::min(kill_at, give_up_at);
        if (result.ending == Ending::by_itself) {
            next = target.cap_at(result.stops);
            for (const Job* job : jobs) next = std::min(next, job->due());
        }
        pollfd ready[3] = {{target.pidfd, POLLIN, 0}, {target.signals, POLLIN, 0}, {caller, POLLIN, 0}};
        const timespec left = to_timespec(std::max<Nanos>(next - now, 0));
        const int n = ::ppoll(ready, 3, next == never ? nullptr : &left, nullptr);
        if (n <= 0) continue;
        if (ready[0].revents != 0) {
            result.exit_ns = now_ns();
            return result;
        }
        if (ready[1].revents != 0) {
            if (const int signal = take_signals(target, result.stops); signal != 0) {
                result.signal = signal;
                end_now(Ending::interrupted, now_ns());
            }
        }
        if (ready[2].revents != 0) {
            caller = -1; // it would be readable for ever
            if (result.signal == 0) result.signal = SIGTERM;
            end_now(Ending::interrupted, now_ns());
        }
    }
}

} // namespace assay
