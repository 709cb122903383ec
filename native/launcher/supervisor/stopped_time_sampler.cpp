#include "launcher/supervisor/stopped_time_sampler.hpp"

#include "launcher/process/process_tree.hpp"

#include <algorithm>

namespace assay {

namespace {

/// Shorter launches are not sampled.
constexpr Nanos first_sample = 200 * nanos_per_milli;
constexpr Nanos sample_interval = 100 * nanos_per_milli;

/// Sampling uses at most 1/400 of the time.
constexpr Nanos duty_divisor = 400;

} // namespace

StoppedTimeSampler::StoppedTimeSampler(Containment& containment, Nanos start)
    : containment_(containment), due_(start + first_sample) {}

void StoppedTimeSampler::run(Nanos now) {
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
    // A process that ended between samples takes its CPU time away, which changes the sum too.
    stopped_time_.note(stopped_ && ticks == ticks_, last_sample_);
    stopped_ = stopped && !busy;
    ticks_ = ticks;
    last_sample_ = now;
    const Nanos cost = now_ns(CLOCK_THREAD_CPUTIME_ID) - used_before;
    due_ = now + std::max(sample_interval, cost * duty_divisor);
}

} // namespace assay
