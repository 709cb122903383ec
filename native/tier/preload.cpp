/// libassay-tier.so stands before the C library in a program: large memory comes from the arena, and all else
/// goes on to whoever gave it before.
///
/// What it needs to know is in the environment, where `assay tier run` puts it; without it nothing is
/// changed.

#include "tier/advisor.hpp"
#include "tier/arena.hpp"
#include "tier/budget.hpp"
#include "tier/lifted.hpp"
#include "tier/paths.hpp"
#include "tier/quiet.hpp"
#include "tier/say.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 // Linux 6.1
#endif

// By these names glibc exports its own allocator: what is used before the next one has been looked up.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace assay::tier {

namespace {

/// The functions that this library stands before.
struct Next {
    void* (*malloc)(std::size_t) = __libc_malloc;
    void* (*calloc)(std::size_t, std::size_t) = __libc_calloc;
    void* (*realloc)(void*, std::size_t) = __libc_realloc;
    void* (*memalign)(std::size_t, std::size_t) = __libc_memalign;
    void (*free)(void*) = __libc_free;
    std::size_t (*usable)(void*) = nullptr;

    template <class Function>
    static void find(const char* name, Function*& function) {
        // A function as dlsym(3) gives it: by way of its bytes, as POSIX has it.
        void* const found = ::dlsym(RTLD_NEXT, name);
        if (found != nullptr) std::memcpy(&function, &found, sizeof found);
    }
    void find_all() {
        find("malloc", malloc);
        find("calloc", calloc);
        find("realloc", realloc);
        find("memalign", memalign);
        find("free", free);
        find("malloc_usable_size", usable);
    }
};

std::size_t number(std::string_view text, std::size_t usual) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : usual;
}

std::size_t number_of(const char* name, std::size_t usual) {
    const char* const text = std::getenv(name);
    return text == nullptr ? usual : number(text, usual);
}

/// How many like this one share what is named, and were not started by one another: instances that assay
/// started, or the ranks of a job on this node as Open MPI and MPICH's Hydra number them.
std::size_t sharers() {
    for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "ASSAY_INSTANCES"})
        if (const std::size_t found = number_of(name, 0); found > 0) return found;
    return 1;
}

class Front;
Front& front();

/// What this process does with memory; there is one, from its first allocation on.
class Front {
  public:
    [[nodiscard]] const Next& next() const { return next_; }
    [[nodiscard]] Arena* arena() const { return arena_.load(std::memory_order_acquire); }
    [[nodiscard]] bool takes(std::size_t bytes) const {
        return bytes >= threshold_ && arena() != nullptr && !in_child_;
    }
    [[nodiscard]] bool holds(const void* at) const {
        const Arena* const found = arena();
        return found != nullptr && found->holds(at);
    }

    /// Whether a descriptor is the pager's: closed, it would leave what is on storage to be zeros.
    [[nodiscard]] bool owns(int fd) const {
        if (in_child_ || fd < own_from_ || fd >= own_from_ + lifted_room) return false;
        return own_[static_cast<std::size_t>(fd - own_from_)] || (budget_ != nullptr && budget_->owns(fd));
    }
    /// The first that is the pager's, or -1.
    [[nodiscard]] int own_between(unsigned first, unsigned last) const {
        for (int fd = own_from_; fd < own_from_ + lifted_room; ++fd)
            if (owns(fd) && static_cast<unsigned>(fd) >= first && static_cast<unsigned>(fd) <= last)
                return fd;
        return -1;
    }

    void start() {
        next_.find_all();
        const char* const how = std::getenv("ASSAY_TIER_HOW");
        const bool advised = how != nullptr && std::string_view(how) == "advisor";
        const char* const paths = std::getenv("ASSAY_TIER_PATH");
        if (!advised && paths == nullptr) return;
        threshold_ = number_of("ASSAY_TIER_THRESHOLD", threshold_);
        own_from_ = lifted_from();
        const std::array<bool, lifted_room> before = open_descriptors();
        if (advised)
            start_advisor();
        else
            start_pager(paths);
        own_ = open_descriptors();
        for (std::size_t i = 0; i < own_.size(); ++i) own_[i] = own_[i] && !before[i];
        ::pthread_atfork(nullptr, nullptr, [] { front().in_child(); });
    }

    void start_advisor() {
        try {
            const std::size_t bytes = number_of("ASSAY_TIER_DRAM", 0) / sharers();
            advisor_ = new (advisor_room_) Advisor({.memory_bytes = bytes, .least_bytes = threshold_});
        } catch (const std::exception& error) {
            say({error.what()});
            ::_exit(125);
        }
    }

