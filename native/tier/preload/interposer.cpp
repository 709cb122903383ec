#include "tier/preload/interposer.hpp"

#include "common/schema.hpp"
#include "tier/advisor/advisor.hpp"
#include "tier/base/error_text.hpp"
#include "tier/base/messages.hpp"
#include "tier/base/paths.hpp"
#include "tier/preload/environment.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
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

/// Exit at once: without the tier the program would fail later for lack of memory, with an unclear cause.
[[noreturn]] void exit_with(const std::exception& error) {
    print_message({error_text(error)});
    ::_exit(125);
}

/// Return the sanitizer that the program is built with, or null. Its runtime tracks all memory itself: it
/// would report managed memory as leaks, or miss blocks that only managed memory points to.
const char* find_sanitizer() {
    struct Known {
        const char *symbol, *name;
    };
    constexpr std::array<Known, 5> all{{{"__asan_init", "address"},
                                        {"__hwasan_init", "hwaddress"},
                                        {"__tsan_init", "thread"},
                                        {"__msan_init", "memory"},
                                        {"__lsan_init", "leak"}}};
    for (const Known& one : all)
        if (::dlsym(RTLD_DEFAULT, one.symbol) != nullptr) return one.name;
    return nullptr;
}

/// Explain an access in a child process; the repeated access terminates it.
void print_child_access(int, siginfo_t* about, void*) {
    if (interposer().contains(about->si_addr))
        print_message({"a forked child accesses managed memory of its parent, which is not available to it, "
                       "and is terminated by SIGSEGV: start it by exec or spawn instead"});
}

void print_storage_error(int error) {
    const char* const named = std::getenv("ASSAY_TIER_PATH");
    const char* const paths = named == nullptr ? "" : named;
    constexpr const char* consequence = "; the allocation fails with ENOMEM: ";
    if (error == EFBIG)
        print_message({"the file size limit is too low (ulimit -f)", consequence, "raise the limit"});
    else if (error == ENOSPC)
        print_message({"the disks lack free space (", paths, ") beyond their reserve", consequence,
                       "free some, use other paths (--path), or reduce the reserve (--keep-free)"});
    else
        print_message({"the disks fail to allocate space (", paths, "; ", ::strerrorname_np(error), ")",
                       consequence, "check them, or use other paths (--path)"});
}

void write_report(std::FILE* file, const Counts& c) {
    std::fprintf(file,
                 "{\"schema\":%d,\"pid\":%d,\"mechanism\":\"pager\",\"zero_fill_faults\":%lu,\"demand_"
                 "faults\":%lu,\"in_flight_faults\":%lu,"
                 "\"prefetch_hits\":%lu,"
                 "\"second_chance_hits\":%lu,\"unused_prefetches\":%lu,\"clean_evictions\":%lu,\"read_"
                 "bytes\":%lu,\"written_bytes\":%"
                 "lu,\"stall_s\":%.6f}\n",
                 schema_version, ::getpid(), c.zero_fill_faults, c.demand_faults, c.in_flight_faults,
                 c.prefetch_hits, c.second_chance_hits, c.unused_prefetches, c.clean_evictions, c.read_bytes,
                 c.written_bytes, static_cast<double>(c.stall_ns) / 1e9);
}

void write_advisor_report(std::FILE* file, const Counts& c) {
    std::fprintf(
        file,
        "{\"schema\":%d,\"pid\":%d,\"mechanism\":\"advisor\",\"requested_bytes\":%lu,\"used_bytes\":%lu,"
        "\"unused_bytes\":%lu,\"paged_out_bytes\":%lu}\n",
        schema_version, ::getpid(), c.read_bytes, c.prefetch_hits * page, c.unused_prefetches * page,
        c.written_bytes);
}

} // namespace

void Interposer::start() {
    next_.find_all();
    const Engine engine = engine_from_environment();
    if (engine == Engine::none) return;
    if (const char* const sanitizer = find_sanitizer(); sanitizer != nullptr)
        return print_message({"the program is built with -fsanitize=", sanitizer,
                              ", whose runtime has an allocator of its own: its memory is not managed"});
    threshold_ = threshold_from_environment(threshold_);
    engine == Engine::advisor ? start_advisor() : start_pager();
    ::pthread_atfork(nullptr, nullptr, [] { interposer().enter_child(); });
}

void* Interposer::report_full(void* found) {
    if (found != nullptr || !Arena::is_storage_error(errno)) return found;
    if (!full_reported_.exchange(true)) print_storage_error(errno);
    // malloc(3) and mmap(2) document this error.
    errno = ENOMEM;
    return nullptr;
}

void Interposer::start_advisor() {
    try {
        const Advisor::Config config{.memory_bytes = share_from_environment(), .min_bytes = threshold_};
        advisor_ = &Advisor::start(advisor_room, config);
    } catch (const std::exception& error) {
        exit_with(error);
    }
}

void Interposer::start_pager() {
    try {
        PagerConfig config = config_from_environment();
        config.budget = new (budget_room) Budget(budget_from_environment());
        config.memory_bytes = config.budget->bytes();
        // Children may run in another directory.
        export_variable("ASSAY_TIER_PATH", joined_paths(config.paths));
        // Never destroyed: exit handlers may access its memory.
        auto* const made = new (arena_room) Arena(config);
        export_variable("ASSAY_TIER_BUDGET", config.budget->handle(made->pager().thread()));
        struct stat about{};
        if (::fstat(config.budget->fd(), &about) == 0) {
            descriptor_ = config.budget->fd();
            inode_ = about.st_ino;
        }
        arena_.store(made, std::memory_order_release);
    } catch (const std::exception& error) {
        exit_with(error);
    }
}

bool Interposer::owns(int fd) const {
    struct stat about{};
    return fd >= 0 && fd == descriptor() && ::fstat(fd, &about) == 0 && about.st_ino == inode_;
}

void Interposer::enter_child() {
    in_child_ = true;
    if (arena() == nullptr) return;
    arena()->close_in_child();
    struct sigaction now{};
    if (::sigaction(SIGSEGV, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
    now.sa_sigaction = print_child_access;
    now.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND);
    ::sigaction(SIGSEGV, &now, nullptr);
}

void Interposer::report() const {
    const char* const path = std::getenv("ASSAY_TIER_REPORT");
    if (path == nullptr || in_child_ || (arena() == nullptr && advisor_ == nullptr)) return;
    std::FILE* const file = std::fopen(path, "ae");
    if (file == nullptr)
        return print_message({"the report of the memory counters cannot be written to ", path, ": ",
                              ::strerrorname_np(errno)});
    if (arena() != nullptr)
        write_report(file, arena()->counts());
    else
        write_advisor_report(file, advisor_->counts());
    std::fclose(file);
}

void abort_forked() {
    abort_with_message({"a forked child needs managed memory of its parent, which is not available to it: "
                        "start it by exec or spawn instead"});
}

} // namespace assay::tier::preload
