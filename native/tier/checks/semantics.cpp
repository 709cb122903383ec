/// What userfaultfd(2) of this kernel does, one row for each fact that the pager is built on.
///
///     assay-tier-semantics [--path DIR] [--row NAME]
///
/// One line of JSON for each row: ok, different (the kernel does otherwise than the pager takes it to do), or
/// skipped with the reason. Status 1 where a row is different. The facts were found on Linux 6.18; those of
/// UFFDIO_MOVE are decided by move_pages() of the kernel's mm/userfaultfd.c.

#include "tier/event.hpp"
#include "tier/sys.hpp"
#include "tier/userfault.hpp"

#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

// Interfaces newer than the headers of Debian 12 (Linux 6.1); include/uapi/linux/userfaultfd.h of Linux 6.4.
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace {

using namespace assay::tier;
using assay::Fd;

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::byte written{0x77};  ///< What memory holds at first.
constexpr std::byte answered{0x5a}; ///< What a fault is answered with.

/// A row that this machine cannot show.
class Skipped : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::string named(int error) {
    const char* const name = error == 0 ? "done" : ::strerrorname_np(error);
    return name == nullptr ? std::to_string(error) : name;
}

/// The error of a call that tells it by -1 and errno.
template <class Number>
int error_of(Number status) {
    return status < 0 ? errno : 0;
}

/// What a row saw, step by step, held against what the pager relies on.
class Seen {
  public:
    void is(std::string_view step, const std::string& found, const std::string& relied_on) {
        note(std::string(step) + ": " + found + (found == relied_on ? "" : " instead of " + relied_on));
        as_relied_on_ = as_relied_on_ && found == relied_on;
    }
    void error(std::string_view step, int found, int relied_on) { is(step, named(found), named(relied_on)); }
    void byte(std::string_view step, std::byte found, std::byte relied_on) {
        is(step, std::to_string(std::to_integer<int>(found)),
           std::to_string(std::to_integer<int>(relied_on)));
    }
    void note(const std::string& text) { text_ += (text_.empty() ? "" : "; ") + text; }

    [[nodiscard]] bool as_relied_on() const { return as_relied_on_; }
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string text_;
    bool as_relied_on_ = true;
};

/// Memory between borders that nobody may touch, so that the kernel joins it with nothing beside it.
///
/// It is to be made before the Userfault that watches it: unmapping may wait until somebody reads of it.
class Area {
  public:
    explicit Area(std::size_t bytes, int advice = MADV_NOHUGEPAGE)
        : bytes_(bytes), reserved_(bytes + 2 * huge_page),
          all_(sys::map(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)) {
        if (all_ == nullptr) throw std::bad_alloc();
        at_ = all_ + (huge_page - reinterpret_cast<std::uintptr_t>(all_) % huge_page);
        protect(PROT_READ | PROT_WRITE);
        advise(advice);
    }
    Area(const Area&) = delete;
    Area& operator=(const Area&) = delete;
    ~Area() { sys::unmap(all_, reserved_); }

    [[nodiscard]] std::byte* at(std::size_t number = 0) const { return at_ + number * page; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

    void fill() const { std::memset(at_, std::to_integer<int>(written), bytes_); }
    void protect(int protection) const {
        if (::mprotect(at_, bytes_, protection) != 0)
            throw std::system_error(errno, std::generic_category(), "mprotect");
    }
    int advise(int advice) const { return error_of(sys::advise(at_, bytes_, advice)); }
    /// Pages that are there, and those that come: populating it now would be a fault that nobody answers.
    void lock() const {
        if (::mlock2(at_, bytes_, MLOCK_ONFAULT) != 0)
            throw Skipped(std::string("memory cannot be locked: ") + std::strerror(errno));
    }

  private:
    std::size_t bytes_, reserved_;
    std::byte* all_;
    std::byte* at_ = nullptr;
};

std::byte byte_at(const std::byte* at) {
    return *static_cast<const volatile std::byte*>(at);
}

void write_byte(std::byte* at) {
    *static_cast<volatile std::byte*>(at) = written;
}

/// \throws Skipped where this kernel or these rights do not give it.
Userfault userfault(std::uint64_t features) {
    const Userfault::Offer offer = Userfault::offer();
    if (offer.error != 0) throw Skipped(std::string("no userfaultfd: ") + std::strerror(offer.error));
    if (!offer.in_kernel)
        throw Skipped("faults within system calls are told to root and to users of /dev/userfaultfd alone");
    if ((offer.features & features) != features) {
        std::array<char, 64> text{};
        std::snprintf(text.data(), text.size(), "the kernel lacks the features %#lx of userfaultfd",
                      static_cast<unsigned long>(features & ~offer.features));
        throw Skipped(text.data());
    }
    return Userfault(features);
}

void watch(const Userfault& fault, std::byte* at, std::size_t bytes) {
    if (const int error = fault.watch(at, bytes); error != 0)
        throw std::system_error(error, std::generic_category(), "UFFDIO_REGISTER");
}

void watch(const Userfault& fault, const Area& area) {
    watch(fault, area.at(), area.bytes());
}

int error_of_move(const Userfault& fault, const Area& to, const Area& from) {
    return fault.move(to.at(), from.at(), from.bytes()).error;
}

/// A page that was written, and that was taken away as the pager does it.
struct Evicted {
    explicit Evicted(std::uint64_t features) : fault(userfault(features | UFFD_FEATURE_MOVE)) {
        region.fill();
        watch(fault, region);
        watch(fault, place);
        if (const int error = error_of_move(fault, place, region); error != 0)
            throw std::system_error(error, std::generic_category(), "UFFDIO_MOVE");
    }
    Area region{page}, place{page};
    Userfault fault;
};

/// What `from` is the first byte of, and a message told of.
std::string told(const uffd_msg& message, const std::byte* from) {
    const auto number = [from](std::uint64_t at) {
        return std::to_string((at - reinterpret_cast<std::uintptr_t>(from)) / page);
    };
    const auto range = [&](const char* what) {
        const auto& one = message.arg.remove;
        return what + (" pages " + number(one.start)) + " to " + number(one.end - 1);
    };
    switch (message.event) {
    case UFFD_EVENT_PAGEFAULT:
        return "fault on page " + number(message.arg.pagefault.address);
    case UFFD_EVENT_UNMAP:
        return range("unmapped");
    case UFFD_EVENT_REMOVE:
        return range("removed");
    default:
        return "event " + std::to_string(message.event);
    }
}

/// What the kernel tells while a thread does something; this one reads it and answers faults, as the pager's
/// does.
std::string told_during(const Userfault& fault, const std::byte* from, const std::function<void()>& work) {
    const std::vector<std::byte> answer(page, answered);
    const Event ended;
    std::thread worker([&] {
        work();
        ended.signal();
    });
    std::array<pollfd, 2> ready{{{fault.fd(), POLLIN, 0}, {ended.fd(), POLLIN, 0}}};
    std::string all;
    while (ready[1].revents == 0) {
        ::poll(ready.data(), ready.size(), -1);
        std::array<uffd_msg, 16> room{};
        for (const uffd_msg& message : fault.read(room)) {
            all += (all.empty() ? "" : ", ") + told(message, from);
            if (message.event != UFFD_EVENT_PAGEFAULT) continue;
            // NOLINTNEXTLINE: the kernel gives a number
            auto* const at = reinterpret_cast<std::byte*>(message.arg.pagefault.address / page * page);
            if (fault.copy(at, answer.data(), page).error != 0) fault.wake(at, page);
        }
    }
    worker.join();
    return all.empty() ? "nothing" : all;
}

/// A child that may die; where it hangs, it ends by SIGALRM.
pid_t forked(const std::function<int()>& work) {
    const pid_t child = ::fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child > 0) return child;
    ::signal(SIGBUS, SIG_DFL);
    ::signal(SIGSEGV, SIG_DFL);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::alarm(5);
    try {
        ::_exit(work());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(255);
    }
}

std::string ending(pid_t child) {
    int status = 0;
    if (::waitpid(child, &status, 0) != child)
        throw std::system_error(errno, std::generic_category(), "waitpid");
    if (WIFSIGNALED(status)) return std::string("SIG") + ::sigabbrev_np(WTERMSIG(status));
    return "ends with " + std::to_string(WEXITSTATUS(status));
}

struct Pipe {
    Pipe() {
        std::array<int, 2> fds{};
        if (::pipe2(fds.data(), O_CLOEXEC) != 0)
            throw std::system_error(errno, std::generic_category(), "pipe");
        out = Fd(fds[0]);
        in = Fd(fds[1]);
    }
    Fd in, out;
};

/// The kernel reads from a page that is not there, and writes to it.
void by_system_calls(Seen& seen, std::byte* at, int relied_on) {
    const Pipe pipe;
    constexpr std::array<char, 8> some{};
    seen.error("write(2) from it", error_of(::write(pipe.in.get(), at, some.size())), relied_on);
    const auto wrote = ::write(pipe.in.get(), some.data(), some.size());
    if (wrote != static_cast<ssize_t>(some.size())) throw std::runtime_error("a pipe took nothing");
    seen.error("read(2) to it", error_of(::read(pipe.out.get(), at, some.size())), relied_on);
}

class Ring {
  public:
    Ring() {
        if (const int status = ::io_uring_queue_init(1, &ring_, 0); status != 0)
            throw Skipped(std::string("no io_uring: ") + std::strerror(-status));
    }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring() { ::io_uring_queue_exit(&ring_); }

    [[nodiscard]] io_uring* get() { return &ring_; }

    /// Returns as soon as the kernel tells that it has ended: sleeping until then would take longer than what
    /// is looked for.
    void read(int file, std::byte* to, std::size_t bytes) {
        ::io_uring_prep_read(::io_uring_get_sqe(&ring_), file, to, static_cast<unsigned>(bytes), 0);
        if (const int status = ::io_uring_submit(&ring_); status < 0)
            throw std::system_error(-status, std::generic_category(), "io_uring_submit");
        io_uring_cqe* answer = nullptr;
        while (::io_uring_peek_cqe(&ring_, &answer) != 0) {
        }
        const int result = answer->res;
        ::io_uring_cqe_seen(&ring_, answer);
        if (result != static_cast<int>(bytes))
            throw std::system_error(result < 0 ? -result : EIO, std::generic_category(), "direct read");
    }

  private:
    io_uring ring_{};
};

/// Moves that were tried again while pages were in use.
class Patience {
  public:
    /// For some seconds at most.
    int move(const Userfault& fault, std::byte* to, std::byte* from, std::size_t bytes) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        std::size_t done = 0, tries = 0;
        for (;;) {
            const Userfault::Moved moved = fault.move(to + done, from + done, bytes - done);
            done += moved.bytes;
            if (moved.error != EBUSY || std::chrono::steady_clock::now() > until) {
                all_ += tries;
                most_ = std::max(most_, tries);
                return moved.error;
            }
            ++tries;
            ::sched_yield();
        }
    }
    [[nodiscard]] std::string text() const {
        return std::to_string(all_) + " retries, at most " + std::to_string(most_) + " for one";
    }

  private:
    std::size_t all_ = 0, most_ = 0;
};