    void start_pager(const char* paths) {
        Means means;
        means.paths = split_paths(paths);
        means.chunk_bytes = number_of("ASSAY_TIER_CHUNK", means.chunk_bytes);
        means.address_bytes = number_of("ASSAY_TIER_ADDRESSES", means.address_bytes);
        if (const char* const folder = std::getenv("ASSAY_TIER_TRACE"); folder != nullptr)
            means.trace_folder = folder;
        if (const char* const folder = std::getenv("ASSAY_TIER_REPLAY"); folder != nullptr)
            means.replay_folder = folder;
        if (const char* const how = std::getenv("ASSAY_TIER_EXCHANGE"); how != nullptr)
            means.exchange = std::string_view(how) == "copy" ? Exchange::copy : Exchange::move;
        try {
            if (const char* const numa = std::getenv("ASSAY_TIER_NUMA"); numa != nullptr)
                means.numa = numa_of(numa);
            means.budget = budget_ = budget();
            means.memory_bytes = means.budget->bytes();
            // It outlives everything that runs at exit, and may touch memory: so it is never destroyed.
            arena_.store(new (room_) Arena(means), std::memory_order_release);
        } catch (const std::exception& error) {
            say({error.what()});
            // A program that needs the tier would end later for want of memory, and nobody would know why.
            ::_exit(125);
        }
    }

