#include "launcher/supervisor/stopped_time_sampler.hpp"

#include "launcher/process/process_tree.hpp"

#include <algorithm>

namespace assay {

namespace {

/// Shorter launches are left alone.
constexpr Nanos first_look = 200 * nanos_per_milli;
constexpr Nanos look_interval = 100 * nanos_per_milli;

/// Looking takes at most a 400th of the time.
constexpr Nanos look_duty = 400;

} // namespace

StopWatch::StopWatch(Containment& containment, Nanos start)
    : containment_(containment), due_(start + first_look) {}

void StopWatch::run(Nanos now) {
    const Nanos used_before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    bool stopped = false;
    bool busy = false;
    std::int64_t ticks = 0;
    for (const pid_t pid : containment_.processes()) {
        const auto stat = proc_stat(pid);
        if (!stat) continue;
        stopped = stopped || stat->state == 'T';
        busy = busy || stat->state == 'R' || stat->state == 'D';
        ticks += stat->own_ticks + stat->waited_ticks;
    }
    // A process that ended unseen takes its time away: the sum changes too.
    stops_.note(stopped_ && ticks == ticks_, looked_);
    stopped_ = stopped && !busy;
    ticks_ = ticks;
    looked_ = now;
    const Nanos cost = now_ns(CLOCK_THREAD_CPUTIME_ID) - used_before;
    due_ = now + std::max(look_interval, cost * look_duty);
}

} // namespace assay
