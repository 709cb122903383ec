#include "noise/scheduler_account.hpp"

#include "common/files.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>

#include <array>
#include <charconv>

namespace assay::noise {

namespace {

constexpr int tries = 4;
constexpr Nanos max_snapshot_ns = 2000; // shorter than a switch to another thread and back

} // namespace

SchedulerAccount::SchedulerAccount()
    : schedstat_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {
    previous_ = snapshot();
}

ThreadActivity SchedulerAccount::read() {
    const Snapshot now = snapshot();
    const ThreadActivity found{
        .window = now.at - previous_.at,
        .on_cpu = now.ran - previous_.ran,
        .run_queue_wait = now.waited - previous_.waited,
        .switches = now.switches - previous_.switches,
        .cpu = ::sched_getcpu(),
    };
    previous_ = now;
    return found;
}

/// Read all values at one moment: repeat the reading if the thread lost its CPU between two of them.
SchedulerAccount::Snapshot SchedulerAccount::snapshot() {
    Snapshot found;
    for (int i = 0; i < tries; ++i) {
        found = snapshot_once();
        const Nanos ran = now_ns(CLOCK_THREAD_CPUTIME_ID) - found.ran;
        if (now_ns() - found.at - ran < max_snapshot_ns) break;
    }
    return found;
}

SchedulerAccount::Snapshot SchedulerAccount::snapshot_once() {
    Snapshot found;
    found.at = now_ns();
    found.ran = now_ns(CLOCK_THREAD_CPUTIME_ID);
    std::array<char, 128> buffer{};
    if (schedstat_) {
        if (const auto text = reread(schedstat_.get(), buffer.data(), buffer.size())) {
            const auto blank = text->find(' ');
            if (blank != std::string_view::npos) {
                std::from_chars(text->data() + blank + 1, text->data() + text->size(), found.waited);
            }
        }
    }
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    found.switches = usage.ru_nivcsw + usage.ru_nvcsw;
    return found;
}

} // namespace assay::noise
