#include "noise/witness.hpp"

#include "common/files.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>

#include <array>
#include <charconv>

namespace assay::noise {

namespace {

constexpr int tries = 4;
constexpr Nanos at_once = 2000; // to switch to another thread and back takes longer

} // namespace

Witness::Witness() : schedstat_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {
    before_ = account();
}

Circumstances Witness::look() {
    const Account now = account();
    const Circumstances found{
        .since = now.at - before_.at,
        .ran = now.ran - before_.ran,
        .waited = now.waited - before_.waited,
        .switches = now.switches - before_.switches,
        .cpu = ::sched_getcpu(),
    };
    before_ = now;
    return found;
}

// What is read must be of one moment: it is read again where the thread lost the CPU in between.
Witness::Account Witness::account() {
    Account found;
    for (int i = 0; i < tries; ++i) {
        found = account_once();
        const Nanos ran = now_ns(CLOCK_THREAD_CPUTIME_ID) - found.ran;
        if (now_ns() - found.at - ran < at_once) break;
    }
    return found;
}

Witness::Account Witness::account_once() {
    Account found;
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
