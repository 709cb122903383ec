#include "tier/base/sys.hpp"
#include "tier/checks/semantics/area.hpp"
#include "tier/checks/semantics/registration.hpp"
#include "tier/checks/semantics/rows.hpp"

#include <fcntl.h>
#include <liburing.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>

namespace assay::tier::semantics {

namespace {

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

    /// Read by polling for completion: sleeping would miss the short time under test.
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

/// Counts moves that were repeated while pages were in use.
class Retries {
  public:
    /// Move, retrying for a few seconds.
    int move(const Userfault& fault, std::byte* to, std::byte* from, std::size_t bytes) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        std::size_t done = 0, tries = 0;
        for (;;) {
            const Userfault::Moved moved = fault.move(to + done, from + done, bytes - done);
            done += moved.bytes;
            if (moved.error != EBUSY || std::chrono::steady_clock::now() > until) {
                all_ += tries;
                max_ = std::max(max_, tries);
                return moved.error;
            }
            ++tries;
            ::sched_yield();
        }
    }
    [[nodiscard]] std::string text() const {
        return std::to_string(all_) + " retries, at most " + std::to_string(max_) + " for one";
    }

  private:
    std::size_t all_ = 0, max_ = 0;
};

/// Switches between CPUs, and restores the affinity.
class CpuSwitcher {
  public:
    CpuSwitcher() {
        if (::sched_getaffinity(0, sizeof all_, &all_) != 0) CPU_ZERO(&all_);
    }
    CpuSwitcher(const CpuSwitcher&) = delete;
    CpuSwitcher& operator=(const CpuSwitcher&) = delete;
    ~CpuSwitcher() { ::sched_setaffinity(0, sizeof all_, &all_); }

    void switch_cpu() {
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

/// Read a chunk into a frame, move it in immediately after completion, and move it back.
void move_after_reads(Seen& seen, int file, std::size_t bytes, std::size_t count) {
    const int advice = bytes % huge_page == 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
    const GuardedArea frame(bytes, advice), region(bytes, advice);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    frame.fill();
    if (::pwrite(file, frame.at(), bytes, 0) != static_cast<ssize_t>(bytes))
        throw std::system_error(errno, std::generic_category(), "direct write");
    std::memset(frame.at(), 0, bytes);
    watch(fault, frame);
    watch(fault, region);
    Ring ring;
    Retries in, out;
    // The kernel completes a transfer on a CPU of its choice; only another CPU observes the race.
    CpuSwitcher cpus;
    int error = 0;
    bool same = true;
    for (std::size_t i = 0; i < count && error == 0; ++i) {
        if (i % 50 == 0) cpus.switch_cpu();
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

} // namespace

/// Frames are not registered with io_uring, because registered pages cannot be moved.
void move_registered_buffer(Seen& seen) {
    const GuardedArea frame(page), region(page);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    watch(fault, region);
    frame.fill();
    Ring ring;
    const iovec buffer{frame.at(), page};
    if (const int status = ::io_uring_register_buffers(ring.get(), &buffer, 1); status != 0)
        throw Skipped(std::string("no buffer can be registered: ") + std::strerror(-status));
    seen.error("while registered", error_of_move(fault, region, frame), EBUSY);
    seen.error("unregistered", -::io_uring_unregister_buffers(ring.get()), 0);
    seen.error("then", Retries().move(fault, region.at(), frame.at(), page), 0);
}

/// Completion is reported before page references are dropped (iomap_dio_bio_end_io() of
/// fs/iomap/direct-io.c), so pages may be pinned for a moment.
void move_after_direct_io(Seen& seen, const std::string& path) {
    if (path.empty()) throw Skipped("no --path for a file");
    const Fd file(::open(path.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
    if (!file) throw Skipped(std::string("no O_TMPFILE with O_DIRECT there: ") + std::strerror(errno));
    for (const std::size_t bytes : {page, 16 * page, 64 * page})
        move_after_reads(seen, file.get(), bytes, 500);
    move_after_reads(seen, file.get(), huge_page, 100);
}

} // namespace assay::tier::semantics