    /// A child of a fork has no pager, and none of the memory that it would bring: a touch of it ends the
    /// child by SIGSEGV. What it takes anew is ordinary memory.
    void in_child() {
        in_child_ = true;
        if (arena() == nullptr) return;
        arena()->close_in_child();
        struct sigaction now{};
        if (::sigaction(SIGSEGV, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
        now.sa_sigaction = tell_touch;
        now.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND);
        ::sigaction(SIGSEGV, &now, nullptr);
    }
    [[nodiscard]] bool is_in_child() const { return in_child_; }

    void report() {
        const char* const path = std::getenv("ASSAY_TIER_REPORT");
        if (path == nullptr || in_child_ || (arena() == nullptr && advisor_ == nullptr)) return;
        std::FILE* const file = std::fopen(path, "ae");
        if (file == nullptr) return;
        if (arena() != nullptr)
            tell(file, arena()->counts());
        else
            tell_advised(file, advisor_->counts());
        std::fclose(file);
    }

  private:
    static void tell(std::FILE* file, const Counts& c) {
        std::fprintf(file,
                     "{\"schema\":1,\"pid\":%d,\"how\":\"pager\",\"first\":%lu,\"demand\":%lu,\"late\":%lu,"
                     "\"staged\":%lu,"
                     "\"again\":%lu,\"wasted\":%lu,\"unchanged\":%lu,\"read_bytes\":%lu,\"written_bytes\":%"
                     "lu,\"stall_s\":%.6f}\n",
                     ::getpid(), c.first, c.demand, c.late, c.staged, c.again, c.wasted, c.unchanged,
                     c.read_bytes, c.written_bytes, static_cast<double>(c.stall_ns) / 1e9);
    }

    static void tell_advised(std::FILE* file, const Counts& c) {
        std::fprintf(file,
                     "{\"schema\":1,\"pid\":%d,\"how\":\"advisor\",\"asked_bytes\":%lu,\"used_bytes\":%lu,"
                     "\"wasted_bytes\":%lu,\"paged_out_bytes\":%lu}\n",
                     ::getpid(), c.read_bytes, c.staged * page, c.wasted * page, c.written_bytes);
    }

    /// The touch is tried again, and ends the child.
    static void tell_touch(int, siginfo_t* about, void*);
    /// That of the run, or a new one for what is started from here.
    Budget* budget() {
        const std::size_t bytes = number_of("ASSAY_TIER_DRAM", 0);
        std::optional<Budget> handed = Budget::handed(std::getenv("ASSAY_TIER_BUDGET"), bytes);
        auto* const found = handed ? new (budget_room_) Budget(std::move(*handed))
                                   : new (budget_room_) Budget(bytes / sharers(), bytes);
        ::setenv("ASSAY_TIER_BUDGET", found->name().c_str(), 1);
        return found;
    }
    /// Which of those are open among which the pager's are.
    [[nodiscard]] std::array<bool, lifted_room> open_descriptors() const {
        std::array<bool, lifted_room> open{};
        for (int i = 0; i < lifted_room; ++i)
            open[static_cast<std::size_t>(i)] = ::fcntl(own_from_ + i, F_GETFD) != -1;
        return open;
    }

    Next next_;
    int own_from_ = 0;
    std::array<bool, lifted_room> own_{};
    Budget* budget_ = nullptr;
    std::atomic<Arena*> arena_ = nullptr;
    std::size_t threshold_ = std::size_t{64} << 20;
    bool in_child_ = false;
    alignas(Budget) std::byte budget_room_[sizeof(Budget)]{};
    Advisor* advisor_ = nullptr;
    alignas(Arena) std::byte room_[sizeof(Arena)]{};
    alignas(Advisor) std::byte advisor_room_[sizeof(Advisor)]{};
};

/// Constant-initialised, so that it is there before any constructor has run.
constinit Front the_front;

Front& front() {
    return the_front;
}

void Front::tell_touch(int, siginfo_t* about, void*) {
    if (front().holds(about->si_addr))
        say({"a child of a fork touches memory of its parent that storage stands behind, which it does not "
             "have, and ends by SIGSEGV: start it by exec or spawn instead"});
}

[[gnu::constructor(101)]] void start() {
    front().start();
}

[[gnu::destructor(101)]] void report() {
    front().report();
}

void* allocate_aligned(std::size_t alignment, std::size_t bytes) {
    if (front().takes(bytes) && alignment <= front().arena()->pager().chunk())
        return front().arena()->allocate(bytes);
    return front().next().memalign(alignment, bytes);
}

bool too_large(std::size_t count, std::size_t bytes) {
    return bytes != 0 && count > PTRDIFF_MAX / bytes;
}

void* move_in(void* at, std::size_t bytes) {
    const std::size_t before = front().next().usable == nullptr ? 0 : front().next().usable(at);
    void* const other = front().arena()->allocate(bytes);
    if (other == nullptr) return nullptr;
    std::memcpy(other, at, std::min(before, bytes));
    front().next().free(at);
    return other;
}

void* move_out(void* at, std::size_t bytes) {
    const std::size_t before = front().arena()->bytes_from(at);
    void* const other = front().next().malloc(bytes);
    if (other == nullptr) return nullptr;
    std::memcpy(other, at, std::min(before, bytes));
    front().arena()->free(at);
    return other;
}

/// Whether a mapping is ordinary memory: private, anonymous, to be read and written, anywhere.
bool is_ordinary(void* at, std::size_t bytes, int protection, int flags) {
    constexpr int other = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_SHARED | MAP_NORESERVE | MAP_HUGETLB |
                          MAP_GROWSDOWN | MAP_STACK | MAP_LOCKED | MAP_32BIT;
    return at == nullptr && front().takes(bytes) && protection == (PROT_READ | PROT_WRITE) &&
           (flags & (MAP_PRIVATE | MAP_ANONYMOUS)) == (MAP_PRIVATE | MAP_ANONYMOUS) && (flags & other) == 0;
}

[[noreturn]] void say_forked() {
    give_up(
        {"a child of a fork needs memory of its parent that storage stands behind, which it does not have: "
         "start it by exec or spawn instead"});
}

int refuse_lock() {
    static std::atomic_flag said;
    if (!said.test_and_set())
        say({"the program wants to lock memory that storage stands behind (mlock); it is told that there is "
             "not "
             "enough"});
    errno = ENOMEM;
    return -1;
}

} // namespace

} // namespace assay::tier

using assay::tier::front;

#define ASSAY_TIER_EXPORT extern "C" [[gnu::visibility("default")]]

ASSAY_TIER_EXPORT void* malloc(std::size_t bytes) {
    return front().takes(bytes) ? front().arena()->allocate(bytes) : front().next().malloc(bytes);
}

ASSAY_TIER_EXPORT void* calloc(std::size_t count, std::size_t bytes) {
    if (assay::tier::too_large(count, bytes) || !front().takes(count * bytes))
        return front().next().calloc(count, bytes);
    return front().arena()->allocate(count * bytes);
}

ASSAY_TIER_EXPORT void free(void* at) {
    if (!front().holds(at)) return front().next().free(at);
    if (front().is_in_child()) return;
    const int before = errno;
    front().arena()->free(at);
    errno = before;
}