/// Of an area, whose borders are borders of the kernel's, too.
std::size_t huge_kib(const Area& area) {
    std::ifstream file("/proc/self/smaps");
    const auto begin = reinterpret_cast<std::uintptr_t>(area.at());
    bool within = false;
    std::size_t all = 0;
    for (std::string line; std::getline(file, line);) {
        unsigned long from = 0, to = 0, kib = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2)
            within = from >= begin && to <= begin + area.bytes();
        else if (within && std::sscanf(line.c_str(), "AnonHugePages: %lu kB", &kib) == 1)
            all += kib;
    }
    return all;
}

std::string kib_text(std::size_t kib) {
    return std::to_string(kib) + " KiB huge";
}

// -- rows ---------------------------------------------------------------------------------------------------

/// Moving is only cheap while 512 pages are one.
void move_keeps_huge_pages(Seen& seen) {
    constexpr std::size_t chunks = 4, all = chunks * huge_page;
    const Area frames(all, MADV_HUGEPAGE), region(all, MADV_HUGEPAGE), back(all, MADV_HUGEPAGE);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    watch(fault, region);
    watch(fault, back);
    frames.fill();
    if (const std::size_t had = huge_kib(frames); had != all >> 10) {
        std::string when;
        std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), when);
        throw Skipped("of " + std::to_string(all >> 10) + " KiB, only " + kib_text(had) +
                      " (transparent_hugepage/enabled: " + (when.empty() ? "none" : when) + ")");
    }
    const auto move = [&](const char* step, const Area& to, const Area& from) {
        int error = 0;
        for (std::size_t at = 0; at < all && error == 0; at += huge_page)
            error = fault.move(to.at() + at, from.at() + at, huge_page).error;
        seen.error(step, error, 0);
        seen.is("there", kib_text(huge_kib(to)), kib_text(all >> 10));
        seen.is("left behind", kib_text(huge_kib(from)), kib_text(0));
    };
    move("moved in", region, frames);
    move("moved out", back, region);
    if (seen.as_relied_on()) seen.byte("last byte", byte_at(back.at() + all - 1), written);
}

