#include "tier/preload_front.hpp"

#include "tier/advisor.hpp"
#include "tier/paths.hpp"
#include "tier/preload_environment.hpp"
#include "tier/reason.hpp"
#include "tier/say.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

namespace assay::tier::preload {

namespace {

alignas(Budget) constinit std::byte budget_room[sizeof(Budget)]{};
alignas(Arena) constinit std::byte arena_room[sizeof(Arena)]{};
alignas(Advisor) constinit std::byte advisor_room[sizeof(Advisor)]{};

/// A program that needs the tier would end later for want of memory, and nobody would know why.
[[noreturn]] void end_for(const std::exception& error) {
    say({reason_of(error)});
    ::_exit(125);
}

/// The touch is tried again, and ends the child.
void tell_touch(int, siginfo_t* about, void*) {
    if (front().holds(about->si_addr))
        say({"a child of a fork touches memory of its parent that storage stands behind, which it does not "
             "have, and ends by SIGSEGV: start it by exec or spawn instead"});
}

void tell(std::FILE* file, const Counts& c) {
    std::fprintf(file,
                 "{\"schema\":1,\"pid\":%d,\"how\":\"pager\",\"first\":%lu,\"demand\":%lu,\"late\":%lu,"
                 "\"staged\":%lu,"
                 "\"again\":%lu,\"wasted\":%lu,\"unchanged\":%lu,\"read_bytes\":%lu,\"written_bytes\":%"
                 "lu,\"stall_s\":%.6f}\n",
                 ::getpid(), c.first, c.demand, c.late, c.staged, c.again, c.wasted, c.unchanged,
                 c.read_bytes, c.written_bytes, static_cast<double>(c.stall_ns) / 1e9);
}

void tell_advised(std::FILE* file, const Counts& c) {
    std::fprintf(file,
                 "{\"schema\":1,\"pid\":%d,\"how\":\"advisor\",\"asked_bytes\":%lu,\"used_bytes\":%lu,"
                 "\"wasted_bytes\":%lu,\"paged_out_bytes\":%lu}\n",
                 ::getpid(), c.read_bytes, c.staged * page, c.wasted * page, c.written_bytes);
}

} // namespace

void Front::start() {
    next_.find_all();
    const How how = how_from_environment();
    if (how == How::nobody) return;
    threshold_ = threshold_from_environment(threshold_);
    own_.add_opened([&] { how == How::advisor ? start_advisor() : start_pager(); });
    ::pthread_atfork(nullptr, nullptr, [] { front().in_child(); });
}

void* Front::told(void* found) {
    const int error = errno;
    if (found != nullptr || !Arena::is_of_disks(error) || full_.exchange(true)) return found;
    const char* const named = std::getenv("ASSAY_TIER_PATH");
    const char* const paths = named == nullptr ? "" : named;
    constexpr const char* asked = " for memory that the program asks for, which is told so: ";
    if (error == EFBIG)
        say({"files may not be as large (ulimit -f)", asked, "raise the limit"});
    else if (error == ENOSPC)
        say({"there is no room on the disks (of ", paths, ")", asked,
             "free some, or name other paths (--path)"});
    else
        say({"the disks (of ", paths, ") give no room (", ::strerrorname_np(error), ")", asked,
             "look whether they are well, or name other paths (--path)"});
    errno = error;
    return found;
}

void Front::start_advisor() {
    try {
        advisor_ =
            new (advisor_room) Advisor({.memory_bytes = part_from_environment(), .least_bytes = threshold_});
    } catch (const std::exception& error) {
        end_for(error);
    }
}

void Front::start_pager() {
    try {
        Means means = means_from_environment();
        means.budget = new (budget_room) Budget(budget_from_environment());
        means.memory_bytes = means.budget->bytes();
        hand_on("ASSAY_TIER_BUDGET", means.budget->name());
        // What it starts may be in another folder by then.
        hand_on("ASSAY_TIER_PATH", joined_paths(means.paths));
        own_.add_of(*means.budget);
        // It outlives everything that runs at exit, and may touch memory: so it is never destroyed.
        arena_.store(new (arena_room) Arena(means), std::memory_order_release);
    } catch (const std::exception& error) {
        end_for(error);
    }
}

void Front::in_child() {
    in_child_ = true;
    if (arena() == nullptr) return;
    arena()->close_in_child();
    struct sigaction now{};
    if (::sigaction(SIGSEGV, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
    now.sa_sigaction = tell_touch;
    now.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND);
    ::sigaction(SIGSEGV, &now, nullptr);
}

void Front::report() const {
    const char* const path = std::getenv("ASSAY_TIER_REPORT");
    if (path == nullptr || in_child_ || (arena() == nullptr && advisor_ == nullptr)) return;
    std::FILE* const file = std::fopen(path, "ae");
    if (file == nullptr)
        return say({"what became of its memory cannot be written to ", path, ": ", ::strerrorname_np(errno)});
    if (arena() != nullptr)
        tell(file, arena()->counts());
    else
        tell_advised(file, advisor_->counts());
    std::fclose(file);
}

void say_forked() {
    give_up(
        {"a child of a fork needs memory of its parent that storage stands behind, which it does not have: "
         "start it by exec or spawn instead"});
}

} // namespace assay::tier::preload