ASSAY_TIER_EXPORT void* realloc(void* at, std::size_t bytes) {
    if (at == nullptr) return malloc(bytes);
    const bool inside = front().holds(at);
    if (inside && front().is_in_child()) assay::tier::say_forked();
    if (!inside && !front().takes(bytes)) return front().next().realloc(at, bytes);
    if (!inside) return assay::tier::move_in(at, bytes);
    if (bytes == 0) {
        free(at);
        return nullptr;
    }
    return front().takes(bytes) ? front().arena()->resize(at, bytes) : assay::tier::move_out(at, bytes);
}

ASSAY_TIER_EXPORT void* reallocarray(void* at, std::size_t count, std::size_t bytes) {
    if (assay::tier::too_large(count, bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return realloc(at, count * bytes);
}

ASSAY_TIER_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) {
    return assay::tier::allocate_aligned(alignment, bytes);
}

ASSAY_TIER_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return assay::tier::allocate_aligned(alignment, bytes);
}

ASSAY_TIER_EXPORT int posix_memalign(void** at, std::size_t alignment, std::size_t bytes) {
    const bool power = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (!power || alignment % sizeof(void*) != 0) return EINVAL;
    const int before = errno;
    void* const found = assay::tier::allocate_aligned(alignment, bytes);
    errno = before;
    if (found == nullptr) return ENOMEM;
    *at = found;
    return 0;
}

ASSAY_TIER_EXPORT void* valloc(std::size_t bytes) {
    return assay::tier::allocate_aligned(assay::tier::page, bytes);
}

ASSAY_TIER_EXPORT void* pvalloc(std::size_t bytes) {
    return assay::tier::allocate_aligned(assay::tier::page, assay::tier::whole_pages(bytes));
}

ASSAY_TIER_EXPORT std::size_t malloc_usable_size(void* at) {
    if (front().holds(at)) return front().arena()->bytes_from(at);
    const auto usable = front().next().usable;
    return usable == nullptr || at == nullptr ? 0 : usable(at);
}

ASSAY_TIER_EXPORT void* mmap(void* at, std::size_t bytes, int protection, int flags, int fd,
                             off_t offset) noexcept {
    if (assay::tier::is_ordinary(at, bytes, protection, flags)) {
        void* const found = front().arena()->allocate(bytes);
        return found == nullptr ? MAP_FAILED : found;
    }
    const long found = ::syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
    return reinterpret_cast<void*>(found); // NOLINT: the kernel gives a number
}

ASSAY_TIER_EXPORT void* mmap64(void* at, std::size_t bytes, int protection, int flags, int fd,
                               off64_t offset) noexcept {
    return mmap(at, bytes, protection, flags, fd, offset);
}

ASSAY_TIER_EXPORT int munmap(void* at, std::size_t bytes) noexcept {
    if (!front().holds(at)) return assay::tier::sys::unmap(at, bytes);
    if (bytes == 0 || reinterpret_cast<std::uintptr_t>(at) % assay::tier::page != 0) {
        errno = EINVAL;
        return -1;
    }
    if (!front().is_in_child()) front().arena()->unmap(at, bytes);
    return 0;
}