/// Why pages are not write-protected to learn whether they are written to: between a move and a protection,
/// another thread may write unseen, and a protection cannot come first.
void move_into_write_protected(Seen& seen) {
    const Area frame(page), region(2 * page);
    const Userfault fault =
        userfault(UFFD_FEATURE_MOVE | UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_UNPOPULATED);
    const auto at = reinterpret_cast<std::uintptr_t>(region.at());
    uffdio_register watched{{at, 2 * page}, UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP, 0};
    uffdio_writeprotect guarded{{at, page}, UFFDIO_WRITEPROTECT_MODE_WP};
    if (::ioctl(fault.fd(), UFFDIO_REGISTER, &watched) != 0 ||
        ::ioctl(fault.fd(), UFFDIO_WRITEPROTECT, &guarded) != 0)
        throw Skipped(std::string("memory cannot be write-protected: ") + std::strerror(errno));
    frame.fill();
    seen.error("onto the protected page", fault.move(region.at(0), frame.at(), page).error, EEXIST);
    seen.error("onto the page beside it", fault.move(region.at(1), frame.at(), page).error, 0);
}

/// Why the pager registers none of its frames with io_uring.
void move_registered_buffer(Seen& seen) {
    const Area frame(page), region(page);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    watch(fault, region);
    frame.fill();
    Ring ring;
    const iovec buffer{frame.at(), page};
    if (const int status = ::io_uring_register_buffers(ring.get(), &buffer, 1); status != 0)
        throw Skipped(std::string("no buffer can be registered: ") + std::strerror(-status));
    seen.error("while registered", error_of_move(fault, region, frame), EBUSY);
    seen.error("unregistered", -::io_uring_unregister_buffers(ring.get()), 0);
    seen.error("then", Patience().move(fault, region.at(), frame.at(), page), 0);
}