ASSAY_TIER_EXPORT void* mremap(void* at, std::size_t before, std::size_t bytes, int flags, ...) noexcept {
    va_list more;
    va_start(more, flags);
    void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
    va_end(more);
    if (!front().holds(at)) {
        const long found = ::syscall(SYS_mremap, at, before, bytes, flags, wanted);
        return reinterpret_cast<void*>(found); // NOLINT: the kernel gives a number
    }
    if (front().is_in_child()) assay::tier::say_forked();
    // To a place of the program's choice, or leaving pages behind: nobody needs it for ordinary memory.
    if ((flags & ~MREMAP_MAYMOVE) != 0) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    if (bytes <= before) {
        if (bytes < before) front().arena()->unmap(static_cast<std::byte*>(at) + bytes, before - bytes);
        return at;
    }
    if ((flags & MREMAP_MAYMOVE) == 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void* const other = front().arena()->allocate(bytes);
    if (other == nullptr) return MAP_FAILED;
    std::memcpy(other, at, before);
    front().arena()->unmap(at, before);
    return other;
}

ASSAY_TIER_EXPORT int madvise(void* at, std::size_t bytes, int advice) noexcept {
    const bool in_page = reinterpret_cast<std::uintptr_t>(at) % assay::tier::page != 0;
    if (!front().holds(at) || bytes == 0 || in_page || front().is_in_child())
        return assay::tier::sys::advise(at, bytes, advice);
    switch (advice) {
    case MADV_DONTNEED:
    case MADV_FREE:
        front().arena()->discard(at, assay::tier::whole_pages(bytes));
        return 0;
    case MADV_WILLNEED:
        front().arena()->expect(at, bytes);
        return 0;
    case MADV_NORMAL:
        front().arena()->order(at, bytes, assay::tier::Order::unknown);
        return 0;
    case MADV_SEQUENTIAL:
        front().arena()->order(at, bytes, assay::tier::Order::sequential);
        return 0;
    case MADV_RANDOM:
        front().arena()->order(at, bytes, assay::tier::Order::random);
        return 0;
    case MADV_COLD:
    case MADV_PAGEOUT:
        front().arena()->done(at, bytes);
        return 0;
    case MADV_HUGEPAGE:
    case MADV_NOHUGEPAGE:
    case MADV_COLLAPSE:
    case MADV_MERGEABLE:
    case MADV_UNMERGEABLE:
    case MADV_DONTFORK:
    case MADV_DOFORK:
    case MADV_DONTDUMP:
    case MADV_DODUMP:
    case MADV_POPULATE_READ:
    case MADV_POPULATE_WRITE:
        // Pages and forks of this memory are the pager's.
        return 0;
    default:
        errno = EINVAL;
        return -1;
    }
}

// What is handed to a pipe or a socket as it is, without being copied, is used by the kernel after the call.
// It does not pin these pages, so they would be taken away under it (Linux 6.18: vmsplice_to_pipe of
// fs/splice.c, msg_zerocopy of net/core/skbuff.c take references alone, of which UFFDIO_MOVE does not know).

ASSAY_TIER_EXPORT ssize_t vmsplice(int fd, const iovec* parts, std::size_t count, unsigned flags) {
    const int access = ::fcntl(fd, F_GETFL) & O_ACCMODE;
    bool ours = false;
    for (std::size_t i = 0; i < count; ++i) ours = ours || front().holds(parts[i].iov_base);
    if (!ours || access == O_RDONLY) return ::syscall(SYS_vmsplice, fd, parts, count, flags);
    const int some = static_cast<int>(std::min<std::size_t>(count, IOV_MAX));
    return (flags & SPLICE_F_NONBLOCK) != 0 ? ::pwritev2(fd, parts, some, -1, RWF_NOWAIT)
                                            : ::writev(fd, parts, some);
}

ASSAY_TIER_EXPORT int setsockopt(int fd, int level, int option, const void* value, socklen_t bytes) noexcept {
    if (level == SOL_SOCKET && option == SO_ZEROCOPY && front().arena() != nullptr) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_setsockopt, fd, level, option, value, bytes));
}

ASSAY_TIER_EXPORT int mlock(const void* at, std::size_t bytes) noexcept {
    return front().holds(at) ? assay::tier::refuse_lock() : static_cast<int>(::syscall(SYS_mlock, at, bytes));
}

ASSAY_TIER_EXPORT int mlock2(const void* at, std::size_t bytes, unsigned flags) noexcept {
    return front().holds(at) ? assay::tier::refuse_lock()
                             : static_cast<int>(::syscall(SYS_mlock2, at, bytes, flags));
}

ASSAY_TIER_EXPORT int mlockall(int flags) noexcept {
    return front().arena() != nullptr ? assay::tier::refuse_lock()
                                      : static_cast<int>(::syscall(SYS_mlockall, flags));
}

// Programs close what they did not open, before they become daemons or start others.

ASSAY_TIER_EXPORT int close(int fd) {
    if (front().owns(fd)) {
        errno = EBADF;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_close, fd));
}

ASSAY_TIER_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
    for (int own = 0; (own = front().own_between(first, last)) >= 0; first = static_cast<unsigned>(own) + 1)
        if (static_cast<unsigned>(own) > first &&
            ::syscall(SYS_close_range, first, static_cast<unsigned>(own) - 1, flags) != 0)
            return -1;
    return first > last ? 0 : static_cast<int>(::syscall(SYS_close_range, first, last, flags));
}

ASSAY_TIER_EXPORT void closefrom(int first) noexcept {
    static_cast<void>(close_range(static_cast<unsigned>(first < 0 ? 0 : first), ~0U, 0));
}

ASSAY_TIER_EXPORT int dup3(int from, int to, int flags) noexcept {
    if (front().owns(to)) {
        errno = EBUSY;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_dup3, from, to, flags));
}

ASSAY_TIER_EXPORT int dup2(int from, int to) noexcept {
    if (from == to) return ::fcntl(from, F_GETFD) == -1 ? -1 : to;
    return dup3(from, to, 0);
}