/// Goes from CPU to CPU, and back to all of them.
class Wanderer {
  public:
    Wanderer() {
        if (::sched_getaffinity(0, sizeof all_, &all_) != 0) CPU_ZERO(&all_);
    }
    Wanderer(const Wanderer&) = delete;
    Wanderer& operator=(const Wanderer&) = delete;
    ~Wanderer() { ::sched_setaffinity(0, sizeof all_, &all_); }

    void go_on() {
        if (CPU_COUNT(&all_) == 0) return;
        for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
            at_ = (at_ + 1) % CPU_SETSIZE;
            if (CPU_ISSET(at_, &all_)) break;
        }
        cpu_set_t one{};
        CPU_SET(at_, &one);
        ::sched_setaffinity(0, sizeof one, &one);
    }

  private:
    cpu_set_t all_{};
    std::size_t at_ = 0;
};

/// A chunk is read into a frame, moved in as soon as the kernel tells that it was read, and moved back.
void move_after_reads(Seen& seen, int file, std::size_t bytes, std::size_t count) {
    const int advice = bytes % huge_page == 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
    const Area frame(bytes, advice), region(bytes, advice);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    frame.fill();
    if (::pwrite(file, frame.at(), bytes, 0) != static_cast<ssize_t>(bytes))
        throw std::system_error(errno, std::generic_category(), "direct write");
    std::memset(frame.at(), 0, bytes);
    watch(fault, frame);
    watch(fault, region);
    Ring ring;
    Patience in, out;
    // The kernel handles the end of a transfer on a CPU of its choice; seen from another, the moment is
    // there.
    Wanderer cpus;
    int error = 0;
    bool same = true;
    for (std::size_t i = 0; i < count && error == 0; ++i) {
        if (i % 50 == 0) cpus.go_on();
        ring.read(file, frame.at(), bytes);
        error = in.move(fault, region.at(), frame.at(), bytes);
        if (error != 0) break;
        same = same && byte_at(region.at()) == written && byte_at(region.at() + bytes - 1) == written;
        std::memset(region.at(), 0, bytes);
        error = out.move(fault, frame.at(), region.at(), bytes);
    }
    seen.error(std::to_string(bytes >> 10) + " KiB", error, 0);
    seen.is("contents", same ? "as read" : "wrong", "as read");
    seen.note(std::to_string(count) + " moves with " + in.text());
}

/// Pages may be pinned for a moment after a transfer has ended, as its end is told before they are let go
/// (iomap_dio_bio_end_io() of fs/iomap/direct-io.c).
void move_after_direct_io(Seen& seen, const std::string& path) {
    if (path.empty()) throw Skipped("no --path for a file");
    const Fd file(::open(path.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
    if (!file) throw Skipped(std::string("no O_TMPFILE with O_DIRECT there: ") + std::strerror(errno));
    for (const std::size_t bytes : {page, 16 * page, 64 * page})
        move_after_reads(seen, file.get(), bytes, 500);
    move_after_reads(seen, file.get(), huge_page, 100);
}

/// Pages that parent and child share belong to neither (PageAnonExclusive() of the kernel), until one of them
/// writes.
void move_after_fork(Seen& seen) {
    const Area shared(page), mine(page), place(page), other(page);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    watch(fault, place);
    watch(fault, other);
    shared.fill();
    mine.fill();
    Pipe pipe;
    const pid_t child = forked([&pipe] {
        pipe.in.reset();
        char end = 0;
        return static_cast<int>(::read(pipe.out.get(), &end, 1));
    });
    seen.error("while there is a child", error_of_move(fault, place, shared), EBUSY);
    write_byte(mine.at());
    seen.error("where the parent has written meanwhile", error_of_move(fault, other, mine), 0);
    pipe.in.reset();
    seen.is("child", ending(child), "ends with 0");
    seen.error("after the child", error_of_move(fault, place, shared), EBUSY);
    write_byte(shared.at());
    seen.error("after the parent has written", error_of_move(fault, place, shared), 0);
}

/// Why memory of the pager is kept from children: they would go on with what was never written.
void child_reads_zeros(Seen& seen) {
    const Evicted evicted(0);
    seen.is("child", ending(forked([&] { return std::to_integer<int>(byte_at(evicted.region.at())); })),
            "ends with 0");
}

/// A child that lacks memory ends, where it would otherwise go on with zeros.
void child_without_memory_dies(Seen& seen) {
    const Evicted evicted(0);
    seen.error("MADV_DONTFORK", evicted.region.advise(MADV_DONTFORK), 0);
    seen.is("child", ending(forked([&] { return std::to_integer<int>(byte_at(evicted.region.at())); })),
            "SIGSEGV");
}

/// What a program locks in memory stays there: the pager learns so when it tries, and leaves it alone.
void move_between_locked_and_unlocked(Seen& seen) {
    const Area unlocked(page), locked(page), plain(page), also_locked(page);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    watch(fault, locked);
    watch(fault, plain);
    locked.lock();
    also_locked.lock();
    unlocked.fill();
    also_locked.fill();
    seen.error("unlocked to locked", error_of_move(fault, locked, unlocked), EINVAL);
    seen.error("locked to unlocked", error_of_move(fault, plain, also_locked), EINVAL);
    const int error = error_of_move(fault, locked, also_locked);
    seen.error("locked to locked", error, 0);
    // What was not moved is a fault that nobody answers.
    if (error == 0) seen.byte("contents", byte_at(locked.at()), written);
}

/// Why the pager needs the right to hear of faults within system calls: without it they fail.
void system_call_user_mode_only(Seen& seen) {
    const Area region(page);
    const Fd fd(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
    uffdio_api api{UFFD_API, 0, 0};
    if (!fd || ::ioctl(fd.get(), UFFDIO_API, &api) != 0)
        throw Skipped(std::string("no userfaultfd for user mode only: ") + std::strerror(errno));
    uffdio_register range{
        {reinterpret_cast<std::uintptr_t>(region.at()), page}, UFFDIO_REGISTER_MODE_MISSING, 0};
    if (::ioctl(fd.get(), UFFDIO_REGISTER, &range) != 0)
        throw std::system_error(errno, std::generic_category(), "UFFDIO_REGISTER");
    by_system_calls(seen, region.at(), EFAULT);
}

/// Why faults are not answered in the threads that have them, by signals, which would be faster.
void system_call_sigbus_mode(Seen& seen) {
    const Evicted evicted(UFFD_FEATURE_SIGBUS);
    by_system_calls(seen, evicted.region.at(), EFAULT);
}

/// With all rights, a system call waits for the pager as an instruction does.
void system_call_answered(Seen& seen) {
    const Area region(2 * page);
    const Pipe pipe;
    const Userfault fault = userfault(0);
    watch(fault, region);
    ssize_t wrote = 0, read = 0;
    const std::byte* const from = region.at();
    seen.is("write(2) tells",
            told_during(fault, from, [&] { wrote = ::write(pipe.in.get(), region.at(0), 8); }),
            "fault on page 0");
    seen.is("it writes", std::to_string(wrote), "8");
    if (wrote != 8) return;
    seen.is("read(2) tells",
            told_during(fault, from, [&] { read = ::read(pipe.out.get(), region.at(1), 8); }),
            "fault on page 1");
    seen.is("it reads", std::to_string(read), "8");
    if (read == 8) seen.byte("contents", byte_at(region.at(1)), answered);
}

/// Pages of a chunk may be missing, where the program gave them back: the pager is told how many came before
/// the first, and moves the rest with its holes.
void move_of_missing_pages(Seen& seen) {
    const Area frame(3 * page), region(3 * page);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    watch(fault, region);
    write_byte(frame.at(0));
    write_byte(frame.at(2));
    const Userfault::Moved moved = fault.move(region.at(), frame.at(), 3 * page);
    seen.error("with the second of three missing", moved.error, ENOENT);
    seen.is("pages moved", std::to_string(moved.bytes / page), "1");
    const Userfault::Moved rest = fault.move(region.at(1), frame.at(1), 2 * page, true);
    seen.error("the rest, with holes", rest.error, 0);
    const std::vector<std::byte> some(page, answered);
    const auto copied = [&](std::size_t number) {
        return fault.copy(region.at(number), some.data(), page).error;
    };
    seen.error("copy over the first", copied(0), EEXIST);
    seen.error("copy into the hole", copied(1), 0);
    seen.error("copy over the third", copied(2), EEXIST);
}

/// A program may protect what it was given: such pages stay where they are.
void move_between_protections(Seen& seen) {
    const Area frame(page), region(page);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    watch(fault, region);
    frame.fill();
    region.protect(PROT_READ);
    seen.error("to what is read only", error_of_move(fault, region, frame), EINVAL);
    region.protect(PROT_READ | PROT_WRITE);
    frame.protect(PROT_READ);
    seen.error("from what is read only", error_of_move(fault, region, frame), EINVAL);
    frame.protect(PROT_READ | PROT_WRITE);
    seen.error("between what is written to", error_of_move(fault, region, frame), 0);
}

/// While an unmapping is not told, nothing is moved or copied: the pager reads its messages, and tries again.
void move_while_an_event_waits(Seen& seen) {
    const Area frame(page), region(2 * page);
    std::byte* const gone = sys::map(page);
    if (gone == nullptr) throw std::bad_alloc();
    const std::vector<std::byte> some(page, answered);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE | UFFD_FEATURE_EVENT_UNMAP);
    watch(fault, region);
    watch(fault, gone, page);
    frame.fill();
    std::thread unmapping([gone] { sys::unmap(gone, page); });
    pollfd ready{fault.fd(), POLLIN, 0};
    seen.is("events", std::to_string(::poll(&ready, 1, 5000)), "1");
    seen.error("move before it is read", fault.move(region.at(0), frame.at(), page).error, EAGAIN);
    seen.error("copy before it is read", fault.copy(region.at(1), some.data(), page).error, EAGAIN);
    std::array<uffd_msg, 1> room{};
    static_cast<void>(fault.read(room));
    unmapping.join();
    seen.error("move after it was read", fault.move(region.at(0), frame.at(), page).error, 0);
    seen.error("copy after it was read", fault.copy(region.at(1), some.data(), page).error, 0);
}

/// What could not be read from the disk ends the program where it is touched, and nothing is made up for it.
void poison_ends_in_sigbus(Seen& seen) {
    static_cast<void>(userfault(UFFD_FEATURE_POISON)); // Skipped here, not in a child.
    const auto poisoned = [](const std::function<int(std::byte*)>& touch) {
        return ending(forked([&touch] {
            const Area region(page);
            const Userfault fault = userfault(UFFD_FEATURE_POISON);
            watch(fault, region);
            const int error = fault.poison(region.at(), page);
            return error != 0 ? error : touch(region.at());
        }));
    };
    seen.is("untouched", poisoned([](std::byte*) { return 0; }), "ends with 0");
    seen.is("read", poisoned([](std::byte* at) { return std::to_integer<int>(byte_at(at)); }), "SIGBUS");
    seen.is("written", poisoned([](std::byte* at) {
                write_byte(at);
                return 0;
            }),
            "SIGBUS");
}

/// What is told of two pages in the middle of four, while something is done to them.
std::string told_of_middle(std::uint64_t features, const std::function<int(std::byte*)>& work) {
    constexpr std::size_t pages = 4;
    std::byte* const at = sys::map(pages * page);
    if (at == nullptr) throw std::bad_alloc();
    std::memset(at, std::to_integer<int>(written), pages * page);
    std::string found;
    int status = 0;
    {
        const Userfault fault = userfault(features);
        watch(fault, at, pages * page);
        found = told_during(fault, at, [&] { status = work(at + page); });
    }
    // The middle is not unmapped again: something else may be there by now.
    sys::unmap(at, page);
    sys::unmap(at + (pages - 1) * page, page);
    return status == 0 ? found : "an error";
}

/// What the program unmaps by itself, the pager forgets.
void unmap_is_told(Seen& seen) {
    const auto unmap = [](std::byte* at) { return sys::unmap(at, 2 * page); };
    seen.is("asked for", told_of_middle(UFFD_FEATURE_EVENT_UNMAP, unmap), "unmapped pages 1 to 2");
    seen.is("not asked for", told_of_middle(0, unmap), "nothing");
}

/// The pager does not ask, so that giving pages back waits for nobody: it learns so by the next fault.
void discard_is_told(Seen& seen) {
    const auto discard = [](std::byte* at) {
        const int status = sys::advise(at, 2 * page, MADV_DONTNEED);
        sys::unmap(at, 2 * page);
        return status;
    };
    seen.is("asked for", told_of_middle(UFFD_FEATURE_EVENT_REMOVE, discard), "removed pages 1 to 2");
    seen.is("not asked for", told_of_middle(0, discard), "nothing");
}

/// Where pages do not move, a chunk leaves with its part of the page table: what was there is in the other
/// place, and what touches it from then on waits.
void place_that_was_left_is_watched(Seen& seen) {
    const Area region(3 * page), place(3 * page);
    const Userfault fault = userfault(UFFD_FEATURE_EVENT_UNMAP);
    write_byte(region.at(0));
    write_byte(region.at(2));
    watch(fault, region);
    int error = 0;
    seen.is(
        "leaving tells",
        told_during(fault, region.at(), [&] { error = sys::leave(place.at(), region.at(), region.bytes()); }),
        "nothing");
    seen.error("it leaves", error, 0);
    if (error != 0) return;
    seen.byte("the first", byte_at(place.at(0)), written);
    seen.byte("one that was missing", byte_at(place.at(1)), std::byte{0});
    seen.byte("the third", byte_at(place.at(2)), written);
    std::byte found{};
    seen.is("a touch tells", told_during(fault, region.at(), [&] { found = byte_at(region.at(2)); }),
            "fault on page 2");
    seen.byte("what is found", found, answered);
}

/// As with protections that differ within a chunk: it stays as a whole.
void mappings_do_not_leave_together(Seen& seen) {
    const Area region(2 * page), place(2 * page);
    const Userfault fault = userfault(0);
    region.fill();
    watch(fault, region);
    if (::mprotect(region.at(1), page, PROT_READ) != 0)
        throw std::system_error(errno, std::generic_category(), "mprotect");
    seen.error("both", sys::leave(place.at(), region.at(), region.bytes()), EFAULT);
    seen.byte("the first", byte_at(region.at(0)), written);
    seen.byte("the second", byte_at(region.at(1)), written);
}

/// A page that was given back, of a chunk that is in, is a fault again, and the others are none.
void discarded_page_is_missing(Seen& seen) {
    for (const auto& [bytes, advice] :
         {std::pair{4 * page, MADV_NOHUGEPAGE}, std::pair{huge_page, MADV_HUGEPAGE}}) {
        const Area frame(bytes, advice), region(bytes, advice);
        const Userfault fault = userfault(UFFD_FEATURE_MOVE);
        watch(fault, region);
        frame.fill();
        seen.error(std::to_string(bytes >> 10) + " KiB moved in", error_of_move(fault, region, frame), 0);
        seen.is(
            "MADV_DONTNEED tells",
            told_during(fault, region.at(), [&region] { sys::advise(region.at(1), page, MADV_DONTNEED); }),
            "nothing");
        std::array<std::byte, 3> found{};
        seen.is("a touch of pages 0 to 2 tells",
                told_during(fault, region.at(),
                            [&] {
                                for (std::size_t i = 0; i < found.size(); ++i)
                                    found[i] = byte_at(region.at(i));
                            }),
                "fault on page 1");
        seen.byte("page 0", found[0], written);
        seen.byte("page 1", found[1], answered);
        seen.byte("page 2", found[2], written);
    }
}

// -- all of them --------------------------------------------------------------------------------------------

struct Row {
    const char* name;
    std::function<void(Seen&)> show;
};

std::vector<Row> all_rows(const std::string& path) {
    return {{"move-keeps-huge-pages", move_keeps_huge_pages},
            {"move-into-write-protected", move_into_write_protected},
            {"move-registered-buffer", move_registered_buffer},
            {"move-after-direct-io", [path](Seen& seen) { move_after_direct_io(seen, path); }},
            {"move-after-fork", move_after_fork},
            {"child-reads-zeros", child_reads_zeros},
            {"child-without-memory-dies", child_without_memory_dies},
            {"move-between-locked-and-unlocked", move_between_locked_and_unlocked},
            {"system-call-user-mode-only", system_call_user_mode_only},
            {"system-call-sigbus-mode", system_call_sigbus_mode},
            {"system-call-answered", system_call_answered},
            {"move-of-missing-pages", move_of_missing_pages},
            {"move-between-protections", move_between_protections},
            {"move-while-an-event-waits", move_while_an_event_waits},
            {"poison-ends-in-sigbus", poison_ends_in_sigbus},
            {"unmap-is-told", unmap_is_told},
            {"discard-is-told", discard_is_told},
            {"discarded-page-is-missing", discarded_page_is_missing},
            {"place-that-was-left-is-watched", place_that_was_left_is_watched},
            {"mappings-do-not-leave-together", mappings_do_not_leave_together}};
}

/// \returns whether the kernel does not do otherwise than the pager relies on.
bool show(const Row& row) {
    // Where a kernel does otherwise, a row may wait for ever; it ends by SIGALRM.
    ::alarm(30);
    Seen seen;
    std::string status, text;
    try {
        row.show(seen);
        status = seen.as_relied_on() ? "ok" : "different";
        text = seen.text();
    } catch (const Skipped& why) {
        status = "skipped";
        text = why.what();
    } catch (const std::exception& error) {
        status = "different";
        text = seen.text() + (seen.text().empty() ? "" : "; ") + error.what();
    }
    // No text of a row has what JSON would escape.
    std::printf("{\"row\":\"%s\",\"status\":\"%s\",\"seen\":\"%s\"}\n", row.name, status.c_str(),
                text.c_str());
    std::fflush(stdout);
    return status != "different";
}

int semantics(std::map<std::string, std::string> options) {
    std::size_t shown = 0, different = 0;
    for (const Row& row : all_rows(options["path"])) {
        if (options.contains("row") && options["row"] != row.name) continue;
        ++shown;
        different += show(row) ? 0U : 1U;
    }
    if (shown == 0) std::fprintf(stderr, "there is no row %s\n", options["row"].c_str());
    return shown == 0 ? 2 : different == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> options;
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        if ((name != "--path" && name != "--row") || i + 1 == argc) {
            std::fputs("usage: assay-tier-semantics [--path DIR] [--row NAME]\n", stderr);
            return 2;
        }
        options[name.substr(2)] = argv[i + 1];
    }
    return semantics(options);
}
